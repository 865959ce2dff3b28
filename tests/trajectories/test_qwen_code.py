from __future__ import annotations

from fourhands.model.usage import Usage
from fourhands.trajectories.qwen_code import reported_usage

RECORD = (
    b'{"version":1,"sessionId":"6b3b2559","timestamp":1796010980573,"startTime":1796010977925,"project":"/testbed",'
    b'"durationMs":2648,"models":{"some-model":{"requests":2,"inputTokens":50435,"outputTokens":81,"cachedTokens":'
    b'45391,"thoughtsTokens":14,"totalTokens":50516,"totalLatencyMs":915}},"tools":{"totalCalls":1}}\n'
)
COUNTED = Usage(input=50435 - 45391, cache_read=45391, output=81, reasoning=14)


def test_cached_tokens_are_part_of_the_input_and_thoughts_of_the_output() -> None:
    assert reported_usage(RECORD) == COUNTED
    assert COUNTED.total == 50516


def test_models_and_sessions_add_up() -> None:
    two = RECORD.replace(
        b'"models":{',
        b'"models":{"other":{"inputTokens":5,"outputTokens":1,"cachedTokens":2,"thoughtsTokens":0},',
    )
    assert reported_usage(two) == COUNTED + Usage(input=3, cache_read=2, output=1)
    assert reported_usage(RECORD + RECORD) == COUNTED + COUNTED


def test_a_line_torn_by_the_end_is_left_out() -> None:
    assert reported_usage(RECORD + RECORD[:-30]) == COUNTED


def test_a_session_that_was_cut_reports_nothing() -> None:
    assert reported_usage(b"") is None
