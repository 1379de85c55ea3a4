"""Rows as they are, which an audit asks each model about once."""

import numpy as np
import pytest

from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import wrap
from importance_audit.models.prediction import asking_once_about, predict_unchanged


@pytest.fixture
def asked():
    return []


@pytest.fixture
def model(asked):
    def predict(X):
        asked.append(len(X))
        X["more"] = 1.0
        return np.arange(len(X), dtype=float) + len(asked)

    return wrap(predict, name="m", task="regression", features=("x1", "x2"))


def test_each_model_is_asked_once_about_these_rows_alone(model, asked):
    data, others = normal_data(2, 1), normal_data(2, 1)
    with asking_once_about(data.X):
        first = predict_unchanged(model, data.X)
        assert predict_unchanged(model.with_losses(("mae",)), data.X) is first
        predict_unchanged(model, others.X)
        predict_unchanged(model, others.X)
    predict_unchanged(model, data.X)
    assert len(asked) == 4
    assert list(data.X) == ["x1", "x2"]


def test_what_is_handed_out_again_cannot_be_written_to(model):
    data = normal_data(2, 1)
    with asking_once_about(data.X), pytest.raises(ValueError, match="read-only"):
        predict_unchanged(model, data.X)[0] = 0.0
