"""A LiteLLM proxy, from a locked environment of its own that is built once and kept in the cache."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fourhands.tasks.environment import python_environment
from measure import child_environment

__all__ = ["KEY", "VERSION", "litellm_proxy"]

KEY: Final = "sk-benchmark"
_LOCK: Final = Path(__file__).with_name("litellm.txt")
VERSION: Final = re.findall(r"^litellm==(\S+)", _LOCK.read_text(encoding="utf-8"), re.MULTILINE)[0]
_START: Final = 180.0


@contextmanager
def litellm_proxy(upstream: str, folder: Path) -> Iterator[tuple[int, str]]:
    """Run the proxy, one worker, in front of ``upstream``; its process id and base URL.

    Raises:
        MissingError: it cannot be installed.
        RuntimeError: it does not start.
    """
    prefix = python_environment(_LOCK).prefix
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    config = folder / "litellm.json"  # JSON is YAML
    model = {"model": "openai/m", "api_base": upstream, "api_key": "key"}
    config.write_text(
        json.dumps(
            {
                "model_list": [{"model_name": "m", "litellm_params": model}],
                "general_settings": {"master_key": KEY},
            }
        )
    )
    program = [str(prefix / "bin" / "python"), str(prefix / "bin" / "litellm")]
    options = ["--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    env = {**child_environment(), "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
    log = folder / "litellm.log"
    with (
        log.open("wb") as output,
        subprocess.Popen([*program, *options], env=env, stdout=output, stderr=output) as server,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/health/liveliness", server, log)
            yield server.pid, f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise RuntimeError(f"the LiteLLM proxy does not start: {log.read_text(errors='replace')[-500:]}")
