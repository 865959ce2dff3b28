from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.touch.python_source import files_read


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("open('a')", ["a"]),
        ("open('a', 'rb'); io.open('b', mode='r+')", ["a", "b"]),
        ("open('a', 'w'); open('b', mode='ab'); open('c', 'x')", []),
        ("p = 'a'\nwith open(p) as f: pass", ["a"]),
        ("for p in ['a', 'b']:\n  open(p)", ["a", "b"]),
        ("Path('a').read_text(); pathlib.Path('b').read_bytes(); Path('c').open()", ["a", "b", "c"]),
        ("Path('a').write_text(''); Path('b').open('w')", []),
        ("root = Path('x')\n(root / 'a' / 'b').read_text()", ["x/a/b"]),
        ("open(os.path.join('x', 'a'))", ["x/a"]),
        ("open(f'{x}'); open(name); open(); open('x' + y)", []),
        ("linecache.getlines('a')", ["a"]),
        ("open('a'); open('a')", ["a"]),
        ("def broken(", []),
        ("open('a')\0", []),
        ("open('\\d')", ["\\d"]),
        ("(" * 3000, []),
    ],
)
def test_files_named_by_literals(source: str, files: list[str]) -> None:
    assert files_read(source) == tuple(files)


@given(source=st.text(max_size=60))
def test_any_text_is_survived(source: str) -> None:
    files_read(source)
