from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.touch.flow import OPEN_END
from fourhands.touch.shell import parse, shell_touches

Lines = list[tuple[int, int]] | None


def reads(command: str, *, cwd: str = "/testbed", output: str | None = None) -> dict[str, Lines]:
    touches = shell_touches(command, cwd=cwd, output=output)
    assert all(touch.kind == "read" for touch in touches)
    assert len({touch.path for touch in touches}) == len(touches)
    return {t.path: None if t.lines is None else [(r.start, r.end) for r in t.lines] for t in touches}


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("cat f", None),
        ("cat -n f | sed -n '10,20p'", [(10, 20)]),
        ("nl -ba f | head -50 | tail -20", [(31, 50)]),
        ("head f", [(1, 10)]),
        ("head -50 f", [(1, 50)]),
        ("head -n 5 f", [(1, 5)]),
        ("head -n5 f", [(1, 5)]),
        ("head --lines=5 f", [(1, 5)]),
        ("head -n -5 f", None),
        ("head -c 100 f", None),
        ("tail -5 f", None),
        ("tail -n +40 f", [(40, OPEN_END)]),
        ("tail +40 f", [(40, OPEN_END)]),
        ("tail -n +40 f | head -10", [(40, 49)]),
        ("sed -n '10,20p;30p' f", [(10, 20), (30, 30)]),
        ("sed -n 5p f", [(5, 5)]),
        ("sed -n '5,+3p' f", [(5, 8)]),
        ("sed -n '5,$p' f", [(5, OPEN_END)]),
        ("sed -n '$p' f", None),
        ("sed -n -e 1,2p -e 9p f", [(1, 2), (9, 9)]),
        ("sed -n '10,20{=;p}' f", [(10, 20)]),
        ("sed -n '10,20p;20q' f", [(10, 20)]),
        ("sed 30q f", [(1, 30)]),
        ("sed 1,5d f", [(6, OPEN_END)]),
        ("sed -n '/def x/,/return/p' f", None),
        ("sed -n '5!p' f", None),
        ("sed 's/a/b/' f", None),
        ("sed 's/a/b/' f | head -3", [(1, 3)]),
        ("sed -n '10,20p' f | sed -n '2,3p'", [(11, 12)]),
        ("sed -n '10,20p' f | grep x", [(10, 20)]),
        ("sed -n '10,20p' f | sort | head -2", [(10, 20)]),
        ("awk 'NR>=10 && NR<=20' f", [(10, 20)]),
        ("awk 'NR==5' f", [(5, 5)]),
        ("awk 'NR==5 || NR==9 {print NR\": \"$0}' f", [(5, 5), (9, 9)]),
        ("awk 'NR==5,NR==9' f", [(5, 9)]),
        ("awk 'NR>4 && NR<6{print}' f", [(5, 5)]),
        ("awk '/x/' f", None),
        ("awk '{print $1}' f | head -2", [(1, 2)]),
        ("bat -r 10:20 f", [(10, 20)]),
        ("cut -c1-10 f | head -4", [(1, 4)]),
        ("less f", None),
        ("sort -k 2 f", None),
        ("grep x f", None),
        ("cat f | grep -C5 x", None),
        ("git show HEAD~1:f | sed -n '1,9p'", [(1, 9)]),
        ("git --no-pager diff HEAD -- f", None),
        ("git blame -L 3,5 f", [(3, 5)]),
        ("git log -L 3,+5:f", [(3, 7)]),
        ("git log -p -- f", None),
        ("perl -ne 'print if 3..5' f", None),
    ],
)
def test_lines_flow_through_a_command(command: str, lines: Lines) -> None:
    assert reads(command) == {"f": lines}


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat a && cat b || cat c; cat d\ncat e & cat f", "a b c d e f"),
        ("cat a b", "a b"),
        ("(cd x && cat a); cat b", "x/a b"),
        ("{ cd x; cat a; }; cat b", "x/a x/b"),
        ("cd x && cd ../y && cat a", "y/a"),
        ("cd x; cd -; cat a", "a"),
        ("pushd x; cat a; popd; cat b", "x/a b"),
        ("cd $(mktemp -d) && cat a", ""),
        ("cd /tmp && cat a /testbed/b", "b"),
        ("cat ../etc /etc/passwd ~/x ./a/../b /testbed//c", "b c"),
        ("A=b LC_ALL=C cat a", "a"),
        ("sudo -u me timeout -k 3 10 env -i X=1 nice -n 5 cat a", "a"),
        ("time cat a", "a"),
        ("cat 'a b' \"c d\" e\\ f $'g\\th'", "a b|c d|e f|g\th"),
        ("cat < a; wc -l <b", "a b"),
        ("< a head -3", "a"),
        ("diff a b; cmp c d", "a b c d"),
        ("diff <(sort a) <(cat b | head -3)", "a b"),
        ('x=$(cat a); y=`cat b`; echo "$(head -1 c)"', "a b c"),
        ("[[ -f a && $(cat b) == x ]] && cat c", "b c"),
        ("arr=(a b); cat c ${arr[0]}", "c"),
        ('F=a; cat $F ${F}.py "$F/b"', "a a.py a/b"),
        ("cat $UNSET a", "a"),
        ("for f in a b; do cat $f; done", "a b"),
        ("for f in $(ls); do cat $f; done; cat a", "a"),
        ("while read l; do cat b; done < a", "a b"),
        ("if grep x a; then cat b; else cat c; fi", "a b c"),
        ("case $x in y) cat a;; *) cat b;; esac", "a b"),
        ("f() { cat $1; }; f a; f b", "a b"),
        ("! cat a", "a"),
        ("bash -c 'cd x && cat a'; cat b", "x/a b"),
        ("bash <<'EOF'\ncat a\nEOF", "a"),
        ('eval "cat a"', "a"),
        ("cat {a,b}.py", "a.py b.py"),
        ("cat src/*.py", ""),
        ("cat '*.py'", "*.py"),
        ("cat a > b; cat c 2>/dev/null; cat d >> e 2>&1", "a c d"),
        ("cat a | tee b", "a"),
        ("cat a |& head -3", "a"),
        ("find . -name x -exec cat a {} +", "a"),
        ("git diff HEAD src/a.py; git diff main -- b; git show abc:c", "src/a.py b c"),
        ("cd sub; git show HEAD:a; git diff -- b", "a sub/b"),
        ("grep -e x a b; grep -A 3 x c; rg x d.py", "a b c d.py"),
        ("jq .x a; cut -d: -f1 b", "a b"),
    ],
)
def test_files_are_found_wherever_a_shell_reads_them(command: str, paths: str) -> None:
    expected = paths.split("|") if "|" in paths else paths.split()
    assert set(reads(command)) == set(expected)


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/a/b/' f", "sed -i.bak 1d f", "sed -ni 5p f", "perl -i -pe 's/a/b/' f", "echo x > f",
        "echo x >> f", "cat <<'EOF' > f\ncat g\nEOF",
        "cat > f << EOF\ncat g\nEOF", "rm f", "ls f", "git diff", "git diff --stat f.py", "git log -- f",
        "git checkout f", "git apply < /tmp/p", "python f.py", "pytest f.py", "cp f g", "touch f", "grep -r x .",
        "rg x", "find . -name f", "cat f; )", "if cat f", "'", "", "cat", "echo cat f", "# cat f",
    ],
)  # fmt: skip
def test_what_is_not_a_read(command: str) -> None:
    assert reads(command) == {}


def test_a_here_document_is_data_but_what_it_substitutes_runs() -> None:
    assert reads("cat <<EOF > f\ncat g $(cat h)\nEOF\ncat i") == {"h": None, "i": None}
    assert reads("cat <<'EOF' | head -3 && cat g\n$(cat h)\nEOF\ncat i") == {"g": None, "i": None}


@pytest.mark.parametrize(
    "command",
    [
        "python - <<'EOF'\nprint(open('f').read())\nEOF",
        "python3 <<'EOF' 2>&1 | head\nfrom pathlib import Path\nprint(Path('f').read_text())\nEOF",
        "python3 -c \"print(open('f').read())\"",
        "cd sub && python -c 'open(\"../f\")'",
        "timeout 9 python - <<EOF\np = 'f'\nwith open(p, 'rb') as s: s.read()\nEOF",
    ],
)
def test_python_source_on_the_command_line_is_read_as_python(command: str) -> None:
    assert reads(command) == {"f": None}


def test_output_tells_which_lines_a_recursive_search_showed() -> None:
    output = (
        "src/a.py:3:def x\nsrc/a.py-4-    pass\n--\nsrc/a.py:9:x()\n./src/b/c.py:7:12:x\nother/d.py:1:x\n"
    )
    assert reads("grep -rn -A1 x src", output=output) == {
        "src/a.py": [(3, 4), (9, 9)],
        "src/b/c.py": [(7, 7)],
    }
    assert reads("cd src && rg -n x", output="a.py:3:x") == {"src/a.py": [(3, 3)]}
    assert reads("git grep -n x | head", output="src/a.py:3:x") == {"src/a.py": [(3, 3)]}
    assert reads("grep -rn x /testbed/src", output="/testbed/src/a.py:3:x") == {"src/a.py": [(3, 3)]}
    assert reads("find . -name '*.py' | xargs grep -n x", output="./a.py:3:x") == {"a.py": [(3, 3)]}


def test_a_recursive_search_without_numbers_names_files_only() -> None:
    assert reads("grep -r x .", output="./src/a.py:text\nBinary file x matches\n") == {"src/a.py": None}
    assert reads("grep -r x .", output="src/a.py:one x\nsrc/b.py:two x\n").keys() == {"src/a.py", "src/b.py"}
    assert reads("grep -rn x . | wc -l", output="12\n") == {}


def test_output_tells_which_lines_a_numbered_search_showed() -> None:
    assert reads("grep -n -A1 x f", output="3:x\n4-y\n--\n9:x\n") == {"f": [(3, 4), (9, 9)]}
    assert reads("nl -ba f | grep x", output="     3\tx\n    14\tx\n") == {"f": [(3, 3), (14, 14)]}
    assert reads("cat -n f | tail -2", output="    98\tx\n    99\ty\n") == {"f": [(98, 99)]}
    assert reads("grep -n x f g", output="f:3:x\ng:4:x\n") == {"f": [(3, 3)], "g": [(4, 4)]}
    assert reads("grep -n x f", output="") == {}
    assert reads("grep -n x f | cut -d: -f2", output="x") == {"f": None}


def test_output_names_what_a_wildcard_reached() -> None:
    output = "==> src/a.py <==\nx\n\n==> src/b.py <==\ny\n"
    assert reads("head -3 src/*.py", output=output) == {"src/a.py": [(1, 3)], "src/b.py": [(1, 3)]}
    assert reads("grep -n x src/*.py", output="src/a.py:4:x") == {"src/a.py": [(4, 4)]}


def test_reads_of_one_file_are_one_touch() -> None:
    assert reads("sed -n 1,5p f; cat g; sed -n '4,9p' f") == {"f": [(1, 9)], "g": None}
    assert reads("sed -n 1,5p f; cat f; head -2 f") == {"f": None}


def test_two_files_in_one_pipe_have_no_known_border() -> None:
    assert reads("cat a b | head -20") == {"a": [(1, 20)], "b": None}
    assert reads("(sed -n 1,5p a; cat b) | head -8") == {"a": [(1, 5)], "b": [(1, 3)]}
    assert reads("(sed -n 1,5p a; cat b) | head -5") == {"a": [(1, 5)]}


def test_another_work_tree_may_be_named() -> None:
    (touch,) = shell_touches("cat b", cwd="/repo/a", workdir="/repo")
    assert touch.path == "a/b"
    assert shell_touches("cat /repository/b", cwd="/repo", workdir="/repo") == ()


def test_scripts_without_bound_are_bounded() -> None:
    assert "a" in reads("f() { cat a; f; f; }; f")
    loops = "".join(f"for x{n} in {' '.join('abcdefgh')}; do " for n in range(8))
    assert reads(loops + "cat $x0; " + "done; " * 8)
    assert isinstance(shell_touches("(" * 5000 + "cat f" + ")" * 5000), tuple)
    assert isinstance(shell_touches("cat {a,b}" + "{a,b}" * 40), tuple)


@given(command=st.text(max_size=80), output=st.none() | st.text(max_size=80))
def test_any_text_is_survived(command: str, output: str | None) -> None:
    shell_touches(command, output=output)


_TOKENS = st.sampled_from([
    "cat", "sed", "head", "tail", "-n", "-n5", "'1,5p'", "f", "g", "|", "||", "&&", ";", "(", ")", "{",
    "}", "$(", "`", '"', "'", "<<EOF", "EOF", "<", ">", "2>&1", "for", "in", "do", "done", "if", "then",
    "fi", "while", "[[", "]]", "-c", "bash", "python3", "-r", "grep", "*", "{a,b}", "$x", "x=1", "cd",
    "..", "awk", "NR==1", "git", "show", "HEAD:f", "--", "xargs", "find", "-exec", "{}", "\0", "\n", "\\",
])  # fmt: skip


@given(
    tokens=st.lists(_TOKENS, max_size=25),
    output=st.sampled_from([None, "", "f:1:x\n", "1:x\n2-y", "==> f <=="]),
)
def test_any_pieces_of_shell_are_survived(tokens: list[str], output: str | None) -> None:
    for touch in shell_touches(" ".join(tokens), output=output):
        assert touch.path
        assert not touch.path.startswith(("/", "../"))
        assert touch.lines is None or all(len(lines) for lines in touch.lines)


@given(command=st.binary(max_size=80))
def test_any_bytes_are_survived(command: bytes) -> None:
    shell_touches(command.decode("utf-8", "surrogateescape"))


def _recorded_commands(data: Path) -> Iterator[str]:
    for version in ("v1", "v2"):
        for path in sorted((data / "trajectories" / f"mini-swe-agent-{version}").rglob("*.json")):
            trajectory = json.loads(path.read_bytes())
            for message in trajectory["messages"] if isinstance(trajectory, dict) else []:
                if message["role"] == "assistant":
                    actions = [action["command"] for action in message.get("extra", {}).get("actions", [])]
                    yield from actions or re.findall(
                        r"```bash\s*\n(.*?)\n```", message["content"] or "", re.DOTALL
                    )


def test_commands_of_real_agents_are_understood(shared_data: Path) -> None:
    commands = list(_recorded_commands(shared_data))
    assert len(commands) > 400
    assert all(parse(command) is not None for command in commands)
    shows = re.compile(r"(cat (?!<<|>)|head |tail |sed -n|nl )[^|&;]*\w$")
    shown = [command for command in commands if shows.fullmatch(command)]
    assert len(shown) > 60
    assert all(shell_touches(command) for command in shown)
    exact = [command for command in commands if re.fullmatch(r"sed -n '\d+,\d+p' [\w/.]+", command)]
    assert exact
    for command in exact:
        (start, end), path = map(int, re.findall(r"\d+", command)[:2]), command.split()[-1]
        assert reads(command) == {path.removeprefix("./"): [(start, end)]}


@pytest.mark.parametrize(
    "command", ["grep -l x src/a.py", "grep -rc x .", "find . | xargs grep -q x", "rg -l x src"]
)
def test_a_search_that_only_names_or_counts_files_has_read_none(command: str) -> None:
    assert reads(command, output="src/a.py\nsrc/b.py\n") == {}
