"""Section G: the agreement of implementations, and their differences."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import pandas as pd

from ...engines.agreement.reasons import why_of
from ..text.blocks import Column, Section, Sentence, Table, Value
from ..text.number_text import count, decimals, loss_label, number, significant
from ..text.wording import (
    full_name,
    joined,
    say,
    say_count,
    short_name,
    short_value,
    show_hidden,
    table_of,
)
from .agreement_figures import band_figures, is_about
from .facts import Facts, card_link, config_of, engine_name, section, tallied, whole
from .verdicts import LADDER, badge, count_verdict

DISAGREEMENTS_SHOWN = 40
SHIFTS_SHOWN = 5
"""Number of the largest rank shifts shown whose differences are inside their bands."""


def agreement(facts: Facts) -> Section:
    """Return section G: pairs of rankings, disagreements, pairs of curves, figures."""
    frame = facts.result.agreement
    if frame.empty:
        nothing = say(f"agreement.{'none' if facts.rankings else 'nothing'}")
        return section("G", nothing, {"blocks": ()})
    blocks = [*_pairs_tables(facts), _disagreements(facts), *_curves_table(facts)]
    counts = Counter(frame["verdict"])
    verdicts = [
        count_verdict(verdict, tallied("agreement.verdict", counts[verdict]))
        for verdict in LADDER
        if counts[verdict]
    ]
    pairs = say_count(tallied("agreement", len(frame)), "pair")
    lede = say("agreement.lede", pairs=pairs, verdicts=joined(verdicts))
    return section("G", lede, {"blocks": (*blocks, *band_figures(facts))})


def _pairs_tables(facts: Facts) -> list[Table]:
    """Return the table of pairs of rankings, the worst verdict first.

    Pairs of the same two engines share a row if they are replayed, if they are
    equivalent, or if they were not compared for the same reason. If any share a row, a
    second table has one row for every pair.
    """
    frame = facts.result.agreement
    frame = frame[frame["kind"] == "importance"]
    if frame.empty:
        return []
    places = sorted(frame.index, key=lambda at: LADDER.index(frame["verdict"][at]))
    groups: dict[tuple[Any, ...], list[Hashable]] = {}
    for place in places:
        row = frame.loc[place]
        same = {
            "not compared": row["reasons"],
            "replayed": row["stream"] != "",
            "equivalent": "",
        }
        key: tuple[Any, ...] = (place,)
        if (verdict := row["verdict"]) in same:
            key = (row["engine_a"], row["engine_b"], verdict, same[verdict])
        groups.setdefault(key, []).append(place)
    table = _pairs_table(facts, list(groups.values()))
    if len(groups) == len(places):
        return [table]
    every = _pairs_table(facts, [[place] for place in places])
    caption = say("agreement.every_pair")
    return [
        table,
        replace(every, id="tab-every-pair", caption=caption, is_single=True),
    ]


def _pairs_table(facts: Facts, groups: Sequence[list[Hashable]]) -> Table:
    top_k = int(config_of(facts, "checks").get("top_k", 3))
    columns: list[str | Column] = ["question:header", "engines", "verdict", "because"]
    has_numbers = any(len(places) == 1 for places in groups)
    if has_numbers:
        top = Column(say("agreement.top", k=str(top_k)), "number")
        columns += ["spearman:number", top, "shift:number"]
    return table_of(
        "pairs",
        "agreement",
        columns,
        [_pairs_row(facts, places, top_k)[: len(columns)] for places in groups],
        caption=say(
            "agreement.caption", right=say("agreement.right") if has_numbers else ""
        ),
        source="tables/agreement.csv",
        shape="wide",
    )


def _pairs_row(facts: Facts, places: list[Hashable], top_k: int) -> tuple[Any, ...]:
    """Return the row of one pair, or of several with the same engines and verdict."""
    rows = facts.result.agreement.loc[places]
    is_alone, verdict = len(places) == 1, rows["verdict"].iloc[0]
    place = places[0]
    if verdict == "replayed" and not is_alone:
        place = _least_exact(rows)
    row, path = rows.loc[place], f"agreement[{place}]"
    n_features = int(row["n_features"])
    because: list[Sentence] = []
    if verdict == "replayed":
        key = "same_draws" if row["stream"] else "nothing_drawn"
        because.append(say(f"agreement.{key}", value=_relative(facts, place)))
    elif verdict == "equivalent":
        n = whole(f"{path}.n_features", n_features)
        because.append(say("agreement.all_inside", n=n))
    if row["reasons"]:
        because.append((_in_words(row["reasons"]),))
    if verdict == "equivalent" and rows["reasons"].nunique() > 1:
        because = [say("agreement.every_one_inside")]
    common = (_engines(row), badge(verdict), joined(because, "; "))
    if not is_alone:
        n_pairs = tallied("agreement", len(places))
        return (say_count(n_pairs, "ranking"), *common, "–", "–", "–")
    about: list[Any] = [full_name(str(row["model"]))]
    cards = (
        card_link(facts.card(ranking.record))
        for ranking in facts.rankings
        if is_about(ranking.record, row)
    )
    about.append(next(cards, show_hidden(str(row["method"]))))
    if row["loss"]:
        about.append(loss_label(row["loss"]))
    elif row["positive_class"]:
        about.append(short_value(row["positive_class"]))
    spearman, shift, share = (
        float(row[name]) for name in ("spearman", "max_rank_shift", "top_k_overlap")
    )
    overlap: Sentence = ("–",)
    if not isnan(share):
        k = min(top_k, n_features)
        text, derived = f"{round(share * k, 1):g}", "features in common"
        in_common = Value(f"{path}.top_k_overlap", share, text, derived=derived)
        overlap = say("agreement.overlap", n=in_common, k=str(k))
    return (
        joined(about),
        *common,
        Value(f"{path}.spearman", spearman, number(spearman, 2)),
        overlap,
        Value(f"{path}.max_rank_shift", shift, number(shift, int(shift % 1 > 0))),
    )


def _disagreements(facts: Facts) -> Table | Sentence:
    """Return the table of the worst disagreements, or a sentence if there is none.

    These are the rows outside their bands, and the largest rank shifts of others.
    """
    frame = facts.result.disagreements
    if frame.empty and set(facts.result.agreement["verdict"]) == {"not compared"}:
        return say("agreement.nothing_judged")
    if frame.empty:
        return say("agreement.no_disagreement")
    is_inside = frame["inside"].astype(bool)
    shifts = frame["shift"].astype(float).abs()[is_inside]
    largest = shifts.sort_values(ascending=False, kind="stable").index[:SHIFTS_SHOWN]
    worst = frame.index[~is_inside | frame.index.isin(largest)]
    rows = []
    for place in worst[:DISAGREEMENTS_SHOWN]:
        row = frame.loc[place]
        values, band = [row["value_a"], row["value_b"]], float(row["band"])
        clear = [] if row["inside"] else [row["difference"]]
        places = decimals(values, [band / 10], clear)
        numbers = {}
        for name in ("value_a", "value_b", "difference", "band"):
            raw = float(row[name])
            text = number(raw, places, sign=name == "difference")
            if name == "band" and isfinite(raw):
                text = f"±{text}"
            numbers[name] = Value(f"disagreements[{place}].{name}", raw, text)
        cards = (
            card_link(card)
            for measure, card in facts.cards.items()
            if measure[:2] == (row["method"], row["of"])
        )
        causes = [show_hidden(str(row[k])) for k in ("cause", "evidence") if row[k]]
        rows.append(
            (
                (
                    full_name(str(row["feature"])),
                    ", ",
                    short_name(str(row["model"])),
                    " ",
                    next(cards, ""),
                ),
                _engines(row),
                *numbers.values(),
                say("agreement.is_inside" if row["inside"] else "agreement.is_outside"),
                f"{float(row['rank_a']):g}, {float(row['rank_b']):g}",
                joined(causes, ": "),
            )
        )
    notes = [say("agreement.band_note"), say("agreement.ranks_note")]
    if len(frame) > len(rows):
        notes.insert(0, say("agreement.more_rows", n=count(len(frame) - len(rows))))
    return table_of(
        "disagreements",
        "agreement",
        "feature:header engines first:number second:number difference:number "
        "band:number inside ranks cause",
        rows,
        caption=say("agreement.disagreements_caption"),
        notes=tuple(notes),
        source="tables/disagreements.csv",
        shape="wide",
    )


def _curves_table(facts: Facts) -> list[Table]:
    """Return the pairs of curves: a row per model, method, class and two engines."""
    frame = facts.result.agreement
    frame = frame[frame["kind"] == "effect"]
    if frame.empty:
        return []
    keys = ["model", "method", "positive_class", "engine_a", "engine_b"]
    groups = [group for _, group in frame.groupby(keys, sort=False)]
    rows = []
    for group in sorted(groups, key=_worst):
        first, verdict = group.iloc[0], LADDER[_worst(group)]
        name = str(first["positive_class"])
        of_verdict = group[group["verdict"] == verdict]
        n, _, label = count_verdict(
            verdict, tallied("agreement.verdict", len(of_verdict))
        )
        if verdict == "replayed":
            value = _relative(facts, _least_exact(of_verdict))
            detail = say("agreement.largest", value=value)
        else:
            reasons = _in_words(of_verdict["reasons"].iloc[0]).rstrip(".")
            detail = (reasons,) if reasons else ()
        row = {
            "model": full_name(str(first["model"])),
            "class": short_value(name) if name else "–",
            "engines": _engines(first),
            "verdict": badge(verdict),
            "because": say(
                "agreement.curves" if detail else "agreement.curves_bare",
                n=n,
                total=say_count(tallied("agreement", len(group)), "curve"),
                verdict=label,
                detail=detail,
            ),
        }
        rows.append(row)
    has_class = (frame["positive_class"] != "").any()
    table = table_of(
        "curves",
        "agreement",
        f"model:header {'class' if has_class else ''} engines verdict because",
        rows,
        caption=say("agreement.curves_caption"),
        source="tables/agreement.csv",
        shape="tight",
    )
    return [table]


def _worst(pairs: pd.DataFrame) -> int:
    return min(map(LADDER.index, pairs["verdict"]))


def _least_exact(pairs: pd.DataFrame) -> Hashable:
    """Return the index of the pair with the largest relative difference."""
    return pairs["max_relative_difference"].astype(float).idxmax()


def _engines(row: "pd.Series[Any]") -> str:
    return f"{engine_name(row['engine_a'])}, {engine_name(row['engine_b'])}"


def _in_words(reasons: str) -> str:
    """Return the reasons of a pair without their codes, which are in agreement.csv."""
    return "; ".join(sentence for _, sentence in why_of(show_hidden(str(reasons))))


def _relative(facts: Facts, place: Hashable) -> Value:
    raw = float(facts.result.agreement["max_relative_difference"][place])
    path = f"agreement[{place}].max_relative_difference"
    return Value(path, raw, significant(raw, 2))
