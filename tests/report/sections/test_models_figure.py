"""The losses of several models side by side."""

import re

import pytest
from scipy import stats
from tests.report.made_records import made_importance, row_intervals_frame
from tests.report.made_variants import view_of_records
from tests.report.reading import drawn
from tests.report.svg_reader import groups, points, titles, x_axis

from importance_audit.report.figures.models import draw_models
from importance_audit.report.text.blocks import plain

NAMES = ("year", "size")


@pytest.mark.parametrize("form", ["difference", "ratio"])
def test_intervals_over_other_rows_stand_at_the_loss_they_mean(form):
    fields = {"form": form, "sd": 0.1, "baseline": 50.0}
    means = {"forest": (40.0, 100.0), "straight": (20.0, 100.0)}
    records = [made_importance(m, NAMES, means[m], **fields) for m in means]
    frame = row_intervals_frame(records, 6.0 if form == "difference" else 0.12)
    (figure,) = drawn(view_of_records(*records, row_intervals=frame), draw_models)
    rows = {row.name: row for row in figure.data["panels"][0].rows}
    # 50 before shuffling; 6 more or less, or 0.12 times as much.
    assert (rows["year"].low, rows["year"].high) == pytest.approx((84.0, 96.0))
    assert "95\u202f% interval of the difference" in plain(figure.caption)
    said = [re.sub(r"(\.\d+?)0+", r"\1", title) for title in titles(figure.svg)]
    assert "forest, year: 90.0 (84.0 to 96.0)" in said
    at = x_axis(figure.svg)
    ends = [x for g in groups(figure.svg, "interval") for x, _ in points(g)]
    assert min(abs(x - at(84.0)) for x in ends) < 0.02


@pytest.mark.parametrize("form", ["difference", "ratio", "raw"])
def test_without_other_rows_the_line_is_the_interval_of_the_mean_loss(form):
    fields = {"form": form, "sd": 0.5, "baseline": 50.0}
    records = [made_importance(m, NAMES, (40.0, 9.0), **fields) for m in "ab"]
    (figure,) = drawn(view_of_records(*records), draw_models)
    row = figure.data["panels"][0].rows[0]
    repeats = records[0].raw[0]
    ends = stats.t.interval(0.95, 9, repeats.mean(), stats.sem(repeats))
    assert (row.low, row.high) == pytest.approx(ends)
    assert "shuffling noise alone" in plain(figure.caption)


def test_features_that_have_no_row_are_counted():
    names = [f"f{i}" for i in range(21)]
    records = [made_importance(m, names, range(21, 0, -1)) for m in "ab"]
    (figure,) = drawn(view_of_records(*records), draw_models)
    assert len(figure.data["panels"][0].rows) == 8
    assert plain(figure.caption).endswith(" Shown: 8 of 21.")
