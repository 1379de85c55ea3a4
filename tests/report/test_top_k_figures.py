"""The figure of top-k error curves, by the numbers it draws."""

import pytest
from tests.report.made_records import made_frame
from tests.report.made_results import apartments_result
from tests.report.svg_reader import groups, mark, off_sheet, points, words

from pipeline.report import figures
from pipeline.report.blocks import plain
from pipeline.report.top_k_drawing import TopKLine
from pipeline.report.view import build_view

LINES = (
    TopKLine("first", (4.0, 2.0, 2.0), (0.5, 0.5, 0.0)),
    TopKLine("second", (3.0, 3.0), (0.25, 0.25)),
)


def drawn(lines=LINES):
    return figures.top_k(lines, axis_label="features", head="MAE", salt="fig-top-k")


def frame():
    """Return one ranking in two folds: means 3 and 1, standard errors 1 and 0."""
    told = {"entry": 0, "method": "pca", "model": "", "ranked_by": "", "loss": "mae"}
    told |= {"positive_class": "", "judge": "forest", "feature": "surface"}
    values = {(1, 1): 2.0, (1, 2): 4.0, (2, 1): 1.0, (2, 2): 1.0}
    rows = [{**told, "k": k, "fold": f, "value": v} for (k, f), v in values.items()]
    return made_frame("top_k", rows)


def test_a_higher_loss_stands_higher_and_equal_ones_level():
    (_, first), (_, second), (_, third) = (mark(drawn(), f"point-0-{k}") for k in "012")
    (_, other) = mark(drawn(), "point-1-0")
    assert first < other < second
    assert second == pytest.approx(third)
    assert first + second == pytest.approx(2 * other, abs=0.02)


def test_a_bar_reaches_one_error_up_and_down():
    (bar, _) = groups(drawn(), "error-0")
    (_, low), (_, high) = points(bar)
    (_, four), (_, two) = (mark(drawn(), f"point-0-{k}") for k in "01")
    assert abs(low - high) == pytest.approx((two - four) / 2, abs=0.02)


def test_every_ranking_is_named_and_all_of_it_is_on_the_sheet():
    assert {"first", "second", "features", "MAE"} <= set(words(drawn()))
    assert off_sheet(drawn()) == []


def test_more_lines_than_can_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="must number 1 to 6, but 8 were given"):
        drawn(LINES * 4)


def test_the_curve_is_the_mean_over_the_folds_with_its_standard_error():
    view = build_view(apartments_result(top_k=frame()))
    (figure,) = (f for f in view.figures if f.function == "top_k")
    assert figure.data["lines"] == (TopKLine("pca", (3.0, 1.0), (1.0, 0.0)),)
    assert "over 2 folds of the training rows" in plain(figure.caption)
    assert len(figure.alt) <= 250
    assert len(plain(figure.headline)) <= 75
