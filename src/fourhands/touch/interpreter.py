"""Walks a shell script's syntax tree as a shell would, without running anything."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fourhands.touch.awk import awk
from fourhands.touch.call import Call, Handler
from fourhands.touch.flow import Flow, Listing, Piece, renumber
from fourhands.touch.git_reads import git
from fourhands.touch.paths import relative_path
from fourhands.touch.readers import READERS
from fourhands.touch.runners import RUNNERS
from fourhands.touch.search import grep, ripgrep
from fourhands.touch.sed import sed
from fourhands.touch.words import GLOB, UNKNOWN, expand, is_known, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Interpreter", "Shown"]

_HANDLERS: Final[dict[str, Handler]] = {
    **READERS,
    **RUNNERS,
    "sed": sed,
    "gsed": sed,
    "git": git,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep"), grep),
    **dict.fromkeys(("rg", "ag", "ack"), ripgrep),
}
_MOST_COMMANDS: Final = 2000
"""Loops and nested scripts multiply: beyond this many commands and rounds the rest is not looked at."""
_DEEPEST: Final = 8
"""Levels of functions and of scripts in scripts."""
_TRANSPARENT: Final = frozenset({
    "program", "list", "compound_statement", "if_statement", "elif_clause", "else_clause", "do_group",
    "while_statement", "case_statement", "case_item", "negated_command", "c_style_for_statement",
})  # fmt: skip
_SUBSHELLS: Final = frozenset({"subshell", "command_substitution", "process_substitution"})
_INPUT: Final = frozenset({"<", "<>", "<&"})


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines that the command printed, and the folder its printed paths are relative to."""

    flow: Flow
    cwd: str | None


@dataclass(slots=True)
class _State:
    """What a subshell gets a copy of. ``cwd`` is ``None`` when the text does not tell it."""

    cwd: str | None
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    stack: list[str | None] = field(default_factory=list)
    depth: int = 0

    def copy(self) -> _State:
        return _State(self.cwd, dict(self.variables), dict(self.functions), list(self.stack), self.depth)


@dataclass(frozen=True, slots=True)
class _Streams:
    """Where a command's streams are redirected: ``stdin`` is ``None`` if it is not."""

    stdin: Flow | None
    here: str | None
    to_file: bool


class Interpreter:
    """One command line; ``shown`` collects what it printed and read, in order.

    ``parse`` gives a script's syntax tree, or ``None`` if it is no valid shell.
    """

    def __init__(self, parse: Callable[[str], Node | None], *, cwd: str, workdir: str) -> None:
        self.shown: list[Shown] = []
        self._parse = parse
        self._workdir = workdir
        self._state = _State(cwd)
        self._budget = _MOST_COMMANDS

    @property
    def folder(self) -> str | None:
        """Where the shell stands now; ``None`` when the text does not tell it."""
        return self._state.cwd

    def interpret(self, script: str) -> None:
        """Walk a whole script; its output is shown."""
        root = self._parse(script)
        for statement in root.named_children if root else ():
            cwd = self._state.cwd
            flow = self._walk(statement, ())
            if flow:
                # A "cd" in the statement comes before what it prints; a scoped one is over by now.
                self.shown.append(Shown(flow, self._state.cwd or cwd))

    # The shell that commands see.

    def path(self, word: str) -> str | None:
        """See ``Shell.path``."""
        return self.relative(word, self._state.cwd) if is_known(word) else None

    def relative(self, word: str, cwd: str | None) -> str | None:
        """``word`` as a path relative to the repository, ``""`` for itself; ``None`` outside or unknown."""
        if word.startswith(":/"):  # git's own: from the top of the work tree
            return relative_path(word[2:] or ".", self._workdir, self._workdir)
        return relative_path(word, cwd, self._workdir)

    def files(self, words: Sequence[str]) -> Flow:
        """See ``Shell.files``."""
        flow: list[Piece | Listing] = []
        for word in words:
            if word.startswith(GLOB):
                fixed = posixpath.dirname(word.removeprefix(GLOB).split("*")[0].split("?")[0].split("[")[0])
                root = self.path(fixed or ".")
                flow += [] if root is None else [Listing((root,))]
            elif path := self.path(word):
                flow.append(Piece(path))
        return tuple(flow)

    def read(self, flow: Flow) -> None:
        """See ``Shell.read``. What is not printed, the output does not tell."""
        pieces = tuple(piece for piece in renumber(flow, numbered=False) if isinstance(piece, Piece))
        self._show(pieces)

    def run(self, argv: Sequence[str], stdin: Flow, here: str | None = None) -> Flow:
        """See ``Shell.run``."""
        return self._run(list(argv), stdin, here)

    def source(self, script: str) -> Flow:
        """See ``Shell.source``."""
        root = self._parse(script) if self._state.depth < _DEEPEST else None
        return self._scoped(root.named_children, ()) if root else ()

    # Walking.

    def _show(self, flow: Flow) -> None:
        if flow:
            self.shown.append(Shown(flow, self._state.cwd))

    def _walk(self, node: Node, stdin: Flow) -> Flow:
        kind = node.type
        flow: Flow = ()
        if kind == "command":
            flow = self._command(node, stdin, None)
        elif kind == "pipeline":
            flow = self._pipeline(node, stdin)
        elif kind == "redirected_statement":
            flow = self._redirected(node, stdin)
        elif kind in _SUBSHELLS:
            flow = self._scoped(node.named_children, stdin)
        elif kind in _TRANSPARENT:
            flow = self._sequence(node.named_children, stdin)
        elif kind == "for_statement":
            flow = self._for(node, stdin)
        elif kind == "variable_assignment":
            self._assign(node)
        elif kind == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if body:
                self._state.functions[text_of(name)] = body
        else:
            # Tests, declarations, words: only substitutions in them run anything.
            self._substitutions(node)
        return flow

    def _sequence(self, nodes: Sequence[Node], stdin: Flow) -> Flow:
        """Statements one after the other; who of them reads ``stdin`` is not told apart: it is read."""
        if len(nodes) == 1:
            return self._walk(nodes[0], stdin)
        self.read(stdin)
        return tuple(piece for node in nodes for piece in self._walk(node, ()))

    def _scoped(self, nodes: Sequence[Node], stdin: Flow) -> Flow:
        outer, self._state = self._state, self._state.copy()
        self._state.depth += 1
        try:
            return self._sequence(nodes, stdin)
        finally:
            self._state = outer

    def _pipeline(self, node: Node, stdin: Flow) -> Flow:
        outer, self._state = self._state, self._state.copy()
        flow = stdin
        for stage in node.named_children:
            flow = self._walk(stage, flow)
        self._state = outer
        return flow

    def _for(self, node: Node, stdin: Flow) -> Flow:
        self.read(stdin)
        variable = text_of(node.child_by_field_name("variable"))
        body = node.child_by_field_name("body")
        flow: list[Piece | Listing] = []
        for value in node.children_by_field_name("value"):
            self._substitutions(value)
            for word in expand(value, self._state.variables):
                if self._budget < 0:
                    break
                self._budget -= 1
                self._set(variable, word)
                flow += self._walk(body, ()) if body else ()
        return tuple(flow)

    def _redirected(self, node: Node, stdin: Flow) -> Flow:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        streams = self._streams(redirects)
        flow = self._with(body, stdin, streams) if body else ()
        if body is None:
            self.read(streams.stdin or ())
        # What follows a here-document's mark on its line hangs below it.
        for redirect in redirects:
            if redirect.type == "heredoc_redirect":
                for child in redirect.named_children:
                    if child.type == "pipeline":
                        flow = self._pipeline(child, flow)
                if right := redirect.child_by_field_name("right"):
                    flow = (*flow, *self._walk(right, ()))
        return flow

    def _with(self, body: Node, stdin: Flow, streams: _Streams) -> Flow:
        """Walk ``body`` with redirections; the grammar gives those of its last command to the whole."""
        if body.type == "list":
            *before, final = body.named_children
            flow = tuple(piece for node in before for piece in self._walk(node, ()))
            return (*flow, *self._with(final, stdin, streams))
        if body.type == "pipeline":
            *stages, final = body.named_children
            for stage in stages:
                stdin = self._walk(stage, stdin)
            return self._with(final, stdin, streams)
        into = stdin if streams.stdin is None else streams.stdin
        flow = self._command(body, into, streams.here) if body.type == "command" else self._walk(body, into)
        if streams.to_file:
            self.read(flow)
            return ()
        return flow

    def _streams(self, redirects: Sequence[Node]) -> _Streams:
        stdin: Flow | None = None
        here: str | None = None
        to_file = False
        for redirect in redirects:
            if redirect.type == "heredoc_redirect":
                bodies = [child for child in redirect.children if child.type == "heredoc_body"]
                here = "".join(map(text_of, bodies))
                for body in bodies:
                    self._substitutions(body)
                inner = self._streams(redirect.children_by_field_name("redirect"))
                to_file |= inner.to_file
                continue
            self._substitutions(redirect)
            if redirect.type == "herestring_redirect":
                here = expand(redirect.named_children[-1], self._state.variables)[0]
                continue
            operator = next((child.type for child in redirect.children if not child.is_named), ">")
            target = redirect.child_by_field_name("destination")
            descriptor = text_of(redirect.child_by_field_name("descriptor")) or "1"
            if operator in _INPUT:
                stdin = self.files(expand(target, self._state.variables)) if target else ()
            elif not operator.endswith("&") and (descriptor == "1" or operator.startswith("&")):
                to_file = text_of(target) not in {"/dev/stdout", "/dev/stderr", "/dev/tty"}
        return _Streams(stdin, here, to_file)

    def _command(self, node: Node, stdin: Flow, here: str | None) -> Flow:
        words: list[str] = []
        inner: list[Node] = []
        for child in node.children_by_field_name("argument"):
            self._substitutions(child)
            words += expand(child, self._state.variables)
        for child in node.named_children:
            if child.type in {"command_name", "variable_assignment"}:
                self._substitutions(child)
            elif child.type.endswith("_redirect"):
                inner.append(child)
        streams = self._streams(inner)
        name = node.child_by_field_name("name")
        argv = [*(expand(name, self._state.variables) if name else []), *words]
        flow = self._run(argv, stdin if streams.stdin is None else streams.stdin, streams.here or here)
        if streams.to_file:
            self.read(flow)
            return ()
        return flow

    def _run(self, argv: list[str], stdin: Flow, here: str | None) -> Flow:
        self._budget -= 1
        if not argv or self._budget < 0 or not is_known(argv[0]):
            self.read(stdin)
            return ()
        name, args = posixpath.basename(argv[0]), argv[1:]
        if name in self._state.functions:
            self.read(stdin)
            return self._function(name, args)
        if name in {"cd", "pushd", "popd"}:
            self._change_folder(name, args)
            return ()
        handler = _HANDLERS.get(name)
        if handler is None:
            self.read(stdin)
            return ()
        if self._state.depth >= _DEEPEST:
            return ()
        self._state.depth += 1
        flow = handler(Call(name, tuple(args), stdin, here, self))
        self._state.depth -= 1
        return flow

    def _function(self, name: str, args: list[str]) -> Flow:
        if self._state.depth >= _DEEPEST:
            return ()
        outer = dict(self._state.variables)
        self._state.depth += 1
        for number, word in enumerate(args, 1):
            self._set(str(number), word)
        flow = self._walk(self._state.functions[name], ())
        self._state.depth -= 1
        self._state.variables = outer
        return flow

    def _change_folder(self, name: str, args: list[str]) -> None:
        state = self._state
        target = next((word for word in args if not word.startswith("-") or word == "-"), None)
        if name == "popd":
            state.cwd = state.stack.pop() if state.stack else None
            return
        before = state.cwd
        if target == "-":
            state.cwd = state.variables.get("OLDPWD")
        elif target is None or not is_known(target) or (state.cwd is None and not target.startswith("/")):
            state.cwd = None
        else:
            state.cwd = posixpath.normpath(posixpath.join(state.cwd or "/", target))
        if name == "pushd":
            state.stack.append(before)
        self._set("OLDPWD", before or UNKNOWN)

    def _assign(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        self._substitutions(node)
        words = expand(value, self._state.variables) if value else [""]
        self._set(text_of(node.child_by_field_name("name")), words[0] if len(words) == 1 else UNKNOWN)

    def _set(self, name: str, word: str) -> None:
        if is_known(word):
            self._state.variables[name] = word
        else:
            self._state.variables.pop(name, None)

    def _substitutions(self, node: Node) -> None:
        """Run what is substituted in a word: its output is read, not shown."""
        if node.type in _SUBSHELLS:
            self.read(self._scoped(node.named_children, ()))
            return
        if node.type == "declaration_command":
            for child in node.named_children:
                if child.type == "variable_assignment":
                    self._assign(child)
            return
        for child in node.named_children:
            self._substitutions(child)
