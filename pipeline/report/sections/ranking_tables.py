"""The table of one ranking: rows, intervals, and a note on the other rows."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from ...records.importance_record import Importance
from ...records.ranking import LEVEL
from ..text.blocks import Column, Link, Part, Row, Sentence, Table, Value
from ..text.number_text import (
    MAX_DECIMALS,
    MISSING,
    end_text,
    interval_text,
    lone,
    loss_label,
    number,
    percent,
    rank_text,
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
    table_of,
    word,
)
from .facts import (
    Facts,
    card_link,
    config_of,
    engine_name,
    first_few,
    repeats_of,
    tallied,
    whole,
)
from .rankings import Ranking, cut, is_pooled, rows_about, rows_drawn

NAMED = 10
"""Most features that a note below a table names; it counts the others."""


def ranking_table(facts: Facts, ranking: Ranking) -> Table:
    """Return the table of a ranking, cut to its first rows if it is long."""
    return cut_alike(ranking, partial(_table, facts, ranking))


def cut_alike(ranking: Ranking, make: Callable[[Sequence[int]], Table]) -> Table:
    """Return a table of a ranking's rows, cut if the ranking is long.

    `make` returns the table of some rows.
    """
    rows = cut(ranking)
    table = make(rows)
    if len(rows) == len(ranking.order):
        return table
    once = {row.key for row in table.rows}  # an id must be unique on the page
    full = make(ranking.order)
    full = replace(
        full,
        id=f"{table.id}-all",
        rows=tuple(replace(r, key="") if r.key in once else r for r in full.rows),
        notes=(),
        caption=say("ranking.whole", table=Link(table.id)),
    )
    rest: list[Any] = [MISSING] * len(table.columns)
    n = tallied("importances", len(ranking.order) - len(rows))
    rest[1] = say("ranking.rest", n=n)
    return replace(table, rows=(*table.rows, tuple(rest)), everything=full)


def fewer(frame: pd.DataFrame, column: str, most: float) -> Sentence:
    """Return the features with a count in `column` below `most`; empty without any.

    The first `NAMED` have their names and counts, the others are counted.
    """
    own = frame[frame[column] < most]
    pairs = zip(own["feature"], own[column].astype(float), strict=True)
    names = ((full_name(name), f" ({number(n, 0)})") for name, n in pairs)
    return joined(first_few(names, NAMED, "importances"))


def cut_to(table: Table, rows: Sequence[Any]) -> Table:
    """Return a table cut to some of its rows, with the whole one as `everything`."""
    if len(rows) == len(table.rows):
        return table
    caption = say("ranking.whole", table=Link(table.id))
    whole_table = replace(table, id=f"{table.id}-all", notes=(), caption=caption)
    return replace(table, rows=tuple(rows), everything=whole_table)


def ranked_table(
    ranking: Ranking,
    name: str,
    columns: Iterable[Column],
    cells_of: Callable[[str], Iterable[Any]],
    **options: Any,
) -> Table:
    """Return a table of the features of a ranking, cut like the ranking's own.

    Parameters
    ----------
    ranking : Ranking
    name : str
        First word of its id, in place of "ranking".
    columns : iterable of Column
        Columns after the rank and the feature.
    cells_of : callable
        The cells in these columns, by the name of the feature.
    options
        The other attributes of `Table`.
    """
    record = ranking.record
    heads: list[str | Column] = [
        "rank:number",
        Column(say(f"ranking.name.{record.of}"), "header"),
        *columns,
    ]

    def table(rows: Sequence[int]) -> Table:
        cells = []
        for row in rows:
            feature, rank = record.features[row], rank_text(float(ranking.rank[row]))
            cells.append((rank, full_name(feature), *cells_of(feature)))
        return table_of(f"{name}-{ranking.key}", "ranking", heads, cells, **options)

    return cut_alike(ranking, table)


def caption_of(key: str, ranking: Ranking, **fields: Part | Sentence) -> Sentence:
    """Return a caption with the fields what, model and table, and any other fields."""
    return say(
        key,
        what=word(f"asked.{ranking.record.of}"),
        model=full_name(ranking.subject),
        table=Link(table_id(ranking)),
        **fields,
    )


def table_id(ranking: Ranking, name: str = "ranking") -> str:
    """Return the id of a table of a ranking, the same from run to run.

    `name` is "ranking" for its own table, and differs for others.
    """
    return f"tab-{name}-{ranking.key}"


def value_of(ranking: Ranking, row: int) -> Value:
    """Return the estimate of one row; as "< 0.…" only if it may be a rounding error."""
    mean = float(ranking.mean[row])
    path = f"importances[{ranking.index}].mean[{row}]"
    text = number(mean, ranking.places)
    if abs(mean) >= 10.0**-MAX_DECIMALS:
        text = end_text(mean, ranking.places)
    return Value(path, mean, text)


def baseline_of(ranking: Ranking) -> Value:
    """Return the loss of the model before permutation, formatted for a sentence."""
    mean = float(ranking.record.baseline.mean())
    path = f"importances[{ranking.index}].baseline"
    return Value(path, mean, lone(mean), derived="mean")


def value_word(ranking: Ranking) -> str:
    """Return the word for the values: "Rise", "Ratio", …"""
    return word(_words_for(ranking.record, "value"))


def _words_for(record: Importance, what: str) -> str:
    """Return the key of a text on the values of a record: "value", "axis" or "how".

    An option that changes the quantity has its own texts.
    """
    card, own = f"cards.{record.method}", ""
    by_option = look_up(card).get("by_option", {})
    for name, value in record.options.items():
        option = name if value is True else str(value)
        if what in by_option.get(option, {}):
            own = f".by_option.{option}"
    return f"{card}{own}.{what}.{record.form}"


def value_label(ranking: Ranking) -> str:
    """Return the word for the values, with the option `type` if it is set."""
    return value_word(ranking) + _which(ranking)


def _which(ranking: Ranking) -> str:
    name = ranking.record.options.get("type", "")
    return f" ({name})" if name else ""


def over_repeats(*rankings: Ranking) -> Sentence:
    """Return how estimates summarise the repeats: as a mean, or a ratio of means.

    If rankings have different numbers of repeats, the fewest and the most.
    """
    key = "pooled" if is_pooled(rankings[0].record) else "mean"
    numbers = {
        r.record.n_repeats: repeats_of(r.record, f"importances[{r.index}]")
        for r in rankings
    }
    fewest, most = numbers[min(numbers)], numbers[max(numbers)]
    repeats = say_count(most, "repeat")
    if fewest.raw < most.raw:
        repeats = say("ranking.over.fewest", fewest=fewest, repeats=repeats)
    return say(f"ranking.over.{key}", repeats=repeats)


def on_drawn_rows(ranking: Ranking) -> Sentence:
    """Return a clause on the rows drawn to measure a loss; empty if all were used."""
    rows = rows_drawn(ranking.record)
    if not rows:
        return ()
    value = whole(f"importances[{ranking.index}].options['n_rows']", rows)
    return say("ranking.on_drawn", rows=say_count(value, "row"))


def how_replaced(record: Importance) -> str:
    """Return how permutation replaces the values of a feature: "shuffled", …"""
    return word(_words_for(record, "how"))


def measured_in(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the name of the values with loss and unit: "rise in RMSE, EUR/m²"."""
    record = ranking.record
    text = say(
        _words_for(record, "axis"),
        loss=loss_label(record.loss) if record.loss else "",
        what=word(f"asked.one_{record.of}"),
        how=how_replaced(record) if ranking.starts_at_loss else "",
    )
    if which := _which(ranking):
        text = (*text, which)
    unit = facts.unit(record)
    return (*text, f", {show_hidden(unit)}") if unit else text


def bound_values(ranking: Ranking, row: int) -> list[Value]:
    """Return the two bounds of one row, each with its path in the result."""
    bounds = []
    for name, ends in (("low", ranking.low), ("high", ranking.high)):
        path, derived = f"importances[{ranking.index}].values[{row}]", name
        if ranking.row_intervals:
            path, derived = f"row_intervals[{ranking.row_intervals[row]}].{name}", ""
        end = float(ends[row])
        bounds.append(Value(path, end, end_text(end, ranking.places), derived=derived))
    return bounds


def _table(facts: Facts, ranking: Ranking, rows: Sequence[int]) -> Table:
    """Return the table of some rows, made column by column."""
    record, path = ranking.record, f"importances[{ranking.index}]"
    names = [record.features[row] for row in rows]
    columns: list[Column] = []
    cells: list[list[Any]] = []

    def add(head: Sentence, of_rows: Iterable[Any], kind: Any = "number") -> None:
        columns.append(Column(head, kind))
        cells.append(list(of_rows))

    add(say("ranking.rank"), (rank_text(float(ranking.rank[row])) for row in rows))
    marks = (say("ranking.unstable") if row in ranking.unstable else () for row in rows)
    shown = ((full_name(name), *mark) for name, mark in zip(names, marks, strict=True))
    add(say(f"ranking.name.{record.of}"), shown, "header")
    head = (value_label(ranking), " ", card_link(facts.card(record)))
    add(head, (value_of(ranking, row) for row in rows))
    if ranking.has_shares:
        shares = ((row, float(record.share[row])) for row in rows)
        values = (Value(f"{path}.share[{i}]", s, percent(s)) for i, s in shares)
        add(say("ranking.share"), values)
    if ranking.is_drawn:
        bounds = [bound_values(ranking, row) for row in rows]
        key = "low" if ranking.row_intervals else "low_draws"
        add(say(f"ranking.{key}", level=percent(LEVEL)), (low for low, _ in bounds))
        add(say("ranking.high"), (high for _, high in bounds))
        places = (interval_text(ranking.first[i], ranking.last[i]) for i in rows)
        add(say("ranking.places"), places)
    unlike = _unlike_ours(ranking)
    for index, other in ranking.others:
        if index in unlike:
            means, theirs = other.mean.tolist(), []
            for name in names:
                at = other.features.index(name)
                text = number(means[at], ranking.places)
                theirs.append(
                    Value(f"importances[{index}].mean[{at}]", means[at], text)
                )
            add((engine_name(other.engine),), theirs)
    groups = config_of(facts, "groups")
    if record.of == "groups":
        inside = (joined(map(full_name, record.columns[row])) for row in rows)
        add(say("ranking.columns"), inside, "text")
    elif record.of == "features" and groups:
        groups_of = ([g for g in groups if name in groups[g]] for name in names)
        texts = (joined(map(full_name, having)) or "–" for having in groups_of)
        add(say("ranking.group"), texts, "text")
    is_target = ranking is facts.lead and record.of == "features"
    keys = [f"f-{key_of(name)}" if is_target else "" for name in names]
    of_class = record.positive_class and not record.loss
    caption = say(
        "ranking.caption_class" if of_class else "ranking.caption",
        what=word(f"asked.{record.of}"),
        model=full_name(ranking.subject),
        cls=full_value(record.positive_class),
        measured=measured_in(facts, ranking),
    )
    if apart := facts.apart(record):
        caption += (f"; {apart}",)
    estimate = sentence_case(over_repeats(ranking))
    repeats = say("ranking.repeats", estimate=estimate) if ranking.is_drawn else (".",)
    return Table(
        id=table_id(ranking),
        caption=(*caption, *repeats),
        columns=tuple(columns),
        rows=tuple(map(Row, zip(*cells, strict=True), keys)),
        notes=_notes(facts, ranking, unlike),
        source="tables/importances.csv",
        shape="wide" if len(columns) > 6 else "",
    )


def _unlike_ours(ranking: Ranking) -> set[int]:
    """Return the indices of other engines' records with numbers printed unlike ours."""
    features = ranking.record.features
    ours = {
        name: number(mean, ranking.places)
        for name, mean in zip(features, ranking.mean.tolist(), strict=True)
    }
    return {
        index
        for index, other in ranking.others
        for name, mean in zip(other.features, other.mean.tolist(), strict=True)
        if number(mean, ranking.places) != ours[name]
    }


def _notes(
    facts: Facts, ranking: Ranking, unlike: Collection[int]
) -> tuple[Sentence, ...]:
    """Return the notes below a ranking; the records `unlike` ours have columns."""
    record = ranking.record
    notes: list[Sentence] = []
    if ranking.starts_at_loss:
        text = say(
            "ranking.as_it_is",
            model=full_name(ranking.subject),
            loss=loss_label(record.loss),
            value=baseline_of(ranking),
            rows=on_drawn_rows(ranking),
        )
        # If the target was permuted for several measures with different options, the
        # frame does not have the measure of each value.
        frame = rows_about(facts.result.y_permuted, record, "model", "of", "loss")
        end: Sentence = (".",)
        if len(frame) and not frame["repeat"].duplicated().any():
            mean = float(frame["value"].mean())
            value = Value("y_permuted.value", mean, lone(mean), derived="mean")
            end = say("ranking.target_permuted", value=value)
        notes.append((*text, *end))
    if ranking.is_drawn and ranking is facts.lead:
        key = "rows_note" if ranking.row_intervals else "draws_note"
        level, rows = percent(LEVEL), facts.rows_word
        notes.append(say(f"ranking.{key}", level=level, rows=rows))
    if ranking.all_equal and record.stream and not ranking.row_intervals:
        n = repeats_of(record, f"importances[{ranking.index}]")
        notes.append(say("ranking.equal_note", n=n))
    shown = {other.engine for index, other in ranking.others if index in unlike}
    same = [o.engine for _, o in ranking.others if o.engine not in shown]
    if same:
        names = series(engine_name(engine) for engine in dict.fromkeys(same))
        notes.append(say("ranking.same_numbers", engines=names))
    if ranking.has_shares:
        notes.append(say("ranking.share_note"))
    if ranking.unstable:
        notes.append(say("ranking.unstable_note"))
    unmeasured = ranking.order[len(ranking.measured) :]
    if unmeasured:
        without = (full_name(record.features[row]) for row in unmeasured)
        named = joined(first_few(without, NAMED, "importances"))
        notes.append(say("ranking.unmeasured", names=named))
    return tuple(notes)
