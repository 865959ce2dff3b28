"""Options and operands of a command line, as GNU programs read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Options", "parse_options"]


@dataclass(frozen=True, slots=True)
class Options:
    """``given`` maps an option (``n``, ``lines``) to its values, ``""`` if none; ``-20`` is the option ``#``."""

    given: dict[str, list[str]] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """Whether any of the options is given."""
        return any(name in self.given for name in names)

    def value(self, *names: str) -> str | None:
        """The last value of the first of the options that is given."""
        return next((self.given[name][-1] for name in names if name in self.given), None)

    def values(self, *names: str) -> list[str]:
        """All values of the options."""
        return [value for name in names for value in self.given.get(name, [])]


def parse_options(
    args: Sequence[str], *, short: str = "", long: str = "", optional: str = "", permute: bool = True
) -> Options:
    """Split ``args``.

    Args:
        args: without the program's name.
        short: letters of the options that take a value.
        long: space-separated names of the long options that take a value.
        optional: letters whose value, if any, is attached.
        permute: whether options may follow operands; if not, all from the first operand on is operands.
    """
    found = Options()
    with_value = set(long.split())
    rest = list(reversed(args))
    while rest:
        arg = rest.pop()
        if arg == "--":
            found.operands.extend(reversed(rest))
            break
        if arg.startswith("--"):
            name, equals, value = arg[2:].partition("=")
            if not equals and name in with_value and rest:
                value = rest.pop()
            found.given.setdefault(name, []).append(value)
        elif arg.startswith("-") and arg[1:].isdigit():
            found.given.setdefault("#", []).append(arg[1:])
        elif arg.startswith("-") and len(arg) > 1:
            _cluster(found, arg[1:], rest, short, optional)
        else:
            found.operands.append(arg)
            if not permute:
                found.operands.extend(reversed(rest))
                break
    return found


def _cluster(found: Options, letters: str, rest: list[str], short: str, optional: str) -> None:
    for at, letter in enumerate(letters):
        value = ""
        if letter in optional:
            value = letters[at + 1 :]
        elif letter in short:
            value = letters[at + 1 :] or (rest.pop() if rest else "")
        found.given.setdefault(letter, []).append(value)
        if letter in optional or letter in short:
            return
