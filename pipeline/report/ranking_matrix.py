"""How alike importances are: rankings of features by many measures, or of many models.

Not: two engines that answer one question, which `pairs` shows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from pipeline.agreement.numbers import association, top_k_overlap
from pipeline.primary import measure_of
from pipeline.report.blocks import Cell, Column, Row, Sentence, Table, Value
from pipeline.report.cards import title_of
from pipeline.report.facts import Facts, card_link, config_of, tallied, whole
from pipeline.report.number_text import loss_label, number, percent
from pipeline.report.rankings import Ranking
from pipeline.report.wording import counted, joined, key_of, named, say

MOST = 12
"""Rankings in one table: more columns do not fit a page."""
BLANK = Cell(("–",))

Label = Callable[[Ranking], Sentence]


@dataclass(frozen=True)
class Likeness:
    """How alike two rankings are, over the features that both have measured."""

    spearman: float
    kendall: float
    overlap: float
    n_features: int


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
    told = association(ranks[:, 0], ranks[:, 1])
    overlap = top_k_overlap(ranks[:, 0], ranks[:, 1], k)
    return Likeness(told["spearman"], told["kendall"], overlap, n)


def ranking_matrices(facts: Facts) -> tuple[Table, ...]:
    """Return two tables for each model, the data, and each measure of several models.

    The first has the correlations of the ranks, the second the leading features in
    common. None where there are no two rankings.
    """
    asked = [r for r in facts.rankings if r.record.of == "features"]
    tables: list[Table] = []
    for subject in dict.fromkeys(r.record.model for r in asked):
        same = [r for r in asked if r.record.model == subject]
        what = say("matrix.by_measure", model=named(same[0].subject))
        tables += _tables(facts, same, _measure_label(facts), what, ("of", subject))
    for told, same in _over_models(asked).items():
        title = _measure_label(facts)(same[0])
        what = say("matrix.by_model", measure=title)
        tables += _tables(facts, same, _model_label, what, ("by", *told))
    return tuple(tables)


def _over_models(asked: Sequence[Ranking]) -> dict[tuple[str, ...], list[Ranking]]:
    """Return the rankings that differ by the model alone, by what they share."""
    found: dict[tuple[str, ...], list[Ranking]] = {}
    for ranking in asked:
        record = ranking.record
        if record.model:
            measure = map(str, measure_of(record))
            key = (*measure, record.loss, record.positive_class)
            found.setdefault(key, []).append(ranking)
    return found


def _model_label(ranking: Ranking) -> Sentence:
    return (named(ranking.subject),)


def _measure_label(facts: Facts) -> Label:
    """Return what calls a ranking by its card, measure, loss and class."""

    def label(ranking: Ranking) -> Sentence:
        record = ranking.record
        said: list[Sentence] = [title_of(facts, record)]
        if record.loss:
            said.append((loss_label(record.loss),))
        elif record.positive_class:
            said.append((named(record.positive_class),))
        return (card_link(facts.card(record)), " ", *joined(said))

    return label


def _tables(
    facts: Facts,
    rankings: Sequence[Ranking],
    label: Label,
    what: Sentence,
    key: tuple[str, ...],
) -> Iterator[Table]:
    """Yield the two tables of some rankings, of the first `MOST` if there are more."""
    shown = rankings[:MOST]
    if len(shown) < 2:
        return
    k = int(config_of(facts, "checks").get("top_k", 3))
    pairs = combinations(range(len(shown)), 2)
    found = {(i, j): likeness(shown[i], shown[j], k) for i, j in pairs}
    notes = _left_out([label(r) for r in rankings[MOST:]])
    for name, cell in (("ranks", _rank_cell), ("first", _first_cell)):
        cells = {
            place: Cell((cell(shown, found, place),))
            for pair in found
            for place in (pair, pair[::-1])
        }
        yield Table(
            id=f"tab-matrix-{name}-{key_of(*key)}",
            caption=(*what, *say(f"matrix.{name}", k=str(k))),
            columns=_columns(len(shown)),
            rows=tuple(
                _row(i, label(ranking), [cells.get((i, j), BLANK) for j in _to(shown)])
                for i, ranking in enumerate(shown)
            ),
            notes=notes,
            shape="wide" if len(shown) > 6 else "",
        )


def _to(shown: Sequence[Ranking]) -> range:
    return range(len(shown))


def _columns(n: int) -> tuple[Column, ...]:
    """Return the heads: names are long, so that columns go by the number of a row."""
    name = 100 - 4 - max(6 * n, 30)
    numbers = (Column((str(j + 1),), "number", (96 - name) / n) for j in range(n))
    return (
        Column(say("matrix.number"), "number", 4),
        Column(say("matrix.ranking"), "header", name),
        *numbers,
    )


def _row(place: int, label: Sentence, cells: Sequence[Cell]) -> Row:
    return Row((Cell((str(place + 1),)), Cell(label), *cells))


def _rank_cell(
    shown: Sequence[Ranking],
    found: dict[tuple[int, int], Likeness],
    place: tuple[int, int],
) -> Value:
    """Return Spearman's rho above the diagonal, Kendall's tau-b below it."""
    i, j = sorted(place)
    name = "spearman" if place == (i, j) else "kendall"
    value = float(getattr(found[i, j], name))
    return Value(
        _path(shown, i), value, number(value, 2), derived=_with(shown, j, name)
    )


def _first_cell(
    shown: Sequence[Ranking],
    found: dict[tuple[int, int], Likeness],
    place: tuple[int, int],
) -> Value:
    """Return the share in common above the diagonal, the features compared below it."""
    i, j = sorted(place)
    told = found[i, j]
    if place == (i, j):
        text, name = percent(told.overlap), "in common"
        return Value(_path(shown, i), told.overlap, text, derived=_with(shown, j, name))
    value = whole(_path(shown, i), told.n_features)
    return Value(value.path, value.raw, value.text, derived=_with(shown, j, "compared"))


def _path(shown: Sequence[Ranking], place: int) -> str:
    return f"importances[{shown[place].index}].mean"


def _with(shown: Sequence[Ranking], place: int, name: str) -> str:
    return f"{name}, with {_path(shown, place)}"


def _left_out(labels: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the note on the rankings that have no place in the table."""
    if not labels:
        return ()
    n = counted(tallied("importances", len(labels)), "ranking")
    return (say("matrix.left_out", n=n, names=joined(labels[:MOST], "; ")),)
