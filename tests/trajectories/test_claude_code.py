"""Lines as Claude Code 2.1.332 wrote them, less what nobody reads here."""

from __future__ import annotations

from fourhands.model.usage import Usage
from fourhands.trajectories.claude_code import reported_usage

# A run with a sub-agent in the background, which came back after the main loop had ended its turn.
FIRST = (
    b'{"duration_api_ms":1581,"stop_reason":"end_turn","usage":{"input_tokens":42,"cache_creation_input_tokens":7810,'
    b'"cache_read_input_tokens":70327,"output_tokens":356,"output_tokens_details":{"thinking_tokens":0}},"modelUsage":'
    b'{"scripted-model":{"inputTokens":49,"outputTokens":437,"cacheReadInputTokens":84052,'
    b'"cacheCreationInputTokens":9334,"webSearchRequests":0,"costUSD":0.12,"thinkingTokens":0}},"num_turns":7,'
    b'"subtype":"success","result":"done","type":"result","result_index":0}'
)
LAST = (
    b'{"duration_api_ms":1581,"stop_reason":"end_turn","usage":{"input_tokens":7,"cache_creation_input_tokens":1386,'
    b'"cache_read_input_tokens":12482,"output_tokens":28,"output_tokens_details":{"thinking_tokens":0}},"modelUsage":'
    b'{"scripted-model":{"inputTokens":63,"outputTokens":465,"cacheReadInputTokens":96534,'
    b'"cacheCreationInputTokens":10720,"webSearchRequests":0,"costUSD":0.127207,"thinkingTokens":11}},'
    b'"origin":{"kind":"task-notification","producer":"session-task"},"num_turns":1,"subtype":"success",'
    b'"result":"done","type":"result","result_index":1}'
)
OTHER = b'{"type":"assistant","message":{"content":[{"type":"text","text":"\\"type\\":\\"result\\""}]}}'
WHOLE = Usage(input=63, cache_read=96534, cache_write=10720, output=465, reasoning=11)


def test_the_last_result_holds_all_tokens_with_the_sub_agents() -> None:
    assert reported_usage(b"\n".join([FIRST, OTHER, LAST, OTHER, b""])) == WHOLE


def test_models_are_added_up() -> None:
    two = LAST.replace(b'"modelUsage":{', b'"modelUsage":{"haiku":{"inputTokens":5,"outputTokens":2},')
    assert reported_usage(two) == WHOLE + Usage(input=5, output=2)


def test_a_result_that_was_cut_is_none() -> None:
    assert reported_usage(FIRST + b"\n" + LAST[:-9]) == Usage(49, 84052, 9334, 437)


def test_a_run_that_was_ended_reports_nothing() -> None:
    assert reported_usage(OTHER + b"\n") is None
    assert reported_usage(b"") is None
