"""Section G: which implementations agree, on what, and where they do not."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import pandas as pd

from pipeline.report.blocks import (
    Badge,
    Cell,
    Column,
    Part,
    Row,
    Section,
    Sentence,
    Table,
    Value,
)
from pipeline.report.facts import Facts, card_link, engine_name, tallied, whole
from pipeline.report.number_text import decimals, loss_label, number, significant
from pipeline.report.pair_figures import band_figure, engine_figures
from pipeline.report.rankings import question_of
from pipeline.report.verdicts import LADDER, badge
from pipeline.report.wording import (
    counted,
    joined,
    named,
    say,
    shortened,
    shown,
    word,
)

DISAGREEMENTS_SHOWN = 40


def agreement(facts: Facts) -> Section:
    """Return section G: pairs of rankings, pairs of curves, what lies outside."""
    title = word("sections.agreement")
    frame = facts.result.agreement
    if frame.empty:
        key = "agreement.none" if facts.rankings else "agreement.nothing"
        nothing = {"blocks": ()}
        return Section("G", "agreement", title, say(key), nothing)
    of_rankings = frame.index[frame["kind"] == "importance"]
    blocks: list[Any] = []
    if len(of_rankings):
        worst_first = sorted(of_rankings, key=_worst_first(frame))
        blocks.append(_pairs_table(facts, worst_first))
    blocks += engine_figures(facts)
    figure = band_figure(facts)
    blocks += [figure] if figure else []
    blocks.append(_disagreements_table(facts))
    blocks += _curves_table(facts)
    return Section("G", "agreement", title, lede(facts), {"blocks": tuple(blocks)})


def lede(facts: Facts) -> Sentence:
    """Return how many pairs reached which word of the ladder, worst first."""
    frame = facts.result.agreement
    counts = Counter(frame["verdict"])
    said = [
        (tallied("agreement.verdict", counts[verdict]), " ", verdict)
        for verdict in LADDER
        if counts[verdict]
    ]
    pairs = counted(tallied("agreement", len(frame)), "pair")
    return say("agreement.lede", pairs=pairs, verdicts=joined(said))


def by_engines(facts: Facts) -> list[tuple[Badge, Sentence]]:
    """Return one sentence per pair of engines, the worst pair first."""
    frame = facts.result.agreement
    found = []
    for (one, other), rows in frame.groupby(["engine_a", "engine_b"], sort=False):
        counts = Counter(rows["verdict"])
        verdict = min(counts, key=LADDER.index)
        said = [
            (tallied("agreement.verdict", counts[v]), " ", v)
            for v in LADDER
            if counts[v]
        ]
        key = "all" if len(counts) == 1 else "mixed"
        text = say(
            f"agreement.engines_{key}",
            one=engine_name(one),
            other=engine_name(other),
            n=counted(tallied("agreement", len(rows)), "pair"),
            counts=joined(said),
            detail=_detail(facts, rows[rows["verdict"] == verdict]),
        )
        found.append((LADDER.index(verdict), badge(verdict), text))
    return [(mark, text) for _, mark, text in sorted(found, key=lambda item: item[0])]


def _detail(facts: Facts, rows: pd.DataFrame) -> Sentence:
    """Return what the first of some rows with one verdict rests on."""
    if rows["verdict"].iloc[0] == "replayed":
        worst = rows["max_relative_difference"].astype(float).idxmax()
        return say("agreement.largest", value=_relative(facts, worst))
    reasons = str(rows["reasons"].iloc[0])
    return say("agreement.reason", reason=shown(reasons)) if reasons else ()


def _worst_first(frame: pd.DataFrame) -> Any:
    return lambda place: (LADDER.index(frame["verdict"][place]), place)


def _pairs_table(facts: Facts, places: Sequence[Hashable]) -> Table:
    top_k = int(facts.result.run.config.get("checks", {}).get("top_k", 3))
    return Table(
        id="tab-pairs",
        caption=say("agreement.caption"),
        columns=(
            Column(say("agreement.question"), "header", 21),
            Column(say("agreement.engines"), width=14),
            Column(say("agreement.verdict"), width=16),
            Column(say("agreement.because"), width=27),
            Column(say("agreement.spearman"), "number", 8.5),
            Column(say("agreement.top", k=str(top_k)), "number", 6.5),
            Column(say("agreement.shift"), "number", 7),
        ),
        rows=tuple(
            _pair_row(facts, alike[0], top_k)
            if len(alike) == 1
            else _uncompared_row(facts, alike)
            for alike in _told_alike(facts, places)
        ),
        source="agreement.csv",
        shape="wide",
    )


def _pair_row(facts: Facts, place: Hashable, top_k: int) -> Row:
    row = facts.result.agreement.loc[place]
    path = f"agreement[{place}]"
    return Row(
        (
            Cell((named(str(row["model"])), ", ", *_measure(facts, row))),
            Cell((_engines(row),)),
            Cell((badge(row["verdict"]),)),
            Cell(_because(facts, place, row)),
            Cell((_number(f"{path}.spearman", row["spearman"], 2),)),
            Cell(_overlap(f"{path}.top_k_overlap", row, top_k)),
            Cell((_number(f"{path}.max_rank_shift", row["max_rank_shift"]),)),
        )
    )


def _told_alike(facts: Facts, places: Sequence[Hashable]) -> list[list[Hashable]]:
    """Return the pairs; those not compared for one reason stand together."""
    alike: dict[tuple[Any, ...], list[Hashable]] = {}
    for place in places:
        row = facts.result.agreement.loc[place]
        told = (row["engine_a"], row["engine_b"], row["reasons"])
        key = told if row["verdict"] == "not compared" else (place,)
        alike.setdefault(key, []).append(place)
    return list(alike.values())


def _uncompared_row(facts: Facts, places: Sequence[Hashable]) -> Row:
    row = facts.result.agreement.loc[places[0]]
    number = tallied("agreement", len(places))
    return Row(
        (
            Cell(counted(number, "ranking")),
            Cell((_engines(row),)),
            Cell((badge(row["verdict"]),)),
            Cell((shown(str(row["reasons"])),)),
            *(Cell(("–",)) for _ in range(3)),
        )
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
    )
    parts: list[Any] = [next(cards, shown(str(row["method"])))]
    if row["loss"]:
        parts.append(loss_label(row["loss"]))
    elif row["positive_class"]:
        parts.append(shortened(row["positive_class"], 24))
    return joined(parts)


def _engines(row: "pd.Series[Any]") -> str:
    return f"{engine_name(row['engine_a'])}, {engine_name(row['engine_b'])}"


def _because(facts: Facts, place: Hashable, row: "pd.Series[Any]") -> Sentence:
    """Return what a verdict rests on, in one clause."""
    told: list[Sentence] = []
    if row["verdict"] == "replayed":
        key = "agreement.same_draws" if row["stream"] else "agreement.nothing_drawn"
        told.append(say(key, value=_relative(facts, place)))
    elif row["verdict"] == "equivalent":
        n = counted(
            whole(f"agreement[{place}].n_features", int(row["n_features"])), "row"
        )
        told.append(say("agreement.all_inside", n=n[0]))
    if row["reasons"]:
        told.append((shown(str(row["reasons"])),))
    return joined(told, "; ")


def _relative(facts: Facts, place: Hashable) -> Value:
    raw = float(facts.result.agreement["max_relative_difference"][place])
    path = f"agreement[{place}].max_relative_difference"
    return Value(path, raw, significant(raw, 2))


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
    return (
        Table(
            id="tab-curves",
            caption=say("agreement.curves_caption"),
            columns=(
                Column(say("agreement.model"), "header", 16),
                Column(say("agreement.class"), width=14),
                Column(say("agreement.engines"), width=16),
                Column(say("agreement.verdict"), width=16),
                Column(say("agreement.because"), width=38),
            ),
            rows=tuple(row for _, row in rows),
            source="agreement.csv",
        ),
    )


def _curve_row(facts: Facts, group: pd.DataFrame) -> tuple[int, Row]:
    counts = Counter(group["verdict"])
    verdict = min(counts, key=LADDER.index)
    of_verdict = group[group["verdict"] == verdict]
    count = say(
        "agreement.curves",
        n=tallied("agreement.verdict", counts[verdict]),
        total=counted(tallied("agreement", len(group)), "curve"),
        verdict=verdict,
    )
    first = group.iloc[0]
    name = str(first["positive_class"])
    cls: Part = shortened(name, 30) if name else "–"
    cells = (
        Cell((named(str(first["model"])),)),
        Cell((cls,)),
        Cell((_engines(first),)),
        Cell((badge(verdict),)),
        Cell((*count, *_detail(facts, of_verdict))),
    )
    return LADDER.index(verdict), Row(cells)


def _disagreements_table(facts: Facts) -> Table | Sentence:
    """Return what lies outside a band or moved in rank, or that nothing does."""
    frame = facts.result.disagreements
    if frame.empty:
        return say("agreement.no_disagreement")
    shown_rows = frame.index[:DISAGREEMENTS_SHOWN]
    notes = [say("agreement.band_note"), say("agreement.ranks_note")]
    if len(frame) > len(shown_rows):
        rest = str(len(frame) - len(shown_rows))
        notes.insert(0, say("agreement.more_rows", n=rest))
    return Table(
        id="tab-disagreements",
        caption=say("agreement.disagreements_caption"),
        columns=(
            Column(say("agreement.feature"), "header", 18),
            Column(say("agreement.engines"), width=13),
            Column(say("agreement.first"), "number", 8),
            Column(say("agreement.second"), "number", 8),
            Column(say("agreement.difference"), "number", 10),
            Column(say("agreement.band"), "number", 8),
            Column(say("agreement.inside"), width=10),
            Column(say("agreement.ranks"), width=7),
            Column(say("agreement.cause"), width=18),
        ),
        rows=tuple(_disagreement_row(facts, place) for place in shown_rows),
        notes=tuple(notes),
        source="disagreements.csv",
        shape="wide",
    )


def _disagreement_row(facts: Facts, place: Hashable) -> Row:
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

    model = shortened(str(row["model"]), 24)
    inside = say("agreement.is_inside" if row["inside"] else "agreement.is_outside")
    ranks = f"{float(row['rank_a']):g}, {float(row['rank_b']):g}"
    cause = joined([shown(str(row[k])) for k in ("cause", "evidence") if row[k]], ": ")
    return Row(
        (
            Cell((named(str(row["feature"])), ", ", model, " ", *_card_of(facts, row))),
            Cell((_engines(row),)),
            cell("value_a"),
            cell("value_b"),
            cell("difference", sign=True),
            cell("band", mark="±"),
            Cell(inside),
            Cell((ranks,)),
            Cell(cause),
        )
    )


def _card_of(facts: Facts, row: "pd.Series[Any]") -> Sentence:
    return tuple(
        card_link(card)
        for measure, card in facts.cards.items()
        if measure[:2] == (row["method"], row["of"])
    )[:1]
