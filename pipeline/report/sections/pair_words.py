"""What is said of pairs: how many reached which word, and what the worst rests on."""

import re
from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

import pandas as pd

from ...engines.agreement.reasons import REASONS
from ...records.ranking import OURS
from ..text.blocks import Badge, Sentence, Value
from ..text.number_text import significant
from ..text.wording import counted, joined, say, sentence_case, shortened, shown
from .facts import Facts, engine_name, tallied
from .verdicts import LADDER, badge, told


def lede(facts: Facts) -> Sentence:
    """Return how many pairs reached which word of the ladder, worst first."""
    frame = facts.result.agreement
    counts = Counter(frame["verdict"])
    said = [
        told(verdict, tallied("agreement.verdict", counts[verdict]))
        for verdict in LADDER
        if counts[verdict]
    ]
    pairs = counted(tallied("agreement", len(frame)), "pair")
    return say("agreement.lede", pairs=pairs, verdicts=joined(said))


class EnginePair(NamedTuple):
    """What is said of two engines: the worst word they reached, and why."""

    mark: Badge
    text: Sentence
    engines: tuple[str, str]


def by_engines(facts: Facts) -> list[EnginePair]:
    """Return one sentence per pair of engines: disagreements, then ours, worst first.

    What others say to each other comes last unless they disagree: it is no evidence
    on our numbers.
    """
    frame = facts.result.agreement
    found = []
    for (one, other), rows in frame.groupby(["engine_a", "engine_b"], sort=False):
        verdict = min(set(rows["verdict"]), key=LADDER.index)
        said = joined([_counts(rows, one, other), *_worst(facts, rows, verdict)], ". ")
        place = (verdict != LADDER[0], OURS not in (one, other), LADDER.index(verdict))
        found.append((place, EnginePair(badge(verdict), (*said, "."), (one, other))))
    return [pair for _, pair in sorted(found, key=lambda item: item[0])]


def _counts(rows: pd.DataFrame, one: str, other: str) -> Sentence:
    """Return how many of the pairs of two engines reached which word, worst first."""
    counts = Counter(rows["verdict"])
    (n, _, first), *rest = (
        told(verdict, tallied("agreement.verdict", counts[verdict]))
        for verdict in LADDER
        if counts[verdict]
    )
    key = "side_by_side"
    if len(counts) == 1:
        key = "all_alike" if len(rows) > 1 else "the_only"
    text = say(
        f"agreement.{key}",
        one=engine_name(one),
        other=engine_name(other),
        n=n,
        pairs=counted(tallied("agreement", len(rows)), "pair"),
        verdict=first,
    )
    return joined([text, *rest])


def _worst(facts: Facts, rows: pd.DataFrame, verdict: str) -> list[Sentence]:
    """Return what the worst pair of two engines rests on, by model where they differ.

    Nothing if the pair says no more than its verdict.
    """
    worst = rows[rows["verdict"] == verdict].sort_values(
        "n_outside", ascending=False, kind="stable"
    )
    rests_on = detail(facts, worst)
    if not rests_on:
        return []
    if len(worst) == len(rows) and worst["reasons"].nunique() == 1:
        return [sentence_case(rests_on)]
    model = shortened(str(worst["model"].iloc[0]), 24)
    return [say("agreement.worst", model=model, detail=rests_on)]


def detail(facts: Facts, rows: pd.DataFrame) -> Sentence:
    """Return what the first of some rows with one verdict rests on."""
    if rows["verdict"].iloc[0] == "replayed":
        worst = rows["max_relative_difference"].astype(float).idxmax()
        return say("agreement.largest", value=relative(facts, worst))
    reasons = in_words(rows["reasons"].iloc[0]).rstrip(".")
    return (reasons,) if reasons else ()


def in_words(reasons: str) -> str:
    """Return the reasons of a pair without their codes, which agreement.csv has."""
    codes = "|".join(map(re.escape, REASONS))
    return re.sub(rf"(^|; )(?:{codes}): ", r"\1", shown(str(reasons)))


def relative(facts: Facts, place: Hashable) -> Value:
    raw = float(facts.result.agreement["max_relative_difference"][place])
    path = f"agreement[{place}].max_relative_difference"
    return Value(path, raw, significant(raw, 2))
