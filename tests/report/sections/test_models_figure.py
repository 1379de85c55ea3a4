"""The losses of several models side by side."""

import re
from dataclasses import replace

import pytest
from tests.report.made_records import (
    made_importance,
    models_frame,
    performance_frame,
    row_intervals_frame,
)
from tests.report.made_variants import plain_result
from tests.report.reading import drawn
from tests.report.svg_reader import (
    groups,
    points,
    titles,
    words,
    x_axis,
)

from importance_audit.report.figures.models import ModelPanel, draw_models
from importance_audit.report.figures.parts import Row
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

NAMES = ("year", "size")


def result(
    linear, flexible, *, estimators=("RandomForest", "lm"), sd=(0.1, 0.1), **fields
):
    """Return two models with these importances of year and size."""
    models = ("forest", "straight")
    frame = models_frame(models).assign(estimator=list(estimators), **fields)
    records = tuple(
        made_importance(model, NAMES, means, sd=spread, baseline=50.0)
        for model, means, spread in zip(models, (flexible, linear), sd, strict=True)
    )
    frames = {"models": frame, "performance": performance_frame(models)}
    return plain_result(NAMES, importances=records, **frames)


def models_figure(audit_result):
    (figure,) = drawn(build_view(audit_result), draw_models)
    return figure


@pytest.mark.parametrize("form", ["difference", "ratio"])
def test_intervals_over_other_rows_stand_at_the_loss_they_mean(form):
    made = result(linear=(20.0, 100.0), flexible=(40.0, 100.0))
    records = tuple(replace(r, form=form) for r in made.importances)
    half = 6.0 if form == "difference" else 0.12
    frame = row_intervals_frame(records, half)
    figure = models_figure(replace(made, importances=records, row_intervals=frame))
    rows = {row.name: row for row in figure.data["panels"][0].rows}
    # 50 before shuffling; 6 more or less, or 0.12 times as much.
    assert (rows["year"].low, rows["year"].high) == pytest.approx((84.0, 96.0))
    assert rows["year"].repeats == ()
    assert "95\u202f% interval of the difference" in plain(figure.caption)
    said = [re.sub(r"(\.\d+?)0+", r"\1", title) for title in titles(figure.svg)]
    assert "forest, year: 90.0 (84.0 to 96.0)" in said
    at = x_axis(figure.svg)
    ends = [x for g in groups(figure.svg, "interval") for x, _ in points(g)]
    assert min(abs(x - at(84.0)) for x in ends) < 0.02


LONG = "gradient boosting, challenger 2024-02, refitted each quarter"


def models_svg(rows, *names):
    """Return the drawing of models with these names, all of the same rows."""
    panels = [ModelPanel(name, 2.0, "as is 2.0", tuple(rows)) for name in names]
    return draw_models(panels, axis_label="loss").svg("s")


def test_a_long_name_of_a_model_has_a_line_of_its_own_and_is_not_cut():
    rows = [Row(f"f{n}", 9.0 + n, text=f"{n}") for n in range(30)]
    text = "".join(words(models_svg(rows, LONG, "linear")))
    assert LONG.replace(" ", "") in text.replace(" ", "")
