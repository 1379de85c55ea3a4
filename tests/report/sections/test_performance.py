"""Section D: what the trade reads of performance, and what the data card says."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import (
    columns_frame,
    made_frame,
    models_frame,
    performance_frame,
)
from tests.report.made_results import found
from tests.report.made_variants import (
    binary_result,
    configured,
    multiclass_result,
    plain_result,
)
from tests.report.reading import (
    column,
    drawn,
    parts_of,
    rows_of,
    section,
    table,
    value_at,
    words,
)

from importance_audit.data.quantiles import quantiles_frame
from importance_audit.methods.known_answers import (
    binary_data,
    level_data,
    level_model,
    logistic_model,
    normal_data,
)
from importance_audit.models.diagnostics import diagnostic_rows
from importance_audit.report.figures.performance import draw_classes, draw_residuals
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Value, plain
from importance_audit.report.text.wording import look_up

FOREST, LINEAR = "forest", "linear"
APART = "Not distinguishable on the evaluation rows"


def view(features=("a",), **frames):
    return build_view(plain_result(features, **frames))


def reading(model, name, split, value, error=0.01, n=1000):
    row = {"model": model, "reading": name, "split": split, "n_samples": n}
    return {**row, "value": value, "std_error": error}


def two_models(difference, std_error, *, losses=(10.0, 11.0), errors=(2.0, 2.0)):
    """Return two models, and how far they are apart; no row if that is None."""
    performance = performance_frame((FOREST, LINEAR), value=0.0)
    for name, loss, error in zip((FOREST, LINEAR), losses, errors, strict=True):
        own = performance["model"] == name
        performance.loc[own, ["value", "std_error"]] = loss, error
    pair = {"model_a": FOREST, "model_b": LINEAR, "loss": "rmse", "split": "test"}
    pair |= {"n_samples": 9000, "difference": difference, "std_error": std_error}
    pairs = made_frame("comparisons", [] if difference is None else [pair])
    models = models_frame((FOREST, LINEAR))
    return view(performance=performance, comparisons=pairs, models=models)


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
    areas = [reading(name, "auc", "test", 0.75) for name in names]
    made = {name: made_frame(name, part) for name, part in rows.items()}
    made["readings"] = made_frame("readings", areas)
    result = replace(binary_result(), frames=binary_result().frames | made | frames)
    return result, build_view(result)


# What the trade reads


def test_auc_and_gini_are_two_rows_and_a_model_without_trees_has_a_dash():
    rows = [
        reading(model, name, split, 0.7)
        for model in (FOREST, LINEAR)
        for name in ("auc", "gini")
        for split in ("train", "out_of_bag", "test")
        if (model, split) != (LINEAR, "out_of_bag")
    ]
    models = models_frame((FOREST, LINEAR))
    item = table(
        view(readings=made_frame("readings", rows), models=models), "tab-readings"
    )
    assert plain(item.caption).startswith("AUC and Gini of each model")
    assert column(item, "Reading") == ["AUC", "Gini"] * 2
    out_of_bag = column(item, "Out of bag, n\u00a0=\u00a01\u202f000")
    assert out_of_bag == ["0.700", "0.700", "–", "–"]


def test_losses_out_of_bag_have_a_column_where_some_model_has_them():
    performance = performance_frame((FOREST,))
    extra = performance[performance["split"] == "train"].assign(
        split="out_of_bag", value=77.0
    )
    item = table(view(), "tab-performance-rmse")
    assert not [h for h in item.columns if "Out of bag" in plain(h.label)]
    both = pd.concat([performance, extra], ignore_index=True)
    item = table(view(performance=both), "tab-performance-rmse")
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
    assert (APART in words(table(page, "tab-performance-rmse").notes)) is not is_apart
    lede = plain(section(page, "D").lede)
    said = "On these rows it cannot be told apart from linear."
    assert (said in lede) is not is_apart
    said = "Not distinguishable from the best model on the evaluation rows: linear."
    assert (said in words(section(page, "B"))) is not is_apart


def test_without_pairs_two_models_are_apart_where_their_errors_do_not_overlap():
    for losses, is_apart in (((2.0, 11.0), True), ((4.0, 11.0), False)):
        page = two_models(None, None, losses=losses)
        note = words(table(page, "tab-performance-rmse").notes)
        assert (APART in note) is not is_apart
        assert ("overlap): forest and linear (−7.0)." in note) is not is_apart


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


def test_of_several_classes_the_predicted_one_is_judged_and_nothing_else():
    model, data = level_model(0.8), level_data()
    rows = diagnostic_rows(model, data, model.predict(data.X), split="test")
    result = multiclass_result()
    named = [{**row, "model": "forest"} for row in rows["calibration"]]
    page = build_view(result.with_frames(calibration=made_frame("calibration", named)))
    (figure,) = drawn(page, draw_classes)
    assert figure.data["curves"] == ()
    assert "ROC" not in plain(figure.caption)
    assert figure.data["labels"][0] == "share predicted correctly"
    caption = plain(table(page, "tab-calibration").caption)
    assert "rows whose class was predicted correctly, observed and expected" in caption


def test_the_headline_says_where_the_probabilities_are_off():
    result, _ = binary(1)
    check = {"model": "boosting", "positive_class": "1", "split": "test", "deciles": 10}
    check |= {"too_low": 0, "too_high": 3, "lowest": "within", "highest": "too high"}
    checked = made_frame("calibration_checks", [check])
    page = build_view(result.with_frames(calibration_checks=checked))
    (figure,) = drawn(page, draw_classes)
    assert plain(figure.headline).startswith(
        "boosting: probabilities as observed (3 of 10 deciles off)"
    )
    evidence = {"deciles": 10, "too_low": 0, "too_high": 3}
    off = found("calibration", "boosting", "info", evidence=evidence)
    judged = result.with_frames(calibration_checks=checked).with_findings((off,))
    (figure,) = drawn(build_view(judged), draw_classes)
    assert plain(figure.headline).startswith(
        "boosting: probabilities too high in 3 of 10 deciles (the highest among them)"
    )


def residual_rows(*models):
    """Return the residuals of twenty parts of the rows of each of these models."""
    return made_frame(
        "residuals",
        [
            {"model": model, "split": "test", "bin": n, "rows": 50, "weight": 50.0}
            | {"lowest": n, "highest": n + 1.0, "fitted": n + 0.5, "mean": 0.0}
            | {"q05": -2.0, "q25": -1.0, "q50": 0.0, "q75": 1.0, "q95": 2.0}
            for model in models
            for n in range(1, 21)
        ],
    )


def test_numbers_have_residuals_and_classes_have_none():
    (figure,) = drawn(view(residuals=residual_rows("forest")), draw_residuals)
    assert plain(figure.headline) == (
        "How far predictions lie from what was observed, along the predictions."
    )
    ((title, (first, *_)),) = figure.data["panels"]
    assert title == "forest"
    assert [first[name] for name in ("q05", "q50", "q95")] == [-2.0, 0.0, 2.0]
    assert not drawn(binary()[1], draw_residuals)


def test_of_more_than_six_models_six_are_drawn_and_the_others_named():
    names = [f"model {n}" for n in range(8)]
    page = view(residuals=residual_rows(*names), models=models_frame(names))
    (figure,) = drawn(page, draw_residuals)
    assert len(figure.data["panels"]) == 6
    assert plain(figure.caption).endswith("Not shown: model 6 and model 7.")


# The data card


def step(path, kind, **parameters):
    row = {"model": "forest", "step": path, "estimator": kind}
    return {**row, "parameters": json.dumps(parameters)}


def test_a_pipeline_prints_its_steps_and_never_that_the_rest_are_defaults():
    rows = [step("", "Pipeline"), step("scale", "StandardScaler")]
    rows += [step("trees", "Boosting", max_depth=8)]
    models = models_frame(("forest",), parameters='{"max_depth": 8, "subsample": 1.0}')
    page = view(steps=made_frame("steps", rows), models=models)
    (cell,) = column(table(page, "tab-steps"), "The model itself, then its steps")
    assert cell == "Pipeline; scale StandardScaler; trees Boosting (max_depth=8)"
    (parameters,) = column(table(page, "tab-models"), "Parameters")
    assert "defaults" not in parameters
    assert "all of the last step: SHA-256" in parameters
    assert "tab-steps" not in [item.id for item in view(models=models).tables]


def test_a_wrapper_of_a_run_without_steps_is_not_said_to_have_defaults():
    section_ = {"name": "forest", "estimator": "own.Scorecard", "parameters": {"C": 2}}
    for path, is_wrapper in (
        ("own.Scorecard", True),
        ("a.RandomForestRegressor", False),
    ):
        models = [section_ | {"estimator": path}]
        page = build_view(configured(plain_result(("a",)), models=models))
        (cell,) = column(table(page, "tab-models"), "Parameters")
        assert ("others: defaults" not in cell) is is_wrapper


def target_row(data, **fields):
    """Return what the card of the evaluation rows says of the target."""
    rows = quantiles_frame([data])
    page = view(quantiles=rows, **fields)
    cards = section(page, "D").parts["rows"]
    card = next(card for card in cards if "test" in card.id)
    return rows_of(card).get("Target")


def test_the_card_shows_the_share_of_each_class():
    data = level_data()
    text = target_row(data)
    for number, name in enumerate(data.classes):
        n = int((data.y == number).sum())
        assert (
            f"class {name}: {round(100 * n / data.n_samples)}\u202f% ({n} rows)" in text
        )


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
    item = table(view(("a",), columns=columns), "tab-columns")
    assert column(item, "Type") == ["true or false"] * 2 + ["number"] * 6
    assert column(item, "Range or levels") == [*texts]


def test_columns_left_out_say_why_and_what_they_hold():
    reasons, looks = look_up("data.reasons"), look_up("data.looks")
    rows = [
        {"column": f"{reason} {look}", "reason": reason, "look": look, "distinct": 1095}
        for reason in reasons
        for look in looks
    ]
    every = table(view(left_out=made_frame("left_out", rows)), "tab-left-out")
    assert column(every.everything, "Why it is left out") == [
        reasons[row["reason"]] for row in rows
    ]
    contents = column(every.everything, "Contents")
    assert contents[:2] == ["no value in any row", "one value in every row"]
    assert len(set(contents)) == len(looks)
    assert len(every.rows) < len(rows)
    assert "Listed below the report's tables: " in words(every.notes)
    unknown = [rows[0] | {"look": ""}]
    item = table(view(left_out=made_frame("left_out", unknown)), "tab-left-out")
    assert column(item, "Contents") == ["1\u202f095 different values"]
    assert "tab-left-out" not in [item.id for item in view().tables]


def test_an_error_that_is_not_known_tells_nothing_apart_nor_alike():
    page = two_models(-3.0, float("nan"), errors=(float("nan"),) * 2)
    assert APART not in words(table(page, "tab-performance-rmse").notes)
