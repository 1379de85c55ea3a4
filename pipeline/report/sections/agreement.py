"""Section G: which implementations agree, on what, and where they do not."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ...engines.agreement.reasons import why_of
from ...records.ranking import options_text, question_of
from ..text.blocks import (
    Cell,
    Cells,
    Column,
    Figure,
    Part,
    Row,
    Section,
    Sentence,
    Table,
    Value,
)
from ..text.number_text import decimals, loss_label, number, significant
from ..text.wording import (
    full_name,
    joined,
    say,
    say_count,
    series,
    short_name,
    short_value,
    show_hidden,
    table_of,
    word,
)
from .agreement_figures import band_figures, engine_figures
from .facts import Facts, card_link, engine_name, tallied, whole
from .verdicts import LADDER, badge, count_verdict

DISAGREEMENTS_SHOWN = 40


def agreement(facts: Facts) -> Section:
    """Return section G: pairs of rankings, pairs of curves, what lies outside."""
    title = word("sections.agreement")
    frame = facts.result.agreement
    if frame.empty:
        return Section("G", "agreement", title, _nothing(facts), {"blocks": ()})
    of_rankings = frame.index[frame["kind"] == "importance"]
    blocks: list[Any] = []
    if len(of_rankings):
        worst_first = sorted(of_rankings, key=_worst_first(frame))
        blocks += _pairs_tables(facts, worst_first)
    blocks.append(_disagreements_table(facts))
    blocks += _curves_table(facts)
    blocks += band_figures(facts) or _engine_figures(facts)
    return Section("G", "agreement", title, lede(facts), {"blocks": tuple(blocks)})


def _nothing(facts: Facts) -> Sentence:
    """Return why no pair was compared."""
    if not facts.rankings:
        return say("agreement.nothing")
    if facts.came_to_end or not (facts.configured_engines or facts.answered):
        return say("agreement.none")
    if facts.answered:
        return say("agreement.ended", engines=series(map(full_name, facts.answered)))
    return say("agreement.ended_before")


def _worst_first(frame: pd.DataFrame) -> Any:
    return lambda place: (LADDER.index(frame["verdict"][place]), place)


def _engine_figures(facts: Facts) -> Sequence[Figure]:
    """Return a mark per engine, unless all marks would lie on one another."""
    if set(facts.result.agreement["verdict"]) <= {"replayed", "not compared"}:
        return ()
    return engine_figures(facts)


def _pairs_tables(facts: Facts, places: Sequence[Hashable]) -> tuple[Table, ...]:
    """Return the pairs, of those that agree a row per two engines, and every pair."""
    groups = _alike(facts, places)
    if all(len(alike) == 1 for alike in groups):
        return (_pairs_table(facts, groups),)
    every = _pairs_table(facts, [[place] for place in places])
    caption = say("agreement.every_pair")
    every = replace(every, id="tab-every-pair", caption=caption, is_single=True)
    return _pairs_table(facts, groups), every


def _pairs_table(facts: Facts, groups: Sequence[Sequence[Hashable]]) -> Table:
    top_k = int(facts.result.run.config.get("checks", {}).get("top_k", 3))
    has_numbers = any(len(alike) == 1 for alike in groups)
    table = table_of(
        "pairs",
        "agreement",
        [
            "question:header",
            "engines",
            "verdict",
            "because",
            "spearman:number",
            Column(say("agreement.top", k=str(top_k)), "number"),
            "shift:number",
        ],
        [
            _pair_row(facts, alike[0], top_k)
            if len(alike) == 1
            else _row_of_several(facts, alike)
            for alike in groups
        ],
        caption=say(
            "agreement.caption", right=say("agreement.right") if has_numbers else ""
        ),
        source="tables/agreement.csv",
        shape="wide",
    )
    return table if has_numbers else table.without_empty_numbers


def _pair_row(facts: Facts, place: Hashable, top_k: int) -> Cells:
    row = facts.result.agreement.loc[place]
    path = f"agreement[{place}]"
    return (
        (full_name(str(row["model"])), ", ", *_measure(facts, row)),
        _engines(row),
        badge(row["verdict"]),
        _because(facts, place, row),
        _number(f"{path}.spearman", row["spearman"], 2),
        _overlap(f"{path}.top_k_overlap", row, top_k),
        _number(f"{path}.max_rank_shift", row["max_rank_shift"]),
    )


def _alike(facts: Facts, places: Sequence[Hashable]) -> list[list[Hashable]]:
    """Return the pairs; those of two engines that agree or share a reason together."""
    alike: dict[tuple[Any, ...], list[Hashable]] = {}
    for place in places:
        row = facts.result.agreement.loc[place]
        same = (row["engine_a"], row["engine_b"], row["verdict"])
        key: tuple[Any, ...] = (place,)
        if row["verdict"] == "not compared":
            key = (*same, row["reasons"])
        elif row["verdict"] == "replayed":
            key = (*same, row["stream"] != "")
        elif row["verdict"] == "equivalent":
            key = same
        alike.setdefault(key, []).append(place)
    return list(alike.values())


def _row_of_several(facts: Facts, places: Sequence[Hashable]) -> Cells:
    """Return the row of pairs that came out alike: of those replayed, the least so."""
    rows = facts.result.agreement.loc[list(places)]
    place, nothing = places[0], [Cell(("–",))] * 3
    because: Sentence = (in_words(rows["reasons"].iloc[0]),)
    if rows["verdict"].iloc[0] == "equivalent":
        because = say("agreement.every_one_inside")
        if rows["reasons"].nunique() == 1:
            because = _because(facts, place, rows.loc[place])
    if rows["verdict"].iloc[0] == "replayed":
        place = rows["max_relative_difference"].astype(float).idxmax()
        because = _because(facts, place, rows.loc[place])
    row = rows.loc[place]
    return (
        say_count(tallied("agreement", len(places)), "ranking"),
        _engines(row),
        badge(row["verdict"]),
        because,
        *nothing,
    )


def _measure(facts: Facts, row: "pd.Series[Any]") -> Sentence:
    """Return the card of a pair, with the loss or class that it is about."""
    question = tuple(
        row[k] for k in ("model", "method", "of", "loss", "positive_class")
    )
    cards = (
        card_link(facts.card(ranking.record))
        for ranking in facts.rankings
        if question_of(ranking.record) == question
        and options_text(ranking.record) == row["options"]
    )
    parts: list[Any] = [next(cards, show_hidden(str(row["method"])))]
    if row["loss"]:
        parts.append(loss_label(row["loss"]))
    elif row["positive_class"]:
        parts.append(short_value(row["positive_class"]))
    return joined(parts)


def _engines(row: "pd.Series[Any]") -> str:
    return f"{engine_name(row['engine_a'])}, {engine_name(row['engine_b'])}"


def _because(facts: Facts, place: Hashable, row: "pd.Series[Any]") -> Sentence:
    """Return what a verdict rests on, in one clause."""
    because: list[Sentence] = []
    if row["verdict"] == "replayed":
        key = "agreement.same_draws" if row["stream"] else "agreement.nothing_drawn"
        because.append(say(key, value=relative(facts, place)))
    elif row["verdict"] == "equivalent":
        n = say_count(
            whole(f"agreement[{place}].n_features", int(row["n_features"])), "row"
        )
        because.append(say("agreement.all_inside", n=n[0]))
    if row["reasons"]:
        because.append((in_words(row["reasons"]),))
    return joined(because, "; ")


def _number(path: str, raw: Any, places: int = 0) -> Value:
    value = float(raw)
    if not places and value % 1:
        places = 1
    return Value(path, value, number(value, places))


def _overlap(path: str, row: "pd.Series[Any]", top_k: int) -> Sentence:
    share = float(row["top_k_overlap"])
    if math.isnan(share):
        return ("–",)
    k = min(top_k, int(row["n_features"]))
    common = Value(
        path, share, f"{round(share * k, 1):g}", derived="features in common"
    )
    return say("agreement.overlap", n=common, k=str(k))


def _curves_table(facts: Facts) -> tuple[Table, ...]:
    """Return pairs of curves, one row per model, class and pair of engines."""
    frame = facts.result.agreement
    frame = frame[frame["kind"] == "effect"]
    if frame.empty:
        return ()
    keys = ["model", "method", "positive_class", "engine_a", "engine_b"]
    rows = [_curve_row(facts, group) for _, group in frame.groupby(keys, sort=False)]
    rows.sort(key=lambda item: item[0])
    has_class = bool((frame["positive_class"] != "").any())
    return (
        table_of(
            "curves",
            "agreement",
            [
                Column(say("agreement.model"), "header"),
                *([Column(say("agreement.class"))] if has_class else ()),
                Column(say("agreement.engines")),
                "verdict",
                Column(say("agreement.because")),
            ],
            [row if has_class else _classless(row) for _, row in rows],
            caption=say("agreement.curves_caption"),
            source="tables/agreement.csv",
            shape="tight",
        ),
    )


def _classless(row: Row) -> Cells:
    """Return a row of curves without its second cell, the class."""
    return (row.cells[0], *row.cells[2:])


def _curve_row(facts: Facts, group: pd.DataFrame) -> tuple[int, Row]:
    counts = Counter(group["verdict"])
    verdict = min(counts, key=LADDER.index)
    of_verdict = group[group["verdict"] == verdict]
    rests_on = detail(facts, of_verdict)
    number = count_verdict(verdict, tallied("agreement.verdict", counts[verdict]))
    because = say(
        "agreement.curves" if rests_on else "agreement.curves_bare",
        n=number[0],
        total=say_count(tallied("agreement", len(group)), "curve"),
        verdict=number[-1],
        detail=rests_on,
    )
    first = group.iloc[0]
    name = str(first["positive_class"])
    cls: Part = short_value(name) if name else "–"
    cells = (
        Cell((full_name(str(first["model"])),)),
        Cell((cls,)),
        Cell((_engines(first),)),
        Cell((badge(verdict),)),
        Cell(because),
    )
    return LADDER.index(verdict), Row(cells)


def _disagreements_table(facts: Facts) -> Table | Sentence:
    """Return what lies outside a band or moved in rank, or that nothing does."""
    frame = facts.result.disagreements
    if frame.empty and set(facts.result.agreement["verdict"]) == {"not compared"}:
        return say("agreement.nothing_judged")
    if frame.empty:
        return say("agreement.no_disagreement")
    shown_rows = frame.index[:DISAGREEMENTS_SHOWN]
    notes = [say("agreement.band_note"), say("agreement.ranks_note")]
    if len(frame) > len(shown_rows):
        rest = str(len(frame) - len(shown_rows))
        notes.insert(0, say("agreement.more_rows", n=rest))
    return table_of(
        "disagreements",
        "agreement",
        (
            "feature:header engines first:number second:number "
            "difference:number band:number inside ranks cause"
        ),
        [_disagreement_row(facts, place) for place in shown_rows],
        caption=say("agreement.disagreements_caption"),
        notes=tuple(notes),
        source="tables/disagreements.csv",
        shape="wide",
    )


def _disagreement_row(facts: Facts, place: Hashable) -> Cells:
    row = facts.result.disagreements.loc[place]
    path = f"disagreements[{place}]"
    clear = [] if row["inside"] else [row["difference"]]
    places = decimals(
        [row["value_a"], row["value_b"]], [float(row["band"]) / 10], clear
    )

    def cell(column: str, *, sign: bool = False, mark: str = "") -> Cell:
        raw = float(row[column])
        text = number(raw, places, sign=sign)
        return Cell((Value(f"{path}.{column}", raw, mark * math.isfinite(raw) + text),))

    model = short_name(str(row["model"]))
    inside = say("agreement.is_inside" if row["inside"] else "agreement.is_outside")
    ranks = f"{float(row['rank_a']):g}, {float(row['rank_b']):g}"
    cause = joined(
        [show_hidden(str(row[k])) for k in ("cause", "evidence") if row[k]], ": "
    )
    return (
        (
            full_name(str(row["feature"])),
            ", ",
            model,
            " ",
            *_card_of(facts, row),
        ),
        _engines(row),
        cell("value_a"),
        cell("value_b"),
        cell("difference", sign=True),
        cell("band", mark="±"),
        inside,
        ranks,
        cause,
    )


def _card_of(facts: Facts, row: "pd.Series[Any]") -> Sentence:
    return tuple(
        card_link(card)
        for measure, card in facts.cards.items()
        if measure[:2] == (row["method"], row["of"])
    )[:1]


def lede(facts: Facts) -> Sentence:
    """Return how many pairs reached which word of the ladder, worst first."""
    frame = facts.result.agreement
    counts = Counter(frame["verdict"])
    counted_verdicts = [
        count_verdict(verdict, tallied("agreement.verdict", counts[verdict]))
        for verdict in LADDER
        if counts[verdict]
    ]
    pairs = say_count(tallied("agreement", len(frame)), "pair")
    return say("agreement.lede", pairs=pairs, verdicts=joined(counted_verdicts))


def detail(facts: Facts, rows: pd.DataFrame) -> Sentence:
    """Return what the first of some rows with one verdict rests on."""
    if rows["verdict"].iloc[0] == "replayed":
        worst = rows["max_relative_difference"].astype(float).idxmax()
        return say("agreement.largest", value=relative(facts, worst))
    reasons = in_words(rows["reasons"].iloc[0]).rstrip(".")
    return (reasons,) if reasons else ()


def in_words(reasons: str) -> str:
    """Return the reasons of a pair without their codes, which agreement.csv has."""
    return "; ".join(sentence for _, sentence in why_of(show_hidden(str(reasons))))


def relative(facts: Facts, place: Hashable) -> Value:
    raw = float(facts.result.agreement["max_relative_difference"][place])
    path = f"agreement[{place}].max_relative_difference"
    return Value(path, raw, significant(raw, 2))
