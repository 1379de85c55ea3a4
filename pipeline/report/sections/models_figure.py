"""A figure of section F: the losses of several models side by side.

Marked in it: which features matter in a flexible model and hardly at all in a linear
one. Such a feature acts in a way that a straight line cannot follow, so the difference
is worth a look at its curve. Not: judging either model.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from ...records.ranking import LEVEL
from ..figures.models import ModelPanel, ModelRow, draw_models
from ..text.blocks import Figure, Sentence, plain
from ..text.number_text import count, lone, loss_label, number, percent, unit_text
from ..text.wording import (
    ALT,
    alt_text,
    display_name,
    full_name,
    joined,
    key_of,
    say,
    series,
    short_name,
    show_hidden,
    word,
)
from .facts import Facts, card_link, repeats_of
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
PANEL_ROWS, MOST_EACH = 36, 8
PANELS = 6
"""What one figure can hold and stay legible."""
NAMED = 3
"""Most features that an alternative text names as those that may lead."""


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
    classes = {}
    for row in facts.result.models.to_dict("records"):
        estimator = str(row["estimator"])
        if estimator in LINEAR or (
            estimator in KERNELS
            and json.loads(row["parameters"] or "{}").get("kernel") == "linear"
        ):
            classes[str(row["model"])] = estimator
    return classes


def linear_flags(facts: Facts, ranked: Sequence[Ranking]) -> tuple[Flag, ...]:
    """Return the features to flag among models side by side, in the first's order."""
    linear = linear_models(facts)
    straight = [r for r in ranked if r.record.model in linear]
    flexible = [r for r in ranked if r.record.model not in linear]
    flags = []
    for row in ranked[0].measured:
        name = ranked[0].record.features[row]
        matters = tuple(r.record.model for r in flexible if _bounds(r, name)[0])
        hardly = tuple(r.record.model for r in straight if _bounds(r, name)[1])
        if matters and hardly:
            flags.append(Flag(name, matters, hardly))
    return tuple(flags)


def _bounds(ranking: Ranking, feature: str) -> tuple[bool, bool]:
    """Return whether the interval of a feature is clear of zero, and next to it."""
    largest = np.nanmax(ranking.mean) - ranking.nothing
    row = ranking.record.features.index(feature)
    if not (np.isfinite(largest) and largest > 0):
        return False, False
    low = (ranking.low[row] - ranking.nothing) / largest
    high = (ranking.high[row] - ranking.nothing) / largest
    return bool(low > MATTERS), bool(high < HARDLY)


def flags_in_words(facts: Facts, flags: Sequence[Flag], interval: Sentence) -> Sentence:
    """Return what the mark means, for which features, and by which rule."""
    if not flags:
        return ()
    classes = linear_models(facts)
    sentences = [
        say(
            "flags.feature",
            feature=full_name(flag.feature),
            matters=series(full_name(name) for name in flag.matters),
            hardly=series(
                joined((full_name(name), f" ({show_hidden(classes[name])})"), "")
                for name in flag.hardly
            ),
        )
        for flag in flags
    ]
    return say(
        "flags.caption",
        mark=MARK,
        features=joined(sentences, "; "),
        interval=interval,
        matters=percent(MATTERS),
        hardly=percent(HARDLY),
    )


def interval_name(ranking: Ranking, *, of_draws: bool = False) -> Sentence:
    """Return what an interval covers: other rows too, or the random draws alone.

    The latter is no statement about the importance of a feature, and has no level.
    `of_draws` asks for it where intervals over other rows are known too.
    """
    if ranking.row_intervals and not of_draws:
        return say("figures.over_rows", level=percent(LEVEL))
    if ranking.starts_at_loss:
        return say("figures.shuffling_noise")
    return say("figures.over_repeats", level=percent(LEVEL))


def mark_and_note(flag: Flag | None, model: str) -> tuple[str, str]:
    """Return the mark of a feature in the panel of a model, and the words beside it.

    The words stand in the linear models: there the bar leaves room, and a reader asks.
    """
    if flag is None or model not in (*flag.matters, *flag.hardly):
        return "", ""
    models = joined(short_name(name) for name in flag.matters)
    note = plain(say("flags.note", models=models)) if model in flag.hardly else ""
    return MARK, note


def models_figure(facts: Facts, ranked: Sequence[Ranking]) -> Figure | None:
    """Return the losses of several models side by side, in the first one's order."""
    record = ranked[0].record
    alike = [r for r in ranked if set(r.record.features) == set(record.features)]
    rankings = alike[:PANELS]
    if not ranked[0].starts_at_loss or len(rankings) < 2 or not ranked[0].measured:
        return None
    over_rows = all(map(_has_row_intervals, rankings))
    flagged = {flag.feature: flag for flag in linear_flags(facts, rankings)}
    most = min(max(PANEL_ROWS // len(rankings), 3), MOST_EACH)
    names = _names_with_line(ranked[0], flagged, most)
    card = card_link(facts.card(record))
    unit = unit_text(record.unit, facts.target_unit)
    label = say("figures.models_axis", loss=loss_label(record.loss))
    repeats = repeats_of(record, f"importances[{ranked[0].index}]")
    key = "models_over_rows" if over_rows else "models"
    caption = say(f"figures.{key}", repeats=repeats, level=percent(LEVEL), card=card)
    apart = facts.apart(record)
    id_ = key_of(record.method, record.of, record.loss, record.form, apart)
    return Figure(
        id=f"fig-models-{id_}",
        draw=draw_models,
        data={
            "panels": tuple(
                panel_of(r, names, flagged, over_rows=over_rows) for r in rankings
            ),
            "axis_label": plain((*label, f", {show_hidden(unit)}") if unit else label),
            "value_label": word("figures.models_value"),
        },
        alt=_models_alt(rankings, names, flagged),
        headline=_models_headline(facts, rankings),
        caption=(
            *caption,
            *((f" {apart}.",) if apart else ()),
            *flags_in_words(
                facts,
                tuple(flagged.values()),
                interval_name(ranked[0]),
            ),
            *not_drawn([r.subject for r in alike[PANELS:]]),
        ),
    )


def _has_row_intervals(ranking: Ranking) -> bool:
    """Return whether a ranking has intervals over other rows that are also losses."""
    return bool(ranking.row_intervals) and ranking.record.form in (
        "difference",
        "ratio",
    )


def _names_with_line(
    ranking: Ranking, flagged: Collection[str], most: int
) -> list[str]:
    """Return the first features of a ranking, and before the last what is flagged."""
    names = [ranking.record.features[row] for row in ranking.measured]
    first = [name for name in names if name in flagged][:most]
    others = [name for name in names if name not in flagged]
    choice = {*first, *others[: most - len(first)]}
    return [name for name in names if name in choice]


def panel_of(
    ranking: Ranking,
    names: Sequence[str],
    flagged: Mapping[str, Flag],
    *,
    over_rows: bool,
) -> ModelPanel:
    """Return one model, with intervals over other rows or with its repeats."""
    record = ranking.record
    base = float(record.baseline.mean())
    rows = []
    for name in names:
        at = record.features.index(name)
        raw = record.raw[at, : record.repeats[at]]
        mean = float(raw.mean())
        repeats, ends = tuple(raw.tolist()) if ranking.is_drawn else (), (nan, nan)
        if over_rows:
            repeats, ends = (), _as_losses(ranking, at, base)
        text = number(mean, ranking.places)
        mark, note = mark_and_note(flagged.get(name), record.model)
        title = mark_title(ranking, at, text, ends)
        rows.append(
            ModelRow(display_name(name), mean, repeats, text, mark, note, *ends, title)
        )
    before = lone(base, least=ranking.places)
    text = plain(say("figures.panel_base", value=before))
    return ModelPanel(display_name(record.model), base, text, tuple(rows))


def _as_losses(ranking: Ranking, row: int, base: float) -> tuple[float, float]:
    """Return the interval of a rise or a ratio as losses after shuffling."""
    low, high = float(ranking.low[row]), float(ranking.high[row])
    if ranking.record.form == "ratio":
        return base * low, base * high
    return base + low, base + high


def mark_title(
    ranking: Ranking, row: int, value: str, ends: tuple[float, float]
) -> str:
    """Return what a mark tells under the pointer: whose, its value, its interval."""
    record = ranking.record
    words = say(
        "figures.mark" if np.isfinite(ends).all() else "figures.mark_alone",
        model=short_name(ranking.subject),
        feature=display_name(record.features[row]),
        value=value,
        low=number(ends[0], ranking.places),
        high=number(ends[1], ranking.places),
    )
    return plain(words)


def _models_headline(facts: Facts, rankings: Sequence[Ranking]) -> Sentence:
    """Return what every model reacts most to, as far as the intervals settle it."""
    firsts = [_possible_leaders(r) for r in rankings if r.measured]
    shared = frozenset.intersection(*firsts)
    if shared and all(len(names) == 1 for names in firsts):
        is_every = {r.record.model for r in rankings} >= set(facts.models)
        key = "all_lead" if is_every else "these_lead"
        return say(f"results.{key}", feature=short_name(min(shared)))
    return say(f"results.{'open' if shared else 'differ'}_{rankings[0].record.of}")


def _possible_leaders(ranking: Ranking) -> frozenset[str]:
    """Return the features that may be the first: all, where no interval is known."""
    names, first = ranking.record.features, ranking.first
    may_lead = (row for row in ranking.measured if not first[row] > 1)
    return frozenset(names[row] for row in may_lead)


def _models_alt(
    rankings: Sequence[Ranking], names: Sequence[str], flagged: Collection[str]
) -> str:
    record = rankings[0].record
    firsts = (
        joined((short_name(r.record.model), _leading(r)), " ")
        for r in rankings
        if r.measured
    )
    text = say(
        "figures.models_alt",
        models=str(len(rankings)),
        n=str(len(names)),
        total=count(len(record.features)),
        loss=loss_label(record.loss),
        firsts=joined(firsts),
    )
    marked = joined(short_name(name) for name in flagged)
    exception = plain(say("flags.alt", features=marked)) if flagged else ""
    words = plain(text) + exception
    return words if len(words) <= ALT else alt_text(plain(text))


def _leading(ranking: Ranking) -> Sentence:
    """Return all that a model may react most to, or that they are too many to name."""
    may_lead, names = _possible_leaders(ranking), ranking.record.features
    in_order = [names[row] for row in ranking.measured if names[row] in may_lead]
    if not 1 <= len(in_order) <= NAMED:
        return say("words.has_no_leader")
    either = joined((short_name(name) for name in in_order), f" {word('words.or')} ")
    return (f"{word('words.reacts_to')} ", *either)


def not_drawn(models: Sequence[str]) -> Sentence:
    """Return which models a figure has no room for, empty if none."""
    if not models:
        return ()
    return say("figures.more_models", models=series(full_name(name) for name in models))
