"""Tasks as conversations: rates at will and with full coverage, what was told, and whose lack each failure was."""

from __future__ import annotations

from fourhands.analysis.findings.conversations.churn import ChurnRow, Spread, churn_table
from fourhands.analysis.findings.conversations.four_hands import (
    FourHandsRow,
    Interaction,
    four_hands_table,
    without_parts,
)
from fourhands.analysis.findings.conversations.groups import POOLED
from fourhands.analysis.findings.conversations.labels import LabelCount, LabelRow, label_table
from fourhands.analysis.findings.conversations.measures import Difference, Rate
from fourhands.analysis.findings.conversations.personas import (
    PersonaRow,
    PersonaTalk,
    persona_table,
    without_neutral,
)
from fourhands.analysis.findings.conversations.rates import ConversationRow, conversation_table
from fourhands.analysis.findings.conversations.talk import Many, TalkRow, talk_table
from fourhands.analysis.findings.conversations.turns import ALL, Effort, Ratio, Side, TurnsRow, turns_table

__all__ = [
    "ALL",
    "POOLED",
    "ChurnRow",
    "ConversationRow",
    "Difference",
    "Effort",
    "FourHandsRow",
    "Interaction",
    "LabelCount",
    "LabelRow",
    "Many",
    "PersonaRow",
    "PersonaTalk",
    "Rate",
    "Ratio",
    "Side",
    "Spread",
    "TalkRow",
    "TurnsRow",
    "churn_table",
    "conversation_table",
    "four_hands_table",
    "label_table",
    "persona_table",
    "talk_table",
    "turns_table",
    "without_neutral",
    "without_parts",
]
