"""The tables of p-values below a ranking, from our tests and other engines'."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...assess.paired_tests import NADEAU_BENGIO
from ...assess.significance import BY_SHUFFLES
from ...records.importance_record import Importance
from ...records.ranking import LEVEL, OURS, measure_of, question_of
from ..text.blocks import Column, Sentence, Table, Value
from ..text.number_text import decimals, number, percent, significant
from ..text.wording import say, say_count, word
from .facts import Facts, card_link, engine_name, tallied, whole
from .ranking_tables import caption_of, fewer, ranked_table
from .rankings import Ranking

P_VALUES = ("p_value", "p_adjusted")
LEAST = float(np.finfo(float).smallest_subnormal)
"""The smallest positive float, printed in place of a p-value below it."""
OF_SHUFFLES = (BY_SHUFFLES, "altmann")
"""Tests with p-values from shuffled targets."""
PLACES = 4
"""Decimals of a p-value that is not from shuffled targets."""
BY_RANK = ("wilcoxon", "sign")
"""Statistics that depend on which differences are 0 or tied."""
OF_VALUE = {"t": 2, "wilcoxon": 1, "sign": 0}
"""Decimals of a test statistic; others have those of the differences."""


@dataclass(frozen=True, eq=False)
class Tested:
    """The p-values of one ranking.

    Attributes
    ----------
    rows : DataFrame
        Rows of the frame `significance`, with their index in it.
    test, statistic, adjustment : str
        The test; its statistic, empty if it has none; how p-values were adjusted.
    """

    rows: pd.DataFrame
    test: str
    statistic: str
    adjustment: str

    @property
    def most(self) -> Value:
        """Largest number of shuffles, or of differences in the tests."""
        name = "shuffles" if self.test in OF_SHUFFLES else "n"
        column = self.rows[name]
        place = int(column.idxmax())
        return whole(f"significance[{place}].{name}", int(column[place]))

    def value(self, feature: str, name: str, places: int) -> Value:
        """Return a number of one feature; no p-value is printed as 0."""
        at = self.rows.index[self.rows["feature"] == feature][0]
        raw = float(self.rows.at[at, name])
        text = number(raw or (LEAST if name in P_VALUES else 0.0), places)
        return Value(f"significance[{at}].{name}", raw, text)


def tested(facts: Facts, index: int) -> Tested | None:
    """Return the p-values of a record by its index, None if it has none."""
    frame = facts.result.significance
    rows = frame[frame["record"] == index]
    if rows.empty:
        return None
    return Tested(rows, *rows[["test", "statistic", "adjustment"]].iloc[0])


def significance_table(facts: Facts, ranking: Ranking) -> Table | None:
    """Return the table of p-values, cut like the ranking's own; None if not tested."""
    of_ranking = tested(facts, ranking.index)
    if of_ranking is None:
        return None
    frame, test, most = of_ranking.rows, of_ranking.test, of_ranking.most
    is_shuffled = test in OF_SHUFFLES
    notes: list[Sentence] = []
    if is_shuffled:
        # The decimals that distinguish adjacent p-values of so many shuffles.
        places = len(str(int(most.raw) + 1))
        numbers = dict.fromkeys(P_VALUES, places)
        count, null = say_count(most, "shuffle"), "shuffles"
        p = 1 / (most.raw + 1)
        least = Value(most.path, p, number(p, places), derived="least p-value")
        notes.append(say("significance.note", least=least))
    else:
        places = decimals(frame["estimate"], frame["std_error"])
        numbers = {"estimate": places}
        card = card_link(facts.card(ranking.record))
        notes.append(say("significance.on_card", card=card))
        if np.isfinite(frame["low"]).any():
            numbers |= {"low": places, "high": places}
            notes.append(say("significance.interval", level=percent(LEVEL)))
        numbers["value"] = OF_VALUE.get(of_ranking.statistic, places)
        numbers |= dict.fromkeys(P_VALUES, PLACES)
        noun = "refit" if test == NADEAU_BENGIO else "row"
        count, null = say_count(most, noun), "test"
    n_p_values = int(frame["p_value"].notna().sum())
    if n_p_values > 1:
        by = of_ranking.adjustment
        aim = "share" if by == "benjamini_hochberg" else "any_error"
        adjusted = say(
            f"significance.adjusted.{null}.{aim}",
            n=say_count(tallied("significance", n_p_values), "p_value"),
            by=word(f"significance.adjusted.by.{by}"),
        )
        notes.append(adjusted)
    if is_shuffled and (names := fewer(frame, "shuffles", most.raw)):
        notes.append(say("significance.fewer", names=names))
    value_of = of_ranking.value
    key = "shuffles" if is_shuffled else "differences"
    return ranked_table(
        ranking,
        "significance",
        [Column(_label(of_ranking, name), "number") for name in numbers],
        lambda feature: [
            value_of(feature, name, places) for name, places in numbers.items()
        ],
        caption=caption_of(f"significance.caption.{key}", ranking, count=count),
        notes=tuple(notes),
    )


def engine_tables(facts: Facts, ranking: Ranking) -> list[Table]:
    """Return one table for each engine with the same test: its numbers and ours.

    Ours are those of our record in the engine's stream.
    """
    tables = []
    for index, other in ranking.others:
        in_its_draws = (
            tested(facts, place)
            for place, record in enumerate(facts.result.importances)
            if (record.engine, record.stream) == (OURS, other.stream)
            and question_of(record) == question_of(other)
            and measure_of(record) == measure_of(other)
        )
        theirs, ours = tested(facts, index), next(in_its_draws, None)
        if theirs and ours:
            tables.append(_engine_table(ranking, other, ours, theirs))
    return tables


def _engine_table(
    ranking: Ranking, other: Importance, ours: Tested, theirs: Tested
) -> Table:
    """Return the table of statistics and p-values of both, and their differences."""
    engine = engine_name(other.engine)
    numbers = {"value": OF_VALUE[ours.statistic], "p_value": PLACES}
    heads = [
        say(f"significance.engine.{key}", number=_label(ours, name), engine=engine)
        for name in numbers
        for key in ("ours", "theirs", "difference")
    ]
    both: dict[str, list[Value]] = {}
    gaps = []
    for feature in ranking.record.features:
        both[feature] = []
        for name, places in numbers.items():
            our, their = (s.value(feature, name, places) for s in (ours, theirs))
            size = max(abs(our.raw), abs(their.raw))
            gap = abs(our.raw - their.raw) / size if size else 0.0
            text, derived = significant(gap, 2), "relative difference"
            relative = Value(their.path, gap, text, derived=derived)
            both[feature] += [our, their, relative]
            gaps += [relative] if np.isfinite(gap) else []
    notes = [say("significance.engine.note")]
    if gaps:
        largest = max(gaps, key=lambda gap: gap.raw)
        notes.append(say("significance.engine.largest", value=largest))
    return ranked_table(
        ranking,
        f"significance-{other.engine}",
        [Column(head, "number") for head in heads],
        both.__getitem__,
        caption=caption_of("significance.engine.caption", ranking, engine=engine),
        notes=tuple(notes),
    )


def _label(of_ranking: Tested, name: str) -> Sentence:
    """Return the head of a column of numbers."""
    if name == "estimate":
        return say(f"significance.estimate.{of_ranking.test}")
    if name == "value":
        return say(f"significance.value.{of_ranking.statistic}")
    if name in ("low", "high"):
        return say(f"ranking.{name}", level=percent(LEVEL))
    return say(f"significance.{name}")
