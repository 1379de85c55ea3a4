"""Surfaces in an audit: which are asked, what is kept, and how they are drawn."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.report.svg_reader import groups, off_sheet

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import ConfigError
from importance_audit.report.figures.drawing import BAND
from importance_audit.report.figures.surface import draw_surface
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Link, plain

DATA = normal_data(1, 0, 3, n_samples=40)
PAIRS = {"method": "vint", "of": "pairs", "n_grid": 5}


def model(name="crossed", interaction=1.0):
    def predict(X):
        return np.asarray(X["x1"] + interaction * X["x2"] * X["x3"])

    return replace(linear_model(1, 0, 3), name=name, predict=predict)


def audited(*surfaces, models=(), entries=(PAIRS,)):
    config = {"importance": list(entries), "surfaces": list(surfaces)}
    return audit(None, DATA, parse_config(config), models=models or (model(),))


def surface_blocks(n_grid):
    """Return the map of a surface, and its tables."""
    view = build_view(audited({"n_grid": n_grid}))
    (figure,) = (f for f in view.figures if f.draw is draw_surface)
    tables = [t for t in view.tables if t.id.startswith("tab-surface")]
    return figure, tables


def test_by_default_it_is_the_pair_that_leads():
    (surface,) = audited({"n_grid": 6}).surfaces
    assert surface.features == ("x2", "x3")
    first, second = surface.first_grid, surface.second_grid
    truth = np.outer(first, second) + DATA.X["x1"].mean()
    np.testing.assert_allclose(surface.values, truth, atol=1e-12)


def test_where_no_pair_leads_there_is_none_and_the_reason_is_told():
    result = audited({}, models=(model(interaction=0.0),))
    assert not result.surfaces
    (message,) = [f.message for f in result.findings if f.check == "not_applicable"]
    assert message == (
        "The surface of two features: Model 'crossed' has no ranking of pairs, so "
        "there is no leading pair to draw a surface for. Name two features."
    )


def test_features_and_models_that_are_named_are_asked():
    both = model("one"), model("two")
    result = audited({"features": ["x3", "x1"], "models": ["two"]}, models=both)
    assert [(s.model, s.features) for s in result.surfaces] == [("two", ("x3", "x1"))]


@pytest.mark.parametrize(
    ("surface", "problem"),
    [
        (
            {"features": ["x1"]},
            "[surfaces] features must name two columns; 'x1' was given.",
        ),
        (
            {},
            '[surfaces] features is missing; only an [[importance]] of = "pairs" can '
            "choose them.",
        ),
    ],
)
def test_a_surface_without_two_features_is_refused(surface, problem):
    with pytest.raises(ConfigError) as refusal:
        audited(surface, entries=[{"method": "permutation"}])
    assert refusal.value.problems == (problem,)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ConfigError) as refusal:
        audited({"features": ["x1", "x9"]})
    assert refusal.value.problems == (
        "A feature of a surface must be one that the audit has; 'x9' is not.",
    )


def test_the_map_shows_every_point_and_is_grey_where_no_rows_lie():
    (surface,) = audited({"n_grid": 6}).surfaces
    figure, _ = surface_blocks(6)
    cells = groups(figure.svg, "surface-0-")
    grey = [BAND in ElementTree.tostring(cell).decode() for cell in cells]
    assert grey == (~surface.within).ravel().tolist()
    assert 0 < sum(grey) < len(grey) == 36
    assert not off_sheet(figure.svg)
    assert plain(figure.headline).startswith("Together, x2 and x3 move the mean")
    assert figure.alt.startswith("Heat map, models drawn: 1. It shows mean prediction")


def test_a_small_surface_stands_in_a_table_with_a_dash_where_it_is_grey():
    (surface,) = audited({"n_grid": 6}).surfaces
    figure, (table,) = surface_blocks(6)
    values = [[float(c.exact or "nan") for c in row.cells[1:]] for row in table.rows]
    expected = np.where(surface.within, surface.values, np.nan)
    np.testing.assert_array_equal(values, expected)
    assert Link(table.id) in figure.caption


def test_a_table_holds_twelve_points_along_a_feature_and_a_file_more():
    assert len(surface_blocks(12)[1][0].rows) == 12
    figure, tables = surface_blocks(13)
    assert not tables
    assert plain(figure.caption).endswith("Data: tables/surfaces.csv.")
