"""Lines as Codex 0.171.0 wrote them, less what nobody reads here."""

from __future__ import annotations

from fourhands.model.usage import Usage
from fourhands.trajectories.codex import reported_usage


def _count(*, given: int, cached: int, said: int, written: int = 0, thought: int = 0) -> bytes:
    return (
        b'{"timestamp":"2026-11-30T03:56:57.413Z","ordinal":34,"type":"event_msg","payload":{"type":"token_count",'
        b'"info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"cache_write_input_tokens":%d,'
        b'"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":%d},"last_token_usage":{"input_tokens":1,'
        b'"cached_input_tokens":1,"output_tokens":1,"reasoning_output_tokens":0,"total_tokens":2},'
        b'"model_context_window":258400},"rate_limits":{"limit_id":"codex","primary":null}}}'
    ) % (given, cached, written, said, thought, given + said)


META = (
    b'{"timestamp":"2026-11-30T03:56:53.966Z","ordinal":0,"type":"session_meta","payload":{"cwd":"/testbed"}}'
)
UNKNOWN = b'{"ordinal":5,"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":null}}'
QUOTED = b'{"ordinal":9,"type":"response_item","payload":{"output":"it says \\"type\\":\\"token_count\\""}}'


def test_the_last_total_of_every_thread_is_added_up() -> None:
    main = [
        META,
        _count(given=10314, cached=9282, said=67),
        _count(given=53079, cached=47769, said=430, thought=9),
    ]
    sub_agent = [META, _count(given=15345, cached=13810, said=134), QUOTED]
    whole = Usage(input=53079 - 47769 + 15345 - 13810, cache_read=47769 + 13810, output=564, reasoning=9)
    assert reported_usage([b"\n".join(main), b"\n".join(sub_agent)]) == whole


def test_input_excludes_what_a_cache_took_or_gave() -> None:
    assert reported_usage([_count(given=100, cached=60, written=30, said=5)]) == Usage(10, 60, 30, 5)


def test_a_thread_that_was_never_answered_counts_nothing() -> None:
    assert reported_usage([META + b"\n" + UNKNOWN]) is None
    assert reported_usage([UNKNOWN, _count(given=3, cached=1, said=1)]) == Usage(2, 1, 0, 1)


def test_a_line_that_was_cut_is_none() -> None:
    kept, cut = _count(given=3, cached=1, said=1), _count(given=9, cached=1, said=1)[:-20]
    assert reported_usage([kept + b"\n" + cut]) == Usage(2, 1, 0, 1)


def test_without_rollouts_nothing_is_reported() -> None:
    assert reported_usage([]) is None
