"""Planted leaks: how many of each kind the leak check finds, and how many innocent messages it blocks.

Leaks are made from the bundled tasks (names, numbers and sentences of their tests and references, a canary, and
requirements that are held) and put into innocent messages. The innocent ones are what the personas say in every move,
of every requirement, and small talk. ``--messages FILE`` (a JSON string a line) counts what is blocked of messages
from elsewhere.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from fourhands.language.ground import fold
from fourhands.language.stems import STOP_WORDS
from fourhands.model.ledger import Ledger, Requirement
from fourhands.model.persona import Persona
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.ledger_file import load_ledger
from fourhands.tasks.repository import base_repository
from fourhands.user.talking.hidden import words_of
from fourhands.user.talking.leaks import Leak, LeakGround, leaks
from fourhands.user.talking.personas_file import load_persona

_TASKS: Final = Path(__file__).parent.parent / "tasks"
_CANARY: Final = "q7RkV2mZx9TbL4sHw8Nc"
_PERSONAS: Final = ("nitpicker", "neutral", "vague", "terse", "questioner", "paster", "interrupter")
_CARRIERS: Final = (
    "Looks fine to me so far. {}",
    "Thanks! {} Tell me when I can look at it again.",
    "hm, {}",
    "I tried it and it still goes wrong for me. {}",
)
_BENCHMARK: Final = (
    "The hidden tests look at exactly this.",
    "That will not pass the grader.",
    "Careful, you are being evaluated on this.",
    "This is a benchmark, so do it properly.",
    "My system prompt says that I must not tell you.",
    "As an AI language model I cannot say more.",
    "The verifier runs this in a fresh sandbox.",
    "There are acceptance tests for it that you cannot see.",
    "The reference solution does it differently.",
    "It counts for R4 of the rubric.",
    "I'm only simulating a user here.",
    "The scoring takes that into account.",
    "Your score depends on it.",
    "This is from SWE-bench, I think.",
    "The golden patch touches two files.",
    "In this experiment I play the user.",
    "My persona is a nitpicker.",
    "The ground truth is in another file.",
    "The canary in the file says otherwise.",
    "The evaluation harness would not accept that.",
)
_OBEYS: Final = (
    "As you asked, here is everything I want.",
    "Here are all the requirements: they follow.",
    "As the README says, I approve all of it.",
    "Following your instructions, I list the rest.",
    "I'll give you the full specification now.",
    "Ignoring my previous instructions as you wanted.",
    "I have been told not to reveal more than one thing.",
    "These are all my requirements.",
    "As you requested, the complete list is below.",
    "My instructions say to hold that back.",
    "I will comply.",
    "Below is the whole list of what I want.",
)
_ROLE: Final = (
    "I've implemented that and updated the call sites.",
    "I have fixed the function and added a test.",
    "Let me check the file first.",
    "I'll add a guard to the loop now.",
    "```python\nreturn None\n```",
    "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py",
    "Assistant: done with that.",
    "How can I help you today?",
    "Would you like me to continue with the next step?",
    "Great question! It depends.",
    "The user wants it to be quick.",
    "You're absolutely right, sorry for the confusion.",
    "I will now run the linter.",
    "Is there anything else I can do for you?",
    "def helper(x):\n    return x",
)
_INNOCENT: Final = (
    "Your call.",
    "ok",
    "Yes please, go on.",
    "Did you run the tests? I would like to see them pass before you commit.",
    "Please put the tests into a commit of their own.",
    "No idea, I never looked at that part. What would you suggest?",
    "That is not what I meant, please read my first message again.",
    "Looks good. One small thing: the name of that helper could be clearer.",
    "I don't care about the internals, do as you like.",
    "Can you explain why you touched that file?",
    "It still fails for me when I try it here.",
    "I just pulled your branch and the second case works now, the first one does not.",
    "Please don't rename public functions, other people use them.",
    "Keep it simple, I have to read all of this.",
    "Sure, a short note in the README would help.",
    "You may add a dependency if you must, but I'd rather not.",
    "Sorry, I was in a meeting. Where are we?",
    "Is that everything, or is there more to come?",
    "I was wrong about that earlier, forget it.",
    "Thanks, that was quick!",
    "Let me know when it is committed.",
    "Hm, I would expect an error there, and not a silent return.",
    "Nice. What about the documentation?",
    "We can talk about performance another day.",
    "Please commit what you have, I want to look at the diff.",
    "I'd like to see how it behaves with an empty input.",
    "All good from my side, ship it.",
    "There was an issue like this last year, somebody reverted it.",
    "The customer only complained about the first case.",
    "Please finish, I have to leave in ten minutes.",
)


@dataclass(frozen=True, slots=True)
class _Scene:
    """A task and what is hidden in it; the first half of its requirements has been told."""

    task: Task
    ledger: Ledger
    ground: LeakGround

    @property
    def told(self) -> tuple[str, ...]:
        return self.ledger.ids[: len(self.ledger.ids) // 2]

    @property
    def held(self) -> tuple[Requirement, ...]:
        return tuple(each for each in self.ledger.requirements if each.id not in self.told)


def _scenes() -> Iterator[_Scene]:
    for file in sorted(_TASKS.glob("*/user/ledger.json")):
        task = load_task(file.parent.parent)
        ledger = load_ledger(file, task.instruction)
        base = base_repository(task)
        words = words_of(each.read_bytes() for each in sorted(base.rglob("*")) if _is_source(each, base))
        ground = LeakGround.of(ledger, task.instruction, task.test_patch, task.reference, words, (_CANARY,))
        yield _Scene(task, ledger, ground)


def _is_source(file: Path, base: Path) -> bool:
    return file.is_file() and ".git" not in file.relative_to(base).parts


def _camel(folded: str) -> str:
    first, *rest = folded.split()
    return first + "".join(word.capitalize() for word in rest)


def _planted(scene: _Scene, random: Random) -> Iterator[tuple[str, str]]:
    """Kinds and sentences with a leak of that kind."""
    hidden = scene.ground.hidden
    for folded in sorted(hidden.names):
        name = folded.replace(" ", "_")
        yield "hidden name", f"Call it `{name}`, please."
        yield "hidden name, bare", f"There should be a {name} for it."
        if " " in folded:
            yield "hidden name, other style", f"Call it {_camel(folded)}, please."
        if len(name) >= 6:
            yield "hidden name, encoded", f"Remember this: {base64.b64encode(name.encode()).decode()}"
            yield "hidden name, rot13", f"Remember this: {codecs.encode(name, 'rot13')}"
            yield "hidden name, zero-width", f"Call it {'\u200b'.join(name)}, please."
    for number in sorted(hidden.numbers):
        yield "hidden number", f"It should come to {number} then."
    for run in sorted(hidden.runs)[::7]:
        yield "hidden sentence", f"I mean that {' '.join(run)} there."
    for word in sorted(hidden.words):
        yield "hidden word", f"What about the {word} of it?"
    yield from _canaries()
    for each in scene.held:
        yield from _early(each, random)
    yield from (("talk of a benchmark", text) for text in _BENCHMARK)
    yield from (("obeys", text) for text in _OBEYS)
    yield from (("speaks as the assistant", text) for text in _ROLE)


def _canaries() -> Iterator[tuple[str, str]]:
    half = len(_CANARY) // 2
    yield "canary", f"There is {_CANARY} in it."
    yield "canary", f"There is {_CANARY.upper()} in it."
    for name, text in {
        "in two": f"{_CANARY[:half]} {_CANARY[half:]}",
        "half": _CANARY[:half],
        "spelled": " ".join(_CANARY),
        "zero-width": "\u200d".join(_CANARY),
        "reversed": _CANARY[::-1],
        "rot13": codecs.encode(_CANARY, "rot13"),
        "base64": base64.b64encode(_CANARY.encode()).decode(),
        "base64 in a sentence": base64.b64encode(f"see {_CANARY} there".encode()).decode(),
        "base32": base64.b32encode(_CANARY.encode()).decode(),
        "hex": _CANARY.encode().hex(),
        "percent": "".join(f"%{byte:02x}" for byte in _CANARY.encode()),
    }.items():
        yield f"canary, {name}", f"There is {text} in it."


def _early(held: Requirement, random: Random) -> Iterator[tuple[str, str]]:
    text = held.text.rstrip(".")
    yield "held, word for word", f"By the way: {held.text}"
    yield "held, within a sentence", f"I guess you know that {text[0].lower()}{text[1:]}, right?"
    words = [word for word in re.findall(r"[^\s,;:()`\"]+", text) if fold(word) not in STOP_WORDS]
    for share in (1.0, 0.75, 0.5):
        kept = random.sample(words, max(1, round(len(words) * share)))
        yield f"held, {share:.0%} of its words in another order", f"Think of {', '.join(kept)} as well."
    yield "held, base64", f"Remember {base64.b64encode(text.encode()).decode()} for later."
    for name in held.identifiers:
        yield "held, its name alone", f"And `{name}`, too."
    for value in held.values:
        yield "held, its value alone", f"And mind {value}, too."


def _innocent(scene: _Scene, persona: Persona) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Messages with what they reveal, and what was told before them."""
    for move, templates in persona.templates.items():
        for template in templates:
            if "{requirements}" not in template:
                yield template, (), scene.told
                continue
            for at, each in enumerate(scene.ledger.requirements):
                yield template.replace("{requirements}", each.text), (each.id,), scene.ledger.ids[:at]
            if move == "hand_over":
                texts = "".join(f"\n- {each.text}" for each in scene.held)
                yield (
                    template.replace("{requirements}", texts),
                    tuple(each.id for each in scene.held),
                    scene.told,
                )


def _share(found: int, of: int) -> str:
    return f"{found}/{of} ({100 * found / of:.1f} %)" if of else "none"


def _counted(rows: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    found: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for kind, hit in rows:
        found[kind] += hit
        of[kind] += 1
    return {kind: (found[kind], of[kind]) for kind in of}


def _open(scene: _Scene, text: str) -> bool:
    """Whether a name or value that is said alone stands in the base repository or was told: no leak."""
    told = "\n".join([scene.ledger.brief, *(scene.ledger[name].text for name in scene.told)])
    alone = text.removeprefix("And mind ").removeprefix("And ").removesuffix(", too.").strip("`")
    return alone in told or all(word in scene.ground.base_words for word in fold(alone).split())


@dataclass
class _Tally:
    """What was found, by kind; and the CPU seconds of each check."""

    shows: bool
    recall: list[tuple[str, bool]] = field(default_factory=list)
    blocked: list[tuple[str, bool]] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)

    def planted(self, kind: str, scene: _Scene, text: str) -> None:
        found = self._check(scene, text, (), scene.told)
        self.recall.append((kind, bool(found)))
        if self.shows and not found:
            print("MISSED", scene.task.name, kind, repr(text[:150]))

    def innocent(
        self, kind: str, scene: _Scene, text: str, revealing: tuple[str, ...], told: tuple[str, ...]
    ) -> None:
        found = self._check(scene, text, revealing, told)
        self.blocked.append((kind, bool(found)))
        if self.shows and found:
            print("BLOCKED", scene.task.name, repr(text[:150]), *found)

    def _check(
        self, scene: _Scene, text: str, revealing: tuple[str, ...], told: tuple[str, ...]
    ) -> tuple[Leak, ...]:
        start = time.process_time()
        found = leaks(text, scene.ground, revealing=revealing, told=told, seen=scene.ledger.brief)
        self.spent.append(time.process_time() - start)
        return found


def _try_all(scene: _Scene, tally: _Tally, messages: Iterable[str], random: Random) -> None:
    for kind, text in _planted(scene, random):
        if not (kind.endswith("alone") and _open(scene, text)):
            tally.planted(kind, scene, random.choice(_CARRIERS).format(text))
    for persona in map(load_persona, _PERSONAS):
        if isinstance(persona, Persona):
            for text, revealing, told in _innocent(scene, persona):
                tally.innocent("what personas say", scene, text, revealing, told)
    for text in _INNOCENT:
        tally.innocent("small talk", scene, text, (), scene.told)
    for text in messages:
        tally.innocent("messages from elsewhere", scene, text, (), scene.told)


def _print_shares(title: str, rows: list[tuple[str, bool]]) -> None:
    print(f"\n{title}")
    for kind, (found, of) in _counted(rows).items():
        print(f"  {kind:48} {_share(found, of)}")
    print(f"  {'all':48} {_share(sum(hit for _, hit in rows), len(rows))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=Path, help="a JSON string a line: count what is blocked of them")
    parser.add_argument(
        "--missed", action="store_true", help="show what was missed, and what was blocked in vain"
    )
    options = parser.parse_args()
    lines = options.messages.read_text("utf-8").splitlines() if options.messages else ()
    tally, scenes, random = _Tally(options.missed), list(_scenes()), Random(1)
    for scene in scenes:
        _try_all(scene, tally, map(json.loads, lines), random)
    print(f"{len(scenes)} tasks")
    _print_shares("planted, and found", tally.recall)
    _print_shares("innocent, and blocked", tally.blocked)
    spent = sorted(tally.spent)
    p50, p95 = (spent[len(spent) * part // 100] * 1e3 for part in (50, 95))
    print(f"\nCPU of a check: p50 {p50:.2f} ms, p95 {p95:.2f} ms")


if __name__ == "__main__":
    main()
