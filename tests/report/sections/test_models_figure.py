"""The features that matter in a flexible model and hardly in a linear one."""

from dataclasses import replace

import pytest
from tests.report.made_records import made_importance, models_frame, performance_frame
from tests.report.made_variants import plain_result
from tests.report.svg_reader import collisions, off_sheet, shown_box, texts, words

from importance_audit.report.figures.models import ModelPanel, ModelRow, draw_models
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.models_figure import LINEAR, MARK
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
    return plain_result(
        NAMES,
        models=frame,
        performance=performance_frame(models),
        importances=records,
    )


def models_figure(audit_result):
    (figure,) = (f for f in build_view(audit_result).figures if f.draw is draw_models)
    return figure


def marks(figure):
    return [[row.mark for row in panel.rows] for panel in figure.data["panels"]]


def test_what_matters_in_a_forest_and_not_in_a_linear_model_is_marked_in_both():
    figure = models_figure(result(linear=(0.0, 100.0), flexible=(40.0, 100.0)))
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
    assert any(map(any, marks(figure))) is flagged
    rule = "lies above 5\u202f% of the model's largest value in the one, below 1\u202f%"
    assert (rule in plain(figure.caption)) is flagged


@pytest.mark.parametrize("sd", [(99.0, 0.1), (0.1, 99.0)])
def test_a_wide_interval_in_either_model_raises_no_flag(sd):
    figure = models_figure(result(linear=(0.0, 100.0), flexible=(40.0, 100.0), sd=sd))
    assert not any(map(any, marks(figure)))


@pytest.mark.parametrize("estimators", [("lm", "lm"), ("svm", "gbm")])
def test_models_of_one_kind_raise_no_flag(estimators):
    audit_result = result((0.0, 100.0), (40.0, 100.0), estimators=estimators)
    assert not any(map(any, marks(models_figure(audit_result))))


@pytest.mark.parametrize(("kernel", "flagged"), [("linear", True), ("rbf", False)])
def test_a_support_vector_machine_is_linear_by_its_kernel(kernel, flagged):
    kinds = {"estimators": ("RandomForest", "SVR")}
    audit_result = result(
        (0.0, 100.0), (40.0, 100.0), parameters=f'{{"kernel": "{kernel}"}}', **kinds
    )
    assert any(map(any, marks(models_figure(audit_result)))) is flagged


def test_the_linear_models_of_scikit_learn_are_known_by_name():
    from sklearn import base, linear_model

    kinds = (base.RegressorMixin, base.ClassifierMixin)
    public = {name: getattr(linear_model, name) for name in linear_model.__all__}
    linear_names = {
        n for n, c in public.items() if isinstance(c, type) and issubclass(c, kinds)
    }
    assert {name for name in linear_names - LINEAR if "MultiTask" not in name} == set()


PANEL = ModelPanel(
    "linear",
    2.0,
    "as is 2.0",
    (
        ModelRow("a", 9.0, (), "9.0"),
        ModelRow("b", 2.1, (2.0, 2.2), "2.1", mark=MARK, note="matters in forest"),
    ),
)


def test_the_words_of_a_flag_stand_on_its_row_and_touch_nothing():
    svg = draw_models([PANEL], axis_label="loss", salt="s", value_label="shuffled")
    heights = {text: y for text, _, y, _ in texts(svg)}
    assert heights["matters in forest"] == pytest.approx(heights["b"], abs=0.2)
    assert heights[MARK] == pytest.approx(heights["b"], abs=0.2)
    assert not collisions(svg)
    assert not off_sheet(svg)


def test_a_note_without_room_leaves_its_mark():
    far = replace(PANEL.rows[1], mean=8.9, repeats=(), note="matters in " + 60 * "x")
    svg = draw_models(
        [replace(PANEL, rows=(PANEL.rows[0], far))], axis_label="loss", salt="s"
    )
    assert MARK in words(svg)
    assert far.note not in words(svg)


def test_a_mark_stays_on_the_sheet_beside_panels_too_narrow_for_numbers():
    rows = tuple(replace(PANEL.rows[1], name=f"f{n}", note="") for n in range(30))
    panels = [replace(PANEL, name=f"m{n}", rows=rows) for n in range(6)]
    svg = draw_models(panels, axis_label="loss", salt="s")
    ends = [shown_box(w, x, style)[1] for w, x, _, style in texts(svg) if w == MARK]
    assert len(ends) == 180
    assert max(ends) <= 174.0
