"""The figure of effects, by the numbers it draws."""

from dataclasses import replace
from math import inf, nan
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.report.svg_reader import (
    LINK,
    ROUNDED,
    SVG,
    groups,
    height,
    mark,
    points,
    texts,
    titles,
    words,
    x_axis,
    y_axis,
)

from importance_audit.report.figures.drawing import FILL, SERIES
from importance_audit.report.figures.effects import (
    Curve,
    EffectPanel,
    draw_effects,
    paged_effects,
)


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


def effects(panels, *, reference=nan, text="", **labels):
    labels |= {"axis_label": "mean prediction", "reference_text": text}
    labels |= {"missing_text": "n/a"}
    return draw_effects(panels, reference=reference, **labels).svg("x")


MEAN = {"reference": 4.2, "text": "mean 4.2"}


def test_a_curve_runs_through_its_values():
    svg = effects([YEAR])
    at = y_axis(svg)
    curve_points = points(groups(svg, "curve-0-0")[0])
    assert [y for _, y in curve_points] == pytest.approx(
        [at(v) for v in np.linspace(3, 5, 20)], abs=0.02
    )
    steps = np.diff([x for x, _ in curve_points])
    assert np.ptp(steps) <= 4 * ROUNDED + 1e-9


def with_missing(panel, *values):
    """Return a panel whose curves predict these for a missing value."""
    both = zip(panel.curves, values, strict=True)
    return replace(panel, curves=tuple(replace(c, missing=v) for c, v in both))


def test_a_point_beside_the_plot_is_what_a_missing_value_predicts():
    svg = effects([with_missing(YEAR, 2.0, nan)])
    at = y_axis(svg)
    x, y = mark(svg, "missing-0-0")
    assert y == pytest.approx(at(2.0), abs=0.02)
    assert x > points(groups(svg, "curve-0-0")[0])[-1][0]
    assert not groups(svg, "missing-0-1")
    assert "year n/a; forest: 2" in titles(svg)
    assert words(svg).count("n/a") == 1
    assert "n/a" not in words(effects([YEAR]))


@pytest.mark.parametrize("panels", [[YEAR], [YEAR, DISTRICT], [DISTRICT]])
def test_a_key_names_each_curve_and_the_reference_once(panels):
    svg = effects(panels, **MEAN)
    labels = dict.fromkeys(c.label for panel in panels for c in panel.curves)
    for word in (*labels, "mean 4.2"):
        assert words(svg).count(word) == 1
    key = [group for group in groups(svg, "key") if group.find(f".//{SVG}use") is None]
    assert len(key) == len(labels) + 1


def test_the_key_shows_the_marks_that_categories_have():
    rows = [
        curve(name, ("Wola", "Ursus"), (5.0, 3.0), not n)
        for n, name in enumerate(("forest", "linear"))
    ]
    svg = effects([replace(DISTRICT, curves=tuple(rows))])
    marks = [use.get(LINK) for g in groups(svg, "key") for use in g.iter(f"{SVG}use")]
    for n in (0, 1):
        (use,) = groups(svg, f"level-0-0-{n}")[0].iter(f"{SVG}use")
        assert use.get(LINK) in marks
    assert len(set(marks)) == 2


LONG = (
    "months_since_last_delinquency_12m",
    "months_since_first_delinquency_12m",
    "totalDebtToIncomeRatioAfterDisbursement",
    "number_of_trades_30_days_past_due_last_24_months",
)


def test_long_names_of_panels_take_lines_and_stay_whole():
    panels = [replace(YEAR, feature=f"{LONG[i % 4]}{i}") for i in range(10)]
    text = "".join(words(effects(panels, **MEAN)))
    assert all(panel.feature in text for panel in panels)


def test_a_name_of_a_model_takes_a_line_of_the_key_and_is_not_cut():
    start = "gradient boosting, challenger"
    names = [f"{start} {n}, trained in 2024 on all" for n in "abc"]
    curves = [replace(YEAR.curves[0], label=name) for name in names]
    svg = effects([replace(YEAR, curves=tuple(curves))], **MEAN)
    assert {*names, "mean 4.2"} <= set(words(svg))


def test_each_grid_point_tells_what_every_curve_says_there():
    svg = effects([YEAR, DISTRICT])
    said = titles(svg)
    assert "year 1920; forest: 3; linear: 4" in said
    assert "district Wola; forest: 5" in said
    assert len(said) == 20 + 2


def test_the_foot_shows_where_the_rows_lie_in_proportion():
    bars = [points(group) for group in groups(effects([YEAR]), "rows")]
    tall = [max(y for _, y in bar) - min(y for _, y in bar) for bar in bars]
    assert tall[1] == pytest.approx(3 * tall[0], abs=8 * ROUNDED)


def test_a_value_that_is_not_finite_leaves_a_gap():
    values = [1.0, 2.0, nan, inf, 5.0, 6.0] * 3
    panel_ = EffectPanel("x", "number", (curve("m", range(18), values),))
    (path,) = groups(effects([panel_]), "curve-0-0")[0].iter(f"{SVG}path")
    assert path.get("d").count("M") == 4
    assert len(points(groups(effects([panel_]), "curve-0-0")[0])) == 12


def test_a_dot_stands_at_the_value_of_its_level_and_the_line_at_the_reference():
    svg = effects([DISTRICT], reference=4.0)
    at = x_axis(svg)
    assert mark(svg, "level-0-0-0")[0] == pytest.approx(at(5.0), abs=0.01)
    assert mark(svg, "level-0-1-0")[0] == pytest.approx(at(3.0), abs=0.01)
    assert points(groups(svg, "reference")[0])[0][0] == pytest.approx(at(4.0), abs=0.01)


def test_panels_of_numbers_share_the_axis_of_values():
    wide, flat = (
        EffectPanel("x", "number", (curve("m", range(20), values),))
        for values in (np.linspace(0, 8, 20), np.full(20, 4.0))
    )
    svg = effects([wide, flat])
    middle = np.mean([y for _, y in points(groups(svg, "curve-0-0")[0])])
    assert points(groups(svg, "curve-1-0")[0])[0][1] == pytest.approx(middle, abs=0.01)


def test_pages_of_effects_keep_their_order():
    levels = [f"l{i}" for i in range(40)]
    tall = EffectPanel("c", "category", (curve("m", levels, np.arange(40.0)),))
    panels = [tall] * 5 + [YEAR] * 14
    pages = paged_effects(panels)
    assert [panel for page in pages for panel in page] == panels
    assert all(len(page) <= 12 and height(effects(page)) <= 228.0 for page in pages)


def banded(panel, *ends):
    """Return a panel whose leading curve has a band."""
    lead, *others = panel.curves
    return replace(panel, curves=(replace(lead, band=ends), *others))


KEY = "middle half of the rows"
STRIP = banded(YEAR, *((v - 1, v + 2) for v in np.linspace(3, 5, 20)))


def with_band(panels):
    return effects(panels, **MEAN, band_text=KEY)


def test_a_band_runs_along_its_lower_and_its_upper_ends_behind_the_curves():
    svg = with_band([STRIP])
    at = y_axis(svg)
    (band,) = groups(svg, "band")
    xs = [x for x, _ in points(groups(svg, "curve-0-0")[0])]
    edge = [*((v - 1) for v in np.linspace(3, 5, 20))]
    edge += [v + 2 for v in np.linspace(5, 3, 20)]
    corners = points(band)[:40]
    assert [x for x, _ in corners] == pytest.approx([*xs, *xs[::-1]], abs=0.02)
    assert [y for _, y in corners] == pytest.approx([at(v) for v in edge], abs=0.02)
    for other in ("curve-0-0", "curve-0-1", "reference"):
        assert svg.index('id="band') < svg.index(f'id="{other}')


def test_a_band_has_a_gap_where_an_end_is_missing():
    ends = [(nan, nan) if n == 7 else (1.0, 2.0) for n in range(20)]
    parts = groups(with_band([banded(YEAR, *ends)]), "band")
    xs = [x for x, _ in points(groups(with_band([YEAR]), "curve-0-0")[0])]
    assert [len(points(part)) // 2 for part in parts] == [7, 12]
    assert max(x for x, _ in points(parts[0])) == pytest.approx(xs[6], abs=0.02)
    assert min(x for x, _ in points(parts[1])) == pytest.approx(xs[8], abs=0.02)


def test_a_band_at_a_level_is_a_bar_from_end_to_end():
    svg = with_band([banded(DISTRICT, (4.0, 5.5), (nan, nan))])
    at = x_axis(svg)
    (bar,) = groups(svg, "band")
    sides = {round(x, 1) for x, _ in points(bar)}
    assert sides == {round(at(4.0), 1), round(at(5.5), 1)}
    middle = np.mean([y for _, y in points(bar)[:4]])
    assert middle == pytest.approx(mark(svg, "level-0-0-0")[1], abs=0.05)


@pytest.mark.parametrize(
    ("panels", "n"),
    [([STRIP], 1), ([STRIP, STRIP, DISTRICT], 1), ([YEAR, DISTRICT], 0)],
)
def test_the_key_tells_what_a_band_is_once_and_only_where_there_is_one(panels, n):
    svg = with_band(panels)
    light = [g for g in groups(svg, "key") if FILL in ElementTree.tostring(g).decode()]
    assert words(svg).count(KEY) == len(light) == n


def test_a_wide_band_widens_the_axis_of_values():
    wide = banded(YEAR, *((v - 9, v + 9) for v in np.linspace(3, 5, 20)))
    svg = with_band([wide])
    heights = [y for _, y in points(groups(svg, "band")[0])]
    title = next(y for text, _, y, _ in texts(svg) if text == "year")
    assert title < min(heights)
    assert max(heights) < height(svg)


@pytest.mark.parametrize(
    ("kind", "grid"), [("number", (0.0, nan, inf)), ("category", ("a", "b", "c"))]
)
def test_places_that_are_not_finite_and_more_curves_than_looks_break_nothing(
    kind, grid
):
    one = curve("m", grid, (1.0, 2.0, 3.0))
    curves = tuple(replace(one, label=f"m{n}", lead=n == 0) for n in range(12))
    svg = effects([EffectPanel("f", kind, curves)])
    of_curves = "curve-0-" if kind == "number" else "level-0-0-"
    assert len(groups(svg, of_curves)) == len(SERIES)
