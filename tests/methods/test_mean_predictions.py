"""The mean prediction: what a curve of a feature that does not matter shows."""

from dataclasses import replace

import numpy as np
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    logistic_model,
    normal_data,
)


def audited(model, data, *entries):
    config = parse_config({"importance": list(entries)})
    return audit(None, data, config, models=(model,))


@pytest.mark.parametrize("scale", ["native", "link", "centred_logit"])
def test_it_is_the_curve_of_a_feature_that_the_model_ignores(scale):
    data = binary_data(n_samples=60)
    weighted = replace(data, weights=np.arange(60) + 1.0)
    entry = {"method": "partial_dependence", "scale": scale, "n_grid": 3}
    result = audited(logistic_model(2, 0), weighted, entry)
    (ignored,) = (e for e in result.effects if e.feature == "x2")
    (row,) = result.mean_predictions.to_dict("records")
    np.testing.assert_allclose(ignored.values, row["mean"], rtol=1e-12)
    assert (row["positive_class"], row["scale"]) == ("yes", ignored.scale)


def test_it_is_told_once_for_all_curves_of_a_model():
    entries = {"method": "partial_dependence", "n_grid": 3}, {"method": "curve_impact"}
    result = audited(linear_model(2, 0), normal_data(2, 0, n_samples=60), *entries)
    assert len({len(effect.grid) for effect in result.effects}) == 2
    assert len(result.mean_predictions) == 1


@pytest.mark.parametrize(
    "entry",
    [
        {"method": "curve_impact", "curve": "ale"},
        {
            "method": "stratified_impact",
            "n_repeats": 2,
            "min_samples_leaf": 5,
            "min_slopes_per_x": 1,
        },
    ],
)
def test_curves_with_a_zero_of_their_own_have_none(entry):
    result = audited(linear_model(2, 0), normal_data(2, 0, n_samples=60), entry)
    assert result.effects
    assert result.mean_predictions.empty
