"""Quality, calibration and leading features of each model by segments of a column."""

import re
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from ...assess.calibration import sides_of
from ...assess.segments import LEAST_ROWS
from ...records.ranking import LEVEL, is_marginal
from ..text.blocks import Column, Name, Part, Sentence, Table
from ..text.number_text import MISSING, count, decimals, loss_label
from ..text.wording import (
    full_name,
    full_value,
    joined,
    key_of,
    say,
    series,
    short_name,
    short_value,
    table_of,
)
from .facts import Facts, card_link, first_few, number_in, tallied, whole
from .rankings import Ranking

LEADERS = 3
"""Features named in each segment."""
NAMED = 5
"""Most segments named in a sentence; others are counted."""
KEYS = ["segment", "kind", "level"]


def segment_blocks(facts: Facts) -> Iterator[Sentence | Table]:
    """Yield a summary and the table of segments for each column and model."""
    frame = facts.result.segment_performance
    note, known = say("segments.note"), set(facts.result.segment_importances["record"])
    for column in frame["segment"].unique():
        for model in frame.loc[frame["segment"] == column, "model"].unique():
            rows = _of(frame, column, model)
            loss = rows["loss"].iloc[0]
            rows = rows[rows["loss"] == loss]
            own = (
                r
                for r in facts.rankings
                if is_marginal(r.record)
                and (r.record.model, r.record.loss) == (model, loss)
                and r.index in known
            )
            ranking = next(own, None)
            calibration = _of(facts.result.segment_calibration, column, model)
            # With several classes, the predicted one.
            calibration = calibration[~calibration.duplicated(KEYS)]
            leaders = _leaders(facts, column, ranking)
            judged = facts.result.segment_importances
            judged = judged[judged["segment"] == column].drop_duplicates(KEYS)
            first = (
                *(_worst(rows), *_sides(calibration)),
                *_leaders_in_words(leaders, n_segments=len(judged)),
            )
            yield joined(first, " ")
            yield _table(facts, rows, calibration, leaders, ranking, note)
            note = ()


def _of(frame: pd.DataFrame, column: str, model: str) -> pd.DataFrame:
    return frame[(frame["segment"] == column) & (frame["model"] == model)]


def _worst(rows: pd.DataFrame) -> Sentence:
    """Return the segments in which a model is worst and best, if these differ.

    Tested at 5 % for all pairs of segments together, by Bonferroni.
    """
    model, loss, column = rows[["model", "loss", "segment"]].iloc[0]
    named: dict[str, Part | Sentence] = {
        "column": full_name(column),
        "model": full_name(model),
        "loss": loss_label(loss),
    }
    known = rows[rows[["value", "std_error"]].notna().all(axis=1)]
    known = known.astype({"value": float})
    if len(known) < 2:
        return say("segments.none", **named, least=count(LEAST_ROWS))
    worst, best = known.loc[known["value"].idxmax()], known.loc[known["value"].idxmin()]
    places, error = _places(rows), np.hypot(worst["std_error"], best["std_error"])
    n_pairs = len(known) * (len(known) - 1) // 2
    limit = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / n_pairs)
    if not worst["value"] - best["value"] > limit * error:
        return say("segments.alike", **named)
    for key, row in (("worst", worst), ("best", best)):
        named[key] = _level_in_words(row)
        for of, column in (("", "value"), ("_error", "std_error")):
            value = number_in("segment_performance", row, column, places)
            named[f"{key}{of or '_value'}"] = value
    return say("segments.worst", **named)


def _sides(calibration: pd.DataFrame) -> Iterator[Sentence]:
    """Yield the segments with mean predictions outside the interval of the observed."""
    judged = calibration[calibration["low"].notna()]
    if judged.empty:
        return
    rows: dict[str, list[Any]] = {"too low": [], "too high": [], "within": []}
    sides_of_rows = sides_of(judged.to_dict("records"))
    for side, (_, row) in zip(sides_of_rows, judged.iterrows(), strict=True):
        rows[side].append(row)
    n = tallied("segment_calibration", len(judged))
    sides = [
        say(f"segments.{side.replace(' ', '_')}", levels=_levels(rows[side]))
        for side in ("too low", "too high")
        if rows[side]
    ]
    if sides:
        k = tallied("segment_calibration", len(judged) - len(rows["within"]))
        yield say("segments.outside", sides=series(sides), k=k, n=n)
    else:
        yield say("segments.within", n=n)


def _leaders(
    facts: Facts, column: str, ranking: Ranking | None
) -> dict[tuple[str, ...], pd.DataFrame]:
    """Return the first features of each segment, by the segment's keys."""
    if ranking is None:
        return {}
    frame = facts.result.segment_importances
    rows = frame[(frame["record"] == ranking.index) & (frame["segment"] == column)]
    if ranking.record.form != "raw":
        rows = rows[rows["mean"] > ranking.null_value]
    rows = rows.sort_values("mean", ascending=False, kind="stable")
    return {key: own.iloc[:LEADERS] for key, own in rows.groupby(KEYS, sort=False)}


def _leaders_in_words(
    leaders: dict[tuple[str, ...], pd.DataFrame], *, n_segments: int
) -> Iterator[Sentence]:
    """Yield a sentence on the leading feature of each segment with importances."""
    by_leader: dict[str, list[Any]] = {}
    for own in leaders.values():
        by_leader.setdefault(own["feature"].iloc[0], []).append(own.iloc[0])
    if len(by_leader) == 1 and len(leaders) == n_segments:
        yield say("segments.leads_all", feature=full_name(*by_leader))
    elif by_leader:
        order = sorted(by_leader.items(), key=lambda item: -len(item[1]))
        parts = [
            say("segments.leads", feature=full_name(feature), levels=_levels(rows))
            for feature, rows in order
        ]
        yield say("segments.leaders", leaders=joined(parts, "; "))


def _levels(rows: Sequence[Any]) -> Sentence:
    """Return the names of segments, the first few if there are many."""
    names = first_few(map(_level_in_words, rows), NAMED, "segment_performance")
    return joined(names) if len(rows) > NAMED else series(names)


def _table(
    facts: Facts,
    rows: pd.DataFrame,
    calibration: pd.DataFrame,
    leaders: dict[tuple[str, ...], pd.DataFrame],
    ranking: Ranking | None,
    note: Sentence,
) -> Table:
    """Return the table of the segments of one column and model."""
    model, loss, column = (rows[key].iloc[0] for key in ("model", "loss", "segment"))
    places = _places(rows)
    spread = calibration["high"] - calibration["low"]
    means = decimals(calibration["observed"], spread / 4)
    by_key = {tuple(row[KEYS]): row for _, row in calibration.iterrows()}
    body = []
    for _, row in rows.iterrows():
        key = tuple(row[KEYS])
        cells: list[Any] = [
            _level(row),
            whole(f"segment_performance[{row.name}].rows", int(row["rows"])),
            number_in("segment_performance", row, "value", places),
            number_in("segment_performance", row, "std_error", places),
        ]
        if len(calibration):
            cells += _means(by_key.get(key), means)
        if ranking:
            cells.append(_named(leaders.get(key), ranking))
        body.append(tuple(cells))
    columns: list[str | Column] = ["level:header", "rows:number"]
    columns += [Column((facts.head_of(loss),), "number"), "error:number"]
    columns += ["predicted:number", "observed"] if len(calibration) else []
    columns += ["segments.leaders_head"] if ranking else []
    if (rows["rows"] < LEAST_ROWS).any():
        note += say("segments.few", least=count(LEAST_ROWS))
    if note and len(calibration) and facts.task != "regression":
        cls = calibration["positive_class"].iloc[0]
        of = "class" if cls else "predicted_class"
        note += say(f"segments.of_{of}", cls=full_value(cls))
    if not ranking:
        note += say("segments.no_leaders", loss=loss_label(loss))
    elif note:
        note += say("segments.of_card", card=card_link(facts.card(ranking.record)))
    return table_of(
        f"segments-{key_of(column, model)}",
        "segments",
        columns,
        body,
        caption=say(
            "segments.caption",
            column=full_name(column),
            model=full_name(model),
            rows=facts.rows_word,
        ),
        notes=(note,) if note else (),
        source="tables/segment_performance.csv",
        shape="wide",
    )


def _means(row: Any, places: int) -> tuple[Any, Any]:
    """Return the mean prediction, and the observed mean with its interval."""
    if row is None:
        return MISSING, MISSING
    predicted, observed, low, high = (
        number_in("segment_calibration", row, key, places)
        for key in ("predicted", "observed", "low", "high")
    )
    if np.isnan(low.raw):
        return predicted, (observed,)
    return predicted, say("segments.interval", value=observed, low=low, high=high)


def _named(rows: pd.DataFrame | None, ranking: Ranking) -> Sentence:
    """Return the first features of a segment, each with its importance."""
    if rows is None:
        return (MISSING,)
    return joined(
        (
            say(
                "segments.leader_alone"
                if np.isnan(row["std_error"])
                else "segments.leader",
                feature=short_name(row["feature"]),
                value=number_in("segment_importances", row, "mean", ranking.places),
                error=number_in(
                    "segment_importances", row, "std_error", ranking.places
                ),
            )
            for _, row in rows.iterrows()
        ),
        "; ",
    )


def _level(row: Any) -> Name | Sentence:
    """Return the name of a segment in a table."""
    if row["kind"] in ("others", "missing"):
        return say(f"segments.{row['kind']}", n=str(row["level"]))
    return short_value(str(row["level"]))


def _level_in_words(row: Any) -> Name | Sentence:
    """Return the name of a segment in a sentence; a number comes with its column."""
    if row["kind"] == "level" and re.fullmatch(r"[\d.eE+-]+|true|false", row["level"]):
        column, level = full_name(row["segment"]), short_value(row["level"])
        return say("segments.number", column=column, level=level)
    if row["kind"] == "range":
        column = full_name(row["segment"])
        return say("segments.range", column=column, level=_level(row))
    return _level(row)


def _places(rows: pd.DataFrame) -> int:
    return decimals(rows["value"], rows["std_error"])
