"""The features that matter in a flexible model and hardly in a linear one."""

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
    shown_box,
    texts,
    titles,
    words,
    x_axis,
)

from importance_audit.report.figures.models import ModelPanel, draw_models
from importance_audit.report.figures.parts import Row
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.models_figure import LINEAR, MARK
from importance_audit.report.text.blocks import plain

NAMES = ("year", "size")
FLAGGED = ((0.0, 100.0), (40.0, 100.0))
"""Importances in a linear and in a flexible model, of which the first is flagged."""


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


def marks(figure):
    return [[row.mark for row in panel.rows] for panel in figure.data["panels"]]


def has_flag(figure):
    return any(map(any, marks(figure)))


def test_what_matters_in_a_forest_and_not_in_a_linear_model_is_marked_in_both():
    figure = models_figure(result(*FLAGGED))
    assert marks(figure) == [["", MARK], ["", MARK]]
    notes = [panel.rows[1].note for panel in figure.data["panels"]]
    assert notes == ["", "matters in forest"]
    assert "year (in forest, not in straight (lm))" in plain(figure.caption)
    assert figure.alt.endswith(" year: of little weight in a linear model only.")


@pytest.mark.parametrize(
    ("flexible", "linear", "flagged"),
    [
        ((5.3, 100.0), (0.7, 100.0), True),
        ((4.7, 100.0), (0.7, 100.0), False),
        ((5.3, 100.0), (1.3, 100.0), False),
        ((0.0, 100.0), (40.0, 100.0), False),
        ((-1.0, -2.0), (0.0, 100.0), False),
    ],
)
def test_a_flag_needs_both_intervals_beyond_the_shares_that_the_rule_names(
    flexible, linear, flagged
):
    figure = models_figure(result(linear=linear, flexible=flexible))
    assert has_flag(figure) is flagged
    rule = (
        "lies above 5\u202f% of the model's largest value in the flexible model and "
        "below 1\u202f% of it in the linear one"
    )
    assert (rule in plain(figure.caption)) is flagged


@pytest.mark.parametrize(
    "fields",
    [
        {"sd": (99.0, 0.1)},
        {"sd": (0.1, 99.0)},
        {"estimators": ("lm", "lm")},
        {"estimators": ("svm", "gbm")},
    ],
)
def test_a_wide_interval_and_models_of_one_kind_raise_no_flag(fields):
    assert not has_flag(models_figure(result(*FLAGGED, **fields)))


@pytest.mark.parametrize(("kernel", "flagged"), [("linear", True), ("rbf", False)])
def test_a_support_vector_machine_is_linear_by_its_kernel(kernel, flagged):
    kind = {"estimators": ("Forest", "SVR"), "parameters": f'{{"kernel": "{kernel}"}}'}
    assert has_flag(models_figure(result(*FLAGGED, **kind))) is flagged


def test_the_linear_models_of_scikit_learn_are_known_by_name():
    from sklearn import base, linear_model

    kinds = (base.RegressorMixin, base.ClassifierMixin)
    public = {name: getattr(linear_model, name) for name in linear_model.__all__}
    linear_names = {
        n for n, c in public.items() if isinstance(c, type) and issubclass(c, kinds)
    }
    assert {name for name in linear_names - LINEAR if "MultiTask" not in name} == set()


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


def test_wide_intervals_over_other_rows_raise_no_flag():
    made = result(*FLAGGED)
    wide = replace(made, row_intervals=row_intervals_frame(made.importances, 99.0))
    assert has_flag(models_figure(made))
    assert not has_flag(models_figure(wide))


LONG = "gradient boosting, challenger 2024-02, refitted each quarter"
MARKED = Row("b", 2.1, text="2.1", mark=MARK, note="matters in forest")


def models_svg(rows, *names):
    """Return the drawing of models with these names, all of the same rows."""
    panels = [ModelPanel(name, 2.0, "as is 2.0", tuple(rows)) for name in names]
    return draw_models(panels, axis_label="loss").svg("s")


def test_a_long_name_of_a_model_has_a_line_of_its_own_and_is_not_cut():
    rows = [Row(f"f{n}", 9.0 + n, text=f"{n}") for n in range(30)]
    text = "".join(words(models_svg(rows, LONG, "linear")))
    assert LONG.replace(" ", "") in text.replace(" ", "")


def test_a_mark_stays_on_the_sheet_beside_panels_too_narrow_for_numbers():
    rows = [replace(MARKED, name=f"f{n}", note="") for n in range(30)]
    svg = models_svg(rows, *(f"m{n}" for n in range(6)))
    ends = [shown_box(w, x, style)[1] for w, x, _, style in texts(svg) if w == MARK]
    assert len(ends) == 180
    assert max(ends) <= 174.0


def test_a_note_without_room_leaves_its_mark():
    far = replace(MARKED, estimate=8.9, note="matters in " + 60 * "x")
    svg = models_svg([Row("a", 9.0, text="9.0"), far], "linear")
    assert MARK in words(svg)
    assert far.note not in words(svg)
