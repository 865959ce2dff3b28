from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.language.conveyance import conveyed
from fourhands.model.ledger import Requirement

STORED = Requirement(
    "R1",
    "The result of a load that was invalidated meanwhile must not be stored, but whoever waits for it may get it.",
    (0, 1),
    negations=("must not be stored",),
)
BOUND = Requirement(
    "R2",
    "`Cache.trim()` keeps at most 10000 entries.",
    (0, 1),
    identifiers=("Cache.trim()",),
    values=("10000",),
)
REFUNDS = Requirement(
    "R3", "Refunds are split the same way as bills, with the first person taking the cent.", (0, 1)
)


def verdict(requirement: Requirement, text: str) -> str:
    return conveyed(requirement, text).verdict


@pytest.mark.parametrize(
    "text",
    [
        "The result of an invalidated load must not be stored; those who wait for it may still get it.",
        "Don't store the result of a load that got invalidated meanwhile, whoever waits may get it.",
        "Please never store what a load results in once it was invalidated meanwhile; waiting ones may get it.",
        "the result of a load that was invaldated meanwhle must not be stored, whoever waits may get it",
    ],
)
def test_other_words_in_another_order_say_a_requirement(text: str) -> None:
    assert verdict(STORED, text) == "conveyed"


@pytest.mark.parametrize(
    "text",
    [
        "The result of a load that was invalidated meanwhile must be stored, but whoever waits for it may get it.",
        "Please store the result of a load that was invalidated meanwhile, whoever waits for it may get it.",
        (
            "It is not true that the result of a load that was invalidated meanwhile must not be stored, but "
            "whoever waits for it may get it."
        ),
    ],
)
def test_what_says_the_opposite_does_not_say_it(text: str) -> None:
    assert verdict(STORED, text) == "not"


def test_a_sentence_that_is_quoted_and_denied_is_not_said() -> None:
    assert verdict(STORED, f"Ready. {STORED.text}") == "conveyed"
    assert verdict(STORED, f"It is not the case that {STORED.text}") == "not"
    assert verdict(STORED, f"Please ignore that {STORED.text}") == "not"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("Refunds must be rounded down.", "Refunds must not be rounded down."),
        ("Sort the rows in ascending order by date.", "Sort the rows in descending order by date."),
        (
            "The oldest entry is dropped before the limit is reached.",
            "The newest entry is dropped before the limit",
        ),
        ("Keep the lock file, never remove it.", "Please remove the lock file, do not keep it."),
        ("Wait 5 seconds before a retry.", "Wait 50 seconds before a retry"),
    ],
)
def test_the_opposite_is_seen_without_anything_listed(wanted: str, said: str) -> None:
    values = ("5 seconds",) if "5" in wanted else ()
    found = conveyed(Requirement("R1", wanted, (0, 1), values=values), said)
    assert found.verdict == "not"
    assert found.contradicts


def test_a_negation_must_bind_the_same_words() -> None:
    moved = conveyed(
        STORED, "The result of an invalidated load is stored meanwhile; whoever waits must not get it."
    )
    assert moved.missing_negations == ("must not be stored",)
    assert moved.verdict == "not"


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`Cache.trim()` keeps at most 10000 entries", ()),
        ("Cache.trim keeps 10,000 entries at most", ()),
        ("at most 10 000 entries are kept by Cache.trim", ()),
        ("Cache.trim keeps at most ten thousand entries", ("10000",)),
        ("Cache.trim keeps at most 100000 entries", ("10000",)),
        ("Cache.trim keeps at most 10000.5 entries", ("10000",)),
        ("cache.trim keeps at most 10000 entries", ("Cache.trim()",)),
        ("trim() keeps at most 10000 entries", ("Cache.trim()",)),
        ("Cache.trimmed keeps at most 10000 entries", ("Cache.trim()",)),
        ("Cache.tr\u200bim keeps at most 10000 entries", ("Cache.trim()",)),
    ],
)
def test_names_and_values_are_exact(text: str, missing: tuple[str, ...]) -> None:
    found = conveyed(BOUND, text)
    assert found.missing == missing
    assert (found.verdict == "conveyed") is (not missing)


@pytest.mark.parametrize(
    ("value", "text", "is_said"),
    [
        ("30 s", "after 30 seconds", True),
        ("30 s", "after 30s", True),
        ("30 s", "after 30 minutes", False),
        ("10.00 EUR", "it is 10.00 EUR", True),
        ("10.00 EUR", "it is 10.00 USD", False),
        ("-1", "returns -1 then", True),
        ("1", "returns -1 then", False),
        ("1", "pages 0-1", True),
        ("2.1", "version 2.1.3", False),
        ('"no rows"', "it prints “no rows”", True),
        ('"no rows"', "it prints No rows", False),
        ("50 %", "half, so 50 percent", True),
    ],
)
def test_a_value_may_be_written_another_way_but_not_be_another(
    value: str, text: str, *, is_said: bool
) -> None:
    found = conveyed(Requirement("R1", f"Use {value}.", (0, 1), values=(value,)), text)
    assert (not found.missing_values) is is_said


def test_some_of_it_is_the_grey_zone() -> None:
    assert verdict(REFUNDS, "Refunds are split, too.") in {"partly", "not"}
    assert verdict(REFUNDS, "Refunds get split the same way as bills.") == "partly"
    assert verdict(REFUNDS, "Looks good, please go on.") == "not"


def test_a_question_that_expects_a_yes_denies_nothing() -> None:
    wanted = Requirement("R1", "Sort the rows by date.", (0, 1))
    assert verdict(wanted, "can't we sort the rows by date?") == "conveyed"
    assert verdict(wanted, "please don't forget to sort the rows by date") == "conveyed"
    assert verdict(wanted, "we won't sort the rows by date") == "not"


def test_words_far_apart_in_a_long_text_do_not_say_it() -> None:
    apart = " ".join(
        f"{word} {'something else entirely about colours and shapes ' * 12}" for word in REFUNDS.text.split()
    )
    assert verdict(REFUNDS, apart) == "not"
    assert verdict(REFUNDS, f"{apart} {REFUNDS.text} {apart}") == "conveyed"


WORDS = st.sampled_from(
    [
        *(
            "store",
            "cache",
            "never",
            "not",
            "the",
            "load",
            "result",
            "only",
            "unless",
            "value",
            "without",
            "10,000",
        ),
        *(
            "`a.b.c`",
            "key?",
            "don't",
            "must",
            "be,",
            "first",
            "and",
            "but",
            "3.5",
            "nobody",
            "“x",
            "y”",
            "refund",
        ),
        *("-1", "—", "(see)", "if", "except"),
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=25), st.lists(WORDS, max_size=4))
def test_its_own_words_always_say_a_requirement(words: list[str], names: list[str]) -> None:
    text = " ".join([*words, "ends.", *names])
    requirement = Requirement("R1", text, (0, 1), identifiers=tuple(names), negations=("must not",))
    assert verdict(requirement, f"One more thing I care about: {text}") == "conveyed"
    assert verdict(requirement, f"- Something else.\n- {text}\n- And that.") == "conveyed"


@given(st.text(max_size=300), st.text(min_size=1, max_size=80))
def test_any_text_is_read(text: str, wanted: str) -> None:
    found = conveyed(
        Requirement("R1", wanted, (0, 1), identifiers=(wanted,), values=(wanted,), negations=(wanted,)), text
    )
    assert 0 <= found.overlap <= 1
    assert not (found.verdict == "conveyed" and found.missing and wanted not in text)


def test_a_megabyte_is_read_in_no_time() -> None:
    start = time.process_time()
    assert verdict(STORED, "not " * 250_000) == "not"
    assert verdict(STORED, "a" * 1_000_000) == "not"
    assert verdict(STORED, "(" * 1_000_000) == "not"
    assert time.process_time() - start < 5


def test_a_negation_holds_beyond_the_end_of_a_wrapped_line() -> None:
    wrapped = (
        "What I'd expect: the shares add up. Nobody\nshould be off by a whole cent from\ntheir exact share."
    )
    text = "Nobody should be off by a whole cent from their exact share."
    one = Requirement("R1", text, (0, 1), negations=("Nobody",))
    assert conveyed(one, wrapped).verdict == "conveyed"
    assert (
        conveyed(one, "- Nobody is here\n- Be off by a whole cent from their exact share").verdict
        != "conveyed"
    )
