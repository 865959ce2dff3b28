"""Whether an action runs tests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from posixpath import basename
from typing import Any, Final

from fourhands.model.sandbox import WORKDIR
from fourhands.touch.commands import ShellCommand, shell_commands
from fourhands.touch.flow import Flow
from fourhands.touch.interpreter import Interpreter
from fourhands.touch.options import parse_options
from fourhands.touch.shell import LONGEST, parse
from fourhands.touch.words import is_known

__all__ = ["runs_tests"]

_RUNNERS: Final = frozenset({
    "pytest", "py.test", "nosetests", "nose2", "tox", "nox", "trial", "stestr", "zope-testrunner", "green", "jest",
    "vitest", "mocha", "ava", "tap", "jasmine", "karma", "rspec", "phpunit", "bats", "busted", "prove", "ctest",
    "gotestsum", "cargo-nextest",
})  # fmt: skip
"""Programs that run tests whatever their operands."""
_MODULES: Final = _RUNNERS | {"unittest", "nose", "doctest", "twisted.trial", "testtools.run", "test"}
"""Modules that do, after ``python -m``."""
_SUBCOMMANDS: Final = frozenset({
    "go", "deno", "dotnet", "swift", "mix", "zig", "bazel", "meson", "rails", "playwright", "django-admin", "django",
    "flutter", "dart",
})  # fmt: skip
_TARGETS: Final = re.compile(r"(?:.*[-_:])?tests?(?:[-_:].*)?|check|specs?")
_PACKAGE_SCRIPTS: Final = re.compile(r"t|tst|(?:.*:)?tests?(?::.*)?")
_WORDS: Final[Mapping[str, re.Pattern[str]]] = {
    **dict.fromkeys(_SUBCOMMANDS, re.compile(r"tests?(?::.*)?")),
    **dict.fromkeys(("sbt", "lein", "stack", "cabal", "hatch"), re.compile(r"tests?(?::.*)?")),
    **dict.fromkeys(("make", "gmake", "just", "task", "ninja", "rake"), _TARGETS),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun", "composer"), _PACKAGE_SCRIPTS),
    **dict.fromkeys(("gradle", "gradlew", "mvn", "mvnw"), re.compile(r"(?:.*:)?(?:test|check|verify)")),
    "cargo": re.compile(r"t|test|nextest"),
    "cypress": re.compile(r"run"),
}
"""Programs that run tests when an operand says so."""
_SUBCOMMAND_FIRST: Final = _SUBCOMMANDS | {"cargo", "cypress"}
"""Of those, the ones whose first operand alone says so: ``go vet ./test`` runs none."""
_MANAGERS: Final = (
    "uv", "poetry", "pdm", "pipenv", "rye", "hatch", "conda", "mamba", "micromamba", "bundle", "npm", "pnpm", "yarn",
)  # fmt: skip
_LAUNCHERS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("npx", "bunx", "xvfb-run", "coverage"), 0),
    **dict.fromkeys(_MANAGERS, 1),
}
"""Programs that run the command in their operands, behind so many words of their own (``run``, ``exec``)."""
_LAUNCHES: Final = frozenset({"run", "exec", "dlx", "x"})
_LAUNCHER_VALUES: Final = "with python extra group env name prefix package directory project source rcfile"
_SCRIPT: Final = re.compile(
    r"(?:run[-_]?)?(?:all[-_]?|unit[-_]?|py)?tests?(?:\.(?:py|sh|js|mjs|ts))?|doctest|check\.sh"
)
_TEST_FILE: Final = re.compile(r"(?:test_.+|.+_tests?)\.py|.+[.-](?:test|spec)\.[cm]?[jt]sx?")
_TEST_CALL: Final = re.compile(
    r"\b(?:pytest|unittest|doctest|nose|sympy)\.(?:main|testmod|testfile|run|test|doctest)\("
    r"|\bcall_command\(\s*['\"]test['\"]|\bTextTestRunner\("
)
_PYTHONS: Final = re.compile(r"(?:python|pypy)[\d.]*")
_NODES: Final = frozenset({"node", "nodejs", "tsx", "ts-node"})
_SHELLS: Final = frozenset({"bash", "sh", "dash", "zsh", "ksh"})
_SYSTEM: Final = ("/bin/", "/usr/bin/")
"""Where ``test`` is a condition, not a script."""
_ONLY_SHOWS: Final = frozenset({
    "--version", "--help", "-h", "--collect-only", "--co", "--fixtures", "--markers", "--listTests", "--list-tests",
    "--dry-run", "--no-run", "--list",
})  # fmt: skip
"""Options with which a runner runs nothing."""
_DEEPEST: Final = 4
_MAY_TEST: Final = re.compile(
    "|".join((
        r"test(?!bed\b)", "check", "spec", "verify",  # targets, scripts and files are called so
        *("cargo", "npm", "yarn", "bun", "composer", "cypress"),  # and may be asked otherwise: ``npm t``
        *(re.escape(name) for name in sorted(_MODULES) if "test" not in name),
    ))
)  # fmt: skip
"""A command without any of this runs none: to take one apart costs a thousand times as much as to see that."""


def runs_tests(tool: str, arguments: Mapping[str, Any] | str) -> bool:
    """Whether a tool call runs tests, as far as its command line tells.

    Known are test runners (``pytest``, ``jest``, ``ctest``, …), build tools asked to test (``make check``, ``npm run
    test:unit``, ``cargo test``, ``manage.py test``), ``python -m`` and ``node --test``, scripts that are called so
    (``tests/runtests.py``, ``bin/test``, ``./run_tests.sh``), a file of tests that is run by itself
    (``python test_x.py``), and Python given on the command line that calls a runner. Wrappers (``timeout``, ``env``,
    ``uv run``, ``bash -c``, ``xargs``) are looked through. A command that only lists or describes runs none.

    Args:
        tool: its name, as offered to the model.
        arguments: of the call; its command is a command line, or an argument list.
    """
    return any(_runs_tests(command) for command in shell_commands(tool, arguments))


@lru_cache(maxsize=4096)  # agents type the same few commands again and again
def _runs_tests(command: ShellCommand) -> bool:
    if not _MAY_TEST.search(command.script):
        return False
    watching = _Watching(parse, cwd=command.cwd, workdir=WORKDIR)
    try:
        watching.interpret(command.script[:LONGEST])
    except RecursionError:
        return False
    return watching.ran_tests


class _Watching(Interpreter):
    """A shell that notes whether a command it is given runs tests."""

    ran_tests = False

    def _run(self, argv: list[str], stdin: Flow, here: str | None) -> Flow:
        self.ran_tests = self.ran_tests or _is_test(argv, here)
        return super()._run(argv, stdin, here)


def _is_test(argv: Sequence[str], here: str | None, depth: int = 0) -> bool:
    if not argv or not is_known(argv[0]) or depth > _DEEPEST or not _ONLY_SHOWS.isdisjoint(argv[1:]):
        return False
    program, args = argv[0], argv[1:]
    name = basename(program)
    if name in _RUNNERS:
        return True
    if _PYTHONS.fullmatch(name):
        return _python(args, here, depth)
    if name in _NODES:
        return "--test" in args or _runs_script(args)
    if name in _SHELLS:
        return _runs_script(args)
    return (
        _names_a_test(name, args)
        or _launches(name, args, here, depth)
        or ("/" in program and not program.startswith(_SYSTEM) and _is_test_script(program, args))
    )


def _python(args: Sequence[str], here: str | None, depth: int) -> bool:
    options = parse_options(args, short="cmWX", permute=False)
    module, source = options.value("m"), options.value("c")
    if module is not None:
        return module in _MODULES or _is_test([module, *options.operands], None, depth + 1)
    if source is None and options.operands[:1] in ([], ["-"]):
        source = here
    if source is not None:
        return _TEST_CALL.search(source) is not None
    return _runs_script(args)


def _runs_script(args: Sequence[str]) -> bool:
    operands = parse_options(args, short="WXrO", permute=False).operands
    return bool(operands) and _is_test_script(operands[0], operands[1:])


def _is_test_script(path: str, args: Sequence[str]) -> bool:
    name = basename(path)
    if name in {"manage.py", "setup.py", "rails"}:
        return args[:1] == ["test"]
    return bool(_SCRIPT.fullmatch(name) or _TEST_FILE.fullmatch(name))


def _names_a_test(name: str, args: Sequence[str]) -> bool:
    wanted = _WORDS.get(name)
    if wanted is None:
        return False
    options = parse_options(args, short="CfjIC", long="directory file jobs prefix cwd filter")
    if name == "make" and options.has("n", "just-print"):
        return False
    operands = [word for word in options.operands if word not in _LAUNCHES]
    if name in _SUBCOMMAND_FIRST:
        operands = operands[:1]
    return any(wanted.fullmatch(word) for word in operands)


def _launches(name: str, args: Sequence[str], here: str | None, depth: int) -> bool:
    own = _LAUNCHERS.get(name)
    if own is None:
        return False
    operands = parse_options(args, short="npm", long=_LAUNCHER_VALUES, permute=False).operands
    if name == "coverage":
        return operands[:1] == ["run"] and _coverage(operands[1:], depth)
    if own and operands[:1] and operands[0] not in _LAUNCHES:
        # ``yarn jest`` runs it, ``uv pip install pytest`` does not.
        return name in {"yarn", "pnpm"} and _is_test(operands, here, depth + 1)
    command = parse_options(operands[own:], short="npm", long=_LAUNCHER_VALUES, permute=False)
    module = [command.given["m"][-1]] if command.has("m") else []
    return _is_test([*module, *command.operands], here, depth + 1)


def _coverage(args: Sequence[str], depth: int) -> bool:
    """``coverage run`` takes what ``python`` takes, behind options of its own."""
    options = parse_options(args, short="m", long=_LAUNCHER_VALUES, permute=False)
    module = options.value("m")
    return _python([*(["-m", module] if module else []), *options.operands], None, depth + 1)
