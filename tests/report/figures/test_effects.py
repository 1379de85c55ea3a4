"""The figure of effects, by the numbers it draws."""

import re
from dataclasses import replace
from math import inf, isclose, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.svg_reader import (
    ROUNDED,
    SVG,
    collisions,
    groups,
    height,
    mark,
    off_sheet,
    points,
    texts,
    words,
    x_axis,
    y_axis,
)

from importance_audit.report.figures.effect_panels import Curve, EffectPanel
from importance_audit.report.figures.effects import draw_effects, paged_effects
from importance_audit.report.figures.placing import Area, place_words


def curve(label, grid, values, lead=True):
    return Curve(label, tuple(grid), tuple(values), lead)


YEAR = EffectPanel(
    "year",
    "number",
    (
        curve("forest", range(1920, 1940), np.linspace(3, 5, 20)),
        curve("linear", range(1920, 1940), np.full(20, 4.0), lead=False),
    ),
    ((1925.0, 10), (1935.0, 30)),
)
DISTRICT = EffectPanel(
    "district",
    "category",
    (curve("forest", ("Wola", "Ursus"), (5.0, 3.0)),),
    (("Wola", 897), ("Ursus", 1889)),
)


def effects(panels, *, reference=None, text=""):
    labels = {"axis_label": "mean prediction", "reference_text": text}
    return draw_effects(panels, reference=reference, salt="x", **labels)


def test_a_curve_runs_through_its_values():
    svg = effects([YEAR])
    at = y_axis(svg)
    curve_points = points(groups(svg, "curve-0-0")[0])
    assert [y for _, y in curve_points] == pytest.approx(
        [at(v) for v in np.linspace(3, 5, 20)], abs=0.02
    )
    steps = np.diff([x for x, _ in curve_points])
    assert np.ptp(steps) <= 4 * ROUNDED + 1e-9


def test_the_leading_curve_is_thicker_and_drawn_last():
    svg = effects([YEAR])
    lead, other = (groups(svg, f"curve-0-{n}")[0].find(f"{SVG}path") for n in (0, 1))
    assert float(lead.get("stroke-width")) > float(other.get("stroke-width"))
    assert svg.index('id="curve-0-1"') < svg.index('id="curve-0-0"')


ZIGZAG = replace(
    YEAR, curves=tuple(replace(c, values=(3.0, 5.0) * 10) for c in YEAR.curves)
)


@pytest.mark.parametrize("panels", [[YEAR], [YEAR, YEAR], [YEAR, ZIGZAG], [ZIGZAG]])
def test_each_curve_and_the_reference_are_named_once_wherever_there_is_room(panels):
    labels = words(effects(panels, reference=4.2, text="mean 4.2"))
    assert [labels.count(word) for word in ("forest", "linear", "mean 4.2")] == [
        1,
        1,
        1,
    ]


def test_a_key_of_long_names_stays_on_the_sheet():
    names = (
        "linear",
        "a gamma regression with a logarithmic link, " * 3,
        "forest " * 9,
    )
    curves = [
        curve(name, range(1920, 1940), (3.0, 5.0) * 10, lead=not n)
        for n, name in enumerate(names)
    ]
    panel_ = EffectPanel("year", "number", tuple(curves))
    svg = effects([panel_, DISTRICT], reference=4.2, text="mean 4.2")
    assert off_sheet(svg) == []
    assert {"linear", "mean 4.2"} <= set(words(svg))


def test_the_foot_shows_where_the_rows_lie_in_proportion():
    bars = [points(group) for group in groups(effects([YEAR]), "rows")]
    tall = [max(y for _, y in bar) - min(y for _, y in bar) for bar in bars]
    assert tall[1] / tall[0] == pytest.approx(3.0, rel=1e-3)


def test_a_value_that_is_not_finite_leaves_a_gap():
    values = [1.0, 2.0, nan, inf, 5.0, 6.0] * 3
    panel_ = EffectPanel("x", "number", (curve("m", range(18), values),))
    (path,) = groups(effects([panel_]), "curve-0-0")[0].iter(f"{SVG}path")
    assert path.get("d").count("M") == 4
    assert len(points(groups(effects([panel_]), "curve-0-0")[0])) == 12


def test_few_grid_points_are_each_marked():
    floor = EffectPanel(
        "floor", "number", (curve("m", (1.0, 2.0, 3.0), (1.0, 2.0, 3.0)),)
    )
    assert effects([floor]).count("<use ") == effects([YEAR]).count("<use ") + 3


def test_a_long_head_of_categories_beside_numbers_takes_two_lines():
    head = "mean Shapley value, prediction of price, EUR"
    labels = {"axis_label": head, "reference_text": ""}
    svg = draw_effects([YEAR, DISTRICT], reference=None, salt="x", **labels)
    heights = {text: y for text, _, y, _ in texts(svg)}
    assert {head, head.removesuffix(" EUR"), "EUR"} <= set(heights)
    assert heights["EUR"] < heights["district"] - 2.5
    assert collisions(svg) == []


def test_levels_stand_in_the_order_of_the_grid_with_their_rows():
    svg = effects([DISTRICT])
    heights = {text: y for text, _, y, _ in texts(svg)}
    assert heights["Wola"] < heights["Ursus"]
    assert isclose(heights["1\u202f889"], heights["Ursus"], abs_tol=0.2)


def test_a_dot_stands_at_the_value_of_its_level_and_the_line_at_the_reference():
    svg = effects([DISTRICT], reference=4.0)
    at = x_axis(svg)
    assert mark(svg, "level-0-0-0")[0] == pytest.approx(at(5.0), abs=0.01)
    assert mark(svg, "level-0-1-0")[0] == pytest.approx(at(3.0), abs=0.01)
    assert points(groups(svg, "reference")[0])[0][0] == pytest.approx(at(4.0), abs=0.01)


def test_panels_of_numbers_share_the_axis_of_values():
    flat = EffectPanel("flat", "number", (curve("m", range(20), np.full(20, 4.0)),))
    wide = EffectPanel(
        "wide", "number", (curve("m", range(20), np.linspace(0, 8, 20)),)
    )
    svg = effects([wide, flat])
    middle = np.mean([y for _, y in points(groups(svg, "curve-0-0")[0])])
    assert points(groups(svg, "curve-1-0")[0])[0][1] == pytest.approx(middle, abs=0.01)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 12])
@pytest.mark.parametrize("n_categories", [0, 1, 3])
def test_panels_of_effects_do_not_overlap_and_stay_on_the_sheet(n, n_categories):
    numbers = [replace(YEAR, feature=f"number {i}") for i in range(n)]
    categories = [
        replace(DISTRICT, feature=f"category {i}") for i in range(n_categories)
    ]
    for page in paged_effects([*numbers, *categories]):
        svg = effects(page, reference=4.0, text="mean 4.0")
        titles = [
            (x, y) for text, x, y, _ in texts(svg) if re.match("number|category", text)
        ]
        assert len(titles) == len(set(titles)) == len(page)
        assert height(svg) <= 228.0
        assert not off_sheet(svg)
        assert not collisions(svg)


def test_forty_levels_fit_and_one_more_is_refused():
    def panel_(n):
        names = [f"level {i}" for i in range(n)]
        return EffectPanel("c", "category", (curve("m", names, np.arange(float(n))),))

    assert height(effects([panel_(40)])) <= 228.0
    with pytest.raises(
        ValueError, match=r"^The levels of a category must number 1 to 40"
    ):
        effects([panel_(41)])


def test_pages_of_effects_keep_their_order():
    tall = EffectPanel(
        "c", "category", (curve("m", [f"l{i}" for i in range(40)], np.arange(40.0)),)
    )
    panels = [tall] * 5 + [YEAR] * 14
    pages = paged_effects(panels)
    assert [panel for page in pages for panel in page] == panels
    assert all(len(page) <= 12 and height(effects(page)) <= 228.0 for page in pages)


def test_a_seventh_curve_is_refused():
    many = EffectPanel(
        "x", "number", tuple(curve(f"m{i}", (0.0, 1.0), (0.0, 1.0)) for i in range(7))
    )
    with pytest.raises(ValueError, match=r"^The curves of a figure must number 1 to 6"):
        effects([many])


AREA = Area(0.0, 0.0, 40.0, 30.0)
heights = st.lists(st.floats(0.0, 30.0), min_size=9, max_size=9)


@given(heights, heights)
def test_words_cross_no_curve_and_stay_in_their_area(first, second):
    grid = np.linspace(0.0, 40.0, 9)
    curves = {
        "a": list(zip(grid, first, strict=True)),
        "b": list(zip(grid, second, strict=True)),
    }
    for place in place_words(curves, {"a": 8.0, "b": 8.0}, AREA).values():
        assert AREA.left <= place.x - 4.0
        assert place.x + 4.0 <= AREA.right
        for y in (first, second):
            under = np.linspace(place.x - 4.0, place.x + 4.0, 50)
            assert np.all(np.abs(np.interp(under, grid, y) - place.y) > 1.4)


def test_a_word_stands_nearer_to_its_own_curve_than_to_any_other():
    curves = {"a": [(0.0, 10.0), (40.0, 10.0)], "b": [(0.0, 20.0), (40.0, 20.0)]}
    places = place_words(curves, {"a": 8.0, "b": 8.0}, AREA)
    assert abs(places["a"].y - 10.0) < abs(places["a"].y - 20.0)
    assert abs(places["b"].y - 20.0) < abs(places["b"].y - 10.0)


def test_without_room_there_is_no_place():
    curves = {"a": [(0.0, 15.0), (40.0, 15.0)]}
    assert place_words(curves, {"a": 50.0}, AREA) == {}
    assert place_words(curves, {"a": 8.0}, AREA._replace(top=14.0, bottom=16.0)) == {}
