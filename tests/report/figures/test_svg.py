from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest

from fourhands.report.figures import FIGURES, Figure, figures
from fourhands.report.figures.style import COLUMN, INK, PAGE

from .studies import HOSTILE, a_study, everything

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"


@pytest.fixture(scope="module")
def drawn() -> tuple[Figure, ...]:
    return figures(everything())


def parsed(figure: Figure) -> ET.Element:
    return ET.fromstring(figure.svg)


def words(figure: Figure) -> list[str]:
    return [text.text or "" for text in parsed(figure).iter(f"{SVG}text")]


def test_every_figure_is_drawn_and_is_named_as_in_the_registry(drawn: tuple[Figure, ...]) -> None:
    assert [figure.name for figure in drawn] == list(FIGURES)


def test_a_figure_is_an_image_with_a_title_and_a_description(drawn: tuple[Figure, ...]) -> None:
    for figure in drawn:
        root = parsed(figure)
        title, description = root[0], root[1]
        assert (root.tag, root.get("role")) == (f"{SVG}svg", "img")
        assert (title.tag, title.text) == (f"{SVG}title", figure.title)
        assert (description.tag, description.text) == (f"{SVG}desc", figure.alt)
        assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"


def test_no_id_is_used_twice_in_a_page_of_all_figures_and_each_reference_has_its_own(
    drawn: tuple[Figure, ...],
) -> None:
    ids: Counter[str] = Counter()
    for figure in drawn:
        own = [found for each in parsed(figure).iter() if (found := each.get("id"))]
        ids.update(own)
        assert all(found.startswith(f"{figure.name}-") for found in own)
        values = [value for each in parsed(figure).iter() for value in each.attrib.values()]
        referred = {value[5:-1] for value in values if value.startswith("url(#")}
        referred |= {each.attrib[f"{XLINK}href"][1:] for each in parsed(figure).iter(f"{SVG}use")}
        assert referred
        assert referred <= set(own)
    assert max(ids.values()) == 1


def test_nothing_refers_to_the_outside_or_restyles_the_page(drawn: tuple[Figure, ...]) -> None:
    for figure in drawn:
        assert "<style" not in figure.svg
        assert " style=" not in figure.svg
        assert "<!DOCTYPE" not in figure.svg
        assert "<metadata" not in figure.svg
        assert figure.svg.count("http") == figure.svg.count('="http://www.w3.org/') == 2


def test_ink_is_the_colour_of_the_page_and_the_background_is_not_painted(drawn: tuple[Figure, ...]) -> None:
    for figure in drawn:
        assert "currentColor" in figure.svg
        assert INK not in figure.svg
        assert not {"#000000", "#ffffff"} & {
            value for each in parsed(figure).iter() for value in each.attrib.values()
        }


def test_a_figure_fits_a_column_or_a_page_of_a_paper(drawn: tuple[Figure, ...]) -> None:
    widths = {figure.name: float(parsed(figure).attrib["width"].removesuffix("pt")) / 72 for figure in drawn}
    assert [widths.pop(name) for name in ("edit-frequency", "discovery")] == pytest.approx([COLUMN] * 2)
    assert list(widths.values()) == pytest.approx([PAGE] * len(widths))


def test_the_same_study_gives_the_same_bytes_whatever_the_user_has_set_and_without_pyplot(
    drawn: tuple[Figure, ...], tmp_path: Path
) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: True\nsvg.fonttype: path\n")
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.facecolor": "red"}):
        again = figures(everything())
        assert mpl.rcParams["font.size"] == 20
    assert again == drawn
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import tests.report.figures.studies as s\n"
        "from fourhands.report.figures import figures\n"
        "sys.stdout.buffer.write(''.join(f.svg for f in figures(s.everything())).encode())\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", script, Path(__file__).parents[3]],
        env={**os.environ, "PYTHONHASHSEED": "3", "MATPLOTLIBRC": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert elsewhere.stdout.decode() == "".join(figure.svg for figure in drawn)


def test_names_are_words_and_never_markup_or_mathematics() -> None:
    for figure in figures(a_study((HOSTILE, "_hidden", "$both$"), agent=HOSTILE, benchmarks=(HOSTILE, None))):
        assert "<script" not in figure.svg
        shown = [word for word in words(figure) if word.startswith("<script>alert(")]
        assert shown
        assert all(word.endswith("='a'") for word in shown)
        assert not {char for word in words(figure) for char in word} & {"\x1b", "\u202e", "\n"}
        told = " ".join(words(figure))
        assert "_hidden" in told
        assert "$both$" in told


def test_names_of_any_length_and_script_are_drawn_without_a_warning() -> None:
    for figure in figures(a_study(("x" * 1_000_000, "漢字" * 200, "\ufffe\x00"), tasks=2)):
        assert len(figure.svg) < 200_000
        assert len(figure.alt) + len(figure.caption) < 10_000
        assert any("x…x" in word for word in words(figure))


def test_models_whose_clipped_names_are_equal_are_told_apart() -> None:
    for figure in figures(a_study(("a" * 99 + "1" + "b" * 99, "a" * 99 + "2" + "b" * 99))):
        names = {word for word in words(figure) if word.startswith("aaa")}
        assert len(names) == 2


def test_importing_the_registry_leaves_matplotlib_alone() -> None:
    script = "import fourhands.report.figures, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
