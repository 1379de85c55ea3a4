"""What figures of curves tell beside the curves, from a whole audit to the drawing."""

from dataclasses import replace
from math import isnan

import numpy as np
import pandas as pd
import pytest
from tests.report.reading import drawn
from tests.report.svg_reader import groups, points, words, y_axis

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.report.figures.effects import draw_effects
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

CURVES = {"method": "partial_dependence", "n_grid": 5}
EVEN = {**CURVES, "models": ["linear"]}
QUANTILE = {**CURVES, "models": ["steep"], "grid": "quantile"}
DATA = normal_data(2, 0, n_samples=60)
TOWN = pd.Categorical(["north", "mid", "mid"] * 20)


def figures(*entries, X=DATA.X, weights=DATA.weights):
    rows = replace(DATA, X=X, weights=weights, groups={n: (n,) for n in X})
    config = parse_config({"importance": list(entries)})
    models = linear_model(2, 0), replace(linear_model(4, 1), name="steep")
    shifted = [
        replace(m, predict=lambda X, m=m, c=c: m.predict(X) + c)
        for m, c in zip(models, (1.0, 5.0), strict=True)
    ]
    view = build_view(audit(None, rows, config, models=tuple(shifted)))
    return drawn(view, draw_effects)


def test_the_mean_of_the_leading_model_is_dashed_and_the_others_are_told():
    (figure,) = figures(CURVES)
    at = points(groups(figure.svg, "reference")[0])[0][1]
    assert at == pytest.approx(y_axis(figure.svg)(1.0), abs=0.02)
    legend = " Dashed line: mean prediction of linear, 1 (steep 5). "
    assert legend in plain(figure.caption)
    first, *others = "effects", "distributions", "mean_predictions"
    files = f"tables/{first}.csv, " + " and ".join(f"tables/{n}.csv" for n in others)
    assert plain(figure.caption).endswith(f"Data: {files}.")
    assert words(figure.svg).count("mean 1") == 1


def test_what_is_always_shown_is_drawn_though_twelve_others_lead():
    data = normal_data(*range(14, 0, -1), n_samples=60)
    model = linear_model(*range(14, 0, -1))
    sections = {"importance": [{"method": "permutation"}, CURVES]}
    sections |= {"report": {"always_show": ["x14"]}}
    result = audit(None, data, parse_config(sections), models=(model,))
    panels = [
        panel.feature
        for figure in drawn(build_view(result), draw_effects)
        for panel in figure.data["panels"]
    ]
    assert panels == [*(f"x{n}" for n in range(1, 12)), "x14"]


def test_the_foot_is_as_high_as_the_rows_weigh_and_levels_count_their_rows():
    weights = np.arange(60) + 1.0
    (figure,) = figures(EVEN, X=DATA.X.assign(town=TOWN), weights=weights)
    panels = {panel.feature: panel for panel in figure.data["panels"]}
    assert dict(panels["town"].counts) == {"mid": 40, "north": 20}
    expected, _ = np.histogram(DATA.X["x1"], 20, weights=weights)
    assert [n for _, n in panels["x1"].counts] == expected.tolist()
    assert len(groups(figure.svg, "rows")) == 2 * 20


def test_curves_of_the_data_have_feet_and_no_mean():
    small = {"n_repeats": 2, "min_samples_leaf": 5, "min_slopes_per_x": 1}
    (figure,) = figures({"method": "stratified_impact", **small})
    assert isnan(figure.data["reference"])
    assert "Dashed" not in plain(figure.caption)
    assert groups(figure.svg, "rows")
    assert not groups(figure.svg, "reference")


def test_figures_that_differ_in_their_grid_name_it():
    even, quantile = figures(EVEN, QUANTILE)
    assert ' Settings: grid = "even". ' in plain(even.caption)
    assert ' Settings: grid = "quantile". ' in plain(quantile.caption)


def crossed(X):
    """Return a prediction that x2 turns upside down."""
    return (X["x1"] * X["x2"]).to_numpy(dtype=float)


def figure_of(*models, rows=DATA):
    """Return the figure of the curves of these models."""
    config = parse_config({"importance": [CURVES]})
    (figure,) = drawn(
        build_view(audit(None, rows, config, models=models)), draw_effects
    )
    return figure


def test_the_band_is_that_of_the_leading_model_alone_and_is_explained():
    model = replace(linear_model(2, 0), predict=crossed)
    figure = figure_of(*(replace(model, name=name) for name in ("first", "second")))
    for panel in figure.data["panels"]:
        assert [bool(curve.band) for curve in panel.curves] == [True, False]
    assert len(groups(figure.svg, "band")) == 2
    assert words(figure.svg).count("middle half of the rows") == 1
    legend = (
        " Light blue: the middle half of the rows, their curves shifted to a common "
        "mean; wide where the effect differs between rows. Grey bars"
    )
    assert legend in plain(figure.caption)


def test_a_band_that_nobody_can_see_is_not_explained():
    (figure,) = figures(CURVES)
    assert "middle half of the rows" not in plain(figure.caption)
    assert "middle half of the rows" not in words(figure.svg)


def test_what_is_predicted_for_missing_cells_is_told_with_their_share():
    gaps = DATA.X.copy()
    gaps.loc[gaps.index[:15], "x1"] = np.nan

    def caption(predict):
        model = replace(linear_model(2, 0), predict=predict)
        return plain(figure_of(model, rows=replace(DATA, X=gaps)).caption)

    start = (
        " Mean prediction of linear with the cells of a feature missing (n/a in the "
        "figure; in brackets: the share of rows without a value): "
    )
    told = caption(lambda X: np.where(X["x1"].isna(), 7.0, 2 * X["x1"]))
    assert f"{start}x1 7 (25\u202f%)." in told
    assert "tables/missing_predictions.csv" in told

    def refusing(X):
        if X["x1"].isna().all():
            raise ValueError("x1 has no value.")
        return np.where(X["x1"].isna(), 7.0, 2 * X["x1"])

    assert f"{start}x1 not predicted (25\u202f%)." in caption(refusing)
    assert "with the cells of a feature missing" not in plain(figures(EVEN)[0].caption)


def test_a_curve_on_another_scale_says_so_in_its_headline_caption_and_axis():
    rows = replace(DATA, task="binary", y=np.arange(60) % 2, classes=("no", "yes"))
    model = replace(
        linear_model(1, 0),
        task="binary",
        classes=("no", "yes"),
        predict=lambda X: 1 / (1 + np.exp(-X.to_numpy()[:, 0])),
    )
    sections = {"importance": [{**CURVES, "scale": "link"}]}
    view = build_view(audit(None, rows, parse_config(sections), models=(model,)))
    (figure,) = drawn(view, draw_effects)
    span = np.ptp(DATA.X["x1"])  # the logit is the first column
    assert f"by {span:.2f} on the logit scale." in plain(figure.headline)
    assert " Predictions are on the logit scale. " in plain(figure.caption)
    assert figure.data["axis_label"] == "mean logit of class yes"
