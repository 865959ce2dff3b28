"""Which files of the repository a shell command reads, and which of their lines.

The command is parsed, never run: what its text does not tell (a substitution, a wildcard) is only known from
its output. Programs that write in place, and redirections to files, are no reads: edits are seen by snapshots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from fourhands.model.sandbox import WORKDIR
from fourhands.model.text import LineRange
from fourhands.model.touch import Touch
from fourhands.touch.flow import WHOLE, Listing, Piece, gather, union
from fourhands.touch.interpreter import Interpreter, Shown
from fourhands.touch.output import Named, named_files, plain_numbers

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["LONGEST", "merge", "parse", "shell_folder", "shell_touches"]

LONGEST: Final = 1 << 15
"""Characters of a command that are looked at: beyond this, it is data. In text that is no shell the parser takes
time quadratic in its length, and it cannot be stopped safely."""


def shell_touches(
    command: str, *, cwd: str = WORKDIR, workdir: str = WORKDIR, output: str | None = None
) -> tuple[Touch, ...]:
    """The files that ``command`` reads, one touch each, in the order of the command.

    Args:
        command: what the shell is given.
        cwd: absolute path of the folder it starts in.
        workdir: absolute path of the repository.
        output: what it printed, if known: the only thing that tells what a recursive search or a wildcard
            reached, and which lines a numbered search showed. A search that showed no line read none.

    Returns:
        Touches of kind ``read``; none for a command that is no valid shell. An open range ends at ``flow.OPEN_END``.
    """
    interpreter = Interpreter(parse, cwd=cwd, workdir=workdir)
    try:
        interpreter.interpret(command[:LONGEST])
    except RecursionError:
        # Nested deeper than any person or model writes.
        return ()
    return merge(_touches(interpreter.shown, interpreter, output))


def shell_folder(command: str, folder: str, *, workdir: str = WORKDIR) -> str:
    """Where a shell that starts in ``folder`` stands after ``command``; ``folder`` where the text does not tell."""
    interpreter = Interpreter(parse, cwd=folder, workdir=workdir)
    try:
        interpreter.interpret(command[:LONGEST])
    except RecursionError:
        return folder
    return interpreter.folder or folder


def parse(script: str) -> Node | None:
    """The syntax tree of a script, or ``None`` if it is no valid shell.

    Errors below a statement are left to the walk: the grammar also stumbles over valid redirections.
    """
    try:
        source = script.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which JSON may spell out and no file's name has
        source = script.encode("utf-8", "replace")
    root = _parser().parse(source).root_node
    return None if any(node.type == "ERROR" for node in (root, *root.children)) else root


@cache
def _parser() -> Parser:
    import tree_sitter_bash  # noqa: PLC0415 (loaded when the first command is parsed)
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def _touches(shown: list[Shown], interpreter: Interpreter, output: str | None) -> Iterator[Touch]:
    asking = [
        piece
        for part in shown
        for piece in part.flow
        if isinstance(piece, Piece) and piece.numbered and not piece.exact
    ]
    for part in shown:
        named = _named(part, interpreter, output)
        for piece in part.flow:
            if isinstance(piece, Listing):
                yield from _listed(piece, named)
            elif piece.numbered and not piece.exact and output is not None:
                numbers = named.numbers.get(piece.path, [])
                if not numbers and len(asking) == 1:
                    numbers = plain_numbers(output)
                if numbers:
                    yield Touch(piece.path, "read", gather(numbers))
            else:
                yield Touch(piece.path, "read", None if piece.lines == WHOLE else piece.lines)


def _named(shown: Shown, interpreter: Interpreter, output: str | None) -> Named:
    tells = any(isinstance(piece, Listing) or piece.numbered for piece in shown.flow)
    if output is None or not tells:
        return Named()
    return named_files(output, lambda text: interpreter.relative(text, shown.cwd))


def _listed(listing: Listing, named: Named) -> Iterator[Touch]:
    def is_below(path: str) -> bool:
        return any(root in {"", path} or path.startswith(f"{root}/") for root in listing.roots)

    for path, numbers in named.numbers.items():
        if is_below(path):
            yield Touch(path, "read", gather(numbers))
    for path in filter(is_below, named.headed):
        yield Touch(path, "read", listing.lines)
    for path in named.bare:
        if is_below(path) and path not in named.numbers:
            yield Touch(path, "read", None)


def merge(touches: Iterable[Touch]) -> tuple[Touch, ...]:
    """One touch a file: all its lines, or unknown ones if any are unknown."""
    merged: dict[str, tuple[LineRange, ...] | None] = {}
    for touch in touches:
        lines = touch.lines
        if lines is not None and touch.path in merged:
            before = merged[touch.path]
            lines = None if before is None else tuple(union([*before, *lines]))
        merged[touch.path] = lines
    return tuple(Touch(path, "read", lines) for path, lines in merged.items())
