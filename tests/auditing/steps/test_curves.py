"""Which curves an audit keeps beside the importances that are taken from them."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.importance.curve_magnitude import Curve, curve_impact
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import ConfigError
from importance_audit.report.figures.effects import draw_effects
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

SMALL = {"min_samples_leaf": 5, "min_slopes_per_x": 1}
STRATIFIED = {"method": "stratified_impact", "n_repeats": 3, **SMALL}


def audited(*entries, data=None):
    config = parse_config({"importance": list(entries)})
    data = normal_data(2, 0, n_samples=60) if data is None else data
    return audit(None, data, config, models=(linear_model(2, 0),))


def curve_keys(result):
    return {(e.model, e.method, e.feature) for e in result.effects}


@pytest.mark.parametrize("curve", get_args(Curve))
def test_the_curve_that_an_option_names_is_kept_and_is_the_one_that_is_measured(curve):
    result = audited({"method": "curve_impact", "curve": curve})
    assert curve_keys(result) == {("linear", curve, "x1"), ("linear", curve, "x2")}
    curves = {e.feature: (e.grid, e.values[:, np.newaxis]) for e in result.effects}
    raw, _ = curve_impact(
        linear_model(2, 0), normal_data(n_samples=60), seed=1, curves=curves
    )
    assert (result.importances[0].raw == raw[:, :, 0]).all()


def test_the_curve_of_the_data_is_kept_and_is_the_one_that_is_measured():
    result = audited({**STRATIFIED, "resample": "none", "n_repeats": 1})
    assert curve_keys(result) == {("", "stratpd", "x1"), ("", "stratpd", "x2")}
    means = [np.abs(effect.values).mean() for effect in result.effects]
    assert result.importances[0].mean == pytest.approx(means, rel=1e-12)


def test_two_questions_that_draw_the_same_curves_keep_them_once():
    data = STRATIFIED, {**STRATIFIED, "method": "stratified_importance"}
    own = {"method": "curve_impact"}, {"method": "curve_importance"}
    other = {"method": "partial_dependence", "grid": "unique"}
    result = audited(*data, *own, other)
    curves = [(e.model, e.method, e.feature, len(e.grid)) for e in result.effects]
    assert len(curves) == len(set(curves)) == 6


ALE = {"method": "curve_impact", "curve": "ale"}


@pytest.mark.parametrize("entry", [ALE, STRATIFIED])
def test_a_feature_without_a_curve_leaves_the_others_theirs(entry):
    data = normal_data(2, 0, n_samples=60)
    result = audited(entry, data=replace(data, X=data.X.assign(x2=1.0)))
    assert {e.feature for e in result.effects} == {"x1"}
    (finding,) = [f for f in result.findings if f.message.count("must have two values")]
    assert finding.severity == "info"
    assert np.isnan(result.importances[0].mean).tolist() == [False, True]


def test_rows_that_no_curve_can_be_drawn_of_are_told_of_once():
    data = normal_data(2, 0, n_samples=60)
    result = audited(STRATIFIED, data=replace(data, weights=np.arange(60) % 2 + 1.0))
    assert not result.effects
    assert [f.check for f in result.findings].count("not_applicable") == 1


def test_the_report_says_whose_curves_are_drawn_and_of_which_kind():
    figures = build_view(audited(STRATIFIED, ALE)).figures
    of_data, of_model = (f for f in figures if f.draw is draw_effects)
    assert plain(of_data.headline).startswith("x1 moves y most in the data, by ")
    assert plain(of_data.caption).startswith(
        "Thick blue line or dot: the data. Change in the target"
    )
    assert of_data.data["axis_label"] == "change of y"
    assert all(c.lead for panel in of_data.data["panels"] for c in panel.curves)
    assert plain(of_model.caption).startswith(
        "Thick blue line or dot: linear. Accumulated local effects"
    )


def test_a_claim_about_a_curve_that_depends_on_an_option_is_refused():
    claim = {
        **{"text": "t", "source": "s", "kind": "line", "method": "curve_impact"},
        **{"features": ["x1"], "intercept": 0.0, "slope": 2.0, "tolerance": 0.1},
    }
    entries = [{"method": "curve_impact", "curve": "ale"}]
    with pytest.raises(ConfigError) as refusal:
        parse_config({"importance": entries, "claims": [claim]})
    assert refusal.value.problems == (
        "[claims] method must have one kind of curve for kind 'line'; those of "
        "'curve_impact' depend on its option curve.",
    )


def test_stratified_curves_do_not_move_with_the_number_of_trials():
    one, two = (audited({**STRATIFIED, "n_repeats": n}).effects for n in (1, 3))
    assert (one[0].values == two[0].values).all()
