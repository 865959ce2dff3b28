from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.conversations.making.atoms import find_atoms
from fourhands.conversations.making.brief import VAGUEST, gives_away
from fourhands.conversations.making.splitter import split
from fourhands.language.conveyance import conveyed
from fourhands.model.errors import InputError
from fourhands.model.ledger import Ledger
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.ledger_file import LEDGER_FILE, ledger_json, load_ledger, unsaid

SPECIFICATION = """\
Stores can only be read line by line today, which is slow. Add batched reading.

## API

`Store` gains `read_many(keys, limit)` and the option `chunk_size`. It returns a list, never a generator.
Unknown keys raise `MissingKeyError` whose message contains "no such key".

## Constraints

- `limit` defaults to 100.
- Reading must not lock the store:

  ```py
  >>> store.read_many(["a"], 1)
  ['A']
  ```
- `chunk_size` below 1 is a `ValueError`.

## Background

We measured this in 2019 and it was slow. Readers cared.

IMPORTANT: Please work on this in a new branch from main and commit everything when you are done.
"""
REPORT = """\
# Totals are wrong on Mondays

Hi there! I noticed this last week. We run the report each Monday and it said 12:

```python
>>> total([3, 4])
12
```

`total` adds the first one twice. Same for `mean(...)`, by the way.

I'd expect 7. Empty lists should give 0, not an error. Please don't touch `median`, it is right.

Python 3.12, sums 1.4
"""


def _texts(ledger: Ledger) -> list[str]:
    return [each.text for each in ledger.requirements]


def test_a_specification_is_split_into_all_that_it_asks_for() -> None:
    assert _texts(split(SPECIFICATION)) == [
        "`Store` gains `read_many(keys, limit)` and the option `chunk_size`. It returns a list, never a generator.",
        'Unknown keys raise `MissingKeyError` whose message contains "no such key".',
        "`limit` defaults to 100.",
        "Reading must not lock the store:\n```\n>>> store.read_many([\"a\"], 1)\n['A']\n```",
        "`chunk_size` below 1 is a `ValueError`.",
    ]


def test_of_a_report_only_what_is_expected_counts() -> None:
    assert _texts(split(REPORT)) == [
        "`total` adds the first one twice. Same for `mean(...)`, by the way.",
        "I'd expect 7.",
        "Empty lists should give 0, not an error.",
        "Please don't touch `median`, it is right.",
    ]


def test_the_opening_says_what_it_is_about_and_no_more() -> None:
    assert split(SPECIFICATION).brief == "Add batched reading. I will tell you more as we go."
    assert split(REPORT).brief == "Totals are wrong on Mondays. Could you take care of that?"
    assert split("Make `a` and `b` sort by `key`, always.").brief == VAGUEST


def test_each_requirement_has_what_must_be_said_exactly() -> None:
    api, missing, _, lock, _ = split(SPECIFICATION).requirements
    assert api.identifiers == ("Store", "read_many", "chunk_size")
    assert (api.values, api.negations) == (("read_many(keys, limit)",), ("never",))
    assert (missing.identifiers, missing.values) == (("MissingKeyError",), ("no such key",))
    assert (lock.values, lock.negations) == (("['A']",), ("must not",))


def test_a_span_is_the_passage_itself() -> None:
    ledger = split(SPECIFICATION)
    assert SPECIFICATION[slice(*ledger["R3"].span)] == "`limit` defaults to 100."
    assert SPECIFICATION[slice(*ledger["R2"].span)].startswith("Unknown keys raise")


def test_what_uses_a_name_depends_on_what_brings_it() -> None:
    ledger = split(SPECIFICATION)
    assert ledger["R5"].depends_on == ("R1",)
    assert [each.depends_on for each in ledger.requirements[:3]] == [(), (), ()]


def test_sections_are_goals_and_weights_come_to_a_hundred() -> None:
    ledger = split(SPECIFICATION)
    assert [(goal.text, goal.weight, goal.requirements) for goal in ledger.goals] == [
        ("API", 40.0, ("R1", "R2")),
        ("Constraints", 60.0, ("R3", "R4", "R5")),
    ]
    assert ledger.goals[0].evidence == (
        "The code does what R1 and R2 ask for, and a test or a run shows it; names to look for: Store, read_many, "
        "chunk_size, MissingKeyError."
    )
    assert list(ledger.problems(SPECIFICATION)) == []


def test_a_list_that_continues_a_sentence_is_said_with_it() -> None:
    text = "Change the parser.\n\nWhen a comment ends, the reader must:\n\n- skip blank lines\n- count the line\n"
    assert _texts(split(text))[-2:] == [
        "When a comment ends, the reader must: skip blank lines",
        "When a comment ends, the reader must: count the line",
    ]


def test_an_interface_in_a_list_of_fields_is_one_requirement() -> None:
    text = """\
Can you split the engine up?

- Path: `api/a.go`
- Name: `NewHandler`
- Output: `http.Handler`

- Path: `api/b.go`
  - Name: `GetServer`
  - Output: `*http.Server`
"""
    ledger = split(text)
    assert _texts(ledger) == [
        "Path: `api/a.go`; Name: `NewHandler`; Output: `http.Handler`",
        "Path: `api/b.go`; Name: `GetServer`; Output: `*http.Server`",
    ]
    assert ledger.brief == "Can you split the engine up? I will tell you more as we go."


def test_rows_of_a_table_are_said_with_their_columns() -> None:
    text = (
        "Add these.\n\n## Options\n\n| option | default |\n| --- | --- |\n| `depth` | 3 |\n| `wide` | no |\n"
    )
    assert _texts(split(text))[-2:] == [
        "Options: option: `depth`; default: 3",
        "Options: option: `wide`; default: no",
    ]


def test_declarations_that_stand_by_themselves_are_requirements() -> None:
    code = "Report struct { Lines int }\n  Lines: never negative\nMerge(Report) Report"
    text = f"Add a report.\n\n## Types\n\n```\n{code}\n```\n"
    assert _texts(split(text))[-2:] == [
        "Types:\n```\nReport struct { Lines int }\n  Lines: never negative\n```",
        "Types:\n```\nMerge(Report) Report\n```",
    ]


def test_a_report_that_asks_for_nothing_wants_its_faults_put_right() -> None:
    text = "Tables lose their last row\n\nI read a file of mine. The writer drops the last row without an error.\n"
    ledger = split(text)
    assert _texts(ledger) == ["The writer drops the last row without an error."]
    assert ledger.brief == "Tables lose their last row. Could you take care of that?"


def test_one_sentence_that_is_all_there_is_to_say_is_kept_back() -> None:
    ledger = split("Sort the names.")
    assert (_texts(ledger), ledger.brief) == (["Sort the names."], VAGUEST)


@pytest.mark.parametrize("text", ["", "\n\n", "Thanks!", "Python 3.12, strata 1.1.0\n", "It is."])
def test_an_instruction_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no sentence that asks for anything"):
        split(text)


BUNDLED = sorted(bundled_tasks().items())


@pytest.mark.parametrize("folder", [folder for _, folder in BUNDLED], ids=[name for name, _ in BUNDLED])
def test_a_bundled_task_is_split_into_a_sound_ledger(folder: Path) -> None:
    instruction = (folder / "instruction.md").read_bytes().decode()
    ledger = split(instruction)
    assert [*ledger.problems(instruction), *unsaid(ledger)] == []
    assert list(gives_away(ledger.brief, ledger.requirements)) == []
    assert ledger_json(split(instruction)) == ledger_json(ledger)
    # A user who falls back to the text has said all of it.
    assert {conveyed(each, each.text).verdict for each in ledger.requirements} == {"conveyed"}


def test_the_splitter_finds_nearly_all_that_authors_hold_back() -> None:
    held = found = 0
    for _, folder in BUNDLED:
        instruction = (folder / "instruction.md").read_bytes().decode()
        covered = {place for atom in find_atoms(instruction) for place in range(*atom.span)}
        for each in load_ledger(folder / LEDGER_FILE, instruction).requirements:
            span = range(*each.span)
            held += 1
            found += 2 * len(covered.intersection(span)) > len(span)
    assert held >= 60
    assert found / held > 0.95


WORDS = st.sampled_from(
    [
        *(
            "The parser",
            "must",
            "should not",
            "returns",
            "`a_b`",
            "3",
            '"no"',
            "It",
            "is",
            "added.",
            "Add",
            "We tried.",
        ),
        *(
            "\n\n",
            "\n- ",
            "\n# T\n",
            "\n```\nx = 1\n```\n",
            "e.g.",
            ":",
            "\n| a | b |\n|---|---|\n| c | d |\n",
            "\r\n",
        ),
        *("\n---\n", "\u00a0", "\n\f\n", "\0", "\x1c"),
    ]
)


@given(st.lists(WORDS, max_size=40).map(" ".join))
@settings(max_examples=50)
def test_whatever_is_split_is_a_sound_ledger_with_passages_in_order(text: str) -> None:
    spans = [atom.span for atom in find_atoms(text)]
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    try:
        ledger = split(text)
    except InputError:
        assert "The parser must" not in text
        return
    assert [*ledger.problems(text), *unsaid(ledger)] == []
    assert list(gives_away(ledger.brief, ledger.requirements)) == []
