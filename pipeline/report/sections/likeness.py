"""How alike importances are: rankings of features by many measures, or of many models.

Not: two engines that answer one question, which `agreement` shows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from ...engines.agreement.numbers import association, top_k_overlap
from ...records.ranking import measure_of
from ..text.blocks import (
    Cell,
    Cells,
    Column,
    Link,
    Part,
    Row,
    Sentence,
    Table,
    Value,
    plain,
)
from ..text.number_text import loss_label, method_words, number, percent
from ..text.wording import full_name, full_value, joined, say, word
from .facts import Facts, card_link, config_of, tallied, whole
from .ranking_tables import DASH
from .rankings import Ranking

MOST = 10
"""Pairs that the body shows: the least alike."""

Label = Callable[[Ranking], Sentence]


@dataclass(frozen=True)
class Likeness:
    """How alike two rankings are, over the features that both have measured."""

    spearman: float
    kendall: float
    overlap: float
    n_features: int


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings that differ in one thing: what they share, and how alike they are.

    Attributes
    ----------
    shared : Sentence
        The model of two measures, or the measure of two models.
    label : callable
        What calls each of the two.
    one, other : Ranking
    measures : Likeness
    """

    shared: Sentence
    label: Label
    one: Ranking
    other: Ranking
    measures: Likeness


def likeness(a: Ranking, b: Ranking, k: int) -> Likeness:
    """Return how alike two rankings of features are; NaN where nothing can be said.

    Features are matched by name and ranked among those that both have measured.
    """
    means = pd.concat(
        [pd.Series(r.mean, index=r.record.features) for r in (a, b)],
        axis=1,
        join="inner",
    ).dropna()
    n, nan = len(means), float("nan")
    if n < 2:
        return Likeness(nan, nan, nan, n)
    ranks = np.asarray(means.rank(ascending=False), dtype=float)
    rank_association = association(ranks[:, 0], ranks[:, 1])
    overlap = top_k_overlap(ranks[:, 0], ranks[:, 1], k)
    return Likeness(
        rank_association["spearman"], rank_association["kendall"], overlap, n
    )


def likeness_table(facts: Facts) -> Table | None:
    """Return one row per two rankings of features, the least alike first.

    Compared are the measures of each model (or of the data), and the models by each
    measure. None where there are no two rankings.
    """
    k = int(config_of(facts, "checks").get("top_k", 3))
    pairs = sorted(_pairs(facts, k), key=_least_alike)
    if not pairs:
        return None
    table = Table(
        id="tab-likeness",
        caption=say("likeness.caption"),
        columns=(
            Column(say("likeness.shared"), width=25),
            Column(say("likeness.pair"), "header", 37),
            Column(say("likeness.spearman"), "number", 9),
            Column(say("likeness.kendall"), "number", 9),
            Column(say("likeness.overlap", k=str(k)), "number", 11),
            Column(say("likeness.compared"), "number", 9),
        ),
        rows=tuple(_row(pair) for pair in pairs),
        notes=(say("likeness.note"),),
    )
    if len(pairs) <= MOST:
        return table
    rest = tallied("importances", len(pairs) - MOST)
    last = Row((DASH, Cell(say("ranking.rest", n=rest)), *[DASH] * 4))
    full = replace(
        table,
        id=f"{table.id}-all",
        notes=(),
        caption=say("ranking.whole", table=Link(table.id)),
    )
    rows = (*table.rows[:MOST], last)
    return replace(table, rows=rows, everything=full, is_appended=False)


def least_alike(facts: Facts) -> tuple[Sentence, ...]:
    """Return the two models, and the two measures of a model, that agree least.

    By Spearman's correlation of their ranks; nothing where there are no two.
    """
    pairs = [p for p in _pairs(facts, 1) if not np.isnan(p.measures.spearman)]
    of_models = [p for p in pairs if p.one.record.model != p.other.record.model]
    of_measures = [p for p in pairs if p.one.record.model == p.other.record.model]
    sentences = []
    for key, same_kind in (("models", of_models), ("measures", of_measures)):
        if same_kind:
            pair = min(same_kind, key=_least_alike)
            models = {r.record.model for p in same_kind for r in (p.one, p.other)}
            if len(same_kind) == 1:
                key = f"{key}_only"
            elif key == "models" and len(models) == 2:
                key = "models_two"
            sentences.append(
                say(
                    f"likeness.least_{key}",
                    value=_spearman(pair),
                    one=pair.label(pair.one),
                    other=pair.label(pair.other),
                    shared=pair.shared,
                )
            )
    return tuple(sentences)


def _spearman(pair: Pair) -> Value:
    path = f"importances[{pair.one.index}].mean"
    beside = f"spearman, with importances[{pair.other.index}].mean"
    value = pair.measures.spearman
    return Value(path, value, number(value, 2), derived=beside)


def _least_alike(pair: Pair) -> tuple[bool, float]:
    """Return a key that sorts by rank correlation, what has none behind."""
    rho = pair.measures.spearman
    return (rho != rho, rho)


def _pairs(facts: Facts, k: int) -> Iterator[Pair]:
    rankings = [r for r in facts.rankings if r.record.of == "features"]
    by_measure = _measure_label(facts)
    for subject in dict.fromkeys(r.record.model for r in rankings):
        same = [r for r in rankings if r.record.model == subject]
        yield from _all_pairs(same, (full_name(same[0].subject),), by_measure, k)
    for same in _over_models(rankings):
        yield from _all_pairs(same, by_measure(same[0]), _model_label, k)


def _all_pairs(
    rankings: Sequence[Ranking], shared: Sentence, label: Label, k: int
) -> Iterator[Pair]:
    for one, other in combinations(rankings, 2):
        yield Pair(shared, label, one, other, likeness(one, other, k))


def _over_models(rankings: Sequence[Ranking]) -> list[list[Ranking]]:
    """Return the rankings that differ by the model alone."""
    groups: dict[tuple[str, ...], list[Ranking]] = {}
    for ranking in rankings:
        record = ranking.record
        if record.model:
            measure = map(str, measure_of(record))
            key = (*measure, record.loss, record.positive_class)
            groups.setdefault(key, []).append(ranking)
    return list(groups.values())


def _model_label(ranking: Ranking) -> Sentence:
    return (full_name(ranking.subject),)


def _measure_label(facts: Facts) -> Label:
    """Return what calls a ranking by its card, measure, loss and class of several."""
    classes = {r.record.positive_class for r in facts.rankings} - {""}
    several_classes = len(classes) > 1

    def label(ranking: Ranking) -> Sentence:
        record = ranking.record
        parts: list[Part] = [method_words(record.method)]
        if apart := facts.apart(record):
            parts.append(apart)
        if record.loss:
            parts.append(loss_label(record.loss))
        elif record.positive_class and several_classes:
            cls = full_value(record.positive_class)
            parts.append(plain(say("likeness.of_class", cls=cls)))
        return (card_link(facts.card(record)), " ", *joined(parts))

    return label


def _row(pair: Pair) -> Cells:
    measures = pair.measures
    path = f"importances[{pair.one.index}].mean"
    beside = f"with importances[{pair.other.index}].mean"

    def value(name: str, raw: float, text: str) -> Cell:
        return Cell((Value(path, raw, text, derived=f"{name}, {beside}"),))

    both = (pair.label(pair.one), pair.label(pair.other))
    compared = whole(path, measures.n_features)
    return Row(
        (
            Cell(pair.shared),
            Cell(joined(both, f" {word('words.and')} ")),
            value("spearman", measures.spearman, number(measures.spearman, 2)),
            value("kendall", measures.kendall, number(measures.kendall, 2)),
            value("in common", measures.overlap, percent(measures.overlap)),
            value("compared", compared.raw, compared.text),
        )
    )
