from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.tasks.results import TestStatus, by_listed_name, parse_results

KEY = "k" * 64
statuses = st.sampled_from(list(TestStatus))
ids = st.text(max_size=8)


def signed(number: int, record: dict[str, Any], key: str = KEY) -> bytes:
    payload = json.dumps(record)
    mac = hmac.new(key.encode(), f"{number}:{payload}".encode(), hashlib.sha256).hexdigest()
    return json.dumps({"number": number, "mac": mac, "payload": payload}).encode()


def told(results: list[tuple[str, TestStatus]]) -> list[bytes]:
    lines = [signed(n, {"id": name, "status": status}) for n, (name, status) in enumerate(results)]
    return [*lines, signed(len(lines), {"finished": True, "code": 0})]


@given(st.lists(st.tuples(ids, statuses), max_size=8), st.randoms())
def test_of_several_results_the_worst_counts_in_whatever_order(results: list[Any], order: Any) -> None:
    lines = told(results)
    order.shuffle(lines)
    parsed = parse_results(b"\n".join([*lines, *lines[:2]]), KEY)
    assert parsed.finished
    ranks = list(TestStatus)
    assert parsed.statuses == {
        name: min((s for n, s in results if n == name), key=ranks.index) for name, _ in results
    }


@given(st.lists(st.tuples(ids, statuses), min_size=1, max_size=6), st.data())
def test_a_record_left_out_shows(results: list[Any], data: st.DataObject) -> None:
    lines = told(results)
    del lines[data.draw(st.integers(0, len(lines) - 1))]
    assert not parse_results(b"\n".join(lines), KEY).finished


@given(st.binary(max_size=60))
def test_noise_is_nothing(noise: bytes) -> None:
    lines = told([("a", TestStatus.FAILED)])
    assert parse_results(b"\n".join([noise, *lines, noise]), KEY).statuses == {"a": TestStatus.FAILED}


@pytest.mark.parametrize(
    "forged",
    [
        signed(9, {"id": "a", "status": "passed"}, key="x" * 64),
        json.dumps({"number": 9, "mac": "", "payload": '{"id": "a", "status": "passed"}'}).encode(),
        signed(0, {"id": "a", "status": "passed"}).replace(b'"number": 0', b'"number": 9'),
        b"PASSED a",
        b"a ... ok",
        b'{"id": "a", "status": "passed"}',
        signed(9, {"id": "a", "status": "passed"})[:-30]
        + b"\n"
        + signed(9, {"id": "a", "status": "passed"})[-30:],
        b"[" * 100_000,
        b'{"number": 9, "mac": null, "payload": 1}',
        '{"number": 9, "mac": "é", "payload": "{}"}'.encode(),
    ],
)
def test_a_forged_or_wrapped_line_does_not_count(forged: bytes) -> None:
    assert parse_results(forged, KEY) == parse_results(b"", KEY)
    assert not parse_results(forged, KEY).finished


def test_a_list_may_name_a_test_by_its_start_or_by_the_end_of_a_path() -> None:
    found = by_listed_name(
        {
            "t.py::a[x y]": TestStatus.PASSED,
            "t.py::a[x z]": TestStatus.FAILED,
            "t.py::b[/testbed/t.py]": TestStatus.PASSED,
            "t.py::c[//host/t.py]": TestStatus.PASSED,
            "test_d (m.C)": TestStatus.PASSED,
            "u": TestStatus.PASSED,
            "u v": TestStatus.FAILED,
        }
    )
    assert found["t.py::a[x"] == TestStatus.FAILED
    assert found["t.py::b[/t.py]"] == TestStatus.PASSED
    assert "t.py::c[/t.py]" not in found
    assert found["test_d (m.C)"] == TestStatus.PASSED
    assert found["u"] == TestStatus.PASSED
