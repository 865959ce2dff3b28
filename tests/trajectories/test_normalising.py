"""What must differ between two runs is taken out of a text, and no more."""

from __future__ import annotations

import json
import re
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fourhands.trajectories.normalising import VARYING, normalised

DIFFERS = [
    ("Mon Nov 30 04:25:39 UTC 2026", "Tue Dec  1 16:02:00 UTC 2026"),
    ("Mon Nov 30 04:25:39 AM UTC 2026", "Tue Dec  1 12:02:00 PM UTC 2026"),
    ("Date:   Mon Nov 30 04:25:39 2026 +0000", "Date:   Tue Dec 1 04:25:40 2026 +0000"),
    ("2026-11-30 04:25:39 +0000", "2027-01-02 23:59:00 +0000"),
    ("2026-11-30T04:25:39.123Z", "2027-01-02T00:00:00.9Z"),
    ("2026-11-30 04:25:39,123 INFO go", "2026-12-30 04:25:39,003 INFO go"),
    ("Today's date: 2026-11-30", "Today's date: 2027-01-02"),
    ("Today's date is Monday, November 30, 2026.", "Today's date is Saturday, January 2, 2027."),
    ("Today: Mon Nov 30 2026", "Today: Sat Jan 02 2027"),
    ("Today: 30 November 2026", "Today: 2 January 2027"),
    ("11/30/2026", "1/2/2027"),
    ("[11/30/26 04:25:39] INFO", "[01/02/27 23:00:01] INFO"),
    ("-rw-r--r-- 1 a a 120 Nov 30 04:25 x", "-rw-r--r-- 1 a a 120 Jan  2 13:05 x"),
    ("-rw-r--r-- 1 a a 120 Nov 30  2025 x", "-rw-r--r-- 1 a a 120 Jan  2  2024 x"),
    ("04:25:39 INFO go", "16:02:00 INFO go"),
    ("at 1764476739123", "at 1799999999999"),
    ("1764476739.25", "1799999999.125"),
    ("1764476739\n", "1799999999\n"),
    ("5 passed in 0.12s", "5 passed in 12.01s"),
    ("5 passed in 75.21s (0:01:15)", "5 passed in 99.00s (0:01:39)"),
    ("0.50s call     test_a", "12.31s call     test_a"),
    ("Ran 5 tests in 0.003s", "Ran 5 tests in 0.120s"),
    ("--- PASS: TestA (0.00s)\nok  \tpkg\t0.003s", "--- PASS: TestA (1.25s)\nok  \tpkg\t1.300s"),
    ("✔ adds (0.7123ms)\n# duration_ms 45.123", "✔ adds (12.3ms)\n# duration_ms 107"),
    ("  ✓ adds (12 ms)\nTime:        1.234 s", "  ✓ adds (7 ms)\nTime:        0.9 s"),
    ("Wall time: 0.0521 seconds", "Wall time: 1.2 seconds"),
    ('{"duration_ms":123}', '{"duration_ms":9}'),
    ("real\t0m0.012s\nuser\t0m0.001s", "real\t1m2.345s\nuser\t0m0.100s"),
    ("session 0190b0a2-7d7c-4b1e-8f33-0123456789ab", "session f190b0a2-7d7c-4b1e-8f33-0123456789ab"),
    ("ses_5f1c2b3a4d5eAbCdEfGhIjKlMn", "ses_0f1c2b3a4d5e00000000000000"),
    ("Chunk ID: 63ce4d\nWall time: 0.0000 seconds", "Chunk ID: 8259c2\nWall time: 12.1 seconds"),
    (
        "/home/me/.cache/fourhands/npm/0123456789abcdef0123456789abcdef/node_modules/x",
        "/var/cache/npm/fedcba9876543210fedcba9876543210/node_modules/x",
    ),
    ("/tmp/tmpab12cd_x/out", "/tmp/tmp00000000/out"),
    ("/tmp/tmp.AbC012defG", "/tmp/tmp.0000000000"),
    ("<a.B object at 0x7f0011223344>", "<a.B object at 0x7fffeeddccbb>"),
    ("0x55d0e7a3b2c1", "0x7ffd00000001"),
    ("commit 0123456789abcdef0123456789abcdef01234567", "commit fedcba9876543210fedcba9876543210fedcba98"),
    ("[main 1a2b3c4] mend", "[main 9f8e7d6] mend"),
    ("[main (root-commit) 1a2b3c4] mend", "[main (root-commit) 9f8e7d6] mend"),
    ("1a2b3c4 mend\n5d6e7f8 begin", "9f8e7d6 mend\n0a1b2c3 begin"),
    ("Linux 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64", "Linux 6.18.44 #7 SMP PREEMPT_DYNAMIC @0 aarch64"),
    ("OS Version: Linux 6.1.0-18-amd64", "OS Version: Linux 5.15.0"),
]
STAYS = [
    "src/a.py:12:34: error",
    "a.c:10:20:30: note",
    "line 12, in f",
    "returncode 1",
    "exit status 124",
    "version 2.1.332",
    "python 3.12.1",
    "2048 bytes",
    "1.5 MB",
    "-rw-r--r-- 1 a a 1700000000 x",
    "total 1700000000 files",
    "30 seconds",
    "killed after 120 seconds",
    "delay = 500ms",
    "transition: 0.5s",
    "10.25 s",
    "index 83db48f..bf269f4 100644",
    "#ff00aa",
    "0xdeadbeef",
    "1234567 lines",
    "defaced things",
    "/tmp/notes.txt",
    "/tmp/template",
    "1/2/3/5",
    "12.34.56.78",
    "00:11:22:33:44:55",
    "1999-12-31",
    "call_0_178c3c454326",
    "toolu_01AbCdEfGh",
    "the march of May",
    "+12 -3",
    "5 passed, 1 failed",
]
TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from([each for pair in DIFFERS for each in pair] + STAYS),
    st.text(alphabet="0123456789abcdef-:/. \\n", max_size=30),
)
JOINED = st.lists(TEXTS, max_size=6).map("".join)
WORDS = st.text(alphabet=string.ascii_letters, min_size=1, max_size=12)
NUMBERS = st.integers(0, 10**9)


@pytest.mark.parametrize(("one", "other"), DIFFERS)
def test_what_differs_from_run_to_run_does_not_count(one: str, other: str) -> None:
    assert one != other
    for wrapped in (
        str,
        lambda text: f"before\n{text}\nafter",
        lambda text: json.dumps({"o": f"x\n{text}\n"}),
    ):
        assert normalised(wrapped(one)) == normalised(wrapped(other))
        assert normalised(wrapped(one)) != wrapped(one)


@pytest.mark.parametrize("text", STAYS)
def test_what_does_not_is_left_as_it_is(text: str) -> None:
    for wrapped in (text, f"before\n{text}\nafter", json.dumps({"o": f"x\n{text}\n"})):
        assert normalised(wrapped) == wrapped


@example("ime: 0.0sMon Nov 1 00:00:00 AAA 2020")
@example("0x55d0e7a3b2c10190b0a2-7d7c-4b1e-8f33-0123456789ab")
@example("Mon Nov 1 00:00:00 AAA 2020/tmp/tmp00000000")
@given(JOINED)
def test_twice_is_once(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(
    template=st.sampled_from(
        [
            "src/a.py:{}: error",
            "line {} of 12",
            "exit status {}",
            "{} bytes",
            "version 1.{}.0",
            "{} passed, 2 failed",
            "returncode: {}",
            '{{"code": {}, "output": ""}}',
            "took {} steps",
        ]
    ),
    one=NUMBERS,
    other=NUMBERS,
)
def test_numbers_that_matter_tell_texts_apart(template: str, one: int, other: int) -> None:
    texts = template.format(one), template.format(other)
    assert (normalised(texts[0]) == normalised(texts[1])) is (one == other)


@given(before=JOINED, word=WORDS, other=WORDS, after=JOINED)
def test_a_changed_word_is_never_hidden(before: str, word: str, other: str, after: str) -> None:
    one, two = (f"{before} {each}, {after}" for each in (f"<{word}>", f"<{other}>"))
    assert (normalised(one) == normalised(two)) is (word == other)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | JOINED,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_of_json_only_texts_change(value: object) -> None:
    def shape(each: object) -> object:
        if isinstance(each, list):
            return [shape(item) for item in each]
        if isinstance(each, dict):
            return {key: shape(item) for key, item in each.items()}
        return str if isinstance(each, str) else each

    assert shape(normalised(value)) == shape(value)
    assert normalised(normalised(value)) == normalised(value)


HOSTILE = [
    "1",
    "/a",
    "/a/environments",
    "a1",
    "a",
    " ",
    "Mon ",
    "Jan 1 ",
    "in 1.",
    "aaaaaaaa-",
    "Linux 6.1.1-",
    "10:10:",
    "/tmp/tmp",
]


@pytest.mark.parametrize(
    "piece", [*HOSTILE, "Linux 6.1.1 #1 ", "2026-1", 'duration_ms": ', "ime:  ", "at 0x1"]
)
def test_a_megabyte_of_hostile_text_takes_no_longer_than_its_length(piece: str) -> None:
    """Ten times the text takes about ten times as long: a hundred times would be the square."""

    def took(length: int) -> float:
        text = piece * (length // len(piece))
        begun = time.process_time()
        normalised(text)
        return time.process_time() - begun

    small = min(took(100_000) for _ in range(3))
    assert took(1_000_000) < 40 * small + 0.2


def test_every_form_says_why_and_finds_something() -> None:
    texts = [text for pair in DIFFERS for text in pair]
    for each in VARYING:
        assert each.why
        assert any(re.search(each.pattern, text) for text in texts), each
