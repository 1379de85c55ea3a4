"""The table of one ranking: rows, bars, intervals, and what the rest amounts to."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ...records.importance_record import Importance
from ...records.ranking import LEVEL
from ..text.blocks import Bar, Cell, Cells, Column, Link, Row, Sentence, Table, Value
from ..text.number_text import (
    interval_text,
    lone,
    loss_label,
    nice_ceiling,
    number,
    percent,
    rank_text,
    significant,
)
from ..text.wording import (
    full_name,
    full_value,
    joined,
    key_of,
    look_up,
    say,
    say_count,
    sentence_case,
    series,
    show_hidden,
    word,
)
from .facts import Facts, card_link, engine_name, repeats_of, tallied, whole
from .rankings import Ranking, cut, is_pooled, rows_drawn

_Answer: TypeAlias = tuple[int, Importance, dict[str, float]]
"""The place of a record among all, the record, and its means by feature."""

DASH = Cell(("–",))


@dataclass(frozen=True)
class Axis:
    """The scale of the bars of one table, and where its bars start."""

    low: float
    high: float
    start: float

    def place(self, value: float) -> float:
        """Return a position in percent of the width."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    @property
    def text(self) -> str:
        """The head of the column of bars."""
        return f"{significant(self.low)} {word('words.to')} {significant(self.high)}"


def ranking_table(facts: Facts, ranking: Ranking, always: Sequence[str] = ()) -> Table:
    """Return the ranking as a table, cut to its first rows where it is long.

    Parameters
    ----------
    facts : Facts
    ranking : Ranking
    always : sequence of str
        Features that are shown however low they rank.
    """
    shown_rows = cut(ranking, always)
    table = _table(facts, ranking, shown_rows)
    if len(shown_rows) == len(ranking.order):
        return table
    full = _table(facts, ranking, ranking.order).without_bars
    once = {row.key for row in table.rows}  # an id may stand on a page once
    full = replace(
        full,
        id=f"{table.id}-all",
        rows=tuple(replace(r, key="") if r.key in once else r for r in full.rows),
        notes=(),
        caption=say("ranking.whole", table=Link(table.id)),
    )
    rest = [row for row in ranking.order if row not in set(shown_rows)]
    return replace(
        table,
        rows=(*table.rows, _rest_row(facts, ranking, rest)),
        notes=(_rest_note(ranking, rest), *table.notes),
        everything=full,
    )


def table_id(ranking: Ranking) -> str:
    """Return the id of a ranking's table: of what it ranks, not of its place."""
    return f"tab-ranking-{ranking.key}"


def value_of(ranking: Ranking, row: int) -> Value:
    """Return the estimate of one row."""
    mean = float(ranking.mean[row])
    path = f"importances[{ranking.index}].mean[{row}]"
    return Value(path, mean, number(mean, ranking.places))


def baseline_of(ranking: Ranking) -> Value:
    """Return the loss of the model as it is, as it stands in a sentence."""
    mean = float(ranking.record.baseline.mean())
    path = f"importances[{ranking.index}].baseline"
    return Value(path, mean, lone(mean), derived="mean")


def value_word(ranking: Ranking) -> str:
    """Return the word for the values: "Rise", "Ratio", …"""
    record = ranking.record
    return str(look_up(f"cards.{record.method}.value.{record.form}"))


def value_label(ranking: Ranking) -> str:
    """Return the word for the values, and which of a model's numbers they are."""
    return value_word(ranking) + _which(ranking)


def _which(ranking: Ranking) -> str:
    """Return the name of the quantity that a model tells of itself, or nothing."""
    name = ranking.record.options.get("type", "")
    return f" ({name})" if name else ""


def over_repeats(ranking: Ranking) -> Sentence:
    """Return what an estimate is of its repeats: their mean, or a ratio of means."""
    key = "pooled" if is_pooled(ranking.record) else "mean"
    path = f"importances[{ranking.index}]"
    repeats = say_count(repeats_of(ranking.record, path), "repeat")
    return say(f"ranking.over.{key}", repeats=repeats)


def on_drawn_rows(ranking: Ranking) -> Sentence:
    """Return on which rows a loss was measured; empty if on all of them."""
    rows = rows_drawn(ranking.record)
    if not rows:
        return ()
    value = whole(f"importances[{ranking.index}].options['n_rows']", rows)
    return say("ranking.on_drawn", rows=say_count(value, "row"))


def measured_in(facts: Facts, ranking: Ranking) -> Sentence:
    """Return what the values are, with loss and unit: "rise in RMSE, EUR/m²"."""
    record = ranking.record
    text = say(
        f"cards.{record.method}.axis.{record.form}",
        loss=loss_label(record.loss) if record.loss else "",
        what=word(f"asked.one_{record.of}"),
    )
    if which := _which(ranking):
        text = (*text, which)
    unit = facts.unit(record)
    return (*text, f", {show_hidden(unit)}") if unit else text


def axis_of(ranking: Ranking, rows: Sequence[int]) -> Axis:
    """Return the scale on which the bars of some rows are drawn."""
    start = ranking.nothing
    order = list(rows)
    bounds = np.concatenate(
        [ranking.low[order], ranking.high[order], ranking.mean[order], [start]]
    )
    bounds = bounds[np.isfinite(bounds)]
    high = max(float(bounds.max(initial=0.0)), 0.0)
    low = min(float(bounds.min(initial=0.0)), 0.0)
    low = -nice_ceiling(-low) if low < 0 else 0.0
    return Axis(low, nice_ceiling(high) if high > 0 or low == 0 else 0.0, start)


def bar_cell(ranking: Ranking, row: int, axis: Axis) -> Cell:
    """Return the bar of one row; empty for what has no finite value."""
    mean = float(ranking.mean[row])
    if not math.isfinite(mean) or not math.isfinite(axis.start):
        return Cell()
    ends = sorted((axis.place(axis.start), axis.place(mean)))
    low, high = float(ranking.low[row]), float(ranking.high[row])
    interval = None
    if ranking.is_drawn and math.isfinite(low) and math.isfinite(high):
        interval = (axis.place(low), round(axis.place(high) - axis.place(low), 2))
    fill = (ends[0], round(ends[1] - ends[0], 2))
    return Cell(bar=Bar(fill=fill, interval=interval, estimate=axis.place(mean)))


def bounds_of(ranking: Ranking, row: int) -> tuple[Cell, Cell]:
    """Return the two bounds of the interval of one row."""
    low, high = bound_values(ranking, row)
    return Cell((low,)), Cell((high,))


def bound_values(ranking: Ranking, row: int) -> tuple[Value, Value]:
    """Return the two bounds of one row, each with where it stands in the result."""
    bounds = {"low": float(ranking.low[row]), "high": float(ranking.high[row])}
    texts = {name: number(bound, ranking.places) for name, bound in bounds.items()}
    if ranking.row_intervals:
        path = f"row_intervals[{ranking.row_intervals[row]}]"
        values = (Value(f"{path}.{k}", v, texts[k]) for k, v in bounds.items())
    else:
        path = f"importances[{ranking.index}].values[{row}]"
        values = (Value(path, v, texts[k], derived=k) for k, v in bounds.items())
    low, high = values
    return low, high


def places_of(ranking: Ranking, row: int) -> Cell:
    """Return the places one feature could take, given the intervals."""
    return Cell((interval_text(ranking.first[row], ranking.last[row]),))


def interval_columns(ranking: Ranking) -> tuple[Column, Column, Column]:
    """Return the heads of the two bounds and of the places."""
    return (
        Column(interval_label(ranking), "number"),
        Column(say("ranking.high"), "number"),
        Column(say("ranking.places"), "number"),
    )


def interval_label(ranking: Ranking) -> Sentence:
    """Return the head of the lower bound: over other rows, or over the draws alone."""
    key = "ranking.low" if ranking.row_intervals else "ranking.low_draws"
    return say(key, level=percent(LEVEL))


def _table(facts: Facts, ranking: Ranking, rows: Sequence[int]) -> Table:
    axis, differing = axis_of(ranking, rows), _differing(ranking)
    columns = _columns(facts, ranking, axis, differing)
    lead = ranking is facts.lead
    return Table(
        id=table_id(ranking),
        caption=_caption(facts, ranking),
        columns=tuple(columns),
        rows=tuple(
            _row(facts, ranking, row, axis, differing, is_target=lead) for row in rows
        ),
        notes=_notes(facts, ranking),
        source="tables/importances.csv",
        shape="wide" if len(columns) > 6 else "",
    )


def _columns(
    facts: Facts, ranking: Ranking, axis: Axis, differing: Sequence[_Answer]
) -> list[Column]:
    record = ranking.record
    card = facts.card(record)
    head = say(f"ranking.name.{record.of}")
    columns = [
        Column(say("ranking.rank"), "number"),
        Column(head, "header"),
        Column((value_label(ranking), " ", card_link(card)), "number"),
        Column((axis.text,), "bar"),
    ]
    if ranking.has_shares:
        columns.insert(3, Column(say("ranking.share"), "number"))
    if ranking.is_drawn:
        columns += interval_columns(ranking)
    columns += [
        Column((name,), "number")
        for name in (engine_name(o.engine) for _, o, _ in differing)
    ]
    if record.of == "groups":
        columns.append(Column(say("ranking.columns"), "text"))
    elif record.of == "features" and _groups(facts):
        columns.append(Column(say("ranking.group")))
    return columns


def _differing(ranking: Ranking) -> list[_Answer]:
    """Return the answers of other engines that print any number unlike ours."""
    ours = [number(float(mean), ranking.places) for mean in ranking.mean]
    answers = zip(ranking.others, ranking.means_of_others, strict=True)
    return [
        (index, other, means)
        for (index, other), means in answers
        if ours != [number(means[n], ranking.places) for n in ranking.record.features]
    ]


def _row(
    facts: Facts,
    ranking: Ranking,
    row: int,
    axis: Axis,
    differing: Sequence[_Answer],
    *,
    is_target: bool,
) -> Cells:
    record = ranking.record
    name = record.features[row]
    marks = say("ranking.unstable") if row in ranking.unstable else ()
    cells = [
        Cell((rank_text(float(ranking.rank[row])),)),
        Cell((full_name(name), *marks)),
        Cell((value_of(ranking, row),)),
        bar_cell(ranking, row, axis),
    ]
    if ranking.has_shares:
        share = float(record.share[row])
        path = f"importances[{ranking.index}].share[{row}]"
        cells.insert(3, Cell((Value(path, share, percent(share)),)))
    if ranking.is_drawn:
        cells += [*bounds_of(ranking, row), places_of(ranking, row)]
    for index, other, means in differing:
        path = f"importances[{index}].mean[{other.features.index(name)}]"
        mean = means[name]
        cells.append(Cell((Value(path, mean, number(mean, ranking.places)),)))
    if record.of == "groups":
        cells.append(Cell(joined(full_name(column) for column in record.columns[row])))
    elif record.of == "features" and _groups(facts):
        inside = [
            full_name(g) for g, columns in _groups(facts).items() if name in columns
        ]
        cells.append(Cell(joined(inside) or ("–",)))
    key = f"f-{key_of(name)}" if is_target and record.of == "features" else ""
    return Row(tuple(cells), key=key)


def _groups(facts: Facts) -> dict[str, list[str]]:
    """Return the configured groups of columns."""
    return dict(facts.result.run.config.get("groups", {}))


def _caption(facts: Facts, ranking: Ranking) -> Sentence:
    record = ranking.record
    of_class = record.positive_class and not record.loss
    key = "ranking.caption_class" if of_class else "ranking.caption"
    text = say(
        key,
        what=word(f"asked.{record.of}"),
        model=full_name(ranking.subject),
        cls=full_value(record.positive_class),
        measured=measured_in(facts, ranking),
    )
    if apart := facts.apart(record):
        text += (f"; {apart}",)
    if not ranking.is_drawn:
        return (*text, ".")
    estimate = sentence_case(over_repeats(ranking))
    return (*text, *say("ranking.repeats", estimate=estimate))


def _notes(facts: Facts, ranking: Ranking) -> tuple[Sentence, ...]:
    record = ranking.record
    notes: list[Sentence] = []
    if ranking.starts_at_loss:
        notes.append(_as_it_is(facts, ranking))
    if ranking.is_drawn and ranking is facts.lead:
        key = "rows_note" if ranking.row_intervals else "draws_note"
        notes.append(say(f"ranking.{key}", level=percent(LEVEL)))
    unlike = {other.engine for _, other, _ in _differing(ranking)}
    same = [o.engine for _, o in ranking.others if o.engine not in unlike]
    if same:
        names = series(engine_name(engine) for engine in dict.fromkeys(same))
        notes.append(say("ranking.same_numbers", engines=names))
    if ranking.has_shares:
        notes.append(say("ranking.share_note"))
    if ranking.unstable:
        notes.append(say("ranking.unstable_note"))
    unmeasured = [
        full_name(record.features[row])
        for row in ranking.order[len(ranking.measured) :]
    ]
    if unmeasured:
        notes.append(say("ranking.unmeasured", names=joined(unmeasured[:10])))
    return tuple(notes)


def _as_it_is(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the loss of the model as it is, and with the target permuted.

    The latter only if the target was permuted for one measure: of several with other
    options, nobody knows which value belongs to which.
    """
    record = ranking.record
    text = say(
        "ranking.as_it_is",
        model=full_name(ranking.subject),
        loss=loss_label(record.loss),
        value=baseline_of(ranking),
        rows=on_drawn_rows(ranking),
    )
    frame = facts.result.y_permuted
    is_row = (
        (frame["model"] == record.model)
        & (frame["of"] == record.of)
        & (frame["loss"] == record.loss)
    )
    is_of_several = frame.loc[is_row, "repeat"].duplicated().any()
    if not is_row.any() or is_of_several:
        return (*text, ".")
    mean = float(frame.loc[is_row, "value"].mean())
    value = Value("y_permuted.value", mean, lone(mean), derived="mean")
    return (*text, *say("ranking.target_permuted", value=value))


def _rest_row(facts: Facts, ranking: Ranking, rest: Sequence[int]) -> Cells:
    """Return one row that stands for all that are not shown."""
    columns = _columns(facts, ranking, Axis(0, 1, 0), _differing(ranking))
    cells = [DASH if column.kind != "bar" else Cell() for column in columns]
    cells[1] = Cell(say("ranking.rest", n=tallied("importances", len(rest))))
    return Row(tuple(cells))


def _rest_note(ranking: Ranking, rest: Sequence[int]) -> Sentence:
    """Return what the rows that are not shown amount to."""
    mean = ranking.mean
    measured = [row for row in rest if np.isfinite(mean[row])]
    if not measured:
        return say("ranking.rest_unmeasured", n=tallied("importances", len(rest)))
    largest = max(measured, key=lambda row: float(mean[row]))
    text = say(
        "ranking.rest_note",
        n=tallied("importances", len(rest)),
        largest=value_of(ranking, largest),
        share=_share(ranking, measured),
    )
    if not ranking.is_drawn:
        return (*text, ".")
    excluding = sum(
        bool(ranking.low[row] > ranking.nothing or ranking.high[row] < ranking.nothing)
        for row in measured
    )
    return (*text, *say("ranking.rest_intervals", n=tallied("importances", excluding)))


def _share(ranking: Ranking, rows: Sequence[int]) -> Value:
    """Return the share of some rows in the sum of all that lies above nothing."""
    above = ranking.mean - ranking.nothing
    positive = np.clip(np.nan_to_num(above, posinf=0.0), 0, None)
    total = float(positive.sum())
    share = float(positive[list(rows)].sum()) / total if total else 0.0
    path = f"importances[{ranking.index}].mean"
    return Value(path, share, percent(share), derived="share")


def cut_alike(ranking: Ranking, table_of: Callable[[Sequence[int]], Table]) -> Table:
    """Return a table of a ranking's rows, cut like the ranking's own.

    `table_of` returns the table of some rows.
    """
    rows = cut(ranking)
    table = table_of(rows)
    if len(rows) == len(ranking.order):
        return table
    full = table_of(ranking.order)
    full = replace(
        full,
        id=f"{table.id}-all",
        notes=(),
        caption=say("ranking.whole", table=Link(table.id)),
    )
    n = tallied("importances", len(ranking.order) - len(rows))
    rest = [DASH, Cell(say("ranking.rest", n=n)), *[DASH] * (len(table.columns) - 2)]
    return replace(table, rows=(*table.rows, Row(tuple(rest))), everything=full)
