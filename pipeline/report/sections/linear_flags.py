"""Which features matter in a flexible model and hardly at all in a linear one.

Such a feature acts in a way that a straight line cannot follow, so the difference is
worth a look at its curve. Not: judging either model.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...records.ranking import LEVEL
from ..text.blocks import Sentence, plain
from ..text.number_text import percent
from ..text.wording import joined, named, say, series, shortened, shown
from .facts import Facts
from .rankings import Ranking

MARK = "†"
MATTERS, HARDLY = 0.05, 0.01
"""Shares of the largest value of a model: the lower end of an interval lies above the
first, or the upper end below the second."""

LINEAR = frozenset(
    # scikit-learn
    "ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor "
    "Lars LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC "
    "LinearDiscriminantAnalysis LinearRegression LinearSVC LinearSVR "
    "LogisticRegression LogisticRegressionCV OrthogonalMatchingPursuit "
    "OrthogonalMatchingPursuitCV "
    "PassiveAggressiveClassifier PassiveAggressiveRegressor Perceptron PLSRegression "
    "PoissonRegressor QuantileRegressor RANSACRegressor Ridge RidgeClassifier "
    "RidgeClassifierCV RidgeCV SGDClassifier SGDRegressor TheilSenRegressor "
    "TweedieRegressor "
    # statsmodels
    "BinaryResultsWrapper GLMResultsWrapper LogitResultsWrapper OLSResults "
    "RegressionResultsWrapper RLMResultsWrapper "
    # R
    "glm lm lda lrm multinom ols polr rlm".split()
)
KERNELS = ("SVC", "SVR", "NuSVC", "NuSVR")


@dataclass(frozen=True)
class Flag:
    """A feature, and the models in which it matters and in which it hardly does."""

    feature: str
    matters: tuple[str, ...]
    hardly: tuple[str, ...]


def linear_models(facts: Facts) -> dict[str, str]:
    """Return the class of each model that is linear by its class or its kernel.

    By its class only: terms that bend (a polynomial, a spline) are not looked for.
    """
    found = {}
    for row in facts.result.models.to_dict("records"):
        estimator = str(row["estimator"])
        if estimator in LINEAR or (
            estimator in KERNELS
            and json.loads(row["parameters"] or "{}").get("kernel") == "linear"
        ):
            found[str(row["model"])] = estimator
    return found


def flags(facts: Facts, ranked: Sequence[Ranking]) -> tuple[Flag, ...]:
    """Return the features to flag among models side by side, in the first's order."""
    linear = linear_models(facts)
    straight = [r for r in ranked if r.record.model in linear]
    flexible = [r for r in ranked if r.record.model not in linear]
    found = []
    for row in ranked[0].measured:
        name = ranked[0].record.features[row]
        matters = tuple(r.record.model for r in flexible if _bounds(r, name)[0])
        hardly = tuple(r.record.model for r in straight if _bounds(r, name)[1])
        if matters and hardly:
            found.append(Flag(name, matters, hardly))
    return tuple(found)


def _bounds(ranking: Ranking, feature: str) -> tuple[bool, bool]:
    """Return whether the interval of a feature is clear of zero, and next to it."""
    largest = np.nanmax(ranking.mean) - ranking.nothing
    row = ranking.record.features.index(feature)
    if not (np.isfinite(largest) and largest > 0):
        return False, False
    low = (ranking.low[row] - ranking.nothing) / largest
    high = (ranking.high[row] - ranking.nothing) / largest
    return bool(low > MATTERS), bool(high < HARDLY)


def in_words(facts: Facts, found: Sequence[Flag]) -> Sentence:
    """Return what the mark means, for which features, and by which rule."""
    if not found:
        return ()
    classes = linear_models(facts)
    told = [
        say(
            "flags.feature",
            feature=named(flag.feature),
            matters=series(named(name) for name in flag.matters),
            hardly=series(
                joined((named(name), f" ({shown(classes[name])})"), "")
                for name in flag.hardly
            ),
        )
        for flag in found
    ]
    return say(
        "flags.caption",
        mark=MARK,
        features=joined(told, "; "),
        level=percent(LEVEL),
        matters=percent(MATTERS),
        hardly=percent(HARDLY),
    )


def mark(flag: Flag | None, model: str) -> tuple[str, str]:
    """Return the mark of a feature in the panel of a model, and the words beside it.

    The words stand in the linear models: there the bar leaves room, and a reader asks.
    """
    if flag is None or model not in (*flag.matters, *flag.hardly):
        return "", ""
    models = joined(shortened(name, 20) for name in flag.matters)
    note = plain(say("flags.note", models=models)) if model in flag.hardly else ""
    return MARK, note
