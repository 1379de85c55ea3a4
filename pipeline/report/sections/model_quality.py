"""How good each model is, for page one: training rows beside new rows, best first."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ...records.losses import LOSSES
from ..text.blocks import Cell, Cells, Column, Part, Row, Sentence, Table, Value
from ..text.number_text import decimals, loss_label, number, percent, unit_text
from ..text.wording import (
    full_name,
    joined,
    look_up,
    say,
    say_count,
    section_link,
    series,
    short_name,
    show_hidden,
)
from .facts import Facts, tallied, whole
from .findings import link_to
from .performance import alike

MODELS = 4
"""Models that page one has room for."""
SPLITS = ("train", "test")
DASH = Cell(("–",))


def best_first(facts: Facts) -> list[str]:
    """Return the models, the smallest loss on the evaluation rows first.

    Those without a loss keep the order of the audit, behind all others.
    """
    rows = facts.result.performance
    rows = rows[(rows["loss"] == _loss(facts)) & (rows["split"] == "test")]
    losses = dict(zip(rows["model"], rows["value"].astype(float), strict=True))
    return sorted(facts.models, key=lambda model: losses.get(model, float("inf")))


def quality_table(facts: Facts) -> Table | None:
    """Return a row per model with its loss and what the trade reads; None if unknown.

    R² of a regression, AUC and Gini of two classes, accuracy of several.
    """
    losses = facts.result.performance
    losses = losses[losses["loss"] == _loss(facts)]
    if losses.empty:
        return None
    models = best_first(facts)
    kinds = [k for k in look_up("quality.reading") if _has_reading(facts, k)]
    columns = [
        Column(say("quality.model"), "header", 28),
        *(_loss_column(facts, split) for split in _splits(losses)),
        Column(say("quality.of_constant"), "number", 10),
    ]
    for kind in kinds:
        splits = _splits(_readings(facts, kind))
        splits = splits[-1:] if kind == "gini" else splits
        columns += [_reading_column(kind, split) for split in splits]
    first_models = models[:MODELS]
    return Table(
        id="tab-quality",
        caption=_caption(facts),
        columns=_to_page(columns),
        rows=tuple(_row(facts, losses, kinds, model) for model in first_models),
        notes=_notes(facts, len(models)),
        shape="tight",
        abreast=3,
    )


def _to_page(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return the columns with widths that make up the page together."""
    share = 100 / sum(column.width for column in columns)
    return tuple(replace(c, width=round(share * c.width, 2)) for c in columns)


def _loss(facts: Facts) -> str:
    """Return the loss that page one prints: that of the lead ranking where measured."""
    losses = list(dict.fromkeys(facts.result.performance["loss"]))
    lead = facts.lead.record.loss if facts.lead else ""
    return lead if lead in losses else next(iter(losses), "")


def _splits(rows: pd.DataFrame) -> list[str]:
    return [split for split in SPLITS if split in set(rows["split"])]


def _readings(facts: Facts, kind: str) -> pd.DataFrame:
    frame = facts.result.readings
    return frame[frame["reading"] == kind]


def _has_reading(facts: Facts, kind: str) -> bool:
    return not _readings(facts, kind).empty


def _loss_column(facts: Facts, split: str) -> Column:
    loss = loss_label(_loss(facts))
    width = 11 if split == "train" else 18  # the latter with its standard error
    return Column(say(f"quality.{split}", what=loss), "number", width)


def _reading_column(kind: str, split: str) -> Column:
    what = look_up("quality.reading")[kind]
    width = 11 if split == "train" else 16
    return Column(say(f"quality.{split}", what=what), "number", width)


def _caption(facts: Facts) -> Sentence:
    loss = _loss(facts)
    unit = unit_text(LOSSES[loss].unit, facts.target_unit)
    text = say("quality.caption", loss=loss_label(loss))
    text += (f", {show_hidden(unit)}",) if unit else ()
    sizes = joined(_sizes(facts))
    return (*text, *say("quality.rows", rows=sizes, section=section_link("D")))


def _sizes(facts: Facts) -> Iterator[Sentence]:
    """Yield on how many rows of each split the losses were measured."""
    frame = facts.result.performance
    for split in _splits(frame):
        rows = frame[frame["split"] == split]
        path = f"performance[{rows.index[0]}].n_samples"
        n = whole(path, int(rows["n_samples"].iloc[0]))
        yield say_count(n, f"{split}_row")


def _row(facts: Facts, losses: pd.DataFrame, kinds: Sequence[str], model: str) -> Cells:
    own = losses[losses["model"] == model]
    places = decimals(losses["value"], losses["std_error"], losses["value"])
    cells = [Cell((short_name(model),))]
    cells += [_number("performance", own, split, places) for split in _splits(losses)]
    cells.append(_of_constant(own))
    for kind in kinds:
        every = _readings(facts, kind)
        splits = _splits(every)
        splits = splits[-1:] if kind == "gini" else splits
        of_model = every[every["model"] == model]
        cells += [_number("readings", of_model, split, 3) for split in splits]
    return Row(tuple(cells))


def _number(frame: str, rows: pd.DataFrame, split: str, places: int) -> Cell:
    """Return a number, on the evaluation rows with its standard error if known."""
    rows = rows[rows["split"] == split]
    if rows.empty:
        return DASH
    place, row = rows.index[0], rows.iloc[0]
    parts: list[Part] = [_value(f"{frame}[{place}]", "value", row, places)]
    if split == "test" and row["std_error"] > 0:
        parts += [" ± ", _value(f"{frame}[{place}]", "std_error", row, places)]
    return Cell(tuple(parts))


def _value(path: str, column: str, row: "pd.Series[Any]", places: int) -> Value:
    raw = float(row[column])
    return Value(f"{path}.{column}", raw, number(raw, places))


def _of_constant(rows: pd.DataFrame) -> Cell:
    """Return the loss as a share of that of always predicting one value."""
    rows = rows[rows["split"] == _splits(rows)[-1]] if len(rows) else rows
    if rows.empty or not float(rows["constant"].iloc[0]):
        return DASH
    place: Hashable = rows.index[0]
    share = float(rows["value"].iloc[0]) / float(rows["constant"].iloc[0])
    path = f"performance[{place}].value"
    return Cell((Value(path, share, percent(share), derived="share of the constant"),))


def _notes(facts: Facts, n_models: int) -> tuple[Sentence, ...]:
    """Return what must be known beside the numbers: gaps, out-of-bag rows, the rest."""
    notes = [say("quality.note" if facts.rows("train") else "quality.note_alone")]
    if n_models > MODELS:
        n = tallied("models", n_models - MODELS)
        notes.append((*say("words.more", n=n), ", ", section_link("D"), "."))
    if equals := alike(facts, _loss(facts), best_first(facts)[0]):
        notes.append(say("quality.alike", models=equals))
    if weak := _noted(facts, "weak_model", {name: name for name in facts.models}):
        notes.append(say("quality.weak", models=weak))
    of_loss = {f"{name}, {_loss(facts)}": name for name in facts.models}
    if gap := _noted(facts, "train_test_gap", of_loss):
        notes.append(say("quality.gap", models=gap))
    out_of_bag = [_out_of_bag(facts, model) for model in best_first(facts)[:MODELS]]
    if any(out_of_bag):
        models = joined(filter(None, out_of_bag))
        notes.append(say("quality.out_of_bag", models=models))
    return tuple(notes)


def _noted(facts: Facts, check: str, subjects: Mapping[str, str]) -> Sentence:
    """Return the models that a check notes, each with its finding; empty if none.

    `subjects` has the model of each subject that a finding may have.
    """
    links = {
        subjects[finding.subject]: link_to(finding, facts.result)
        for finding in facts.result.findings
        if finding.check == check and finding.subject in subjects
    }
    return series(
        joined((full_name(name), " (", link, ")"), "") for name, link in links.items()
    )


def _out_of_bag(facts: Facts, model: str) -> Sentence:
    frame = facts.result.performance
    own = frame[(frame["model"] == model) & (frame["loss"] == _loss(facts))]
    rows = own[own["split"] == "out_of_bag"]
    if rows.empty:
        return ()
    places = decimals(own["value"], own["std_error"], own["value"])
    path = f"performance[{rows.index[0]}]"
    value = _value(path, "value", rows.iloc[0], places)
    return say("quality.of_model", model=full_name(model), value=value)
