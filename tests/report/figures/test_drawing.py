"""The sheet, its scales and its typeface, by what is read back from the SVG."""

import re
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.reading import written_elsewhere
from tests.report.svg_reader import MM, contrast, groups, mark, points, texts, words

from importance_audit.report.figures import drawing, typeface
from importance_audit.report.figures.drawing import SERIES

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'such'",
    "$\\bad{$",
    "a$x^2$b",
    "_private",
    "font: 12px 'X'",
    "style=\"font: 8px 'X'\"",
    "-- a comment -->",
    "年齢",
    "naïve·ρ√",
)


def draw_sheet(*names):
    """Return a sheet with these names below each other, and one of each mark."""
    sheet = drawing.Sheet()
    for n, name in enumerate(names):
        sheet.text(0.0, 5.0 + n, name)
    dashed = drawing.Look(drawing.INK, 0.6, drawing.DASHED)
    sheet.line((1.0, 2.0), (3.0, 4.0), dashed, name="line")
    sheet.box((5.0, 8.0), (1.0, 2.0), face=drawing.FILL, name="box")
    sheet.mark(10.0, 12.0, drawing.Look(), name="mark")
    return sheet.cut(20.0).svg("fig-test")


HUNDREDTH = 0.01 * 25.4 / 72
"""To so many millimetres a drawing states its places: to 0.01 pt."""


def test_places_are_millimetres_from_the_upper_left_corner():
    svg = draw_sheet("name")
    assert mark(svg, "mark") == pytest.approx((10.0, 12.0), abs=HUNDREDTH)
    assert points(groups(svg, "line")[0]) == pytest.approx(
        np.array([(1.0, 3.0), (2.0, 4.0)]), abs=HUNDREDTH
    )
    corners = sorted(x for x, _ in points(groups(svg, "box")[0]))
    assert corners[0] == pytest.approx(5.0, abs=HUNDREDTH)
    assert corners[-1] == pytest.approx(8.0, abs=HUNDREDTH)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_arrives_as_it_is_and_as_text(name):
    assert name in words(draw_sheet(name))


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("אב גד (m²)", "דג בא (m²)"),
        ("price of אב", "price of בא"),
        ("لب", "\ufe90\ufedf"),  # the final form of Beh before the initial one of Lam
    ],
)
def test_right_to_left_letters_are_joined_and_drawn_in_the_order_of_the_paper(
    name, drawn
):
    assert words(draw_sheet(name)) == [f"\u202d{drawn}\u202c"]


@pytest.mark.parametrize("char", ["\x00", "\n", "\x1b", "\u2028", "\ud800"])
def test_what_xml_forbids_or_breaks_a_line_is_shown_as_an_escape(char):
    assert words(draw_sheet(f"a{char}b")) == [f"a⟨U+{ord(char):04X}⟩b"]


def test_fonts_are_written_in_longhand_and_start_with_dejavu():
    svg = draw_sheet(*HOSTILE)
    styles = [style for *_, style in texts(svg)]
    assert svg.count("font-family") == 1  # of the group that holds all
    assert """<g stroke-linejoin="round" font-family="'DejaVu Sans',""" in svg
    assert {style["font-size"] for style in styles} == {"8px"}
    assert not any({"font", "style"} & set(style) for style in styles)


def test_a_figure_names_no_date_and_no_address_to_load():
    svg = draw_sheet("name")
    assert "<metadata" not in svg
    assert "<!DOCTYPE" not in svg
    assert set(re.findall(r"https?://[^\"<]+", svg)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


@pytest.mark.processes
def test_equal_data_give_equal_bytes_in_another_process():
    code = (
        "import sys; from tests.report.figures.test_drawing import HOSTILE, draw_sheet;"
        "sys.stdout.buffer.write(draw_sheet(*HOSTILE).encode())"
    )

    for seed in "12":
        here = draw_sheet(*HOSTILE).encode()
        assert written_elsewhere(code, PYTHONHASHSEED=seed) == here


def test_settings_of_the_user_change_nothing():
    import matplotlib

    user_settings = {
        "lines.marker": "*",
        "text.color": "red",
        "figure.dpi": 30,
        "font.size": 3,
    }
    with matplotlib.rc_context(user_settings):
        changed = draw_sheet("name")
    assert changed == draw_sheet("name")


@pytest.mark.parametrize("name", ["INK", "SOFT", "BLUE", "RED"])
def test_words_have_the_contrast_of_words(name):
    assert contrast(getattr(drawing, name)) >= 4.5


def test_curves_differ_without_their_colour():
    looks = [(s.width, s.dashes) for s in SERIES]
    shapes = [s.mark for s in SERIES]
    assert len(set(looks)) == len(set(shapes)) == 9


# ---- scales and widths


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12), st.integers(2, 8))
def test_ticks_are_round_even_and_inside(low, span, most):
    span = max(span, abs(low) * 1e-6)
    numbers = drawing.ticks(low, low + span, most=most)
    assert len(numbers) <= most + 1
    assert all(low - 1e-6 * span <= n <= low + span * (1 + 1e-6) for n in numbers)
    steps = np.diff(numbers)
    assert np.allclose(steps, steps[:1], rtol=1e-3)


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ((0.0, 200.0, 400.0), ("0", "200", "400")),
        ((-0.5, 0.0, 0.5), ("−0.5", "0.0", "0.5")),
        ((0.0, 5000.0, 10000.0), ("0", "5\u202f000", "10\u202f000")),
        ((0.0, 5e-8, 1e-7), ("0", "0.5·10⁻⁷", "1.0·10⁻⁷")),
        ((0.0, 1e9, 2e9), ("0", "1·10⁹", "2·10⁹")),
    ],
)
def test_tick_labels_share_decimals_and_power(numbers, texts):
    assert drawing.tick_texts(numbers) == texts


def test_years_are_not_split_into_thousands():
    assert drawing.tick_texts((1920.0, 1940.0), grouped=False) == ("1920", "1940")


def test_an_axis_shows_all_numbers_and_pads_only_what_is_not_a_baseline():
    low, high = drawing.limits([3.0, nan, inf, 10.0], include=(0.0,))
    assert low == 0.0
    assert high > 10.0


def test_widths_are_those_of_the_typeface():
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(fname=typeface.font_file(("DejaVu Sans", "normal", "normal")))
    ink = TextPath((0, 0), "Hamburg", size=100, prop=font).get_extents()
    assert typeface.width("Hamburg", 100) == pytest.approx(ink.x1 * MM, rel=0.03)


def test_long_names_fit_keep_both_ends_and_stay_apart():
    names = [f"number.of.the.{n}.applications.in.months" for n in range(3)]
    (one,), (two,), (three,) = typeface.shortened(names, 30.0, 8)
    assert len({one, two, three}) == 3
    assert one.startswith("number")
    assert one.endswith("months #1")
    assert all(typeface.width(name, 8) <= 30.0 for name in (one, two, three))


def test_a_break_between_words_goes_before_one_inside_a_word():
    name = "vip 0.4.5 (supplied) − vip 0.5.0.9000 (supplied)"
    (lines,) = typeface.shortened([name], typeface.width(name, 8) * 0.72, 8, lines=2)
    assert lines == ("vip 0.4.5 (supplied) − vip", "0.5.0.9000 (supplied)")


def test_a_name_in_two_lines_breaks_at_a_hump_of_the_camel():
    name = "totalDebtToIncomeRatioAfterDisbursementPercent"
    (lines,) = typeface.shortened([name], typeface.width(name, 8) * 0.6, 8, lines=2)
    assert "".join(lines) == name
    assert lines[1][0].isupper()
    assert lines[0][-1].islower()


def test_a_png_is_as_fine_as_asked_and_has_the_same_bytes_twice():
    sheet = drawing.Sheet()
    sheet.text(10, 5, "surface")
    sheet.mark(30, 5, drawing.Look())
    png = sheet.cut(20.0).png(200)
    assert png[:4] == b"\x89PNG"
    size = [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)]
    assert size == [int(174 / 25.4 * 200), int(20 / 25.4 * 200)]
    assert sheet.png(200) == png
    assert sheet.svg("x").startswith("<?xml")
