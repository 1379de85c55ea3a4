"""The figure of the lead ranking, whatever the method that ranks."""

import pytest
from tests.report.made_records import made_importance
from tests.report.made_variants import plain_result, view_of
from tests.report.svg_reader import groups, mark, off_sheet, points, x_axis

from importance_audit.report.figures.ranking import RankingRow, draw_ranking
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

FIRM = {"method": "firm", "loss": "", "stream": "", "repeats": 1}
TRIALS = {"method": "stratified_importance", "loss": "", "form": "absolute"}


def ranking_figures(model="", means=(2.0, 0.5, -1.0), **fields):
    record = made_importance(model, "abc", means, **{"sd": 0.1, **fields})
    view = build_view(plain_result("abc", importances=(record,)))
    return [figure for figure in view.figures if figure.draw is draw_ranking]


def test_a_signed_ranking_without_draws_has_dots_on_both_sides_of_zero():
    (figure,) = ranking_figures("forest", **FIRM)
    at = x_axis(figure.svg)
    dots = [mark(figure.svg, f"estimate-{n}")[0] for n in range(3)]
    assert dots == pytest.approx([at(2.0), at(0.5), at(-1.0)], abs=0.01)
    (line,) = groups(figure.svg, "baseline")
    assert points(line)[0][0] == pytest.approx(at(0.0), abs=0.01)
    assert not groups(figure.svg, "interval")


def test_without_draws_neither_caption_nor_words_speak_of_an_interval():
    (figure,) = ranking_figures("forest", **FIRM)
    assert plain(figure.caption).startswith(
        "Dot: the value; nothing is drawn at random, so there is no interval (E1). "
        "Dashed: 0."
    )
    assert figure.alt.endswith(" a leads with 2.000.")


def test_trials_on_the_data_are_shown_one_by_one_with_their_mean():
    (figure,) = ranking_figures(means=(9.0, 4.0, 2.0), repeats=30, **TRIALS)
    (row, *_) = figure.data["rows"]
    assert len(row.repeats) == 30
    assert sum(row.repeats) / 30 == pytest.approx(row.estimate)
    assert "Grey ticks: the 30 repeats." in plain(figure.caption)
    assert "Monte-Carlo" not in plain(figure.caption)


def test_ticks_stand_at_the_repeats_and_the_axis_holds_them():
    row = RankingRow("a", 2.0, 1.5, 2.5, "2.0", repeats=(-3.0, 1.0, 8.0))
    svg = draw_ranking([row], unit_label="u", baseline_label="b", salt="r")
    (ticks,) = groups(svg, "repeats-0")
    at = x_axis(svg)
    drawn_at = sorted({round(x, 3) for x, _ in points(ticks)})
    assert drawn_at == pytest.approx([at(-3.0), at(1.0), at(8.0)], abs=0.01)
    assert not off_sheet(svg)


@pytest.mark.parametrize("repeats", [1, 61])
def test_one_repeat_and_too_many_to_tell_apart_get_no_ticks(repeats):
    (figure,) = ranking_figures(means=(9.0, 4.0, 2.0), repeats=repeats, **TRIALS)
    assert not any(row.repeats for row in figure.data["rows"])
    assert "ticks" not in plain(figure.caption)


def test_repeats_that_box_plots_show_are_not_shown_twice():
    rankings = [f for f in view_of("apartments").figures if f.draw is draw_ranking]
    assert rankings
    assert not any(row.repeats for f in rankings for row in f.data["rows"])
    (alone,) = ranking_figures("forest", baseline=50.0)
    assert all(row.repeats for row in alone.data["rows"])
