"""Programs that run other programs: wrappers, shells, interpreters, ``xargs`` and ``find -exec``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fourhands.touch.call import Call, Handler
from fourhands.touch.flow import Flow
from fourhands.touch.options import parse_options
from fourhands.touch.python_source import files_read
from fourhands.touch.words import GLOB, is_known

__all__ = ["RUNNERS"]

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_EXEC: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """``NAME [options] [own operands] COMMAND``: ``values`` as in ``parse_options``, ``own`` operands to drop."""

    values: str = ""
    long: str = ""
    own: int = 0

    def __call__(self, call: Call) -> Flow:
        words = parse_options(call.args, short=self.values, long=self.long, permute=False).operands[
            self.own :
        ]
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        return call.shell.run(words, call.stdin, call.here)


def _shell(call: Call) -> Flow:
    options = parse_options(call.args, short="oO", permute=False)
    if options.has("c"):
        script = options.operands[0] if options.operands else ""
        return call.shell.source(script) if is_known(script) else ()
    if not options.operands and call.here is not None:
        return call.shell.source(call.here)
    call.shell.read(call.stdin)
    return ()


def _eval(call: Call) -> Flow:
    return call.shell.source(" ".join(call.args)) if all(map(is_known, call.args)) else ()


def _python(call: Call) -> Flow:
    options = parse_options(call.args, short="cmWX", permute=False)
    source = options.value("c")
    if source is None and not options.has("m") and options.operands[:1] in ([], ["-"]):
        source = call.here
    call.shell.read(call.stdin)
    if source is None or not is_known(source):
        return ()
    return call.shell.files(files_read(source))


def _perl(call: Call) -> Flow:
    options = parse_options(call.args, short="eEMmI", optional="i", permute=False)
    if not options.has("e", "E") or not options.has("n", "p"):
        call.shell.read(call.stdin)
        return ()
    flow = () if options.has("i") else call.inputs(options.operands)
    call.shell.read(flow)
    return ()


def _xargs(call: Call) -> Flow:
    options = parse_options(call.args, short="adEIInLPs", long="arg-file delimiter max-args max-procs replace",
                            permute=False)  # fmt: skip
    call.shell.read(call.stdin)
    return call.shell.run([*options.operands, GLOB], ()) if options.operands else ()


def _find(call: Call) -> Flow:
    flows = []
    for at, word in enumerate(call.args):
        if word in _EXEC:
            rest = call.args[at + 1 :]
            end = next((n for n, part in enumerate(rest) if part in {";", "+"}), len(rest))
            flows.append(call.shell.run([GLOB if part == "{}" else part for part in rest[:end]], ()))
    return tuple(piece for flow in flows for piece in flow)


RUNNERS: Final[dict[str, Handler]] = {
    "sudo": _Wrapper("ugCprtThD", "user group chdir"),
    "env": _Wrapper("uCS", "unset chdir"),
    "timeout": _Wrapper("ks", "kill-after signal", own=1),
    "nice": _Wrapper("n", "adjustment"),
    "ionice": _Wrapper("cnp"),
    "stdbuf": _Wrapper("ioe", "input output error"),
    "chroot": _Wrapper(own=1),
    "time": _Wrapper("fo", "format output"),
    **dict.fromkeys(("nohup", "setsid", "command", "builtin", "exec", "unbuffer", "winpty"), _Wrapper()),
    **dict.fromkeys(("bash", "sh", "dash", "zsh", "ksh"), _shell),
    "eval": _eval,
    **dict.fromkeys(("python", "python3", "python2", "pypy3"), _python),
    "perl": _perl,
    "xargs": _xargs,
    "find": _find,
}
