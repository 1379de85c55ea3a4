"""Rows as they are, which an audit asks each model about once."""

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
        return slope[0] * X["x1"].to_numpy()

    slope = [1.0]
    asked.append(slope)
    return wrap(predict, name="m", task="regression", features=("x1", "x2"))


def test_each_model_is_asked_once_about_all_of_these_rows(model, asked):
    data, others = normal_data(2, 1, n_samples=90), normal_data(2, 1, n_samples=80)
    with asking_once_about(data.X):
        first = predict_unchanged(model, data.X)
        assert predict_unchanged(model.with_losses(("mae",)), data.X) is first
        predict_unchanged(model, others.X)
        predict_unchanged(model, others.X)
    predict_unchanged(model, data.X)
    assert asked[1:] == [90, 64, 80, 80, 90]
    assert list(data.X) == ["x1", "x2"]


def test_a_model_that_was_fitted_again_is_asked_again(model, asked):
    data = normal_data(2, 1, n_samples=90)
    with asking_once_about(data.X):
        first = predict_unchanged(model, data.X)
        asked[0][0] = 2.0
        assert (predict_unchanged(model, data.X) == 2 * first).all()


def test_what_is_handed_out_again_cannot_be_written_to(model):
    data = normal_data(2, 1)
    with asking_once_about(data.X), pytest.raises(ValueError, match="read-only"):
        predict_unchanged(model, data.X)[0] = 0.0
