"""Section D: the performance and description of each model, and the data."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..text.blocks import (
    KeyValues,
    Link,
    Part,
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
from .facts import Facts, config_of, first_few, key_values, section, tallied, whole
from .performance import best_model, performance_tables
from .performance_figure import performance_blocks
from .rankings import TOP

LEVELS_SHOWN, LEVEL = 6, 40
"""Number of levels shown in the row of a column, and of characters of each."""
FEW = 6
"""Number of rows above `TOP` that a table still shows in full."""
YEARS = (1500, 2200)
"""If all whole numbers of a column are within this range, they are printed as years."""
PARAMETERS_SHOWN = 12
DIGITS = 16
"""Digits of a SHA-256 that are shown."""
OBJECTIVES = ("loss", "criterion", "objective", "loss_function")
"""Names of the parameter for the loss that a fit minimises."""

UNEXPLAINED = 5
"""Number of features without a rationale that are named; the others are counted."""


def data_card(facts: Facts) -> Section:
    """Return section D."""
    parts = {
        "performance": performance_tables(facts),
        "diagnostics": performance_blocks(facts),
        "models": tuple(_models_tables(facts)),
        "rows": tuple(_rows(facts, i) for i in range(len(facts.result.datasets))),
        "rationale": rationale_tables(facts),
        "columns": _columns_table(facts),
        "left_out": _left_out_tables(facts),
    }
    return section("D", best_model(facts), parts)


def _models_tables(facts: Facts) -> Iterator[Table]:
    """Yield the table of models: class, parameters, encoder, predictions, source.

    A second table has the steps of pipelines and searches, if there are any.
    """
    if not facts.models:
        return
    rows = []
    for place, row in enumerate(facts.result.models.to_dict("records")):
        kind: Sentence = (word("data.callable"),)
        if row["estimator"]:
            kind = (full_value(str(row["estimator"])),)
        if row["library"]:
            kind = (*kind, ", ", show_hidden(str(row["library"])))
        parameters = [_parameters(facts, row), _objective(row)]
        prepared = [look_up("data.encoders")[row["encoder"]]]
        if facts.entry_of(row["model"]).get("standardise"):
            task = "regression" if row["task"] == "regression" else "classes"
            prepared.append(word(f"data.standardised.{task}"))
        source: list[Part | Sentence] = [look_up("data.sources")[row["source"]]]
        if row["n_train"]:
            n_train = whole(f"models[{place}].n_train", int(row["n_train"]))
            source.append(say_count(n_train, "row"))
        if row["sha256"]:
            source.append(_digest(str(row["sha256"])))
        rows.append(
            (
                model_name(facts, str(row["model"])),
                kind,
                joined(filter(None, parameters), "; "),
                joined(prepared),
                _predicts(row),
                joined(source),
            )
        )
    yield table_of(
        "models",
        "data",
        "model:header class parameters encoder predicts source",
        rows,
        caption=say("data.models_caption"),
        shape="wide",
    )
    steps = facts.result.steps
    made_of = {name: steps[steps["model"] == name] for name in facts.models}
    made = [
        (full_name(model), joined(map(_step, own.to_dict("records")), "; "))
        for model, own in made_of.items()
        if len(own)
    ]
    if made:
        yield table_of(
            "steps",
            "data",
            "model:header steps",
            made,
            caption=say("data.steps_caption"),
            shape="tight",
        )


def _step(row: Mapping[str, Any]) -> Sentence:
    """Return one step of a model: its name, class and parameters."""
    step: Sentence = (full_value(str(row["estimator"])),)
    if row["step"]:
        step = (Styled("strong", (full_name(row["step"]),)), " ", *step)
    settings = _settings(json.loads(row["parameters"]))
    return (*step, " (", *settings, ")") if settings else step


def _parameters(facts: Facts, row: Mapping[str, Any]) -> Sentence:
    """Return the parameters in the configuration, or all parameters of a given model.

    At most `PARAMETERS_SHOWN` are shown; result.json has all. Scripts of R are omitted,
    since the section Provenance has them.
    """
    every = json.loads(row["parameters"] or "{}")
    for script in ("script", "predict"):
        every.pop(script, None)
    own = facts.entry_of(row["model"])
    is_given = not own or own.get("file") or own.get("r_script")
    parameters = every if is_given else own["parameters"]
    sentences: list[Sentence] = [_settings({k: v}) for k, v in parameters.items()]
    if len(sentences) > PARAMETERS_SHOWN:
        return joined(first_few(sentences, PARAMETERS_SHOWN, "models"))
    if row["model"] in set(facts.result.steps["model"]):
        return joined([*sentences, say("data.see_steps", table=Link("tab-steps"))])
    if sentences and len(parameters) < len(every):
        sentences.append(say("data.other_parameters"))
    return joined(sentences or [say("data.defaults")])


def _settings(parameters: Mapping[str, Any]) -> Sentence:
    settings = (
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in parameters.items()
    )
    return joined(Styled("code", (show_hidden(text),)) for text in settings)


def _objective(row: Mapping[str, Any]) -> Sentence:
    """Return the objective of the fit; empty if no parameter of the class names it."""
    parameters = json.loads(row["parameters"] or "{}")
    settings = [
        Styled("code", (show_hidden(f"{key}={parameters[key]}"),))
        for key in OBJECTIVES
        if isinstance(parameters.get(key), str)
    ]
    return say("data.minimised", settings=series(settings)) if settings else ()


def _predicts(row: Mapping[str, Any]) -> Sentence:
    """Return the response scale, and the classes in their order."""
    parts: list[Part | Sentence] = [look_up("data.scales")[row["scale"]]]
    classes = [short_value(str(name), LEVEL) for name in row["classes"]]
    if row["positive_class"]:
        parts.append(say("data.of_class", cls=short_value(str(row["positive_class"]))))
    elif classes:
        parts += first_few(classes, LEVELS_SHOWN, "models")
    return joined(parts)


def _digest(text: str) -> Sentence:
    return (Styled("code", (f"{text[:DIGITS]}…" if len(text) > DIGITS else text,)),)


def _rows(facts: Facts, place: int) -> KeyValues:
    """Return the description of one set of rows."""
    row = facts.result.datasets.iloc[place]
    n_rows, n_columns, n_missing = (
        whole(f"datasets[{place}].{name}", int(row[name]))
        for name in ("rows", "columns", "missing_cells")
    )
    none = say("data.none")
    size = joined((say_count(n_rows, "row"), say_count(n_columns, "feature")))
    rows: dict[str, Sentence] = {
        "name": (full_name(str(row["name"])),),
        "origin": (show_hidden(str(row["source"])) or "–",),
        "size": size,
        "missing": say_count(n_missing, "cell") if n_missing.raw else none,
        "target": _target(facts, row),
        "weights": say("data.weighted") if row["weighted"] else none,
        "provenance.sha256": _digest(str(row["sha256"])),
    }
    title = say(f"data.title_{facts.named(row['split'])}")
    return key_values(f"kv-rows-{row['split']}-{place}", title, "data", rows.items())


def _target(facts: Facts, row: Any) -> Sentence:
    """Return the distribution of the target of one set of rows, without weights.

    These are shares of classes, or quartiles.
    """
    frame = facts.result.quantiles
    own = frame[(frame["role"] == "target") & (frame["split"] == row["split"])]
    # Two sets of rows may have the same split; a row "missing" ends each of them.
    number = (own["kind"] == "missing").cumsum().shift(fill_value=0)
    splits = facts.result.datasets["split"].iloc[: int(row.name)]
    own = own[number == min(int((splits == row["split"]).sum()), number.max())]
    known = own[own["kind"] != "missing"]
    total = int(known["rows"].sum())
    if not total:
        return ()
    name = full_name(str(row["target"]))
    if known["kind"].iloc[0] == "category":
        classes = []
        for at, each in known.iterrows():
            path, rows = f"quantiles[{at}].rows", int(each["rows"])
            share = rows / total
            classes.append(
                say(
                    "data.of_one_class",
                    cls=short_value(str(each["level"]), LEVEL),
                    share=Value(path, share, percent(share), derived="share"),
                    rows=say_count(whole(path, rows), "row"),
                )
            )
        shares = joined(first_few(classes, LEVELS_SHOWN, "quantiles"))
        return say("data.of_classes", name=name, classes=shares)
    order = known.sort_values("place")
    ends = order["value"].iloc[0], order["value"].iloc[-1]
    parts = {}
    for quartile, key in enumerate(("lowest", "first", "median", "third", "highest")):
        # the smallest value with at least that share of rows at or below it
        at = order.index[order["place"] >= quartile / 4 * total - 1e-9][0]
        raw = float(order.at[at, "value"])
        parts[key] = Value(f"quantiles[{at}].value", raw, _grouped(raw, ends))
    unit = f" {show_hidden(facts.target_unit)}" if facts.target_unit else ""
    return (*say("data.of_number", name=name, **parts), unit)


def _grouped(value: float, ends: tuple[float, float]) -> str:
    """Return a value of a column with separated thousands, unless all are years.

    It has six digits, as from `plain_number`, but whole numbers have no power of ten.
    """
    if abs(value) < 1000 or not math.isfinite(value):
        return plain_number(value)
    if all(YEARS[0] <= end <= YEARS[1] and float(end).is_integer() for end in ends):
        return plain_number(value)
    digits = 5 - math.floor(math.log10(abs(value)))
    text = number(value, 0 if float(value).is_integer() else max(digits, 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _columns_table(facts: Facts) -> Table:
    """Return the table of columns; a long one is cut, and in full at the end."""
    frame = facts.result.columns
    rows = []
    for place, row in enumerate(frame.to_dict("records")):
        name = str(row["feature"])
        feature: Sentence = (full_name(name),)
        if label_of(name) != name:  # with the raw name in a second line
            code = Styled("code", (shown_value(name),))
            feature = (*feature, Styled("line", (code,)))
        origin = look_up("data.origins").get(row["origin"], str(row["origin"]))
        if definition := str(row["definition"]):
            origin = joined((origin, show_hidden(definition)), ": ")
        kind = "boolean" if _is_true_false(row) else row["kind"]
        counts = (
            Value(
                f"columns[{place}].{key}", float(row[key]), number(float(row[key]), 0)
            )
            for key in ("distinct", "missing_train", "missing_test")
        )
        rows.append(
            (feature, look_up("data.kinds")[kind], _range(row), *counts, origin)
        )
    n = say_count(tallied("columns", len(frame)), "feature")
    columns = "feature:header kind range distinct:number missing_train:number "
    columns += "missing_test:number origin"
    origins = {row[-1] for row in rows}
    is_one_origin = len(origins) == 1  # then a note in place of the column
    notes = [say("data.columns_alike", origin=min(origins))] if is_one_origin else []
    table = table_of(
        "columns",
        "data",
        columns.removesuffix(" origin") if is_one_origin else columns,
        [row[:-1] if is_one_origin else row for row in rows],
        caption=say("data.columns_caption", n=n),
        notes=tuple(notes),
        shape="wide",
    )
    return _first_rows(table, "columns", "feature") if len(frame) > TOP + FEW else table


def _first_rows(table: Table, path: str, noun: str) -> Table:
    """Return a table cut to its first rows, with a note that counts the others."""
    n = say_count(tallied(path, len(table.rows) - TOP), noun)
    whole_table = replace(
        table, id=f"{table.id}-all", caption=say(f"data.{path}_whole")
    )
    return replace(
        table,
        rows=table.rows[:TOP],
        notes=(*table.notes, say(f"data.{path}_rest", n=n)),
        everything=whole_table,
    )


def _is_true_false(row: Mapping[str, Any]) -> bool:
    """Return whether a column is boolean; its values are stored as 1 and 0."""
    return str(row["dtype"]) in ("bool", "boolean") and math.isfinite(row["minimum"])


def _range(row: Mapping[str, Any]) -> Sentence:
    """Return the smallest and largest number, or the first levels of a category."""
    if _is_true_false(row):
        truths = (bool(row[end]) for end in ("minimum", "maximum"))
        return joined(word(f"data.truths.{truth}") for truth in dict.fromkeys(truths))
    if row["kind"] == "number":
        ends = float(row["minimum"]), float(row["maximum"])
        return (f" {word('words.to')} ".join(_grouped(end, ends) for end in ends),)
    levels = (short_value(str(level), LEVEL) for level in row["levels"])
    return joined(first_few(levels, LEVELS_SHOWN, "columns"))


def _left_out_tables(facts: Facts) -> tuple[Table, ...]:
    """Return the table of columns that are not audited, with reasons, if any."""
    frame = facts.result.left_out
    rows: list[tuple[Part | Sentence, ...]] = []
    for place, row in enumerate(frame.to_dict("records")):
        look: Part | Sentence = "–"
        if row["look"]:
            look = word(f"data.looks.{row['look']}")
        elif row["distinct"]:
            distinct = whole(f"left_out[{place}].distinct", int(row["distinct"]))
            look = say("data.values_many", n=distinct)
        reason = word(f"data.reasons.{row['reason']}")
        rows.append((full_name(str(row["column"])), reason, look))
    if not rows:
        return ()
    n = say_count(tallied("left_out", len(frame)), "column")
    table = table_of(
        "left-out",
        "data",
        "column:header reason look",
        rows,
        caption=say("data.left_out_caption", n=n),
        shape="tight",
    )
    return (_first_rows(table, "left_out", "column") if len(rows) > TOP else table,)


def rationale_tables(facts: Facts) -> tuple[Table | Sentence, ...]:
    """Return the configured rationale of features, or that there is none."""
    reasons: Mapping[str, str] = config_of(facts, "report").get("rationale", {})
    names = [str(name) for name in facts.result.columns["feature"]]
    rows = [
        (full_name(name), ended(reasons[name])) for name in names if name in reasons
    ]
    if not rows:
        return (say("rationale.none"),)
    without = [short_name(name) for name in names if name not in reasons]
    missing = say(
        "rationale.missing",
        n=say_count(tallied("columns", len(without)), "feature"),
        names=joined(first_few(without, UNEXPLAINED, "columns")),
    )
    table = table_of(
        "rationale",
        "rationale",
        "data.feature:header text",
        rows,
        caption=say("rationale.caption"),
        notes=(missing,) if without else (),
        shape="tight",
    )
    return (table,)
