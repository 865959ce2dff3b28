"""A small task as a conversation, an agent's loop with a real shell, and whoever answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fourhands.engine.scripted.manners import script_of
from fourhands.engine.scripted.subsets import Subsets
from fourhands.engine.scripted.walk import Known
from fourhands.gateway.conversing import ConversingPlayer
from fourhands.gateway.hands import Talk
from fourhands.gateway.playbook import Move
from fourhands.model.ledger import Goal, Ledger, Requirement
from fourhands.workspace.store import ObjectStore

from .repositories import Files, Lay, patch_to, shell

MIDDLE: Final = "# -\n" * 9
BASE: Final = {"shop.py": f"# shop\n{MIDDLE}# end\n", "tests/test_shop.py": "", ".gitignore": "*.pyc\n"}
IDS: Final = ("R1", "R2", "R3")
_CODE: Final = {"R1": "PRICE = 1\n", "R2": "NAME = 'x'\n", "R3": "COUNT = 3\n"}
_TEXTS: Final = {
    "R1": "The price is 1, in `PRICE`.",
    "R2": "The name is fine to be x,\nin `NAME`.",
    "R3": "There are 3, in `COUNT`.",
}
_VALUES: Final = {"R1": ("1",), "R2": (), "R3": ("3",)}
INSTRUCTION: Final = "Price one. Name x. Count three."
BRIEF: Final = "Something is wrong with the shop."


def code(*wanted: str) -> Files:
    """The repository with these requirements in it, each at a place of its own."""
    first, second, third = (_CODE[name] if name in wanted else "" for name in IDS)
    extra = {"extra.py": third} if third else {}
    return {**BASE, "shop.py": f"{first}# shop\n{MIDDLE}{second}# end\n", **extra}


def ledger() -> Ledger:
    """Three requirements, of which the third needs the second."""
    spans = {"R1": (0, 10), "R2": (11, 18), "R3": (19, 31)}
    requirements = tuple(
        Requirement(
            name,
            _TEXTS[name],
            spans[name],
            values=_VALUES[name],
            depends_on=("R2",) if name == "R3" else (),
            weight=weight,
        )
        for name, weight in zip(IDS, (40.0, 30.0, 30.0), strict=True)
    )
    return Ledger(BRIEF, requirements, (Goal("G1", "the shop", 100.0, "shop.py", IDS),))


def known(lay: Lay, removable: tuple[str, ...] = IDS) -> tuple[Path, Known]:
    """The repository at its base, and what a scripted agent knows of it."""
    folder = lay(BASE)
    reference = patch_to(folder, code(*IDS))
    store = ObjectStore(folder.parent / "objects.git")
    (whole := folder.parent / "whole").mkdir()
    for name, text in code(*IDS).items():
        (whole / name).parent.mkdir(exist_ok=True)
        (whole / name).write_text(text)
    trees = {}
    for missing in removable:
        left = whole.with_name(missing)
        for name, text in code(*(each for each in IDS if each != missing)).items():
            (left / name).parent.mkdir(exist_ok=True, parents=True)
            (left / name).write_text(text)
        trees[missing] = store.patch(store.import_directory(whole), store.import_directory(left))
    base = folder.parent / "base"
    for name, text in BASE.items():
        (base / name).parent.mkdir(exist_ok=True, parents=True)
        (base / name).write_text(text)
    subsets = Subsets(store.path, store.import_directory(base), reference, trees)
    return folder, Known(ledger(), INSTRUCTION, subsets)


@dataclass
class Trial:
    """An agent at work: what it asked, and what stood in its repository then."""

    folder: Path
    player: ConversingPlayer
    answer: Callable[[str], str]
    at_end: list[str] = field(default_factory=list)
    opening: str = BRIEF
    can_ask: bool = True
    asked: list[str] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)

    def run(self) -> None:
        """To the end; what is said ``at_end`` stands behind the last result, as the gateway puts it."""
        came_back: list[str] = []
        for _ in range(100):
            talk = Talk(self.opening, self.can_ask, tuple(came_back))
            move = self.player.reply_to(talk)
            assert self.player.reply_to(talk) == move  # a request that is sent again
            self.moves.append(move)
            if move.ask:
                self.asked.append(move.thought)
                came_back.append(self.answer(move.thought))
            elif not move.submit:
                came_back.append(shell(self.folder, move.command or ""))
            elif self.at_end:
                came_back[-1] += self.at_end.pop(0)
            else:
                return
        raise AssertionError("it goes on and on")


def trial(manner: str, lay: Lay, answer: Callable[[str], str], *, at_end: tuple[str, ...] = ()) -> Trial:
    """Before its first step."""
    folder, knows = known(lay)
    return Trial(folder, ConversingPlayer(script_of(manner, knows)), answer, list(at_end))


class Teller:
    """Tells one more requirement with each answer, and agrees in the end; corrects what is not in the code."""

    def __init__(self, look: Callable[[], Files], patience: int = 3) -> None:
        self._look = look
        self._patience = patience
        self.told: list[str] = []
        self.corrected: list[str] = []

    def __call__(self, question: str) -> str:
        has = self._look()
        missing = [name for name in self.told if not any(_CODE[name] in text for text in has.values())]
        if "have committed" in question and missing:
            self.corrected.append(missing[0])
            if self.corrected.count(missing[0]) > self._patience:
                return "I leave it there."
            return f"This does not hold yet: {_TEXTS[missing[0]]}"
        held = [name for name in IDS if name not in self.told]
        if not held:
            return "Thank you, that is all."
        self.told.append(held[0])
        return f"OK, and: {_TEXTS[held[0]].replace(' is', '  is')}"


def everything() -> str:
    """All of it, in one message."""
    return "\n".join(_TEXTS.values())
