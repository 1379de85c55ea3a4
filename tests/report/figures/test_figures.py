"""Ranking, models, bands and maps, by the numbers they draw."""

from math import inf, nan

import numpy as np
import pytest
from tests.report.svg_reader import (
    SVG,
    groups,
    mark,
    points,
    texts,
    words,
    x_axis,
)

from importance_audit.report.figures import drawing, parts
from importance_audit.report.figures.bands import (
    BandPanel,
    BandRow,
    draw_bands,
    paged_bands,
)
from importance_audit.report.figures.models import ModelPanel, draw_models
from importance_audit.report.figures.parts import Row
from importance_audit.report.figures.ranking import draw_ranking
from importance_audit.report.figures.surface import SurfacePanel, draw_surface

RANKING = (
    Row("district", 563.7, 553.8, 573.6, "563.7"),
    Row("surface", 182.4, 176.2, 188.6, "182.4"),
    Row("floor", -20.5, -30.0, -11.0, "−20.5"),
)


def ranking(rows, **options):
    labels = {"unit_label": "rise in RMSE", "baseline_label": "model as is"}
    return draw_ranking(rows, **{**labels, **options}).svg("fig-ranking")


def test_dots_and_baseline_stand_where_the_tick_labels_say():
    svg = ranking(RANKING)
    at = x_axis(svg)
    dots = [mark(svg, f"estimate-{n}")[0] for n in range(3)]
    assert dots == pytest.approx([at(row.estimate) for row in RANKING], abs=0.01)
    assert points(groups(svg, "baseline")[0])[0][0] == pytest.approx(at(0), abs=0.01)


def test_rows_stand_in_the_order_given_with_name_dot_and_number_on_one_line():
    svg = ranking(RANKING)
    heights = {text: y for text, _, y, _ in texts(svg)}
    dots = [mark(svg, f"estimate-{n}")[1] for n in range(3)]
    assert dots == sorted(dots)
    for row, dot in zip(RANKING, dots, strict=True):
        assert heights[row.name] == heights[row.text]
        assert 0 < heights[row.name] - dot < 1.2  # the baseline of text is below


def test_an_interval_reaches_from_low_to_high():
    svg = ranking(RANKING[:1])
    at = x_axis(svg)
    ends = [at(RANKING[0].low), at(RANKING[0].high)]
    (line,) = groups(svg, "interval")
    assert [x for x, _ in points(line)] == pytest.approx(ends, abs=0.01)


@pytest.mark.parametrize("ends", [(nan, nan), (3.0, 3.0)])
def test_one_repeat_and_nothing_drawn_show_a_dot_without_interval(ends):
    svg = ranking([Row("a", 3.0, *ends, "3.0")])
    assert mark(svg, "estimate-0")
    assert not groups(svg, "interval")


def test_an_infinite_estimate_is_an_open_mark_and_an_unknown_one_none():
    svg = ranking([Row("a", inf, nan, nan, "∞"), Row("b", nan, nan, nan, "–")])
    (_, end) = points(groups(svg, "axis")[0])
    assert mark(svg, "beyond")[0] == pytest.approx(end[0], abs=0.01)
    assert not groups(svg, "estimate-0")
    assert not groups(svg, "estimate-1")
    assert {"∞", "b", "–"} <= set(words(svg))


# ---- models


def panel(name, baseline, rows):
    return ModelPanel(name, baseline, f"as is {baseline}", tuple(rows))


def models(panels):
    return draw_models(panels, axis_label="RMSE").svg("m")


MODELS = (
    panel("forest", 283.0, [Row("a", 840.0)]),
    panel("svm", 160.0, [Row("a", 140.0)]),
)


def test_a_bar_leads_from_the_loss_as_it_is_to_the_loss_without_the_feature():
    svg = models(MODELS)
    for n, model in enumerate(MODELS):
        at = x_axis(svg, n)
        ends = [x for x, _ in points(groups(svg, f"loss-{n}-0")[0])]
        expected = sorted([at(model.baseline), at(model.rows[0].estimate)])
        assert [min(ends), max(ends)] == pytest.approx(expected, abs=0.01)


def test_all_panels_share_one_axis():
    svg = models(MODELS)
    lines = [points(group)[0][0] for group in groups(svg, "baseline")]
    left, right = x_axis(svg, 0), x_axis(svg, 1)
    assert lines == pytest.approx([left(283.0), right(160.0)], abs=0.01)
    apart = [at(283.0) - at(160.0) for at in (left, right)]
    assert apart[0] == pytest.approx(apart[1], abs=0.01)


def test_models_stand_side_by_side_each_under_its_name():
    rows = [Row(f"f{i}", 2.0 + i, text=f"{i}") for i in range(40)]
    many = [panel(f"model {n}", 1.0, rows) for n in range(6)]
    svg = models(many)
    assert {f"model {n}" for n in range(6)} <= set(words(svg))
    assert len(groups(svg, "baseline")) == 6


# ---- bands


BANDS = (
    BandPanel("forest", "equivalent", (BandRow("a", 4.6, 22.2, True, "+4.6"),)),
    BandPanel("svm", "disagrees", (BandRow("a", -30.8, 15.7, False, "−30.8"),)),
)


def bands(panels):
    return draw_bands(panels, unit_label="difference").svg("b")


@pytest.mark.parametrize("n", [0, 1])
def test_a_difference_stands_against_its_band_around_zero(n):
    svg, row = bands([BANDS[n]]), BANDS[n].rows[0]
    at = x_axis(svg)
    band = [x for x, _ in points(groups(svg, "difference-0-0-band")[0])]
    expected = [at(-row.half_width), at(row.half_width)]
    assert [min(band), max(band)] == pytest.approx(expected, abs=0.01)
    assert mark(svg, "difference-0-0")[0] == pytest.approx(at(row.difference), abs=0.01)


def test_only_what_is_outside_is_red_and_carries_its_number():
    svg = bands(BANDS)
    red = [text for text, *_, style in texts(svg) if style["fill"] == drawing.RED]
    assert sorted(red) == ["−30.8", "■ disagrees"]
    marks = [groups(svg, f"difference-{n}-0")[-1] for n in (0, 1)]
    fills = [group.find(f".//{SVG}use").get("fill") for group in marks]
    assert fills == [drawing.BLUE, drawing.RED]
    assert "+4.6" not in words(svg)


def test_panels_of_one_order_share_their_names_and_others_do_not():
    rows = tuple(BandRow(name, 0.0, 1.0, True, "") for name in "abc")
    one, other = BandPanel("p", "", rows), BandPanel("q", "", rows[::-1])
    assert words(bands([one, one])).count("a") == 1
    assert words(bands([one, other])).count("a") == 2


def test_engines_of_a_pair_stand_whole_on_lines_of_their_own():
    rows = tuple(BandRow(name, 0.0, 1.0, True, "") for name in "abc")
    pairs = [f"DALEX − vip {v} (supplied)" for v in ("0.4.5", "0.5.0.9000")]
    panels = [BandPanel("forest", "equivalent", rows, p) for p in (*pairs, *pairs)]
    for n in (2, 3, 4):
        svg = bands(panels[:n])
        text = " ".join(words(svg))
        assert [text.count(pair) for pair in pairs] == [(n + 1) // 2, n // 2]


@pytest.mark.parametrize(("n_panels", "n_rows"), [(9, 30), (5, 40)])
def test_many_panels_are_divided_in_order(n_panels, n_rows):
    rows = tuple(BandRow(f"f{i}", 0.1, 1.0, True, "") for i in range(n_rows))
    panels = [BandPanel(f"pair {n}", "equivalent", rows) for n in range(n_panels)]
    pages = paged_bands(panels)
    assert len(pages) > 1
    assert [panel for page in pages for panel in page] == panels


@pytest.mark.parametrize("n_rows", [2, 20, 30])
def test_a_column_breaks_names_of_fifty_characters_over_lines_and_cuts_none(n_rows):
    name = "annual_gross_income_of_applicants_in_thousands"
    names = [f"{name}_{n}" for n in range(n_rows)]
    column = parts.name_column(names)
    assert ["".join(lines) for lines in column.names] == names
    assert column.height <= parts.PAGE
    most = max(map(len, column.names))
    assert column.pitch > most * parts.NAME_LINE


LONG = ("engineering and maintenance crew", "restaurant and victualling staff")


@pytest.mark.parametrize("is_upright", [True, False])
def test_a_long_level_takes_two_lines_before_it_is_cut(is_upright):
    grids = ((0.0, 1.0), LONG) if is_upright else (LONG, (0.0, 1.0))
    values = np.array([(1.0, 2.0)] * 2)
    panel = SurfacePanel("forest", *grids, values, np.full((2, 2), True))
    labels = {"first": "a", "second": "b", "axis_label": "mean", "masked_text": "none"}
    texts = words(draw_surface([panel], **labels).svg("s"))
    assert all(word in " ".join(texts) for level in LONG for word in level.split())
