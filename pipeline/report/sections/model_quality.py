"""The quality of each model for page one, on training and evaluation rows."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ...assess.calibration import sides_of
from ...assess.checks import DEFAULTS
from ...records.finding import Finding
from ...records.frames import DECILES
from ...records.losses import LOSSES
from ..text.blocks import Column, Part, Sentence, Styled, Table, Value
from ..text.number_text import decimals, loss_label, number
from ..text.wording import (
    full_name,
    full_value,
    joined,
    say,
    say_count,
    section_link,
    series,
    short_name,
    show_hidden,
    table_of,
    word,
)
from .facts import Facts, first_few, number_in, tallied, whole
from .findings import link_to
from .performance import SPLITS, alike

MODELS = 4
"""Most models on page one."""
CLASSES = 3
"""Most classes with miscalibrated probabilities that page one names."""
FITTED = ("out_of_bag", "train")
"""Splits with a loss on the rows of the fit, the less biased first."""
BETTER = 2.0
"""Standard errors from which a model is said to be better on new rows."""
LAST_PLACES = 3
"""Decimals of shares and of the area under a curve."""


def best_first(facts: Facts) -> list[str]:
    """Return the models by increasing loss on the evaluation rows.

    Models without a loss come last, in the order of the audit.
    """
    rows = facts.result.performance
    rows = rows[(rows["loss"] == _loss(facts)) & (rows["split"] == "test")]
    losses = dict(zip(rows["model"], rows["value"].astype(float), strict=True))
    return sorted(facts.models, key=lambda model: losses.get(model, float("inf")))


def quality_table(facts: Facts) -> Table | None:
    """Return the table of one quality measure, a row per model; None if not measured.

    The measure is the area under the curve for two classes, else the loss of the
    leading ranking, with that of the constant predictor.
    """
    frame, shown = _shown(facts)
    if shown.empty:
        return None
    is_loss = frame == "performance"
    splits = _splits(facts, shown)
    columns: list[str | Column] = ["model:header"]
    columns += [f"{facts.named(split)}:number" for split in splits]
    columns += ["constant:number"] if is_loss else []
    readings = facts.result.readings
    accuracy = readings[readings["reading"].eq("accuracy") & is_loss]
    head = say("quality.accuracy", rows=facts.rows_word)
    columns += [Column(head, "number")] if len(accuracy) else []
    classes = set(facts.result.calibration_checks["positive_class"])
    cls = str(*classes) if len(classes) == 1 else ""
    if cls:
        head = say("quality.predicted", cls=full_value(cls))
        columns += [Column(head, "number"), "observed:number"]
    models, rows = best_first(facts), []
    for model in models[:MODELS]:
        cells: list[Part | Sentence] = [short_name(model)]
        test, places = _of(shown, model, "test"), _places(frame, shown, model)
        for split in splits:
            value = measured(facts, model, split)
            own = _of(shown, model, split)
            if own is not None and own["std_error"] > 0:
                value += ("\u00a0±\u00a0", number_in(frame, own, "std_error", places))
            cells.append(value or "–")
        if is_loss and test is not None:
            cells.append(number_in(frame, test, "constant", places))
        elif is_loss:
            cells.append("–")
        if len(accuracy):
            reading = _of(accuracy, model, "test")
            cells.append(
                "–"
                if reading is None
                else number_in("readings", reading, "value", LAST_PLACES)
            )
        if cls:
            for mean in ("predicted", "observed"):
                means = (
                    number_in("calibration_checks", row, mean, LAST_PLACES)
                    for _, row in _checked(facts, model).iterrows()
                )
                cells.append(next(means, "–"))
        rows.append(tuple(cells))
    measure = quality_name(facts)
    if is_loss and (unit := facts.unit_of(LOSSES[_loss(facts)].unit)):
        measure = f"{measure}, {show_hidden(unit)}"
    notes: list[Sentence] = []
    if len(models) > MODELS:
        n = tallied("models", len(models) - MODELS)
        notes.append((*say("words.more", n=n), ", ", section_link("D"), "."))
    if equals := alike(facts, _loss(facts), models[0]):
        notes.append(say("quality.alike", rows=facts.rows_word, models=equals))
    return table_of(
        "quality",
        "quality",
        columns,
        rows,
        caption=say(
            "quality.caption" if is_loss else "quality.caption_auc",
            order=say("quality.best_first") if len(models) > 1 else "",
            measure=measure,
            rows=joined(_sizes(facts)),
        ),
        notes=tuple(notes),
        shape="tight",
        abreast=4 if len(columns) == 5 else 3,
    )


def _loss(facts: Facts) -> str:
    """Return the loss on page one: of the lead ranking if measured, else the first."""
    losses = list(dict.fromkeys(facts.result.performance["loss"]))
    lead = facts.lead.record.loss if facts.lead else ""
    return lead if lead in losses else next(iter(losses), "")


def _shown(facts: Facts) -> tuple[str, pd.DataFrame]:
    """Return the name of the frame with the quality measure, and its rows."""
    readings, frame = facts.result.readings, facts.result.performance
    auc = readings[readings["reading"] == "auc"]
    if len(auc):
        return "readings", auc
    return "performance", frame[frame["loss"] == _loss(facts)]


def quality_name(facts: Facts) -> str:
    """Return the name of the quality measure."""
    is_loss = _shown(facts)[0] == "performance"
    return loss_label(_loss(facts)) if is_loss else word("quality.auc")


def _of(frame: pd.DataFrame, model: str, split: str) -> "pd.Series[Any] | None":
    """Return the row of a model on a split, None if it has none."""
    rows = frame[(frame["model"] == model) & (frame["split"] == split)]
    return rows.iloc[0] if len(rows) else None


def measured(facts: Facts, model: str, split: str) -> Sentence:
    """Return the quality of a model on a split, without its error; empty if none."""
    name, frame = _shown(facts)
    row = _of(frame, model, split)
    if row is None:
        return ()
    return (number_in(name, row, "value", _places(name, frame, model)),)


def _places(name: str, frame: pd.DataFrame, model: str) -> int:
    """Return the decimals of the numbers of a model, from those on evaluation rows."""
    if name == "readings":
        return LAST_PLACES
    rows = frame[(frame["model"] == model) & np.isfinite(frame["value"])]
    if rows.empty:  # infinite on all rows: only the constant predictor has digits
        return decimals(frame["constant"])
    new = rows[rows["split"] == "test"]
    own = rows if new.empty else new
    return decimals(own["value"], own["std_error"], own["value"])


def _splits(facts: Facts, frame: pd.DataFrame) -> list[str]:
    """Return the splits of a frame, without "train" if evaluated on the fitted rows."""
    found = set(frame["split"])
    if facts.evaluated_on == "fitted":
        found.discard("train")
    return [split for split in SPLITS if split in found]


def _sizes(facts: Facts) -> Iterator[Sentence]:
    """Yield the number of rows of each split with losses."""
    frame = facts.result.performance
    for split in _splits(facts, frame):
        if split != "out_of_bag":
            rows = frame[frame["split"] == split]
            path = f"performance[{rows.index[0]}].n_samples"
            n = whole(path, int(rows["n_samples"].iloc[0]))
            yield say_count(n, f"{facts.named(split)}_row")


def _checked(facts: Facts, model: str) -> pd.DataFrame:
    """Return the calibration checks of a model on evaluation rows, a row per class."""
    frame = facts.result.calibration_checks
    return frame[(frame["model"] == model) & (frame["split"] == "test")]


def fits(facts: Facts) -> tuple[Sentence, ...]:
    """Return a sentence per model on its overfitting and calibration.

    The last sentence is on the column that has shifted most from training to evaluation
    rows, unless all models were fitted to the evaluation rows.
    """
    sentences: list[Sentence] = []
    for model in best_first(facts)[:MODELS]:
        weak = _found(facts, "weak_model", f"{model}, {_loss(facts)}")
        statements = (
            say("quality.weak", number=link_to(weak, facts)) if weak else (),
            _fit(facts, model),
            deciles_off(facts, model),
        )
        if any(statements):
            name = Styled("strong", (full_name(model),))
            sentences.append((name, " ", *joined(filter(None, statements), "; "), "."))
    frame = facts.result.split_shifts
    if all(is_on_training_rows(facts, model) for model in facts.models):
        return tuple(sentences)
    indices = [
        (row[f"{of}verdict"] in ("moved", "below the limit"), row[f"{of}psi"], at, of)
        for at, row in frame.iterrows()
        for of in ("", "missing_")
        if not np.isnan(row[f"{of}psi"])
    ]
    if indices:
        is_beyond_chance, _, at, of = max(indices, key=lambda index: index[:2])
        key = "shift_of_missing" if of else "shift"
        text = say(
            f"quality.{key if is_beyond_chance else 'shift_by_chance'}",
            column=full_name(str(frame.at[at, "column"])),
            psi=number_in("split_shifts", frame.loc[at], f"{of}psi", 2),
            below=word("quality.below_the_limit")
            if frame.at[at, f"{of}verdict"] == "below the limit"
            else "",
        )
        sentences.append(text)
    return tuple(sentences)


def is_on_training_rows(facts: Facts, model: str) -> bool:
    """Return whether more than a few evaluation rows of a model are training rows.

    If only a few are, the severity of the finding is "info".
    """
    finding = _found(facts, "scored_on_training_rows", model)
    return finding is not None and finding.severity != "info"


def _found(facts: Facts, check: str, subject: str) -> Finding | None:
    """Return the finding of a check about a subject, if there is one."""
    found = facts.result.findings
    return next((f for f in found if (f.check, f.subject) == (check, subject)), None)


def _fit(facts: Facts, model: str) -> Sentence:
    """Return a statement on the train-test gap of a model, in standard errors."""
    if is_on_training_rows(facts, model):
        is_number = facts.task == "regression"
        return say(f"quality.fit.same_rows_{'bias' if is_number else 'calibration'}")
    frame = facts.result.performance
    losses = frame[frame["loss"] == _loss(facts)]
    test = _of(losses, model, "test")
    fitted = [(split, _of(losses, model, split)) for split in FITTED]
    split, own = next(((s, r) for s, r in fitted if r is not None), ("", None))
    if test is None or own is None:
        return say("quality.fit.unknown") if test is not None else ()
    error = float(np.hypot(own["std_error"], test["std_error"]))
    if not error > 0:
        return say("quality.fit.no_error")
    gap = float(test["value"] - own["value"])
    checks = facts.result.checks
    is_own = checks["check"].eq("train_test_gap") & checks["verdict"].eq("not run")
    if f"{model}, {_loss(facts)}" in set(checks.loc[is_own, "subject"]):
        return say("quality.fit.of_forest")
    path = f"performance[{test.name}].value"
    derived = f"distance from performance[{own.name}].value in standard errors"
    errors, limit = gap / error, float(DEFAULTS["gap_errors"].value)
    if errors <= -BETTER:
        n = Value(path, -errors, number(-errors, 1), derived=derived)
        return say(f"quality.fit.better_{split}", gap=n)
    if errors <= 0:
        return say(f"quality.fit.no_worse_{split}")
    places = 2 if f"{errors:.1f}" == f"{limit:.1f}" else 1
    return say(
        "quality.fit.overfits" if errors > limit else f"quality.fit.fine_{split}",
        gap=Value(path, errors, number(errors, places), derived=derived),
        limit=f"{limit:g}",
    )


def deciles_off(facts: Facts, model: str) -> Sentence:
    """Return a statement on the deciles that a model predicts too low or too high.

    Empty if they were not checked, or if the evaluation rows are training rows.
    """
    rows = _checked(facts, model)
    if rows.empty or is_on_training_rows(facts, model):
        return ()
    is_number = not rows["positive_class"].iloc[0]
    check = "bias" if is_number else "calibration"
    several = len(rows) > 1
    is_off = [
        _found(facts, check, f"{model}, {name}" if several else model) is not None
        for name in rows["positive_class"]
    ]
    if any(is_off):
        rows = rows[is_off]
    classes = [_off(row, "quality.off_of_class") for _, row in rows.iterrows()]
    if any(is_off):
        return say(
            f"quality.{check}{'_of_classes' if several else ''}",
            directions=_directions(facts, rows.iloc[[0]]),
            classes=joined(first_few(classes, CLASSES, "calibration_checks")),
            size=_farthest(facts, rows),
        )
    n_off = rows["too_low"] + rows["too_high"]
    return say(
        f"quality.{check}_{'fine_of_classes' if several else 'fine'}",
        off=_off(rows.loc[n_off.idxmax()], "quality.off"),
        size=_farthest(facts, rows),
    )


def _off(row: "pd.Series[Any]", key: str) -> Sentence:
    """Return the number of deciles with predictions too low or too high, in words."""
    path = f"calibration_checks[{row.name}]"
    return say(
        key,
        cls=full_value(str(row["positive_class"])),
        n=tallied(path, int(row["too_low"] + row["too_high"])),
        of=whole(f"{path}.deciles", int(row["deciles"])),
        parts=parts_word([row["deciles"]]),
    )


def parts_word(numbers: Iterable[float]) -> str:
    """Return the word for parts of the rows; tied predictions leave fewer than ten."""
    are_tenths = all(number == DECILES for number in numbers)
    return word(f"quality.parts.{'deciles' if are_tenths else 'fewer'}")


def _farthest(facts: Facts, checked: pd.DataFrame, *beyond: str) -> Sentence:
    """Return the largest error of a decile's mean prediction; empty if none is off.

    `beyond` are the sides of deciles: "too low", "too high", or both if not given.
    """
    keys = ["model", "positive_class", "split"]
    parts = facts.result.calibration.reset_index().merge(checked[keys], on=keys)
    sides = sides_of(parts.to_dict("records"))
    errors = (parts["high"] - parts["low"])[[side != "within" for side in sides]] / 4
    parts = parts[[side in (beyond or ("too low", "too high")) for side in sides]]
    if parts.empty:
        return ()
    gaps = (parts["predicted"] - parts["observed"]).abs().astype(float)
    place, gap = parts.loc[gaps.idxmax(), "index"], float(gaps.max())
    is_number = not checked["positive_class"].iloc[0]
    places = decimals([gap], errors) if is_number else LAST_PLACES
    size = Value(
        f"calibration[{place}].predicted",
        gap,
        number(gap, places),
        unit=facts.target_unit if is_number else "",
        derived=f"distance from calibration[{place}].observed",
    )
    return say("quality.size", size=size)


def _directions(facts: Facts, checked: pd.DataFrame) -> Sentence:
    """Return the numbers of deciles with predictions too low and too high, in words.

    They name the end of the range if it is among these deciles, and the largest error:
    "too low in 8 of 10 deciles, by up to 2, and too high in 1 (the highest), by up to
    3".
    """
    row, texts = checked.iloc[0], list[Sentence]()
    path = f"calibration_checks[{row.name}]"
    for side in ("too_low", "too_high"):
        n = int(row[side])
        if not n:
            continue
        is_at = side.replace("_", " ")
        ends = [end for end in ("lowest", "highest") if row[end] == is_at]
        text = say(
            f"quality.in{'_more' * bool(texts)}{'_ends' * bool(ends)}",
            side=word(f"quality.side.{side}"),
            n=whole(f"{path}.{side}", n),
            of=whole(f"{path}.deciles", int(row["deciles"])),
            parts=parts_word([row["deciles"]]),
            ends=series(word(f"quality.ends.{end}") for end in ends),
            among=say("quality.among") if n > len(ends) else "",
        )
        texts.append((*text, *_farthest(facts, checked, is_at)))
    return joined(texts, f", {word('words.and')} ")
