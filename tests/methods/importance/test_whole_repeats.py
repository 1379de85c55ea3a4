"""If time ends, the repeats are kept that every feature has, two at least."""

from dataclasses import replace

import numpy as np
import pytest

from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import OutOfTime

DATA, MODEL = normal_data(3, -1, 0.5), linear_model(3, -1, 0.5)
ONCE = 1
"""Calls for all rows as they are, which serve all repeats."""


def ending_after(n_calls):
    """Return the model, for which time ends after so many calls."""
    left = iter(range(n_calls))

    def predict(X):
        if next(left, None) is None:
            raise OutOfTime
        return MODEL.predict(X)

    return replace(MODEL, predict=predict)


@pytest.mark.parametrize("stream", ["numpy", "DALEX", "vip-0.4", "vip-0.5"])
@pytest.mark.parametrize(("n_calls", "n_whole"), [(6, 2), (8, 2), (9, 3), (11, 3)])
def test_the_first_whole_repeats_are_those_of_a_run_without_a_limit(
    stream, n_calls, n_whole
):
    options = {"seed": 1, "stream": stream}
    cut = permutation(ending_after(ONCE + n_calls), DATA, n_repeats=9, **options)
    whole = permutation(MODEL, DATA, n_repeats=n_whole, **options)
    for numbers, expected in zip(cut, whole, strict=True):
        assert np.array_equal(numbers, expected)


@pytest.mark.parametrize("stream", ["hstats", "xplainfi"])
def test_streams_that_go_feature_by_feature_keep_nothing(stream):
    with pytest.raises(OutOfTime):
        permutation(ending_after(26), DATA, seed=1, n_repeats=9, stream=stream)


def test_one_repeat_is_not_kept():
    with pytest.raises(OutOfTime):
        permutation(ending_after(ONCE + 5), DATA, seed=1, n_repeats=9)


def test_terms_and_losses_of_rows_are_means_over_the_repeats_that_were_made():
    def kept_of(model, n_repeats):
        kept = {"keep": ("row_terms", "paired_losses")}
        answer = permutation(model, DATA, seed=1, n_repeats=n_repeats, **kept)
        return answer.row_terms, answer.paired_losses

    (cut, cut_losses), (whole, losses) = (
        kept_of(ending_after(ONCE + 9), 9),
        kept_of(MODEL, 3),
    )
    np.testing.assert_allclose(cut.terms["mse"], whole.terms["mse"], rtol=1e-12)
    np.testing.assert_allclose(cut.noise["mse"], whole.noise["mse"], rtol=1e-12)
    for feature in range(3):
        of_cut = cut_losses.differences("mse", feature)
        assert np.array_equal(of_cut, losses.differences("mse", feature))
