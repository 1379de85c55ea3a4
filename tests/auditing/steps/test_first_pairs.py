"""Which pairs are asked where only those of the first features are."""

from dataclasses import replace

import numpy as np
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import ConfigError

DATA = normal_data(1, 0, 3, 2, n_samples=40)


def model(name="crossed"):
    """Return x1 + 3 x3 + 2 x4 + x3 x4, so that x3 and x4 come first."""
    slopes = np.array([1.0, 0, 3, 2])
    return replace(
        linear_model(1, 0, 3, 2),
        name=name,
        predict=lambda X: X.to_numpy() @ slopes + (X["x3"] * X["x4"]).to_numpy(),
    )


def audited(*models, **options):
    entry = {"method": "vint", "of": "pairs", "n_grid": 5, **options}
    config = parse_config({"importance": [entry]})
    return audit(None, DATA, config, models=models or (model(),))


def test_the_pairs_of_the_first_features_are_asked_and_measure_what_they_always_do():
    whole, first = audited().importances[0], audited(top=3).importances[0]
    assert first.features == ("x1:x3", "x1:x4", "x3:x4")
    rows = [whole.features.index(name) for name in first.features]
    assert (first.raw == whole.raw[rows]).all()


def test_each_model_is_asked_about_its_own_first_features():
    steep = replace(linear_model(5, 5, 0, 0), name="steep")
    one, two = audited(model(), steep, top=2).importances
    assert (one.features, two.features) == (("x3:x4",), ("x1:x2",))


def test_the_pairs_that_are_left_out_are_told_of():
    (finding,) = [f for f in audited(top=3).findings if f.check == "first_pairs"]
    assert finding.severity == "info"
    assert finding.message == (
        "vint of pairs is measured for 3 of 6 pairs of model 'crossed': those of "
        "the 3 features with the largest partial-dependence importance: x1, x3, x4. "
        "A feature that acts through an interaction alone is not among them."
    )


def test_as_many_as_there_are_means_all_and_needs_no_word():
    result = audited(top=4)
    assert len(result.importances[0].features) == 6
    assert not [f for f in result.findings if f.check == "first_pairs"]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            {"method": "permutation", "top": 3},
            "[importance] top works only with of = 'pairs'; leave it out.",
        ),
        (
            {"method": "h_statistic", "of": "features", "top": 3},
            "[importance] top works only with of = 'pairs'; leave it out.",
        ),
        (
            {"method": "vint", "of": "pairs", "top": 1},
            "[importance] top must be 0 for all or at least 2 for a pair; 1 was given.",
        ),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(entry, problem):
    with pytest.raises(ConfigError) as refusal:
        parse_config({"importance": [entry]})
    assert refusal.value.problems == (problem,)
