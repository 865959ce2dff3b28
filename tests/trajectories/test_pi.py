from __future__ import annotations

from fourhands.model.usage import Usage
from fourhands.trajectories.pi import reported_usage

SESSION = (
    b'{"type":"session","version":3,"id":"01a22a95","timestamp":"2026-11-30T03:52:29.235Z","cwd":"/testbed"}\n'
    b'{"type":"message","id":"ec80","parentId":"3478","message":{"role":"user","content":[{"type":"text",'
    b'"text":"\\"usage\\":{\\"input\\":9,\\"output\\":9}"}]}}\n'
    b'{"type":"message","id":"d335","parentId":"ec80","message":{"role":"assistant","content":[],"usage":'
    b'{"input":194,"output":58,"cacheRead":1746,"cacheWrite":5,"reasoning":7,"totalTokens":2003,"cost":'
    b'{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse"}}\n'
    b'{"type":"message","id":"dc5f","parentId":"d335","message":{"role":"toolResult","toolName":"bash"}}\n'
)
SUMMARY = b'{"type":"compaction","id":"f6","summary":"...","usage":{"input":10,"output":2,"cacheRead":3}}\n'


def test_replies_and_summaries_count() -> None:
    counted = Usage(input=194, cache_read=1746, cache_write=5, output=58, reasoning=7)
    assert reported_usage([SESSION]) == counted
    assert reported_usage([SESSION + SUMMARY]) == counted + Usage(input=10, cache_read=3, output=2)
    assert reported_usage([SESSION, SESSION]) == counted + counted


def test_a_line_torn_by_the_end_is_left_out() -> None:
    whole = reported_usage([SESSION])
    assert reported_usage([SESSION + SUMMARY[:-20]]) == whole


def test_a_session_without_a_reply_reports_nothing() -> None:
    assert reported_usage([]) is None
    assert reported_usage([SESSION.splitlines()[0]]) is None
