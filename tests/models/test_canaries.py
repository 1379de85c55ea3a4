"""Claims about predict before anything is measured: what it may not do, and is told."""

import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.assess.measured import checked_model

from importance_audit.assess import checks
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.r_bridge import host


def check_outcome(word, model, data=None):
    """Return verdict, observed and finding of one check of a model."""
    answers = checked_model(model, data or normal_data(2, 1, 0))
    ((row, finding),) = (a for a in answers if a[0]["check"] == word)
    return row["verdict"], row["observed"], finding


def after(side_effect):
    """Return a sound model that does something else besides."""
    steady = linear_model(2, 1)

    def predict(X):
        side_effect(X)
        return steady.predict(X)

    return replace(steady, predict=predict)


def test_a_predict_that_changes_its_rows_fails():
    verdict, observed, finding = check_outcome(
        "predict_writes", after(lambda X: X.__setitem__("x2", 0.0))
    )
    assert (verdict, observed) == ("fail", "changed")
    assert finding.message == "Predict modifies the rows that it is given."
    assert check_outcome("predict_writes", linear_model(2, 1))[0] == "pass"


@pytest.mark.parametrize(
    ("draw", "state"),
    [
        (lambda _: np.random.random(), "'numpy'"),
        (lambda _: random.random(), "'random'"),
    ],
)
def test_a_predict_that_moves_a_global_random_state_is_warned_of(draw, state):
    verdict, observed, finding = check_outcome("predict_draws", after(draw))
    assert (verdict, observed) == ("warn", 1.0)
    assert finding.message == (
        f"Predict draws random numbers: it changes the global random state of {state}."
    )


def test_a_generator_of_its_own_is_no_global_state():
    own = np.random.default_rng(1)
    model = after(lambda _: own.random())
    assert check_outcome("predict_draws", model) == ("pass", 0.0, None)


def test_a_column_that_is_read_but_not_named_fails():
    steady = linear_model(2, 1)
    secret = replace(steady, predict=lambda X: steady.predict(X) + X["x3"].to_numpy())
    verdict, observed, finding = check_outcome("reads_more", secret)
    assert (verdict, observed) == ("fail", "changed")
    assert finding.message == (
        "The model reads columns that are not listed as its features: shuffling 'x3' "
        "changes its predictions."
    )
    assert check_outcome("reads_more", steady) == ("pass", "unchanged", None)


def test_a_model_that_names_every_column_has_none_to_hide():
    answers = checked_model(linear_model(2, 1), normal_data(2, 1))
    assert "reads_more" not in {row["check"] for row, _ in answers}


def test_numbers_that_predict_takes_from_r_are_warned_of():
    (passed,) = checks.run("draws", "m", draws=0)
    ((row, finding),) = checks.run("draws", "m", draws=3)
    assert (passed[0]["verdict"], row["verdict"]) == ("pass", "warn")
    assert finding.message == (
        "Predict takes 3 numbers from R's random number generator for a few rows, so "
        "no draw of R can be replayed."
    )


DRAWS = """
draws_of_drawing <- function(data, n, most) {
  predictions(data, function(object, newdata) stats::runif(n), most)$n_draws
}
"""


@pytest.mark.needs_r
def test_every_number_that_predict_takes_from_r_is_counted(tmp_path):
    file = tmp_path / "draws.R"
    file.write_text(DRAWS)
    X = pd.DataFrame({"x": [1.0, 2.0]})
    with host.session(extra_r_files=[file]) as worker:
        counts = [
            worker.call("draws_of_drawing", {"data": X, "n": n, "most": 9})[0]
            for n in (0, 1, 7, 20)
        ]
        assert counts == [0, 1, 7, 9]
        question = {"data": X, "most": 9}
        answer = worker.call(
            "predictions",
            question,
            predict=lambda X: X["x"].to_numpy(),
            schema_of=X,
        )
        assert answer["predicted"].tolist() == [1.0, 2.0]
        assert answer["n_draws"].tolist() == [0]
