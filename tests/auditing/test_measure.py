"""What each kind of method is asked of: which rows, which models, which draws."""

import numpy as np
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.auditing.measure import (
    Question,
    importances,
    pairs_of,
    primary_stream,
    wants_run_beside,
)
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import read_datasets
from importance_audit.engines import EngineInfo
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.records.errors import NotApplicable
from importance_audit.records.streams import seed_of
from importance_audit.report.pages.html import to_html
from importance_audit.report.pages.view import build_view

DATA = {"train": {"sklearn": "load_diabetes"}, "test": {"fraction": 0.4}}
DATA |= {"target": "target", "task": "regression"}
LINEAR = {"estimator": "sklearn.linear_model.LinearRegression"}
MODELS = [{"name": name, **LINEAR} for name in ("one", "two")]
BASE_CONFIG = {"data": DATA, "models": MODELS}


def audited(*entries):
    """Return training rows, test rows and the audit of two equal models."""
    config = parse_config(BASE_CONFIG | {"importance": list(entries)})
    train, test = read_datasets(**config.data_arguments)
    return train, test, audit(train, test, config)


def section_of(**entry):
    """Return one [[importance]], of permutation unless it says otherwise."""
    entries = [{"method": "permutation", **entry}]
    return parse_config(BASE_CONFIG | {"importance": entries}).importance[0]


OURS = EngineInfo("python", True, "1", "", "")


def ours_of(model, **entry):
    """Return our record on one question about normal data."""
    question = Question(model, normal_data(), section_of(**entry), OURS)
    (record, *_) = importances(question, seed=1, stream="numpy")
    return record


def test_the_data_are_asked_once_on_the_training_rows():
    train, _, result = audited({"method": "spearman"})
    (record,) = result.importances
    assert (record.model, record.split, record.n_samples) == ("", "train", len(train.y))
    page = to_html(build_view(result))
    assert "Ranking of the features of <bdi>the data</bdi>" in page
    assert "empty name" not in page


def test_a_model_is_asked_on_the_test_rows():
    _, test, result = audited({"method": "drop_column", "n_repeats": 1})
    asked = [(r.model, r.split, r.n_samples) for r in result.importances]
    assert asked == [(name, "test", len(test.y)) for name in ("one", "two")]


@pytest.mark.parametrize("method", ["random_subspace", "random_subspace_permutation"])
def test_what_is_measured_out_of_bag_is_of_the_training_rows(method):
    entry = {"method": method, "n_repeats": 30, "models": ["one"]}
    train, _, result = audited(entry)
    (record,) = result.importances
    assert (record.split, record.n_samples) == ("train", len(train.y))
    assert record.seed == seed_of(1, "one", "random_subspace", "features")


@pytest.mark.r
def test_an_engine_without_the_method_does_not_decide_our_draws():
    _, _, result = audited(
        {"method": "shapley", "n_repeats": 1, "n_background": 5, "engines": ["DALEX"]}
    )
    assert {record.stream for record in result.importances} == {"numpy"}
    assert set(result.agreement["verdict"]) == {"not compared"}


@pytest.mark.parametrize(
    ("entry", "stream"),
    [
        ({"engines": ["vip"]}, "numpy"),
        ({"engines": ["iml", "hstats"]}, "hstats"),
        ({"engines": ["hstats", "DALEX"]}, "DALEX"),
        ({"engines": ["hstats"], "within": "leaves"}, "numpy"),
        ({"method": "h_statistic", "engines": ["DALEX", "hstats"]}, "hstats"),
        ({"method": "h_statistic", "engines": ["hstats"], "n_repeats": 2}, "numpy"),
        ({"method": "partial_dependence", "engines": ["DALEX"]}, ""),
        ({"method": "shapley", "engines": ["DALEX"]}, "numpy"),
    ],
)
def test_our_run_is_drawn_as_the_first_engine_draws_that_can_be_asked(entry, stream):
    assert primary_stream(section_of(**entry)) == stream


@pytest.mark.parametrize(
    ("entry", "stream", "primary", "beside"),
    [
        ({"n_rows": 50}, "hstats", "numpy", True),
        ({"n_rows": 50}, "hstats", "hstats", False),
        ({"n_rows": 200}, "hstats", "numpy", False),  # all rows: nothing is drawn
        ({"n_rows": 50}, "iml", "numpy", False),  # nobody else can draw so
        ({"n_rows": 50}, "DALEX", "numpy", False),  # draws losses so, not rows for H
        ({"method": "permutation", "draws": "exact"}, "vip-0.5", "numpy", False),
    ],
)
def test_we_run_again_in_the_order_of_an_engine_where_that_changes_the_draws(
    entry, stream, primary, beside
):
    section = section_of(**{"method": "h_statistic", **entry})
    engine = EngineInfo("an engine", True, "1", stream, "")
    assert wants_run_beside(section, normal_data(), engine, primary) == beside


def test_an_option_of_a_later_version_does_not_make_another_question():
    """Runs are compared with those before it: their records have no such option."""
    assert "draws" not in ours_of(linear_model(2, 1)).options
    sampled, unsaid = section_of(draws="sampled"), section_of()
    assert dict(sampled.options) == dict(unsaid.options)


@pytest.mark.needs_numba
def test_what_is_exact_has_no_stream():
    estimator = "sklearn.ensemble.RandomForestRegressor"
    trees = {"n_estimators": 3}
    forest = ModelSection(name="m", estimator=estimator, parameters=trees)
    record = ours_of(fit(forest, normal_data()), draws="exact")
    assert (record.stream, record.n_repeats) == ("", 1)


def test_sage_has_a_stream_unless_all_coalitions_of_all_rows_are_asked_about():
    streams = {}
    for n_background in (100, 200):
        record = ours_of(linear_model(2, 0), method="sage", n_background=n_background)
        assert record.n_repeats == 1
        streams[n_background] = record.stream, bool(np.isnan(record.std).any())
    assert streams == {100: ("numpy", True), 200: ("", False)}


def test_an_engine_without_an_option_is_not_asked_with_it():
    section = section_of(n_repeats=2, within="leaves")
    engine = EngineInfo("vip", True, "0.5", "vip-0.5", "")
    question = Question(linear_model(2, 0), normal_data(), section, engine)
    with pytest.raises(NotApplicable) as refusal:
        importances(question, seed=1, stream="vip-0.5")
    assert str(refusal.value) == (
        "vip has no such option of 'permutation': 'within = leaves'."
    )


def test_standardised_values_have_no_unit():
    _, _, result = audited({"method": "firm_labels", "standardised": True})
    (record,) = result.importances
    assert record.unit == "1"
    assert np.nanmax(np.abs(record.raw)) <= 1


def test_rows_that_are_all_taken_are_not_drawn():
    options = {"method": "vint", "of": "pairs", "n_grid": 2, "models": ["one"]}
    for n_rows, stream in ((500, ""), (10, "numpy")):
        (record,) = audited({**options, "n_rows": n_rows})[2].importances
        assert record.stream == stream
        assert record.n_drawn == min(n_rows, record.n_samples)


def test_names_of_pairs_that_read_alike_are_quoted():
    assert pairs_of(["a", "b:c", "a:b", "c"])["'a':'b:c'"] == ("a", "b:c")
    assert len(pairs_of(["a", "b:c", "a:b", "c"])) == 6


def test_partial_dependence_has_a_band_and_other_curves_have_none():
    _, _, result = audited(
        {"method": "partial_dependence", "n_grid": 5},
        {"method": "curve_impact", "curve": "ale", "n_grid": 5},
        {"method": "curve_importance", "curve": "conditional_profile", "n_grid": 5},
    )
    curves = {effect.method for effect in result.effects}
    assert curves == {"partial_dependence", "ale", "conditional_profile"}
    for effect in result.effects:
        assert effect.has_band is (effect.method == "partial_dependence")
        if effect.has_band:  # of a linear model: no row acts otherwise than the mean
            assert effect.band_low == pytest.approx(effect.values)
            assert effect.band_high == pytest.approx(effect.values)
    assert "on_band" not in result.effects[0].options
