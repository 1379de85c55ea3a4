"""Marginal beside conditional permutation in one audit: kept apart, and read."""

import numpy as np
import pandas as pd
import pytest
from tests.report.reading import section, words

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Figure, plain, walk

MARGINAL = {"method": "permutation", "losses": ["mse"]}
CONDITIONAL = MARGINAL | {"within": "leaves", "n_repeats": 5}
ONCE = {"n_repeats": 1}
RESAMPLED = MARGINAL | {"perturbation": "resample"}


def twins(n=400):
    """Return y = x + twin + own, where twin is x but for a little noise."""
    random = np.random.default_rng(7)
    x, own = random.normal(size=(2, n))
    X = pd.DataFrame({"x": x, "twin": x + 0.05 * random.normal(size=n), "own": own})
    return dataset(X, X.sum(axis=1), name="test rows", task="regression")


def total(X):
    return X.sum(axis=1)


def asked(*entries, engines=()):
    """Return an audit of two models that are the sum of all three."""
    entries = [entry | {"engines": list(engines)} for entry in entries]
    rows = twins()
    models = tuple(
        wrap(total, name=name, task="regression", features=rows.features)
        for name in ("one", "two")
    )
    config = parse_config({"importance": entries, "seed": 3})
    return audit(None, rows, config, models=models)


@pytest.fixture(scope="module")
def both():
    return asked(MARGINAL, CONDITIONAL)


def test_what_a_twin_tells_too_is_shared_and_what_is_told_alone_is_not(both):
    alone, beside = (r for r in both.importances if r.model == "one")
    assert (beside.mean[:2] < 0.1 * alone.mean[:2]).all()
    assert beside.mean[2] > 0.8 * alone.mean[2]
    said = words(section(build_view(both), "F"))
    told = said.split("one: among rows alike in all other columns ")[1].split(" keep")[
        0
    ]
    assert [name in told for name in alone.features] == [True, True, False]


def test_each_of_both_has_its_own_card_tables_and_figure(both):
    view = build_view(both)
    rankings = [item for item in view.tables if item.id.startswith("tab-ranking")]
    captions = [plain(item.caption) for item in rankings]
    assert len({item.id for item in rankings}) == 4
    assert ['within = "leaves"' in text for text in captions] == [0, 0, 1, 1]
    figures = [b.id for s in view.sections for b in walk(s) if isinstance(b, Figure)]
    assert len(figures) == len(set(figures))
    assert sum(id_.startswith("fig-ranking-") for id_ in figures) == 2
    titles = [plain(card.title) for card in section(view, "E").parts["cards"]]
    assert ['within = "leaves"' in text for text in titles] == [False, True]


def test_the_target_is_permuted_once_for_both(both):
    assert len(both.y_permuted) == 2 * 10


def test_a_conditional_ranking_alone_is_read_beside_nothing():
    said = words(section(build_view(asked(CONDITIONAL)), "F"))
    assert "among rows alike" not in said


def test_of_one_repeat_nothing_is_said_that_only_a_spread_could_show():
    # The twins lose nine tenths, but a single repeat has no interval to show it.
    result = asked(*(entry | ONCE for entry in (MARGINAL, CONDITIONAL)))
    said = words(section(build_view(result), "F"))
    assert "one: of no feature do the repeats show that half" in said
    assert "loses half" not in said


@pytest.mark.needs_dalex
def test_what_dalex_has_no_option_for_is_drawn_by_numpy_and_not_compared():
    result = asked(MARGINAL, CONDITIONAL, RESAMPLED, engines=["DALEX"])
    streams = [r.stream for r in result.importances if r.engine == "python"]
    assert streams == ["DALEX"] * 2 + ["numpy"] * 4
    pairs = result.agreement.groupby("verdict")["reasons"].unique()
    assert list(pairs["not compared"]) == [
        f"DALEX has no such option of 'permutation': '{option}'."
        for option in ("within = leaves", "perturbation = resample")
    ]
    assert result.agreement["verdict"].tolist().count("replayed") == 2
