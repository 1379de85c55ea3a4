"""vip answers through the bridge: as recorded, and live wherever it is installed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each

from importance_audit.engines.asking import ask as ask_r
from importance_audit.engines.availability import stream_of
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RError

RECORDED = json.loads(
    (Path(__file__).parents[1] / "reference" / "vip_adapter.json").read_text("utf8")
)
CASES = {case["id"]: case for case in RECORDED["cases"]}
BOTH_LINES = ("v04", "v05")


# Makes an object like those of vip, and hands it to the functions that read them.
AS_VIP = """
recorded_scores <- function(features, variable, importance, rows = NULL, raw = NULL) {
  answer <- data.frame(Variable = variable, Importance = importance)
  if (!is.null(raw)) attr(answer, "raw_scores") <- `rownames<-`(raw, rows)
  scores_of(features, answer)
}
recorded_firm <- function(feature, points, importance, curve) {
  answer <- data.frame(Variable = feature, Importance = importance)
  attr(answer, "effects") <- stats::setNames(list(as.data.frame(curve)), feature)
  firm_of(feature, points, answer)
}
"""


@pytest.fixture(scope="module")
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "as_vip.R"
    file.write_text(AS_VIP)
    with host.session(extra_r_files=[file]) as worker:
        yield worker


def frame(name="reg"):
    """Return the recorded columns without the target."""
    block = RECORDED["data"][name]
    columns = {key: value for key, value in block["columns"].items() if key != "y"}
    table = pd.DataFrame(columns)
    if "g" in table:
        table["g"] = pd.Categorical(table["g"], categories=block["levels"]["g"])
    return table


def target(name="reg"):
    return np.array(RECORDED["data"][name]["columns"]["y"])


def predict(X):
    """Return the recorded model: 1 + 2 x1 - x2 x3 + 0.5 (g = b) + 0.1 k."""
    bonus = 0.5 * (X["g"] == "b") + 0.1 * X["k"]
    return (1 + 2 * X["x1"] - X["x2"] * X["x3"] + bonus).to_numpy()


def line_here():
    """Return "v04" or "v05", the line that is installed."""
    stream = stream_of("vip", host.installed()["packages"]["vip"])
    return {"vip-0.4": "v04", "vip-0.5": "v05"}[stream]


def ask(features, loss="rmse", X=None, model=predict, **options):
    question = {"seed": 1, "n_repeats": 2, "n_rows": None, "form": "difference"}
    question |= {"y": target(), "features": features, "loss": loss, **options}
    return ask_r("vip_permute", frame() if X is None else X, model, **question)


@pytest.mark.needs_r
@for_each(BOTH_LINES)
def test_scores_of_a_sorted_answer_are_found_by_name(line, r):
    result = CASES[f"vip-{line}-vi-permute-sort-dec-norank"]["result"]
    rows, raw = result["raw_scores"]["rows"], np.array(result["raw_scores"]["values"])
    table = {"variable": result["Variable"], "importance": result["Importance"]}
    features = sorted(rows)
    assert features not in (rows, result["Variable"])
    question = {"features": features, **table, "rows": rows, "raw": raw}
    scores = r.call("recorded_scores", question)
    np.testing.assert_array_equal(scores, raw[[rows.index(name) for name in features]])
    # Of a single repeat there are only importances.
    result = CASES[f"vip-{line}-permute-frac-1"]["result"]
    table = {"variable": result["Variable"], "importance": result["Importance"]}
    scores = r.call("recorded_scores", {"features": result["Variable"][::-1], **table})
    np.testing.assert_array_equal(scores[:, 0], result["Importance"][::-1])


@pytest.mark.needs_r
@for_each([(line, name) for line in BOTH_LINES for name in ("x1", "k", "g")])
def test_a_recorded_curve_is_read_with_its_importance(case, r):
    line, feature = case
    result = CASES[f"vip-{line}-firm-mixed"]["result"]
    importance = result["Importance"][result["Variable"].index(feature)]
    curve = result["effects"][feature]
    question = {"feature": feature, "importance": importance, "curve": curve}
    answer = r.call("recorded_firm", question | {"points": curve[feature][::-1]})
    assert answer["importance"][0] == importance
    assert list(answer["values"]) == curve["yhat"][::-1]


@pytest.mark.needs_vip
@pytest.mark.usefixtures("r")
def test_the_order_of_features_is_the_order_of_draws_and_two_repeats_may_be_of_one():
    both, other = ask(["x1", "k"]), ask(["k", "x1"])
    assert not np.isclose(both[0, 0], other[1, 0])
    np.testing.assert_allclose(ask(["x1"])[0, 0], both[0, 0], rtol=1e-12)


@pytest.mark.needs_vip
@pytest.mark.usefixtures("r")
@for_each([(5, {"n_repeats": 1}), (1, {"n_repeats": 2, "n_rows": 20})])
def test_vip_before_0_5_cannot_do_what_the_registry_refuses(case):
    """VIP-ONEFEATURE and VIP-ONECOLUMN of importance_audit.engines.known_defects."""
    width, options = case
    X = frame()[["x1", "x2", "x3", "k", "g"]].iloc[:, :width]
    question = {"features": ["x1"], "loss": "mse", "X": X, **options}
    if line_here() == "v05":
        assert ask(model=lambda X: X["x1"], **question).shape == (
            1,
            options["n_repeats"],
        )
        return
    with pytest.raises(RError):
        ask(model=lambda X: X["x1"], **question)
