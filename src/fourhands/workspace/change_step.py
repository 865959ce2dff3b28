"""One change, line by line: what moved, what came back, what was replaced, what is gone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fourhands.model.text import LineRange
from fourhands.workspace.line_likeness import compared, most_similar, without_white_space
from fourhands.workspace.line_match import Run, match_runs
from fourhands.workspace.lines import is_telling
from fourhands.workspace.owners import Attribution, Author, Away, Fate, LineFate, Owner

__all__ = ["ChangedLines", "Settled", "Step"]


@dataclass(slots=True, eq=False)
class ChangedLines:
    """One hunk with its lines, and what is known of each so far.

    Of the old lines: ``accounted`` for, so no longer looked for; ``lost``, with the owner it has if it comes
    back. Of the new ones: their owner, ``None`` until it is known; ``replacing`` an old line that was found.
    """

    path: str
    file_is_gone: bool
    file_is_new: bool
    old_range: LineRange
    new_range: LineRange
    old: tuple[bytes, ...]
    owners: tuple[Owner, ...]
    new: tuple[bytes, ...]
    accounted: list[bool] = field(init=False)
    lost: list[Owner | None] = field(init=False)
    new_owners: list[Owner | None] = field(init=False)
    replacing: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        self.accounted = [False] * len(self.old)
        self.lost = [None] * len(self.old)
        self.new_owners = [None] * len(self.new)
        self.replacing = [False] * len(self.new)

    def number(self, at: int) -> int:
        """The number in the new file of the new line ``at``."""
        return self.new_range.start + at

    def is_open(self, at: int) -> bool:
        """Whether nothing is known of the new line ``at``."""
        return self.new_owners[at] is None and not self.replacing[at]

    def settled_owners(self) -> list[Owner]:
        """The owners of the new lines, once all are known."""
        return [owner for owner in self.new_owners if owner is not None]


@dataclass(frozen=True, slots=True)
class Settled:
    """What `Attribution` holds beside the files, after a change."""

    away: Mapping[str, tuple[Away, ...]]
    texts: Mapping[tuple[str, int], bytes]
    written: Mapping[str, int]
    deleted: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of a hunk from position ``at`` on."""

    hunk: ChangedLines
    at: int
    run: Run


class Step:
    """Settles all hunks of one change; ``fates`` is what it did to lines of the user."""

    def __init__(
        self, before: Attribution, author: Author, edit_id: str | None, hunks: Sequence[ChangedLines]
    ) -> None:
        self.fates: list[LineFate] = []
        self._author: Author = author
        self._edit = edit_id
        self._hunks = hunks
        self._away = dict(before.away)
        self._texts = dict(before.texts)
        self._written = dict(before.written)
        self._deleted = dict(before.deleted)
        self._continued: dict[int, Counter[int]] = defaultdict(Counter)
        """By a hunk's position: how many of its lines moved into each hunk of other files."""

    def settle(self) -> Settled:
        """Find out what became of every line, in the order of what is surest."""
        self._move()
        if self._author == "agent":
            self._bring_back()
        for position, hunk in enumerate(self._hunks):
            self._replace(hunk, self._successor(position))
        for hunk in self._hunks:
            self._lose(hunk)
        for hunk in self._hunks:
            self._own(hunk)
        return Settled(self._away, self._texts, self._written, self._deleted)

    def _move(self) -> None:
        old = [Run(hunk.path, hunk.old, hunk.file_is_gone) for hunk in self._hunks]
        new = [Run(hunk.path, hunk.new, hunk.file_is_new) for hunk in self._hunks]
        for block in match_runs(old, new):
            source, target = self._hunks[block.old_run], self._hunks[block.new_run]
            if source.path != target.path:
                self._continued[block.old_run][block.new_run] += block.length
            for offset in range(block.length):
                owner = source.owners[block.old_at + offset]
                source.accounted[block.old_at + offset] = True
                if self._author == "agent" or owner.author == "user":
                    self._place(owner, target, block.new_at + offset, "moved")

    def _bring_back(self) -> None:
        for path in sorted({hunk.path for hunk in self._hunks} & self._away.keys()):
            away = self._away[path]
            parts = [part for h in self._hunks if h.path == path for part in _parts(h, h.new, h.is_open)]
            back: set[tuple[int, int]] = set()
            for block in match_runs([Run(path, one.lines) for one in away], [part.run for part in parts]):
                part = parts[block.new_run]
                for offset in range(block.length):
                    back.add((block.old_run, block.old_at + offset))
                    owner = away[block.old_run].owners[block.old_at + offset]
                    self._place(owner, part.hunk, part.at + block.new_at + offset, "restored")
            if back:
                self._keep_away(path, _without(away, back))

    def _successor(self, position: int) -> ChangedLines:
        """The hunk that stands in the place of this one: of a renamed file, it is in the new file."""
        hunk = self._hunks[position]
        moved = self._continued.get(position)
        return self._hunks[moved.most_common(1)[0][0]] if hunk.file_is_gone and moved else hunk

    def _replace(self, hunk: ChangedLines, successor: ChangedLines) -> None:
        """Find what stands in the place of the user's lines that are neither moved nor back."""
        missing = [at for at, done in enumerate(hunk.accounted) if not done]
        if not any(hunk.owners[at].edit for at in missing):
            return
        self._reformat(hunk, successor)
        self._rewrap(hunk, successor)
        missing = [
            at
            for at in missing
            if not hunk.accounted[at] and hunk.owners[at].author == "user" and is_telling(hunk.old[at])
        ]
        candidates = [
            (n, line) for n, line in enumerate(successor.new) if successor.is_open(n) and is_telling(line)
        ]
        for at in missing:
            found = most_similar(hunk.old[at], candidates, at, compared(len(missing)))
            if found is not None:
                candidates = [candidate for candidate in candidates if candidate[0] != found]
                successor.replacing[found] = True
                self._say(hunk.owners[at], "changed", successor.path, successor.number(found))
                self._take_out(hunk, at)

    def _reformat(self, hunk: ChangedLines, successor: ChangedLines) -> None:
        """Lines that are the same but for white space."""
        old = _parts(hunk, hunk.old, lambda at: not hunk.accounted[at], without_white_space)
        new = _parts(successor, successor.new, successor.is_open, without_white_space)
        old_runs = [Run(hunk.path, part.run.lines) for part in old]
        new_runs = [Run(hunk.path, part.run.lines) for part in new]  # as one file: it is the same, renamed
        for block in match_runs(old_runs, new_runs):
            for offset in range(block.length):
                before = old[block.old_run].at + block.old_at + offset
                after = new[block.new_run].at + block.new_at + offset
                owner = hunk.owners[before]
                successor.replacing[after] = True
                hunk.accounted[before] = self._author == "agent"  # the user's replacing a line deletes it
                if owner.edit is None:
                    continue
                if self._author == "agent":
                    original = self._texts.get((owner.edit, owner.line or 0))
                    fate: Fate = "restored" if original == successor.new[after] else "changed"
                    self._place(owner, successor, after, fate, whitespace=fate == "changed")
                elif owner.author == "user":
                    self._say(owner, "changed", successor.path, successor.number(after), whitespace=True)
                    self._take_out(hunk, before)

    def _rewrap(self, hunk: ChangedLines, successor: ChangedLines) -> None:
        """Lines that were split or joined: all that is left of the hunk is the same but for white space."""
        left = [at for at, done in enumerate(hunk.accounted) if not done]
        came = [at for at in range(len(successor.new)) if successor.is_open(at)]
        before = without_white_space(b"".join(hunk.old[at] for at in left))
        if not before or before != without_white_space(b"".join(successor.new[at] for at in came)):
            return
        for at in left:
            if hunk.owners[at].author == "user":
                self._say(hunk.owners[at], "changed", successor.path, None, whitespace=True)
                self._take_out(hunk, at)

    def _lose(self, hunk: ChangedLines) -> None:
        """What is not accounted for is gone; what the user took out, the user deleted."""
        for at, owner in enumerate(hunk.owners):
            if hunk.accounted[at]:
                continue
            if self._author == "user" and owner.author != "user":
                assert self._edit is not None
                line = self._deleted[self._edit] = self._deleted.get(self._edit, 0) + 1
                hunk.lost[at] = back = Owner("agent", self._edit, line)
                self._say(back, "deleted", hunk.path, None)
            elif owner.edit is not None:
                self._say(owner, "removed", hunk.path, None)
                self._take_out(hunk, at)
        gone = tuple(_lost_blocks(hunk))
        if gone:
            self._keep_away(hunk.path, gone + self._away.get(hunk.path, ()))

    def _own(self, hunk: ChangedLines) -> None:
        """The new lines whose owner is not known are of whoever made the change."""
        for at, known in enumerate(hunk.new_owners):
            if known is not None:
                continue
            if self._edit is None:
                hunk.new_owners[at] = Owner(self._author)
                continue
            line = self._written[self._edit] = self._written.get(self._edit, 0) + 1
            self._texts[self._edit, line] = hunk.new[at]
            self._place(Owner("user", self._edit, line), hunk, at, "written")

    def _place(
        self, owner: Owner, hunk: ChangedLines, at: int, fate: Fate, *, whitespace: bool = False
    ) -> None:
        hunk.new_owners[at] = owner
        self._say(owner, fate, hunk.path, hunk.number(at), whitespace=whitespace)

    @staticmethod
    def _take_out(hunk: ChangedLines, at: int) -> None:
        hunk.accounted[at] = True
        hunk.lost[at] = hunk.owners[at]

    def _keep_away(self, path: str, away: tuple[Away, ...]) -> None:
        if away:
            self._away[path] = away
        else:
            self._away.pop(path, None)

    def _say(
        self, owner: Owner, fate: Fate, path: str, number: int | None, *, whitespace: bool = False
    ) -> None:
        if owner.edit is None or owner.line is None:
            return
        if owner.author == "agent":
            fate = "deleted" if number is None else "put_back"
        self.fates.append(LineFate(owner.edit, owner.line, fate, path, number, whitespace))


def _parts(
    hunk: ChangedLines,
    lines: Sequence[bytes],
    wanted: Callable[[int], bool],
    form: Callable[[bytes], bytes] = bytes,
) -> list[_Part]:
    """The wanted lines of a hunk's side, those that stand together as one run, each in the given form."""
    return [
        _Part(hunk, at, Run(hunk.path, tuple(form(line) for line in lines[at:end])))
        for at, end in _stretches(len(lines), wanted)
    ]


def _stretches(length: int, wanted: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for at in range(length + 1):
        if at < length and wanted(at):
            start = at if start is None else start
        elif start is not None:
            yield start, at
            start = None


def _lost_blocks(hunk: ChangedLines) -> Iterator[Away]:
    for at, end in _stretches(len(hunk.old), lambda n: hunk.lost[n] is not None):
        owners = tuple(owner for owner in hunk.lost[at:end] if owner is not None)
        yield Away(hunk.old[at:end], owners)


def _without(away: Sequence[Away], back: set[tuple[int, int]]) -> tuple[Away, ...]:
    left: list[Away] = []
    for number, one in enumerate(away):
        stays = [at for at in range(len(one.lines)) if (number, at) not in back]
        if len(stays) == len(one.lines):
            left.append(one)
        elif stays:
            free = set(stays)
            left += [
                Away(one.lines[a:b], one.owners[a:b])
                for a, b in _stretches(len(one.lines), free.__contains__)
            ]
    return tuple(left)
