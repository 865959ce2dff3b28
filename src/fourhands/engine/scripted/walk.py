"""What every scripted agent that converses can do: look, ask, write code for what it was told, commit, hand over.

It knows the ledger, the reference, and what each requirement is in it, as an oracle does. What it does with that
depends only on which requirements were *told*: those whose text came back to it, and those that its opening says.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from shlex import quote
from typing import Final

from fourhands.engine.scripted import shell
from fourhands.engine.scripted.misreading import misread
from fourhands.engine.scripted.subsets import Subsets
from fourhands.gateway.conversing import Opening, Way
from fourhands.gateway.playbook import Move
from fourhands.model.errors import InputError
from fourhands.model.ledger import Ledger

__all__ = ["Answered", "Doing", "Known", "Walk"]

PLAN: Final = "PLAN.md"
_MOST_IDLE: Final = 2
"""Rounds in a row in which nothing is said of the work, after which nothing more is expected."""
_MOST_ROUNDS: Final = 40
_COMMIT_ID: Final = re.compile(r"^[0-9a-f]{40}$", re.MULTILINE)
_IS_OK: Final = re.compile(
    r"\b(ok|okay|yes|sure|fine|good|great|perfect|right|happy|approved?|agreed?|thanks?|thank you|ship it|go ahead"
    r"|start|reasonable|makes sense|that is all|that's all)\b",
    re.IGNORECASE,
)
_TEST_FILE: Final = re.compile(r"(^|/)(test_[^/]*\.py|[^/]*_test\.py|[^/]*\.test\.[cm]?js)$")
_PYTHON_TEST: Final = '''\
"""What was agreed is in place."""

import pathlib
import unittest


class AgreedTest(unittest.TestCase):
    def test_every_file_of_the_change_is_there(self):
        for name in {names}:
            self.assertTrue(pathlib.Path(name).is_file(), name)
'''
_NODE_TEST: Final = """\
import assert from 'node:assert/strict';
import {{ existsSync }} from 'node:fs';
import test from 'node:test';

test('every file of the change is there', () => {{
  for (const name of {names}) assert.ok(existsSync(name), name);
}});
"""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back for a move.

    ``fresh`` are requirements that were told with it for the first time, ``named`` all whose text it says; ``is_ok``
    says whether it has a word of agreement in it.
    """

    fresh: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    is_ok: bool = False

    @property
    def approves(self) -> bool:
        """Whether it agrees, and wants nothing."""
        return self.is_ok and not self.named


type Doing = Generator[Move, str, Answered]
"""A part of a way; what came back for its last move."""


class Known:
    """What scripted agents know of a task."""

    def __init__(self, ledger: Ledger, instruction: str, code: Subsets) -> None:
        """Nothing is read here.

        Args:
            ledger: of the task.
            instruction: in full, which ``ledger`` has its spans in.
            code: the code for each set of requirements.
        """
        self.ledger = ledger
        self.code = code
        self._texts = {each.id: _squeezed(each.text) for each in ledger.requirements}
        self._spans = {each.id: _squeezed(instruction[slice(*each.span)]) for each in ledger.requirements}
        self.base_paths = code.files()

    def told_in(self, text: str) -> tuple[str, ...]:
        """The requirements that ``text`` says, in order; however its lines are broken."""
        squeezed = _squeezed(text)
        return tuple(name for name, words in self._texts.items() if words in squeezed)

    def told_from_the_start(self, opening: str) -> tuple[str, ...]:
        """The requirements that an opening says, in the user's words or in those of the instruction."""
        squeezed, said = _squeezed(opening), self.told_in(opening)
        return tuple(name for name, words in self._spans.items() if name in said or words in squeezed)

    def beside(self, text: str) -> str:
        """``text`` without what it says of requirements."""
        plain = " ".join(text.split())
        for each in self.ledger.requirements:
            plain = plain.replace(" ".join(each.text.split()), "")
        return plain

    def early(self) -> str:
        """A requirement that is told early and can be left out, best one that no other needs.

        Raises:
            InputError: none can be left out.
        """
        removable = [name for name in self.ledger.ids if name in self.code.removable]
        if not removable:
            raise InputError("no requirement can be left out: the task has no user/without/ID.patch")
        return self._best(removable)

    def misread(self) -> tuple[str, str]:
        """A requirement that can be left out and that its words let one read wrong, and its text read so.

        Raises:
            InputError: there is none.
        """
        texts = {name: misread(self.ledger[name]) for name in self.ledger.ids if name in self.code.removable}
        legible = {name: text for name, text in texts.items() if text is not None}
        if not legible:
            raise InputError(
                "no requirement can be misread: none that has a user/without/ID.patch has a negation or a number"
            )
        name = self._best([*legible])
        return name, legible[name]

    def _best(self, names: Sequence[str]) -> str:
        """The first whose lack the verifier sees and that no other needs, else the first that it sees, or at all."""
        needed = {name for each in self.ledger.requirements for name in each.depends_on}
        seen = [name for name in names if self.ledger[name].tests] or [*names]
        return next((name for name in seen if name not in needed), seen[0])


class Walk:
    """One way through a conversation. Its parts are generators: they yield moves and are sent what came back."""

    def __init__(self, known: Known, opening: Opening) -> None:
        """Nothing was done yet; what the opening says, the full instruction say, was told."""
        self._known = known
        self.can_ask = opening.can_ask
        """Whether anybody can be asked."""
        self._base = "HEAD"
        self._commits = 0
        self._written: frozenset[str] = frozenset()
        self.told = known.told_from_the_start(opening.text)
        """In the order of being told."""
        self.spoilt: str | None = None
        """The requirement that it leaves out from now on, and never speaks of."""
        self.misread: tuple[str, str] | None = None
        """The requirement that it takes for something else, and for what: it says that, and leaves it out."""
        self.botched: str | None = None
        """The requirement that it says rightly and gets wrong: its code has the author's fault against it."""

    @property
    def unwritten(self) -> tuple[str, ...]:
        """What was told, and is not in the code."""
        return tuple(name for name in self._wanted if name not in self._written)

    def do(self, move: Move) -> Doing:
        """Make a move, and take in what comes back."""
        return self._hear((yield move))

    def run(self, thought: str, command: str) -> Doing:
        """Run a command."""
        return (yield from self.do(Move(thought=thought, command=command)))

    def ask(self, question: str) -> Doing:
        """Ask the user; where nobody can be asked, nothing comes back."""
        if not self.can_ask:
            return Answered()
        return (yield from self.do(Move(thought=question, ask=True)))

    def look(self) -> Doing:
        """Look around, and read what is to be changed."""
        shown = yield Move(
            thought="First an overview.", command="git rev-parse HEAD && git log --oneline | head -n 5 && ls"
        )
        if found := _COMMIT_ID.search(shown):
            self._base = found[0]
        self._hear(shown)
        whole = self._known.code.code(self._known.ledger.ids)
        reads = [command for file in whole.files if (command := shell.read_around(file)) is not None]
        return (yield from self.run("I read what this is about.", "\n".join(reads) or "ls"))

    def plan(self) -> Doing:
        """Agree on a plan, save it, and commit it."""
        text = self._plan()
        answered = yield from self.ask(f"Here is my plan:\n\n{text}\nIs that what you want?")
        end = "END_OF_PLAN"
        save = f"cat > {PLAN} <<'{end}'\n{text}{end}"
        yield from self.run("I save the plan.", f"{save}\n{self._commit('Plan the work')}")
        return answered

    def write(self, subject: str = "Do what was asked for") -> Doing:
        """Write the code for what was told, over whatever stands in its files, and commit it."""
        self._written = frozenset(self._wanted)
        code = self._known.code
        change = code.code(self._written - self._deaf_to, spoilt=next(iter(self._deaf_to), None))
        command = shell.write_whole(change, code.paths, base=self._base)
        return (yield from self.run("I write it.", f"(\n{command}\n)\n{self._commit(subject)}"))

    def review(self) -> Doing:
        """Ask the user to look at what was committed."""
        items = "".join(f"\n- {self._understood(name)}" for name in self._wanted)
        says = f"It is meant to do this:\n{items}\n\n" if items else ""
        return (yield from self.ask(f"I have committed the change. {says}Please review it."))

    def rounds(self) -> Doing:
        """Write, and ask for a review, until the user agrees or has nothing new to say."""
        yield from self.write()
        answered, idle = Answered(), 0
        for _ in range(_MOST_ROUNDS if self.can_ask else 0):
            answered = yield from self.review()
            named = answered.named
            if not answered.approves and set(named) <= self._deaf_to:
                answered = yield from self.ask("Is there anything else that I should mind?")
                named += answered.named
            idle = 0 if named else idle + 1
            if answered.approves or idle == _MOST_IDLE:
                break
            yield from self.write("Take in what the review said")
        return answered

    def test(self) -> Doing:
        """Add a test, in a commit of its own."""
        path, text = self._test()
        end = "END_OF_TEST"
        save = f"mkdir -p {quote(str(path.parent))}\ncat > {quote(str(path))} <<'{end}'\n{text}{end}"
        return (yield from self.run("I add a test.", f"{save}\n{self._commit('Test what was agreed')}"))

    def stub(self) -> Doing:
        """Do something that looks like work, where nothing to do was told."""
        command = f"echo 'To be looked into.' > NOTES.md\n{self._commit('Note what to look into')}"
        return (yield from self.run("I make a start.", command))

    def end(self) -> Way:
        """Hand over; whoever still says something is listened to first."""
        while True:
            while self.unwritten:
                yield from self.write("Take in what was said last")
            yield from self.do(Move(thought="It is done. I hand it over.", submit=True))

    @property
    def _deaf_to(self) -> frozenset[str]:
        """What its code has not, however often it is said; one at most."""
        names = (self.spoilt, self.botched, self.misread[0] if self.misread else None)
        return frozenset(name for name in names if name is not None)

    def _understood(self, name: str) -> str:
        """A requirement in the words in which it takes it."""
        if self.misread and self.misread[0] == name:
            return self.misread[1]
        return self._known.ledger[name].text

    @property
    def _wanted(self) -> tuple[str, ...]:
        return tuple(name for name in self.told if name != self.spoilt)

    @property
    def _changed(self) -> list[str]:
        """The files of the base that the code is in."""
        return [path for path in self._known.code.paths if path in self._known.base_paths]

    def _hear(self, text: str) -> Answered:
        named = self._known.told_in(text)
        fresh = tuple(name for name in named if name not in self.told)
        self.told += fresh
        return Answered(fresh, named, is_ok=bool(_IS_OK.search(self._known.beside(text))))

    def _plan(self) -> str:
        wishes = "".join(f"   - {self._understood(name)}\n" for name in self._wanted)
        return (
            f"1. Read {', '.join(self._changed)}, and what depends on it.\n"
            f"2. Change that:\n{wishes or '   - as you described it, and nothing beside.\n'}"
            "3. Commit, and ask for a review.\n"
            "4. Take in what the review says, until it is right.\n"
            "5. Add tests, in a commit of their own.\n"
        )

    def _commit(self, subject: str) -> str:
        """Commit all there is, if there is anything, under a name and a date that are the same every time."""
        self._commits += 1
        date = f"2026-01-05T{9 + self._commits // 60:02}:{self._commits % 60:02}:00Z"
        who = [
            f"GIT_{role}_{key}={value}"
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", "agent"), ("EMAIL", "agent@example.com"), ("DATE", date))
        ]
        commit = f"{' '.join(who)} git commit -q -m {quote(subject)}"
        return f"git add --all && {{ git diff --cached --quiet || {commit}; }} && git log --oneline -n 1"

    def _test(self) -> tuple[PurePosixPath, str]:
        """A test of its own beside those that there are."""
        beside = next((path for path in self._known.base_paths if _TEST_FILE.search(path)), "tests/test_.py")
        folder = PurePosixPath(beside).parent
        # As Python and JavaScript both write it.
        names = f"[{', '.join(repr(path) for path in self._changed)}]"
        if beside.endswith(".py"):
            return folder / "test_agreed.py", _PYTHON_TEST.format(names=names)
        return folder / "agreed.test.mjs", _NODE_TEST.format(names=names)


def _squeezed(text: str) -> str:
    """Without any white space: terminals break lines within words."""
    return "".join(text.split())
