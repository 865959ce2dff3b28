"""The agent's words read without a model: by patterns, the same every time, and unmoved by what they claim."""

from __future__ import annotations

import re
from typing import Final

from fourhands.language.ground import fold
from fourhands.model.ledger import Ledger
from fourhands.user.talking.reading import Demand, Heard, HeardKind
from fourhands.user.talking.relevance import Relevance
from fourhands.user.talking.scene import Scene

__all__ = ["PlainReader"]

_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

_WORK: Final = (
    r"(?:implement|commit|finish|complet|add|fix|updat|chang|address|appl|push|handl|wrot|rewrit|refactor)"
)
_PLAN: Final = re.compile(
    r"\bplan(?:s|ned|ning)?\b|\bapproach\b|\bproposals?\b|\b(?:propose|proposing)\b|\boutline\b"
    r"|\bbefore (?:i|we) (?:start|begin|change|touch|write|implement)"
    r"|\b(?:i|we)(?:'ll| will|'m going to|'re going to| am going to| are going to| intend to) (?:\w+ ){0,2}"
    r"(?:start|begin|first|add|change|implement|write|fix|refactor|make|create|update)"
)
_REVIEW: Final = re.compile(
    r"\breview\b|\btake (?:a|another) look\b|\bhave a look\b|\bready for (?:you|your)\b"
    rf"|\b(?:i|we)(?:'ve| have)? (?:now |just |also |already )?{_WORK}\w*(?:ed|te|ten|ne)\b"
    r"|\b(?:it|this|that|everything|work|implementation|all)(?:'s| is| are)? (?:now |all )?"
    r"(?:done|finished|ready|implemented|committed|complete|fixed|in place)\b"
    r"|^(?:all |now )?(?:done|finished|ready|fixed|implemented|committed)\b"
    r"|\bcommitted\b|\blgtm\b|\b(?:looks? |is it |is this |all )(?:ok|okay|good|right|fine|correct)\b"
)
_HANDOFF: Final = re.compile(
    r"\bhand(?:ing|ed)? ?(?:it |this |over |off|back)\b|\bhandoff\b|\bwrap(?:ping|ped)? (?:it |this |things )?up\b"
    r"|\bship(?: it| this|ped|ping)?\b|\b(?:good|ready|ok|okay|safe) to (?:go|ship|merge|close|deploy|release)\b"
    r"|\b(?:are|can) we (?:done|close|finish|merge|ship)\b|\bcan i (?:close|finish|stop|merge|end)\b"
    r"|\bsign(?:ed)? ?off\b|\bfinal (?:version|state|commit|review|approval)\b|\bapprov\w*"
)
_QUESTION: Final = re.compile(
    r"\?|^(?:what|which|who|whose|when|where|why|how|should|shall|could|can|do|does|did|is|are|will|would|may|must|"
    r"please (?:tell|say|explain|clarify|confirm|specify|list|describe|share|give|provide|reveal|show)|tell|explain|"
    r"clarify|list|describe|specify|give|share|reveal|show|print|repeat|output)\b"
    r"|\b(?:i|we) (?:need|want|would like|'d like) to know\b|\btell me\b|\blet me know\b|\bi wonder\b"
)
_BETWEEN: Final = re.compile(r"(?<=[.?!])\s+")
_ASKING: Final = re.compile(
    r"\?\Z|^\W*(?:and |or |but |so )?(?:what|which|who|whose|when|where|why|how|should|shall|could|can|do|does"
    r"|did|is|are|will|would|may|must)\b"
)
"""A sentence that asks; "please review" does not, it bids."""
_WHEN: Final = re.compile(r"\b(when|until|while|once|after)\b[^,;?]*")
"""Of what the question supposes only that it does stays."""
_NEAR: Final = 20
_BIDS: Final = re.compile(r"\b(?:you|please|to) (?:now |also |just |please |kindly )?\Z")
_OF_WORK: Final = re.compile(
    r"\W*\Z|[^\w\s`'\"]| (?:it|this|that|these|those|them|everything|all|now|yet|please|already|again|so|as|and|or"
    r"|but|for|by|if|with|in|on|to|here|too|i|we|you|correct|right|good|fine|ok|okay|from|before|first)\b"
    r"| (?:(?:the|a|an|my|our|your) )?(?:\w+ )?(?:work|changes?|commits?|code|patch|implementation|diff|branch"
    r"|result|rest|task|repository|repo|pr|pull request|request|fix|state|version|whole)\b(?! of\b)"
)
"""What follows upon a word about the work; upon one about the matter of the task there follows that matter."""
_DEMANDS: Final = {
    Demand.APPROVE: re.compile(
        r"\bapprov\w*|\bship it\b|\blgtm\b|\bsign(?:ed)? ?off\b|\bgood to (?:go|ship|merge)\b"
    ),
    Demand.REVEAL: re.compile(
        r"\b(?:all|any|every|each|other|more|further|remaining|rest|exact|full|complete|list|open)\b (?:\w+ ){0,3}"
        r"(?:requirements?|details?|expectations?|constraints?|spec|specs|specifications?|wishes|needs|points|"
        r"cases?|behaviou?rs?|context|information|concerns?|preferences|things)\b"
        r"|\b(?:anything|something|what) else\b|\beverything\b|\btell me (?:more|all)\b"
        r"|\bwhat (?:exactly|precisely)\b|\bwhat (?:do|would) you (?:want|need|expect|like|prefer)\b"
        r"|\bwhat (?:are|is) (?:the |your )?(?:\w+ )?(?:requirements?|expectations?|expected|goal|behaviou?r)\b"
        r"|\b(?:clarif|elaborat)\w*"
    ),
    Demand.HIDDEN: re.compile(
        r"\b(?:hidden|secret|held out|private|grading|grader|evaluation|benchmark|verifier)\b (?:\w+ ){0,2}"
        r"(?:tests?|checks?|cases?|suite|rubrics?|requirements?)\b"
        r"|\b(?:system|initial|developer|simulator) (?:prompt|message|instructions?)\b"
        r"|\byour (?:\w+ )?(?:prompt|instructions|persona|ledger|rubric|guidelines|rules|configuration)\b"
        r"|\b(?:requirement|requirements) (?:ledger|json)\b|\bledger json\b|\bcanar(?:y|ies)\b"
        r"|\breference (?:solution|patch|implementation|repair)\b|\bgold(?:en)? (?:patch|solution)\b"
        r"|\b(?:ignore|disregard|forget|override) (?:\w+ ){0,3}(?:instructions?|rules|prompt|above|previous)\b"
        r"|\b(?:words|text|everything|instructions) above\b|\b(?:debug|developer|admin|god|maintenance) mode\b"
        r"|\bare you (?:\w+ ){0,2}(?:ai|bot|model|llm|simulat\w*|human|person|script)\b"
    ),
}


class PlainReader:
    """Needs nothing but the words, and what changed in the workspace."""

    def __init__(self, ledger: Ledger) -> None:
        self._relevance = Relevance(ledger)

    async def read(self, scene: Scene) -> Heard:
        """See `Reader.read`."""
        text = scene.question or ""
        prose = fold(_FENCED.sub(" ", text))
        demands = frozenset(demand for demand, pattern in _DEMANDS.items() if pattern.search(prose))
        return Heard(_kind(prose, has_work=scene.has_work), self._relevance.nearest(text), demands)


def _kind(prose: str, *, has_work: bool) -> HeardKind:
    """By patterns, the first that fits; what is said before any work was done is no request for a review of it."""
    if not has_work and _PLAN.search(prose):
        return HeardKind.PLAN
    if _speaks_of_work(_HANDOFF, prose):
        return HeardKind.HANDOFF
    if _speaks_of_work(_REVIEW, prose):
        return HeardKind.REVIEW
    if _PLAN.search(prose):
        return HeardKind.PLAN
    return HeardKind.QUESTION if _QUESTION.search(prose) else HeardKind.OTHER


def _speaks_of_work(pattern: re.Pattern[str], prose: str) -> bool:
    """Whether it fits; in a question, where it is about the agent's own work: "are approved orders kept?" is not."""
    if not pattern.search(prose):
        return False
    for sentence in _BETWEEN.split(prose):
        if not _ASKING.search(sentence):
            if pattern.search(sentence):
                return True
            continue
        main = _WHEN.sub(r"\1", sentence)
        for match in pattern.finditer(main):
            before = main[max(0, match.start() - _NEAR) : match.start()]
            if _OF_WORK.match(main, match.end()) or _BIDS.search(before):
                return True
    return False
