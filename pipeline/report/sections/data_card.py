"""Section D: how good each model is, what it is, and the rows it was asked on."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..text.blocks import (
    Cell,
    Cells,
    KeyValues,
    Link,
    Part,
    Row,
    Section,
    Sentence,
    Styled,
    Table,
    Value,
)
from ..text.labels import label_of
from ..text.number_text import number, percent, plain_number
from ..text.wording import (
    ended,
    full_name,
    full_value,
    joined,
    look_up,
    say,
    say_count,
    series,
    short_name,
    short_value,
    show_hidden,
    shown_value,
    table_of,
    word,
)
from .control import model_name
from .facts import Facts, config_of, tallied, whole
from .performance import best_model, performance_tables
from .performance_figure import performance_blocks
from .rankings import TOP

LEVELS_SHOWN, LEVEL = 6, 40
"""Levels of a column in its row, and characters of each."""
FEW = 6
"""Columns beyond the first that a table shows rather than cut off."""
YEARS = (1500, 2200)
"""Whole numbers that all lie between these are printed like years."""
STEPS = "tab-steps"
PARAMETERS_SHOWN = 12
OBJECTIVES = ("loss", "criterion", "objective", "loss_function")
"""What classes call the loss that their fit minimises."""

UNEXPLAINED = 5
"""How many features without a rationale are named; the others are counted."""


def data_card(facts: Facts) -> Section:
    """Return section D."""
    parts = {
        "performance": performance_tables(facts),
        "diagnostics": performance_blocks(facts),
        "models": (
            *((_models_table(facts),) if facts.models else ()),
            *_steps_tables(facts),
        ),
        "rows": tuple(_rows(facts, i) for i in range(len(facts.result.datasets))),
        "rationale": rationale_tables(facts),
        "columns": _columns_table(facts),
        "left_out": _left_out_tables(facts),
    }
    return Section("D", "data", word("sections.data"), best_model(facts), parts)


def _models_table(facts: Facts) -> Table:
    """Return one row per model: class, parameters, encoder, predict call, source."""
    frame = facts.result.models
    return table_of(
        "models",
        "data",
        "model:header class parameters encoder predicts source",
        [_model_row(facts, place) for place in range(len(frame))],
        caption=say("data.models_caption"),
        shape="wide",
    )


def _model_row(facts: Facts, place: int) -> Cells:
    row = facts.result.models.iloc[place]
    kind: list[Part] = [word("data.callable")]
    if row["estimator"]:
        kind = [full_value(str(row["estimator"]))]
    if row["library"]:
        kind.append(show_hidden(str(row["library"])))
    return (
        model_name(facts, str(row["model"])),
        joined(kind),
        joined(
            filter(None, [_parameters(facts, row), *_all_parameters(facts, row)]),
            "; ",
        ),
        _prepared(facts, row),
        _predicts(row),
        _describe_source(f"models[{place}].n_train", row),
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
    for script in ("script", "predict"):
        whole.pop(script, None)
    sections = facts.result.run.config.get("models", ())
    by_model = {
        section["name"]: section["parameters"]
        for section in sections
        if not (section.get("file") or section.get("r_script"))
    }
    parameters = by_model.get(row["model"], whole)
    sentences = [_settings({name: value}) for name, value in parameters.items()]
    hidden = len(sentences) - PARAMETERS_SHOWN
    if hidden > 0:
        return joined(
            [
                *sentences[:PARAMETERS_SHOWN],
                say("words.more", n=tallied("models", hidden)),
            ]
        )
    if _has_steps(facts, row):
        return joined([*sentences, say("data.see_steps", table=Link(STEPS))])
    # A run that stored no steps: of a class around another nobody knows the defaults.
    by_class = {section["name"]: section.get("estimator", "") for section in sections}
    path = str(by_class.get(row["model"], ""))
    if path and path.rpartition(".")[2] != row["estimator"]:
        return joined(sentences)
    if sentences and len(parameters) < len(whole):
        sentences.append(say("data.other_parameters"))
    return joined(sentences or [say("data.defaults")])


def _has_steps(facts: Facts, row: Any) -> bool:
    return row["model"] in set(facts.result.steps["model"])


def _steps_tables(facts: Facts) -> tuple[Table, ...]:
    """Return what pipelines and searches among the models are made of."""
    frame = facts.result.steps
    models = [name for name in facts.models if name in set(frame["model"])]
    if not models:
        return ()
    rows = [
        (full_name(model), joined(_steps(frame[frame["model"] == model]), "; "))
        for model in models
    ]
    return (
        table_of(
            STEPS.removeprefix("tab-"),
            "data",
            "model:header steps",
            rows,
            caption=say("data.steps_caption"),
            shape="tight",
        ),
    )


def _steps(rows: Any) -> Iterator[Sentence]:
    """Yield each part of one model: its name, class and parameters."""
    for row in rows.to_dict("records"):
        settings = _settings(json.loads(row["parameters"]))
        step: Sentence = ()
        if row["step"]:
            step = (Styled("strong", (full_name(row["step"]),)), " ")
        inside: Sentence = (" (", *settings, ")") if settings else ()
        yield (*step, full_value(str(row["estimator"])), *inside)


def _settings(parameters: Mapping[str, Any]) -> Sentence:
    return joined(
        (
            Styled(
                "code",
                (show_hidden(f"{name}={json.dumps(value, ensure_ascii=False)}"),),
            ),
        )
        for name, value in parameters.items()
    )


def _all_parameters(facts: Facts, row: Any) -> list[Sentence]:
    """Return the digest of every parameter, defaults included, as result.json has it.

    Of a pipeline these are the parameters of its last step. With it the objective that
    the fit minimised, where the class has a name for it.
    """
    text = str(row["parameters"] or "")
    parameters = json.loads(text) if text else {}
    settings = [
        Styled("code", (show_hidden(f"{key}={parameters[key]}"),))
        for key in OBJECTIVES
        if isinstance(parameters.get(key), str)
    ]
    rows = [say("data.minimised", settings=series(settings))] if settings else []
    if parameters:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        of_step = "_of_last_step" if _has_steps(facts, row) else ""
        rows.append(say(f"data.all{of_step or '_parameters'}", digest=_digest(digest)))
    return rows


def _predicts(row: Any) -> Sentence:
    """Return the response scale, and the classes in their order."""
    parts: list[Sentence] = [(look_up("data.scales")[row["scale"]],)]
    classes = [str(name) for name in row["classes"]]
    if row["positive_class"]:
        parts.append(say("data.of_class", cls=short_value(str(row["positive_class"]))))
    elif classes:
        first = classes[:LEVELS_SHOWN]
        shown_classes = joined(short_value(name, LEVEL) for name in first)
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
    rows: tuple[tuple[Sentence, Sentence], ...] = (
        (say("data.name"), (full_name(str(row["name"])),)),
        (say("data.origin"), (show_hidden(str(row["source"])) or "–",)),
        (say("data.size"), _size_text(path, row)),
        (
            say("data.missing"),
            say_count(whole(f"{path}.missing_cells", missing), "cell")
            if missing
            else say("data.none"),
        ),
        *_target(facts, row),
        (say("data.weights"), say("data.weighted" if row["weighted"] else "data.none")),
        (say("provenance.sha256"), _digest(str(row["sha256"]))),
    )
    title = say(f"data.title_{row['split']}")
    return KeyValues(f"kv-rows-{row['split']}-{place}", title, rows)


def _target(facts: Facts, row: Any) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield how the target of some rows is distributed: shares of classes, quartiles.

    Rows count alike, whatever they weigh. Runs before schema 1.1 did not store it.
    """
    frame = facts.result.quantiles
    own = frame[(frame["role"] == "target") & (frame["split"] == row["split"])]
    # Two sets of rows may be called alike: each ends with what is missing in it.
    number = (own["kind"] == "missing").cumsum().shift(fill_value=0)
    splits = facts.result.datasets["split"].iloc[: int(row.name)]
    own = own[number == min(int((splits == row["split"]).sum()), number.max())]
    known = own[own["kind"] != "missing"]
    total = int(known["rows"].sum())
    if not total:
        return
    name = full_name(str(row["target"]))
    if known["kind"].iloc[0] == "category":
        classes = list(_classes(known, total))
        more = len(classes) - LEVELS_SHOWN
        rest = [say("words.more", n=tallied("quantiles", more))] if more > 0 else []
        shares = joined([*classes[:LEVELS_SHOWN], *rest])
        yield say("data.target"), say("data.of_classes", name=name, classes=shares)
        return
    order = known.sort_values("place")
    ends = order["value"].iloc[0], order["value"].iloc[-1]
    parts = {
        word: _quantile(order, share * total, ends)
        for word, share in zip(
            ("lowest", "first", "median", "third", "highest"),
            (0.0, 0.25, 0.5, 0.75, 1.0),
            strict=True,
        )
    }
    unit = f" {show_hidden(facts.target_unit)}" if facts.target_unit else ""
    yield say("data.target"), (*say("data.of_number", name=name, **parts), unit)


def _classes(known: Any, total: int) -> Iterator[Sentence]:
    """Yield the share and the rows of each class, in the order of the classes."""
    for place, level, rows in zip(
        known.index, known["level"], known["rows"], strict=True
    ):
        path = f"quantiles[{place}].rows"
        share = Value(path, rows / total, percent(rows / total), derived="share")
        n_rows = whole(path, int(rows))
        cls = short_value(str(level), LEVEL)
        yield say(
            "data.of_one_class", cls=cls, share=share, rows=say_count(n_rows, "row")
        )


def _quantile(known: Any, wanted: float, ends: tuple[float, float]) -> Value:
    """Return the smallest value with so many rows at or below it."""
    place = known.index[known["place"] >= wanted - 1e-9][0]
    raw = float(known.at[place, "value"])
    return Value(f"quantiles[{place}].value", raw, _grouped(raw, ends))


def _grouped(value: float, ends: tuple[float, float]) -> str:
    """Return a value of a column, its thousands apart unless the column holds years.

    Six digits, as `plain_number` has it, but no power of ten for whole numbers.
    """
    if abs(value) < 1000 or not math.isfinite(value):
        return plain_number(value)
    if all(YEARS[0] <= end <= YEARS[1] and float(end).is_integer() for end in ends):
        return plain_number(value)
    digits = 5 - math.floor(math.log10(abs(value)))
    text = number(value, 0 if float(value).is_integer() else max(digits, 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


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
    if len(frame) <= TOP + FEW:
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
    return table_of(
        "columns",
        "data",
        (
            "feature:header kind range distinct:number "
            "missing_train:number missing_test:number origin"
        ),
        [_column_row(facts, place) for place in places],
        caption=say(
            "data.columns_caption",
            n=say_count(tallied("columns", len(facts.result.columns)), "feature"),
        ),
        shape="wide",
    )


def _column_row(facts: Facts, place: int) -> Cells:
    row = facts.result.columns.iloc[place]
    kind = "boolean" if _is_true_false(row) else row["kind"]
    counts = (
        Cell((_count(f"columns[{place}].{name}", row[name]),))
        for name in ("distinct", "missing_train", "missing_test")
    )
    return (
        _with_raw_name(str(row["feature"])),
        look_up("data.kinds")[kind],
        _range(row),
        *counts,
        _origin(row),
    )


def _with_raw_name(name: str) -> Sentence:
    """Return a name; where a label is shown for it, the raw name in a line below."""
    if label_of(name) == name:
        return (full_name(name),)
    return (full_name(name), Styled("line", (Styled("code", (shown_value(name),)),)))


def _origin(row: Any) -> Sentence:
    """Return who said what the column means; of what is derived, how it is made."""
    word = look_up("data.origins").get(row["origin"], str(row["origin"]))
    definition = str(row.get("definition", ""))
    return (f"{word}: ", show_hidden(definition)) if definition else (word,)


def _count(path: str, raw: Any) -> Value:
    value = float(raw)
    return Value(path, value, number(value, 0))


def _is_true_false(row: Any) -> bool:
    """Return whether a column held true and false, which count as 1 and 0."""
    return str(row["dtype"]) in ("bool", "boolean") and math.isfinite(row["minimum"])


def _range(row: Any) -> Sentence:
    """Return the smallest and largest number, or the first levels of a category."""
    if _is_true_false(row):
        truths = (bool(row[end]) for end in ("minimum", "maximum"))
        return joined(word(f"data.truths.{truth}") for truth in dict.fromkeys(truths))
    if row["kind"] == "number":
        ends = float(row["minimum"]), float(row["maximum"])
        return (f" {word('words.to')} ".join(_grouped(end, ends) for end in ends),)
    levels: Sequence[str] = tuple(str(level) for level in row["levels"])
    first = joined(short_value(level, LEVEL) for level in levels[:LEVELS_SHOWN])
    more = len(levels) - LEVELS_SHOWN
    rest = (", ", *say("words.more", n=tallied("columns", more))) if more > 0 else ()
    return (*first, *rest)


def _left_out_tables(facts: Facts) -> tuple[Table, ...]:
    """Return the columns of the data that nobody audits, and why, if there are any."""
    n_columns = len(facts.result.left_out)
    if not n_columns:
        return ()
    every = _left_out(facts, range(n_columns))
    if n_columns <= TOP:
        return (every,)
    full = replace(
        every, id="tab-left-out-all", caption=say("data.left_out_whole"), notes=()
    )
    rest = say_count(tallied("left_out", n_columns - TOP), "column")
    cut = replace(
        _left_out(facts, range(TOP)),
        notes=(say("data.left_out_rest", n=rest),),
        everything=full,
    )
    return (cut,)


def _left_out(facts: Facts, places: Iterable[int]) -> Table:
    frame = facts.result.left_out
    rows = []
    for place in places:
        row = frame.iloc[place]
        distinct = whole(f"left_out[{place}].distinct", int(row["distinct"]))
        look = (
            (word(f"data.looks.{row['look']}"),)
            if row["look"]
            else say("data.values_many", n=distinct)
            if row["distinct"]
            else ("–",)
        )
        cells = (
            Cell((full_name(str(row["column"])),)),
            Cell((word(f"data.reasons.{row['reason']}"),)),
            Cell(look),
        )
        rows.append(Row(cells))
    return table_of(
        "left-out",
        "data",
        "column:header reason look",
        rows,
        caption=say(
            "data.left_out_caption",
            n=say_count(tallied("left_out", len(frame)), "column"),
        ),
        shape="tight",
    )


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
        (full_name(name), ended(reasons[name])) for name in names if name in reasons
    )
    return table_of(
        "rationale",
        "rationale",
        "data.feature:header text",
        rows,
        caption=say("rationale.caption"),
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
        asked = bool(config_of(facts, "expected"))
        return say(f"rationale.{'not_compared' if asked else 'nothing_expected'}")
    return say("rationale.expected", table=Link("tab-expected"))
