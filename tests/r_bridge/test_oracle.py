"""Rscript with raw columns over a socket has the same bits as the bridge."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from tests.r_bridge.oracle import oracle

from importance_audit.engines.asking import ask
from importance_audit.engines.dalex import FULL, OWN_LOSSES, Y_PERMUTED
from importance_audit.r_bridge import host

COLUMNS = {
    "double": [1.5, np.nan, -0.0, 5e-324],
    "Inf": [np.inf, -np.inf, 1e308, 0.1],
    "float32": np.float32([0.1, np.nan, -0.0, 3]),
    "int": [1, -(2**31) + 1, 2**31 - 1, 0],
    "large": [1, 2**53, -(2**53), 2**31],
    "Int64": pd.array([1, None, -3, 0], dtype="Int64"),
    "bool": [True, False, True, True],
    "boolean": pd.array([True, None, False, True], dtype="boolean"),
    "factor": pd.Categorical(["b", None, "é", "b"], categories=["z", "b", "é"]),
    "ordered": pd.Categorical([3, 1, 3, 2], categories=[3, 2, 1], ordered=True),
    "character": ["£", None, "", "NA"],
    "a b\n🚢 if": pd.array(["x", "x", None, "y"], dtype="string"),
    "date": [date(1950, 1, 1), None, date(2020, 2, 29), date(1970, 1, 1)],
    "time": pd.to_datetime([-631152000000001, None, 7289481600000000, 0], unit="us"),
    "zoned": pd.to_datetime(
        ["2020-07-01", None, "1960-12-01", "2020-10-25"]
    ).tz_localize("Europe/Paris"),
    "duration": pd.to_timedelta(["1s", None, "-1us", "3h"]),
    "nothing": [np.nan] * 4,
}


@pytest.fixture(scope="module")
def rscript():
    with oracle(host.library_folder()) as connection:
        yield connection


@pytest.mark.needs_r
@pytest.mark.parametrize("n_rows", [4, 1, 0])
def test_both_ways_give_r_the_same_frame(r, rscript, tmp_path, n_rows):
    frame = pd.DataFrame(COLUMNS)
    if not n_rows:
        frame = frame.drop(columns=["character", "date"])  # objects without a type
    rscript.save_and_read(frame[:n_rows], tmp_path / "frame.rds")
    same = r.call(
        "same_bits", {"x": frame[:n_rows], "file": str(tmp_path / "frame.rds")}
    )
    assert {name: bool(is_same) for name, (is_same,) in same.items()} == dict.fromkeys(
        [*frame, "the frame"], True
    )


@pytest.mark.needs_r
@pytest.mark.parametrize("n_rows", [4, 1, 0])
def test_both_ways_give_python_the_same_frame(r, rscript, tmp_path, n_rows):
    frame = pd.DataFrame(COLUMNS)[:n_rows]
    reference = rscript.save_and_read(frame, tmp_path / "frame.rds")
    ours = r.call("read_rds", {"file": str(tmp_path / "frame.rds")})
    pd.testing.assert_frame_equal(ours, reference, check_exact=True)
    for name in ours.select_dtypes("float64"):
        # 0 and -0 are equal, and a model may tell them apart; a NaN has no sign.
        is_present = ours[name].notna()
        signs = [np.signbit(frame[name][is_present]) for frame in (ours, reference)]
        np.testing.assert_array_equal(*signs)


@pytest.mark.needs_dalex
def test_dalex_scores_a_model_the_same_by_both_ways(r, rscript):
    del r
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=40), "n": rng.integers(0, 9, 40)})
    frame["g"] = pd.Categorical(rng.choice(["u", "v"], 40), ["w", "v", "u"])
    y = rng.normal(size=40)

    def predict(X):
        assert X.dtypes.equals(frame.dtypes)
        return np.exp(X["x"].to_numpy()) + (X["g"] == "u") * X["n"].to_numpy() / 3

    reference = rscript.parts(frame, y, predict, seed=7, n_repeats=3)
    groups = {name: [name] for name in frame}
    question = {"y": y, "groups": groups, "seed": 7, "n_repeats": 3}
    question |= {"loss": "rmse", "own_loss": OWN_LOSSES["rmse"]}
    answer = pd.DataFrame(ask("dalex_parts", frame, predict, **question))
    ours = answer.pivot(index="feature", columns="round", values="loss")
    table = reference.pivot(
        index="variable", columns="permutation", values="dropout_loss"
    )
    names = [*frame, FULL, Y_PERMUTED]
    np.testing.assert_array_equal(ours.loc[names], table.loc[names])
