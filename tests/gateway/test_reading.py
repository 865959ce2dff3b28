from __future__ import annotations

import gc
from collections.abc import Iterator

import orjson
import pytest

from fourhands.gateway.reading import read_request
from fourhands.wire.chat import ChatCompletions

WIRE = ChatCompletions()
RAW = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "fix it"}]})


@pytest.fixture(params=[True, False], ids=["collecting", "not collecting"])
def collecting(request: pytest.FixtureRequest) -> Iterator[bool]:
    was = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if was else gc.disable)()


def test_a_request_is_read_and_garbage_is_collected_as_before(collecting: bool) -> None:
    body, parsed = read_request(WIRE, RAW)
    assert body == orjson.loads(RAW)
    assert parsed == WIRE.parse_request(body)
    assert gc.isenabled() is collecting


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"messages": 3}', b'{"messages": [1]}'])
def test_what_is_no_request_is_refused_and_garbage_is_collected_as_before(
    collecting: bool, raw: bytes
) -> None:
    with pytest.raises((ValueError, AttributeError, TypeError)):
        read_request(WIRE, raw)
    assert gc.isenabled() is collecting
