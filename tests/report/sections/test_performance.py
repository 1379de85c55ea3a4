"""Section D: what the trade reads of performance, and what the data card says."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model, logistic_model
from tests.report.made_records import (
    columns_frame,
    made_frame,
    made_rows,
    models_frame,
    performance_frame,
)
from tests.report.made_results import found
from tests.report.made_variants import (
    binary_result,
    multiclass_result,
    plain_view,
)
from tests.report.reading import (
    column,
    drawn,
    lede_of,
    parts_of,
    rows_of,
    said_in,
    section,
    table,
    value_at,
    words,
)

from importance_audit.data.quantiles import quantiles_frame
from importance_audit.methods.known_answers import binary_data, normal_data
from importance_audit.models.diagnostics import diagnostic_rows
from importance_audit.report.figures.performance import draw_classes, draw_residuals
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Value, plain
from importance_audit.report.text.wording import look_up

FOREST, LINEAR = "forest", "linear"
ALIKE = "On these rows it cannot be told apart from linear."


def readings(*rows):
    """Return a frame of readings (model, reading, split) of 1000 rows each."""
    numbers = {"n_samples": 1000, "value": 0.75, "std_error": 0.01}
    return made_rows("readings", "model reading split", *rows, **numbers)


def two_models(difference, std_error, *, losses=(10.0, 11.0), errors=(2.0, 2.0)):
    """Return two models, and how far they are apart; no row if that is None."""
    performance = performance_frame((FOREST, LINEAR), value=0.0)
    for name, loss, error in zip((FOREST, LINEAR), losses, errors, strict=True):
        own = performance["model"] == name
        performance.loc[own, ["value", "std_error"]] = loss, error
    pair = {"model_a": FOREST, "model_b": LINEAR, "loss": "rmse", "split": "test"}
    apart = [] if difference is None else [(9000, difference, std_error)]
    columns = "n_samples difference std_error"
    pairs = made_rows("comparisons", columns, *apart, **pair)
    models = models_frame((FOREST, LINEAR))
    return plain_view(performance=performance, comparisons=pairs, models=models)


def binary(n_models=2, **frames):
    """Return the view of models of two classes with their curves and tenths."""
    data = binary_data()
    rows = {"roc": [], "calibration": []}
    names = ("boosting", "logistic")[:n_models]
    for name in names:
        model = replace(logistic_model(1, 0), name=name)
        diagnosed = diagnostic_rows(model, data, model.predict(data.X), split="test")
        for part, of_model in diagnosed.items():
            rows[part] += of_model
    made = {name: made_frame(name, part) for name, part in rows.items()}
    made["readings"] = readings(*((name, "auc", "test") for name in names))
    result = replace(binary_result(), frames=binary_result().frames | made | frames)
    return result, build_view(result)


# What the trade reads


def test_auc_and_gini_are_two_rows_and_a_model_without_trees_has_a_dash():
    splits = {FOREST: ("train", "out_of_bag", "test"), LINEAR: ("train", "test")}
    rows = [(m, n, s) for m in splits for n in ("auc", "gini") for s in splits[m]]
    view = plain_view(readings=readings(*rows), models=models_frame(splits))
    item = table(view, "tab-readings")
    assert plain(item.caption).startswith("AUC and Gini of each model")
    assert column(item, "Reading") == ["AUC", "Gini"] * 2
    out_of_bag = column(item, "Out of bag, n\u00a0=\u00a01\u202f000")
    assert out_of_bag == ["0.750", "0.750", "–", "–"]


def test_losses_out_of_bag_have_a_column_where_some_model_has_them():
    performance = performance_frame((FOREST,))
    extra = performance[performance["split"] == "train"].assign(
        split="out_of_bag", value=77.0
    )
    item = table(plain_view(), "tab-performance-rmse")
    assert not [h for h in item.columns if "Out of bag" in plain(h.label)]
    both = pd.concat([performance, extra], ignore_index=True)
    item = table(plain_view(performance=both), "tab-performance-rmse")
    assert column(item, "Out of bag, n\u00a0=\u00a01\u202f000")[0] == "77.0"


# Which models can be told apart


@pytest.mark.parametrize(
    ("difference", "std_error", "is_apart"),
    [(-3.0, 1.4, True), (-3.0, 1.6, False), (0.0, 0.0, False), (3.0, 1.6, False)],
)
def test_two_models_are_apart_beyond_two_errors_of_their_paired_difference(
    difference, std_error, is_apart
):
    page = two_models(difference, std_error)
    assert (ALIKE in lede_of(page, "D")) is not is_apart
    said = "Not distinguishable from the best model on the evaluation rows: linear."
    assert (said in said_in(page, "B")) is not is_apart


# The figure


def test_classes_have_curves_and_calibration_with_their_table():
    result, page = binary()
    (figure,) = drawn(page, draw_classes)
    labels = [label for label, _ in figure.data["curves"]]
    assert labels == ["boosting, AUC\u00a00.750", "logistic, AUC\u00a00.750"]
    assert [title for title, _ in figure.data["panels"]] == ["boosting", "logistic"]
    assert len(figure.alt) <= 250
    item = table(page, "tab-calibration")
    assert column(item, "Rows") == ["observed", "expected"] * 2
    stored = result.calibration[result.calibration["model"] == "boosting"]
    observed = [plain(cell.parts) for cell in item.rows[0].cells[2:]]
    assert [int(text) for text in observed] == stored["hits"].tolist()
    for value in parts_of(item, Value):
        weight = value_at(result, re.sub(r"\w+$", "weight", value.path))
        assert value.raw == pytest.approx(value_at(result, value.path) * weight)
    assert sum(cell.parts[0].raw for cell in item.rows[1].cells[2:]) == pytest.approx(
        (stored["predicted"] * stored["weight"]).sum()
    )


def test_counts_of_weighted_rows_are_said_to_be_weights():
    result, page = binary()
    said = "Each row counts with its weight"
    assert said not in plain(table(page, "tab-calibration").caption)
    weight = 2.0 * result.calibration["rows"]
    weighted = result.calibration.assign(weight=weight)
    item = table(
        build_view(result.with_frames(calibration=weighted)), "tab-calibration"
    )
    assert plain(item.caption).endswith(f"{said}.")


def test_of_several_classes_the_predicted_one_is_judged_and_nothing_else():
    model, data = level_model(0.8), level_data()
    rows = diagnostic_rows(model, data, model.predict(data.X), split="test")
    result = multiclass_result()
    named = made_frame("calibration", rows["calibration"], model="forest")
    page = build_view(result.with_frames(calibration=named))
    (figure,) = drawn(page, draw_classes)
    assert figure.data["curves"] == ()
    assert "ROC" not in plain(figure.caption)
    assert plain(figure.caption).endswith(
        " The class is the one predicted for the row, so that each row counts once; "
        "each class by itself: tables/calibration.csv."
    )
    assert figure.data["labels"][0] == "share predicted correctly"
    caption = plain(table(page, "tab-calibration").caption)
    assert "rows whose class was predicted correctly, observed and expected" in caption


def test_the_headline_says_where_the_probabilities_are_off():
    result, _ = binary(1)
    evidence = {"deciles": 10, "too_low": 0, "too_high": 3}
    check = {"model": "boosting", "positive_class": "1", "split": "test", **evidence}
    check |= {"lowest": "within", "highest": "too high"}
    checked = made_frame("calibration_checks", [check])
    result = result.with_frames(calibration_checks=checked)
    off = found("calibration", "boosting", "info", evidence=evidence)
    for judged, text in (
        (result, "probabilities within chance (3 of 10 deciles off)"),
        (
            result.with_findings((off,)),
            "probabilities too high in 3 of 10 deciles (the highest amo",
        ),
    ):
        (figure,) = drawn(build_view(judged), draw_classes)
        assert plain(figure.headline).startswith(f"boosting: {text}")


def residual_rows(*models):
    """Return the residuals of twenty parts of the rows of each of these models."""
    rows = [(m, n, n, n + 1.0, n + 0.5) for m in models for n in range(1, 21)]
    quantiles = {"q05": -2.0, "q25": -1.0, "q50": 0.0, "q75": 1.0, "q95": 2.0}
    shared = {"split": "test", "rows": 50, "weight": 50.0, "mean": 0.0, **quantiles}
    columns = "model bin lowest highest fitted"
    return made_rows("residuals", columns, *rows, **shared)


def test_numbers_have_residuals_and_classes_have_none():
    (figure,) = drawn(plain_view(residuals=residual_rows("forest")), draw_residuals)
    assert plain(figure.headline) == (
        "How far predictions lie from what was observed, along the predictions."
    )
    ((title, (first, *_)),) = figure.data["panels"]
    assert title == "forest"
    assert [first[name] for name in ("q05", "q50", "q95")] == [-2.0, 0.0, 2.0]
    assert not drawn(binary()[1], draw_residuals)


def test_of_more_than_six_models_six_are_drawn_and_the_others_named():
    names = [f"model {n}" for n in range(8)]
    page = plain_view(residuals=residual_rows(*names), models=models_frame(names))
    (figure,) = drawn(page, draw_residuals)
    assert len(figure.data["panels"]) == 6
    assert plain(figure.caption).endswith("Not shown: model 6 and model 7.")


# The data card


def test_a_pipeline_prints_its_steps_and_never_that_the_rest_are_defaults():
    steps = made_rows(
        "steps",
        "step estimator parameters",
        *(("", "Pipeline", "{}"), ("scale", "StandardScaler", "{}")),
        ("trees", "Boosting", '{"max_depth": 8}'),
        model="forest",
    )
    models = models_frame(("forest",), parameters='{"max_depth": 8, "subsample": 1.0}')
    page = plain_view(steps=steps, models=models)
    (cell,) = column(table(page, "tab-steps"), "The model itself, then its steps")
    assert cell == "Pipeline; scale StandardScaler; trees Boosting (max_depth=8)"
    (parameters,) = column(table(page, "tab-models"), "Parameters")
    assert "defaults" not in parameters
    assert "tab-steps" not in [item.id for item in plain_view(models=models).tables]


def target_row(data, **fields):
    """Return what the card of the evaluation rows says of the target."""
    page = plain_view(quantiles=quantiles_frame([data]), **fields)
    (card,) = (c for c in section(page, "D").parts["rows"] if "test" in c.id)
    return rows_of(card).get("Target")


def test_the_card_shows_the_share_of_each_class():
    data = level_data()
    for number, name in enumerate(data.classes):
        n = int((data.y == number).sum())
        share = f"{round(100 * n / data.n_samples)}\u202f%"
        assert f"class {name}: {share} ({n} rows)" in target_row(data)


def test_the_card_shows_the_quartiles_of_a_number():
    data = replace(normal_data(2, 0), y=np.arange(1.0, 201.0) * 1000)
    assert target_row(data).startswith(
        "m2.price: median 100\u202f000, quartiles 50\u202f000 and 150\u202f000, range "
        "1\u202f000 to 200\u202f000"
    )


def test_true_and_false_are_called_so_and_thousands_stand_apart():
    ranges_and_texts = {
        "bool": ((0, 1), "false, true"),
        "boolean": ((1, 1), "true"),
        "year": ((1920, 2010), "1920 to 2010"),
        "age": ((18, 2100), "18 to 2\u202f100"),
        "money": ((-12_345, 1_234_567), "−12\u202f345 to 1\u202f234\u202f567"),
        "half": ((0.5, 12_345.5), "0.5 to 12\u202f345.5"),
        "tiny": ((1e-7, 0.25), "1e−07 to 0.25"),
        "endless": ((-np.inf, 1234.5678), "−∞ to 1\u202f234.57"),
    }
    ranges, texts = zip(*ranges_and_texts.values(), strict=True)
    columns = columns_frame(tuple(ranges_and_texts))
    columns["minimum"], columns["maximum"] = np.transpose(ranges)
    columns["dtype"] = ["bool", "boolean", *["float64"] * 6]
    item = table(plain_view(columns=columns), "tab-columns")
    assert column(item, "Type") == ["true or false"] * 2 + ["number"] * 6
    assert column(item, "Range or levels") == [*texts]


def test_columns_left_out_say_why_and_what_they_hold():
    reasons, looks = look_up("data.reasons"), look_up("data.looks")
    rows = [(f"{r} {look}", r, look) for r in reasons for look in looks]

    def left_out(*rows):
        frame = made_rows("left_out", "column reason look", *rows, distinct=1095)
        return table(plain_view(left_out=frame), "tab-left-out")

    every = left_out(*rows)
    assert column(every.everything, "Why it is left out") == [
        reasons[reason] for _, reason, _ in rows
    ]
    contents = column(every.everything, "Contents")
    assert contents[:2] == ["no value in any row", "one value in every row"]
    assert len(set(contents)) == len(looks)
    assert len(every.rows) < len(rows)
    assert "Listed below the report's tables: " in words(every.notes)
    unknown = left_out(("a", "not_listed", ""))
    assert column(unknown, "Contents") == ["1\u202f095 different values"]
    assert "tab-left-out" not in [item.id for item in plain_view().tables]


def test_an_error_that_is_not_known_tells_nothing_apart_nor_alike():
    page = two_models(-3.0, float("nan"), errors=(float("nan"),) * 2)
    assert ALIKE not in lede_of(page, "D")
