"""What an agent's own words say of a requirement, text by text: as it was said, otherwise, in part, or not at all.

A text is read in the pieces that a person would: its paragraphs and items, and their sentences. A piece that says
another requirement better is about that one. No model is asked; see `fourhands.language.conveyance` for what is not
seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from fourhands.language.conveyance import CONVEYED_FROM, PARTLY_FROM, Conveyance, conveyed
from fourhands.language.polarity import read
from fourhands.language.stems import STOP_WORDS, stem
from fourhands.language.taking_up import legible
from fourhands.language.values import plain, says_identifier, says_value
from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.event import Event, EventKind
from fourhands.model.ledger import Ledger, Requirement

__all__ = ["AgentWords", "How", "Said", "own_names", "own_words", "words_in"]

_FENCES: Final = ("```", "~~~")
_BLOCK: Final = re.compile(r"\n(?=[ \t]*(?:\n|[-*+•>#|]|\d{1,3}[.)][ \t]))|(?<=:)\n")
_MARK: Final = re.compile(r"^(?:[-*+•>#|]+|\d{1,3}[.)]|\[[ xX]\])\s+")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+")
_NO_CLAIM: Final = re.compile(
    r"\b(?:at (?:present|the moment)|because|before (?:my|the|this) (?:change|commit|fix)|broken|bug"
    r"|cause[ds]?|currently|existing|fail(?:ed|ing|s)?|formerly|instead of|mistaken(?:ly)?|originally|previously"
    r"|problem|raised? from|rather than|replac(?:ed?|es|ing)|right now|so far|today|until now|used to|was|were"
    r"|wrong(?:ly)?)\b",
    re.IGNORECASE,
)
"""A piece that tells how things stand or stood, or what is replaced: it says not only what the agent means to do."""
_LEFT_OUT: Final = re.compile(
    r"\b(?:did(?:n't| not)|for now|have(?:n't| not)|later|leave (?:it|that|this) (?:out|for)|left out|not yet"
    r"|out of scope|skip(?:ped|ping|s)?|todo|will(?: not|n't)|won't)\b",
    re.IGNORECASE,
)
"""A piece that says what the agent does not do."""
_GRANTS: Final = re.compile(
    r"\b(?:able|allow(?:ed|ing|s)?|can|do(?:es)?|enabl(?:ed?|es|ing)|lets?|letting|may|must|permit(?:s|ted|ting)?|shall"
    r"|should|still)\b(?!['\u2019]t|\s+(?:never|no longer|not)\b)",
    re.IGNORECASE,
)
_REFUSES: Final = re.compile(
    r"\b(?:4\d\d|abort(?:ed|s)?|block(?:ed|ing|s)?|den(?:y|ied|ies)|disabled?|errors?|exceptions?|fail(?:ed|ing|s|ure)?"
    r"|forbidden|invalid|lock(?:ed|s)? out|prevent(?:ed|ing|s)?|rais(?:ed?|es|ing)|refus(?:al|ed?|es|ing)"
    r"|reject(?:ed|ing|ion|s)?|stop(?:ped|s)?|throws?|unauthori[sz]ed)\b"
    r"|\w(?:Denied|Error|Exception|Forbidden|Refused)\b|->\s*(?:0|false|none)\b",
    re.IGNORECASE,
)
"""What a requirement forbids, a piece permits only if it says so, and does not speak of its refusal as well."""
_NARROWS: Final = re.compile(
    r"\b(?:again|after|as long as|except|if|more than once|only|second|twice|unless|until|when(?:ever)?|where"
    r"|while)\b",
    re.IGNORECASE,
)
"""A denial with a condition is not one of the whole."""
_WITHOUT: Final = " without "
"""How a contradiction names a denial that is lost."""
_TURNS: Final = re.compile(
    r"\b(?:backwards?|invert(?:ed|s)?|negat(?:ed|es?|ing)|revers(?:ed?|es|ing))\b", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIGITS: Final = re.compile(r"\d+")
_FEW_WORDS: Final = 2
"""Words that a requirement shares with nothing else, of which so many in one piece may speak of it."""
_TRADE: Final = frozenset(
    stem(word)
    for word in re.findall(
        r"\w+",
        """
        add agree branch bug call change check class code comment commit correct diff fail file finish fix function
        handle helper implement import line list look make message method mind module name new note number pass plan
        print project read replace return review rewrite run script set start step string task test text tidy todo
        type update value variable verify work write
        """,
    )
)
"""Of any work an agent says and writes these: one by itself is no sign of a requirement."""
_MOST: Final = 0.5
"""Share of a requirement's words that a text of several sentences must have to be looked at as a whole."""
_LEAST_NAME: Final = 3
"""Letters of a name or value that is looked for by itself; a shorter one stands anywhere."""


class How(IntEnum):
    """How a text speaks of a requirement, least first."""

    GLANCED = 1
    """One word of its own is there, and nothing is said of another that has as much of it."""
    HINTED = 2
    """Some of its own words are there, in whatever sense."""
    PARTLY = 3
    FAITHFUL = 4
    OTHERWISE = 5


@dataclass(frozen=True, slots=True)
class Said:
    """One text that speaks of a requirement: ``seq`` is its event, ``words`` the piece, ``detail`` what is wrong."""

    seq: int
    how: How
    words: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """``scores`` are the shares of each requirement's words that it has, where it has any; ``best`` is the most."""

    text: str
    stems: frozenset[str]
    is_of_several: bool
    scores: dict[str, float]
    best: float


class AgentWords:
    """All that an agent said in an attempt: questions, plans, what it wrote beside its actions, commits' subjects."""

    def __init__(self, events: Iterable[Event], ledger: Ledger, read_blob: Callable[[str], bytes]) -> None:
        """Nothing is read before it is asked for, and each blob at most once."""
        self._ledger = ledger = _legible(ledger)
        self._stems = {each.id: read(each.text).stems for each in ledger.requirements}
        self._own = {each.id: _own_stems(each, ledger, self._stems) for each in ledger.requirements}
        self._names = {each.id: own_names(each, ledger) for each in ledger.requirements}
        self._known = plain("\n".join((ledger.brief, *(each.text for each in ledger.requirements))))
        self._sources = [(event.seq, text) for event in events for text in _sources(event)]
        self._read_blob = read_blob
        self._blobs: dict[str, str | None] = {}
        self._pieces: dict[str, tuple[_Piece, ...]] = {}
        self._heard: dict[tuple[str, str], Said | None] = {}

    def of(self, name: str, after: int) -> list[Said]:
        """The texts behind an event that speak of a requirement, in order, from the last that says it outright."""
        found: list[Said] = []
        for seq, text in reversed([*self._texts(after)]):
            key = name, text
            if key not in self._heard:
                self._heard[key] = self._hear(self._ledger[name], text)
            if said := self._heard[key]:
                found.append(replace(said, seq=seq))
                if said.how >= How.FAITHFUL:
                    break
        return found[::-1]

    def speaks_of_others(self, name: str, told: Iterable[str], after: int) -> int | None:
        """The first text behind an event that says a requirement of ``told`` other than ``name``."""
        others = [self._ledger[each] for each in told if each != name]
        for seq, text in self._texts(after):
            for piece in self._pieces_of(text):
                for each in others:
                    is_near = piece.scores.get(each.id, 0.0) >= CONVEYED_FROM
                    if is_near and conveyed(each, piece.text).verdict == "conveyed":
                        return seq
        return None

    def is_unreadable(self, after: int) -> bool:
        """Whether some text behind an event cannot be read any more."""
        return any(seq > after and self._text(source) is None for seq, source in self._sources)

    def _texts(self, after: int) -> Iterator[tuple[int, str]]:
        for seq, source in self._sources:
            if seq > after and (text := self._text(source)):
                yield seq, text

    def _text(self, source: tuple[str, bool]) -> str | None:
        content, is_blob = source
        if content not in self._blobs:
            raw = _read(self._read_blob, content) if is_blob else content
            self._blobs[content] = None if raw is None else legible(raw)
        return self._blobs[content]

    def _pieces_of(self, text: str) -> tuple[_Piece, ...]:
        if text not in self._pieces:
            self._pieces[text] = tuple(
                self._piece(each, is_of_several=is_of_several) for each, is_of_several in _split(text)
            )
        return self._pieces[text]

    def _piece(self, text: str, *, is_of_several: bool) -> _Piece:
        stems = _stems(text)
        shared = ((name, len(own & stems), len(own)) for name, own in self._stems.items())
        scores = {name: has / of for name, has, of in shared if has}
        return _Piece(text, stems, is_of_several, scores, max(scores.values(), default=0.0))

    def _hear(self, wanted: Requirement, text: str) -> Said | None:
        """How one text speaks of it: by its last plain words, else by the most that is said."""
        found = [said for piece in self._pieces_of(text) if (said := self._of_piece(wanted, piece))]
        plain = [said for said in found if said.how >= How.FAITHFUL]
        return plain[-1] if plain else max(found, key=lambda said: said.how, default=None)

    def _of_piece(self, wanted: Requirement, piece: _Piece) -> Said | None:
        score = piece.scores.get(wanted.id, 0.0)
        if not score:
            return None
        said = self._outright(wanted, piece, score)
        if said is not None:
            return said
        named = [name for name in self._names[wanted.id] if _says(name, wanted, piece.text)]
        hints = self._own[wanted.id] & piece.stems
        signs = hints - _TRADE
        if named or len(hints) >= _FEW_WORDS:
            return Said(0, How.HINTED, piece.text, ", ".join(named) or ", ".join(sorted(hints)))
        if signs and score >= piece.best:
            return Said(0, How.GLANCED, piece.text, ", ".join(sorted(signs)))
        return None

    def _outright(self, wanted: Requirement, piece: _Piece, score: float) -> Said | None:
        """What a piece says of a requirement, that says no other one better; or that says several."""
        is_about = score >= piece.best
        if score < (PARTLY_FROM / 2 if is_about else _MOST if piece.is_of_several else 2):
            return None
        found = conveyed(wanted, piece.text)
        if found.verdict == "conveyed":
            is_left = _LEFT_OUT.search(piece.text) and not _LEFT_OUT.search(wanted.text)
            how, detail = (How.PARTLY, "it is left out") if is_left else (How.FAITHFUL, "")
        elif not piece.is_of_several and (against := self._against(wanted, piece, found)):
            is_aside = _asks(piece.text) or (
                _NO_CLAIM.search(piece.text) and not _NO_CLAIM.search(wanted.text)
            )
            is_claim = not is_aside and _is_plain(against, wanted, piece.text)
            how, detail = (How.OTHERWISE if is_claim else How.PARTLY), ", ".join(against)
        elif found.verdict == "partly" and is_about:
            how, detail = How.PARTLY, f"without {', '.join(found.missing)}" if found.missing else ""
        else:
            return None
        return Said(0, how, piece.text, detail)

    def _against(self, wanted: Requirement, piece: _Piece, found: Conveyance) -> tuple[str, ...]:
        """What a piece says against a requirement that it is about: its opposite, or another value of the kind."""
        score = piece.scores[wanted.id]
        if found.contradicts:
            return found.contradicts if score >= PARTLY_FROM else ()
        if score < CONVEYED_FROM:
            return ()
        kinds = [_kind(plain(value)) for value in found.missing_values]
        others = (other[0] for kind in kinds if kind for other in kind.finditer(plain(piece.text)))
        return tuple(dict.fromkeys(other for other in others if other not in self._known))


def _asks(text: str) -> bool:
    """Whether it ends in a question mark, or in signs behind one."""
    for sign in reversed(text):
        if sign == "?":
            return True
        if sign.isalnum() or sign == "_":
            return False
    return False


def _is_plain(against: Sequence[str], wanted: Requirement, text: str) -> bool:
    """Whether a piece contradicts a requirement outright: not in a part, and not by saying the same the other way.

    What is turned round twice ("the oldest last" for "the newest first") is the same again.
    """
    numbers = [each for each in against if _DIGITS.search(each)]
    if any(not re.search(rf"\bafter {re.escape(each)}(?!\w)", text, re.IGNORECASE) for each in numbers):
        return True
    lost = [each for each in against if _WITHOUT in each]
    if lost and _GRANTS.search(text) and not _REFUSES.search(text):
        return True
    turned = [each for each in against if each not in lost and each not in numbers]
    denied = [each for each in turned if " " in each]
    if denied and _NARROWS.search(text):
        return False
    times = len(turned) + (_TURNS.search(text) is not None and _TURNS.search(wanted.text) is None)
    return times % 2 == 1 and not lost


def _kind(value: str) -> re.Pattern[str] | None:
    """Values that differ from one in their numbers alone; ``None`` of a bare number: another may count anything."""
    parts = _DIGITS.split(value)
    if len(parts) == 1 or not any(map(str.strip, parts)):
        return None
    return re.compile(rf"(?<!\w){r'\d+'.join(map(re.escape, parts))}(?!\w)")


def _legible(ledger: Ledger) -> Ledger:
    """As the texts that it is looked for in are: one form of each letter and sign."""
    return replace(
        ledger,
        brief=legible(ledger.brief),
        requirements=tuple(
            replace(
                each,
                text=legible(each.text),
                identifiers=tuple(map(legible, each.identifiers)),
                values=tuple(map(legible, each.values)),
                negations=tuple(map(legible, each.negations)),
            )
            for each in ledger.requirements
        ),
    )


def words_in(text: str) -> frozenset[str]:
    """Stems of the words and parts of names in it, and its numbers."""
    return _stems(text.replace("_", " "))


def own_words(wanted: Requirement, ledger: Ledger) -> frozenset[str]:
    """Of a requirement the stems and numbers that neither the brief nor another requirement has, and not all work."""
    others = (
        words_in(text) for text in (ledger.brief, *(e.text for e in ledger.requirements if e.id != wanted.id))
    )
    return words_in(wanted.text).difference(_TRADE, *others)


def _stems(text: str) -> frozenset[str]:
    """Those of its words, whatever they are about: the reading of clauses takes ten times as long."""
    words = _WORD.findall(_HUMP.sub(" ", text).casefold())
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)


def own_names(wanted: Requirement, ledger: Ledger) -> tuple[str, ...]:
    """Identifiers and values of a requirement that no other one has, and the brief does not say."""
    others = [ledger.brief, *(each.text for each in ledger.requirements if each.id != wanted.id)]
    return tuple(
        name
        for name in (*wanted.identifiers, *wanted.values)
        if len(name.strip("`'\"")) >= _LEAST_NAME and not any(_says(name, wanted, text) for text in others)
    )


def _says(name: str, wanted: Requirement, text: str) -> bool:
    says = says_identifier if name in wanted.identifiers else says_value
    return says(name, text)


def _own_stems(wanted: Requirement, ledger: Ledger, stems: dict[str, frozenset[str]]) -> frozenset[str]:
    """Words of a requirement that neither the brief nor another requirement has."""
    others = (own for name, own in stems.items() if name != wanted.id)
    return stems[wanted.id].difference(read(ledger.brief).stems, *others)


def _sources(event: Event) -> Iterator[tuple[str, bool]]:
    """The texts of an event, each as it is, or as the blob that holds it."""
    body = event.body
    match event.kind:
        case EventKind.ASKED:
            yield body["text"], False
        case EventKind.MODEL_CALLED if not body["side"] and body.get("text"):
            yield body["text"], True
        case EventKind.CHECKPOINT if body["of"] == CheckpointKind.PLAN and body.get("text"):
            yield body["text"], True
        case EventKind.CHECKPOINT if body["subject"]:
            yield body["subject"], False
        case _:
            pass


def _read(read_blob: Callable[[str], bytes], digest: str) -> str | None:
    raw = read_blob(digest)
    return raw.decode("utf-8", "replace") if raw or digest == _NOTHING else None


_NOTHING: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The hash of no bytes at all."""


def _without_code(text: str) -> str:
    """Without fenced blocks, whose lines are no words; a fence that nothing closes fences nothing."""
    lines = text.split("\n")
    marks = [line.strip(" \t") for line in lines]
    closing: list[dict[str, int]] = []
    nearest: dict[str, int] = {}
    for at in reversed(range(len(lines))):
        closing.append(nearest)
        if marks[at] in _FENCES:
            nearest = {**nearest, marks[at]: at}
    closing.reverse()
    kept, at = [], 0
    while at < len(lines):
        end = closing[at].get(marks[at][:3])
        kept.append(lines[at] if end is None else "")
        at = at + 1 if end is None else end + 1
    return "\n".join(kept)


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs and items, then, of those with several, their sentences; each with whether it has several."""
    for block in _BLOCK.split(_without_code(text)):
        whole = _MARK.sub("", " ".join(block.split()))
        sentences = [each for each in _SENTENCE.split(whole) if each]
        if not sentences:
            continue
        yield whole, len(sentences) > 1
        if len(sentences) > 1:
            yield from ((each, False) for each in sentences)
