"""The figure of the lead ranking, whatever the method that ranks."""

import pytest
from tests.report.made_records import made_importance, row_intervals_frame
from tests.report.made_variants import view_of, view_of_records
from tests.report.reading import drawn
from tests.report.svg_reader import groups, mark, off_sheet, points, titles, x_axis

from importance_audit.report.figures.parts import Row
from importance_audit.report.figures.ranking import draw_ranking
from importance_audit.report.text.blocks import plain

FIRM = {"method": "firm", "loss": "", "stream": "", "repeats": 1}
PERMUTATION = made_importance("forest", "abc", (9.0, 4.0, 2.0), sd=0.1, baseline=50.0)
TRIALS = {"method": "stratified_importance", "loss": "", "form": "absolute"}


def ranking_figure(model="", means=(9.0, 4.0, 2.0), **fields):
    record = made_importance(model, "abc", means, sd=0.1, **fields)
    (figure,) = drawn(view_of_records(record), draw_ranking)
    return figure


def test_a_signed_ranking_without_draws_has_dots_on_both_sides_of_zero():
    figure = ranking_figure("forest", (2.0, 0.5, -1.0), **FIRM)
    at = x_axis(figure.svg)
    dots = [mark(figure.svg, f"estimate-{n}")[0] for n in range(3)]
    assert dots == pytest.approx([at(2.0), at(0.5), at(-1.0)], abs=0.01)
    (line,) = groups(figure.svg, "baseline")
    assert points(line)[0][0] == pytest.approx(at(0.0), abs=0.01)
    assert not groups(figure.svg, "interval")


def test_trials_on_the_data_are_shown_one_by_one_with_their_mean():
    figure = ranking_figure(repeats=30, **TRIALS)
    (row, *_) = figure.data["rows"]
    assert len(row.repeats) == 30
    assert sum(row.repeats) / 30 == pytest.approx(row.estimate)
    assert "Grey ticks: each of the 30 repeats." in plain(figure.caption)
    assert "Monte-Carlo" not in plain(figure.caption)


def test_ticks_stand_at_the_repeats_and_the_axis_holds_them():
    row = Row("a", 2.0, 1.5, 2.5, "2.0", repeats=(-3.0, 1.0, 8.0))
    svg = draw_ranking([row], unit_label="u", baseline_label="b").svg("r")
    (ticks,) = groups(svg, "repeats-0")
    at = x_axis(svg)
    drawn_at = sorted({round(x, 3) for x, _ in points(ticks)})
    assert drawn_at == pytest.approx([at(-3.0), at(1.0), at(8.0)], abs=0.01)
    assert not off_sheet(svg)


@pytest.mark.parametrize("repeats", [1, 61])
def test_one_repeat_and_too_many_to_tell_apart_get_no_ticks(repeats):
    figure = ranking_figure(repeats=repeats, **TRIALS)
    assert not any(row.repeats for row in figure.data["rows"])
    assert "ticks" not in plain(figure.caption)


def test_repeats_that_box_plots_show_are_not_shown_twice():
    assert not drawn(view_of("apartments"), draw_ranking)
    alone = ranking_figure("forest", baseline=50.0)
    assert all(row.repeats for row in alone.data["rows"])


def permutation_figure(**frames):
    (figure,) = drawn(view_of_records(PERMUTATION, **frames), draw_ranking)
    return figure


def test_intervals_cover_other_rows_where_the_run_has_them():
    frame = row_intervals_frame((PERMUTATION,), 5.0)
    figure = permutation_figure(row_intervals=frame)
    rows = figure.data["rows"]
    assert [row.low for row in rows] == pytest.approx([4.0, -1.0, -3.0])
    assert [row.high for row in rows] == pytest.approx([14.0, 9.0, 7.0])
    assert "line: 95\u202f% interval over resampled rows" in plain(figure.caption)
    assert figure.alt.endswith("a leads with 9.0 (4.0 to 14.0).")
    assert titles(figure.svg)[0] == "forest, a: 9.0 (4.0 to 14.0)"
    # What the draws alone would settle, other rows do not.
    assert "a leads" not in plain(figure.headline)


def test_shuffling_noise_alone_is_called_that_and_has_no_level():
    figure = permutation_figure()
    assert "line: interval of shuffling noise alone" in plain(figure.caption)
    assert "95" not in plain(figure.caption)
    (row, *_) = figure.data["rows"]
    assert row.high - row.low < 1.0
    assert plain(figure.headline).startswith("a leads")
