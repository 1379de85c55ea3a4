"""Section D: how good each model is, what it is, and the rows it was asked on."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..text.blocks import (
    Cell,
    Column,
    KeyValues,
    Link,
    Row,
    Section,
    Sentence,
    Styled,
    Table,
    Value,
)
from ..text.number_text import number, plain_number
from ..text.wording import (
    ended,
    full_name,
    joined,
    look_up,
    say,
    say_count,
    short_name,
    show_hidden,
    word,
)
from .control import model_name
from .facts import Facts, config_of, tallied, whole
from .performance import best_model, performance_tables
from .rankings import TOP

LEVELS_SHOWN = 6
PARAMETERS_SHOWN = 12
OBJECTIVES = ("loss", "criterion", "objective", "loss_function")
"""What classes call the loss that their fit minimises."""

UNEXPLAINED = 5
"""How many features without a rationale are named; the others are counted."""


def data_card(facts: Facts) -> Section:
    """Return section D."""
    parts = {
        "performance": performance_tables(facts),
        "models": (_models_table(facts),) if facts.models else (),
        "rows": tuple(_rows(facts, i) for i in range(len(facts.result.datasets))),
        "rationale": rationale_tables(facts),
        "columns": _columns_table(facts),
    }
    return Section("D", "data", word("sections.data"), best_model(facts), parts)


def _models_table(facts: Facts) -> Table:
    """Return one row per model: class, parameters, encoder, predict call, source."""
    frame = facts.result.models
    return Table(
        id="tab-models",
        caption=say("data.models_caption"),
        columns=(
            Column(say("data.model"), "header", 12),
            Column(say("data.class"), width=24),
            Column(say("data.parameters"), width=23),
            Column(say("data.encoder"), width=15),
            Column(say("data.predicts"), width=14),
            Column(say("data.source"), width=12),
        ),
        rows=tuple(_model_row(facts, place) for place in range(len(frame))),
        shape="wide",
    )


def _model_row(facts: Facts, place: int) -> Row:
    row = facts.result.models.iloc[place]
    library = f", {row['library']}" if row["library"] else ""
    estimator = row["estimator"] or word("data.callable")
    return Row(
        (
            Cell(model_name(facts, str(row["model"]))),
            Cell((show_hidden(f"{estimator}{library}"),)),
            Cell(joined([_parameters(facts, row), *_all_parameters(row)], "; ")),
            Cell(_prepared(facts, row)),
            Cell(_predicts(row)),
            Cell(_describe_source(f"models[{place}].n_train", row)),
        )
    )


def _prepared(facts: Facts, row: Any) -> Sentence:
    """Return what is done to the columns before a model that the audit fits."""
    parts: list[Sentence] = [(look_up("data.encoders")[row["encoder"]],)]
    sections = facts.result.run.config.get("models", ())
    if any(s["name"] == row["model"] and s.get("standardise") for s in sections):
        kind = "regression" if row["task"] == "regression" else "classes"
        parts.append((word(f"data.standardised.{kind}"),))
    return joined(parts)


def _describe_source(path: str, row: Any) -> Sentence:
    """Return where a model came from: fitted on so many rows, or which file."""
    parts: list[Sentence] = [(look_up("data.sources")[row["source"]],)]
    if row["n_train"]:
        parts.append(say_count(whole(path, int(row["n_train"])), "row"))
    if row["sha256"]:
        parts.append(_digest(str(row["sha256"])))
    return joined(parts)


def _parameters(facts: Facts, row: Any) -> Sentence:
    """Return what was set; of a model that was given, what it was made with.

    The configuration says what was set; without it all parameters are shown, the
    first of them: result.json has the rest. An R script stands in the provenance.
    """
    whole = json.loads(row["parameters"]) if row["parameters"] else {}
    whole.pop("script", None)
    sections = facts.result.run.config.get("models", ())
    by_model = {
        section["name"]: section["parameters"]
        for section in sections
        if not (section.get("file") or section.get("r_script"))
    }
    parameters = by_model.get(row["model"], whole)
    sentences: list[Sentence] = [
        (
            Styled(
                "code",
                (show_hidden(f"{name}={json.dumps(value, ensure_ascii=False)}"),),
            ),
        )
        for name, value in parameters.items()
    ]
    hidden = len(sentences) - PARAMETERS_SHOWN
    if hidden > 0:
        return joined(
            [
                *sentences[:PARAMETERS_SHOWN],
                say("words.more", n=tallied("models", hidden)),
            ]
        )
    if sentences and len(parameters) < len(whole):
        sentences.append(say("data.other_parameters"))
    return joined(sentences or [say("data.defaults")])


def _all_parameters(row: Any) -> list[Sentence]:
    """Return the digest of every parameter, defaults included, as result.json has it.

    With it the objective that the fit minimised, where the class has a name for it.
    """
    text = str(row["parameters"] or "")
    parameters = json.loads(text) if text else {}
    rows = [
        say(
            "data.minimised",
            setting=Styled("code", (show_hidden(f"{key}={parameters[key]}"),)),
        )
        for key in OBJECTIVES
        if isinstance(parameters.get(key), str)
    ]
    if parameters:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        rows.append(say("data.all_parameters", digest=_digest(digest)))
    return rows


def _predicts(row: Any) -> Sentence:
    """Return the response scale, and the classes in their order."""
    parts: list[Sentence] = [(look_up("data.scales")[row["scale"]],)]
    classes = [str(name) for name in row["classes"]]
    if row["positive_class"]:
        parts.append(say("data.of_class", cls=short_name(str(row["positive_class"]))))
    elif classes:
        shown_classes = joined(short_name(name, 24) for name in classes[:LEVELS_SHOWN])
        more = len(classes) - LEVELS_SHOWN
        rest = (", ", *say("words.more", n=tallied("models", more))) if more > 0 else ()
        parts.append((*shown_classes, *rest))
    return joined(parts)


def _digest(text: str, digits: int = 16) -> Sentence:
    return (Styled("code", (f"{text[:digits]}…" if len(text) > digits else text,)),)


def _rows(facts: Facts, place: int) -> KeyValues:
    """Return the card of one set of rows."""
    row = facts.result.datasets.iloc[place]
    path = f"datasets[{place}]"
    missing = int(row["missing_cells"])
    rows = (
        (say("data.name"), (full_name(str(row["name"])),)),
        (say("data.origin"), (show_hidden(str(row["source"])) or "–",)),
        (say("data.size"), _size_text(path, row)),
        (
            say("data.missing"),
            say_count(whole(f"{path}.missing_cells", missing), "cell")
            if missing
            else say("data.none"),
        ),
        (say("data.weights"), say("data.weighted" if row["weighted"] else "data.none")),
        (say("provenance.sha256"), _digest(str(row["sha256"]))),
    )
    title = say(f"data.title_{row['split']}")
    return KeyValues(f"kv-rows-{row['split']}-{place}", title, rows)


def _size_text(path: str, row: Any) -> Sentence:
    return joined(
        (
            say_count(whole(f"{path}.rows", int(row["rows"])), "row"),
            say_count(whole(f"{path}.columns", int(row["columns"])), "feature"),
        )
    )


def _columns_table(facts: Facts) -> Table:
    frame = facts.result.columns
    every = range(len(frame))
    table = _columns(facts, every)
    if len(frame) <= TOP:
        return table
    full = replace(
        table,
        id="tab-columns-all",
        caption=say("data.columns_whole"),
        notes=(),
    )
    rest = tallied("columns", len(frame) - TOP)
    note = say("data.columns_rest", n=say_count(rest, "feature"))
    return replace(
        _columns(facts, every[:TOP]), notes=(*table.notes, note), everything=full
    )


def _columns(facts: Facts, places: Iterable[int]) -> Table:
    return Table(
        id="tab-columns",
        caption=say(
            "data.columns_caption",
            n=say_count(tallied("columns", len(facts.result.columns)), "feature"),
        ),
        columns=(
            Column(say("data.feature"), "header", 22),
            Column(say("data.kind"), width=12),
            Column(say("data.range"), width=30),
            Column(say("data.distinct"), "number", 9),
            Column(say("data.missing_train"), "number", 9),
            Column(say("data.missing_test"), "number", 8),
            Column(say("data.origin"), width=10),
        ),
        rows=tuple(_column_row(facts, place) for place in places),
        shape="wide",
    )


def _column_row(facts: Facts, place: int) -> Row:
    row = facts.result.columns.iloc[place]
    counts = (
        Cell((_count(f"columns[{place}].{name}", row[name]),))
        for name in ("distinct", "missing_train", "missing_test")
    )
    return Row(
        (
            Cell((full_name(str(row["feature"])),)),
            Cell((look_up("data.kinds")[row["kind"]],)),
            Cell(_range(row)),
            *counts,
            Cell(_origin(row)),
        )
    )


def _origin(row: Any) -> Sentence:
    """Return who said what the column means; of what is derived, how it is made."""
    word = look_up("data.origins").get(row["origin"], str(row["origin"]))
    definition = str(row.get("definition", ""))
    return (f"{word}: ", show_hidden(definition)) if definition else (word,)


def _count(path: str, raw: Any) -> Value:
    value = float(raw)
    return Value(path, value, number(value, 0))


def _range(row: Any) -> Sentence:
    """Return the smallest and largest number, or the first levels of a category."""
    if row["kind"] == "number":
        ends = (plain_number(float(row[end])) for end in ("minimum", "maximum"))
        return (f" {word('words.to')} ".join(ends),)
    levels: Sequence[str] = tuple(str(level) for level in row["levels"])
    first = joined(short_name(level, 20) for level in levels[:LEVELS_SHOWN])
    more = len(levels) - LEVELS_SHOWN
    rest = (", ", *say("words.more", n=tallied("columns", more))) if more > 0 else ()
    return (*first, *rest)


def rationale_tables(facts: Facts) -> tuple[Table | Sentence, ...]:
    """Return what the configuration says of features, and where it was held to it."""
    reasons, expected = _rationale(facts), _expected(facts)
    if not isinstance(reasons, Table):
        return ((*reasons, " ", *expected),)
    return (reasons, expected)


def _rationale(facts: Facts) -> Table | Sentence:
    """Return the rationale of each feature that has one, in the order of the audit."""
    reasons: Mapping[str, str] = config_of(facts, "report").get("rationale", {})
    names = [str(name) for name in facts.result.columns["feature"]]
    if not any(name in reasons for name in names):
        return say("rationale.none")
    rows = tuple(
        Row((Cell((full_name(name),)), Cell((ended(reasons[name]),))))
        for name in names
        if name in reasons
    )
    return Table(
        id="tab-rationale",
        caption=say("rationale.caption"),
        columns=(
            Column(say("data.feature"), "header", 26),
            Column(say("rationale.text"), width=74),
        ),
        rows=rows,
        notes=_without([name for name in names if name not in reasons]),
        shape="tight",
    )


def _without(names: list[str]) -> tuple[Sentence, ...]:
    """Return the features nobody gave a rationale for, the first few by name."""
    if not names:
        return ()
    sentences: list[Sentence] = [(short_name(name),) for name in names[:UNEXPLAINED]]
    if len(names) > UNEXPLAINED:
        more = tallied("columns", len(names) - UNEXPLAINED)
        sentences.append(say("words.more", n=more))
    number = say_count(tallied("columns", len(names)), "feature")
    return (say("rationale.missing", n=number, names=joined(sentences)),)


def _expected(facts: Facts) -> Sentence:
    """Return where what the owner expected stands beside what was found."""
    if facts.result.expected.empty:
        return say("rationale.nothing_expected")
    return say("rationale.expected", table=Link("tab-expected"))
