"""Every figure keeps its texts apart, on one page, whatever its names."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.report.figures.test_effects import DISTRICT, YEAR, curve, effects
from tests.report.figures.test_performance import classes, residuals
from tests.report.made_records import HOSTILE
from tests.report.svg_reader import collisions, height, off_sheet

from importance_audit.report.figures.bands import (
    BandPanel,
    BandRow,
    draw_bands,
    paged_bands,
)
from importance_audit.report.figures.clusters import draw_clusters
from importance_audit.report.figures.effects import EffectPanel, paged_effects
from importance_audit.report.figures.interactions import draw_interactions
from importance_audit.report.figures.models import ModelPanel, draw_models
from importance_audit.report.figures.parts import Row
from importance_audit.report.figures.ranking import draw_ranking
from importance_audit.report.figures.ranks import draw_rank_intervals

PAGE = 228.0
LONG = "gradient boosting, challenger 2024-02, refitted each quarter"
FEATURES = {
    "short": [f"f{n}" for n in range(40)],
    "long": [f"{'feature.' * 12}{n}" for n in range(40)],
    "hostile": HOSTILE,
}


def rows(names):
    return [Row(name, n, n - 1, n + 1, f"{n}.00000") for n, name in enumerate(names)]


def ranking(names):
    yield draw_ranking(rows(names), unit_label="rise", baseline_label="as is")


def models(names):
    for n in (1, 2, 6):
        panels = [ModelPanel(f"m{k}", 1.0, "as is 1", rows(names)) for k in range(n)]
        yield draw_models(panels, axis_label="loss")
    panels = [ModelPanel(m, 1.0, "as is 1", rows(names)) for m in (LONG, "linear")]
    yield draw_models(panels, axis_label="loss")


def bands(names):
    differences = tuple(BandRow(name, 0.1, 1.0, True, "") for name in names)
    pair = "DALEX − vip 0.5.0.9000 (supplied)"
    panels = [BandPanel(f"m{n}", "equivalent", differences, pair) for n in range(9)]
    for page in paged_bands(panels):
        yield draw_bands(page, unit_label="difference")


def clusters(names):
    labels = ("limit", "tree", "unit", "baseline", "value")
    options = {f"{label}_label": label for label in labels}
    pairs = [replace(row, cluster=n // 2) for n, row in enumerate(rows(names))]
    yield draw_clusters(pairs, joins=[], limit=0.8, baseline=0.0, **options)


def rank_intervals(names):
    last = float(len(names) ** 3)
    ends = ("draws_low", "draws_high", "rows_low", "rows_high")
    numbers = [(n, 1.0, last, 1.0, n) for n in range(len(names))]
    ranks = pd.DataFrame(numbers, columns=["rank", *ends], dtype=float)
    yield draw_rank_intervals([(LONG[:30], ranks)], names=names, axis_label="rank")


def interactions(names):
    names = names[:12]
    strengths = [[n + m / 10 for m in range(n)] for n in range(len(names))]
    texts = [[f"{value:.2f}" for value in row] for row in strengths]
    yield draw_interactions(names, strengths, texts, axis_label="strength")


OF_FEATURES = (ranking, models, bands, clusters, rank_intervals, interactions)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("draw", OF_FEATURES)
def test_a_figure_of_features_keeps_its_texts_apart_and_on_one_page(draw, kind):
    for n in (2, 12, 40):
        for sheet in draw(FEATURES[kind][:n]):
            assert_fits(sheet.svg("s"))


def assert_fits(svg):
    assert collisions(svg) == []
    assert off_sheet(svg) == []
    assert height(svg) <= PAGE


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_categories"), [(1, 0), (3, 1), (7, 3), (12, 0)])
def test_curves_keep_their_texts_apart_and_on_one_page(n, n_categories):
    millions = np.linspace(0, 2_000_000, 20)
    wide = EffectPanel("wide", "number", (curve("m", millions, np.arange(20.0)),))
    models = ("m", LONG, LONG * 3)
    for feature, model in product(("x", "totalDebtToIncomeRatio_" * 2), models):
        curves = [
            curve(f"{model} {k}", range(1920, 1940), [4.0] * 20, not k)
            for k in range(3)
        ]
        year = EffectPanel("year", "number", tuple(curves), YEAR.counts)
        panels = [
            EffectPanel(f"{feature}{k}", one.kind, one.curves, one.counts)
            for k, one in enumerate([*[year, wide] * n][:n] + [DISTRICT] * n_categories)
        ]
        for page in paged_effects(panels):
            assert_fits(effects(page, reference=4.2, text="mean 4.2"))


@pytest.mark.slow
@pytest.mark.parametrize("n_models", [1, 4, 6])
@pytest.mark.parametrize("name", [LONG + " {n}", "m{n}" + "x" * 90])
def test_classes_and_residuals_keep_their_texts_apart_and_on_one_page(n_models, name):
    assert_fits(classes(n_models, name=name))
    assert_fits(classes(n_models, curves=[], name=name))
    for scale in (1.0, 123_456.0, 1e-7):
        assert_fits(residuals(n_models, name=name, scale=scale))
