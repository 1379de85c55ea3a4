"""Canaries: can predict be believed, is the model any good, was everything measured?

Not: who agrees with whom (`agreement`), nor what R was told (`engines`).
Every check answers with one row for the table of thresholds and, unless it passes
without remark, one Finding. What a check cannot judge gets no row, or says "not run".

    columns       can the columns be told apart at all?
    models        can predict be believed, is the model any good?
    importances   was everything measured, and do the numbers point the right way?
    subspaces     can random subspace ensembles bear their numbers?
    answers       what a check answers
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel
from ...records.frames import Row
from ...records.importance_record import Importance
from . import columns, importances, models, subspaces
from .answers import Answer, Answers, Limit, Limits
from .importances import Leaves

__all__ = [
    *("CHECKS", "DEFAULTS"),
    *("Answers", "Leaves", "Limit"),
]

DEFAULTS: Limits = {
    "prediction_gap": Limit(1e-12),
    "standard_errors": Limit(2.0),
    "gap_errors": Limit(3.0),
    "ratio": Limit(1e9),
    "dependence": Limit(0.8),
    "columns_per_row": Limit(0.3),
    "silent_leaves": Limit(0.5),
    "calibration": Limit(0.05),
    "split_shift": Limit(0.25),
    "leak_sign": Limit(0.8),
}
"""How far apart, relative to the largest, predictions may be that should be equal; by
how many standard errors a model must beat the constant, and may predict the rows of its
fit better than others; how often the loss with
nothing permuted may go into another before it is rounding, by the tolerance of
`agreement`; from which association on two features are told to depend; how many columns
free slopes may have for each distinct row; above which share of the leaves of a
feature that hold one value of it its curve is told to be of few; how improbable so
many deciles outside their intervals must be in a model whose predictions are right;
from which stability index on the evaluation rows differ from the training rows; and
which share of all importance at hardly any loss one feature has that may be a leak."""


class Check(NamedTuple):
    """What a check looks at, and the function that looks."""

    asks: Literal[
        "columns",
        "shifts",
        "model",
        "performance",
        "gap",
        "deciles",
        "predictions",
        "draws",
        "importance",
        "leak",
        "row_intervals",
        "ensemble",
        "leaves",
    ]
    function: Callable[..., Answer | None]


def of_columns(
    train: Dataset | None,
    test: Dataset,
    *,
    grouped: Collection[tuple[str, ...]] = (),
    limits: Limits = DEFAULTS,
) -> Answers:
    """Ask whether the columns can be told apart; `grouped` ones are asked together."""
    return _ask("columns", train, test, grouped, limits)


def of_shifts(
    test: Dataset, rows: Sequence[Row], *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether the evaluation rows are distributed like the training rows."""
    return _ask("shifts", test, rows, limits)


def of_model(
    model: FittedModel, data: Dataset, *, seed: int, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether `predict` reads its rows, repeats itself, and meets new rows here."""
    return _ask("model", model, data, seed, limits)


def of_performance(
    model: FittedModel, performance: pd.DataFrame, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask of each loss on the test rows if it is that of no constant, and of no other.

    The other is that of the training rows, out of bag where a forest has it.
    """
    rows = performance.to_dict("records")
    by_place = {(row["loss"], row["split"]): row for row in rows}
    answers: Answers = []
    for row in (row for row in rows if row["split"] == "test"):
        answers += _ask("performance", model, row, limits)
        fitted = [by_place.get((row["loss"], s)) for s in ("out_of_bag", "train")]
        train = next((side for side in fitted if side is not None), None)
        if train is not None:
            answers += _ask("gap", model, (train, row), limits)
    return answers


def of_deciles(
    model: FittedModel, rows: Sequence[Row], *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask of `calibration_checks` whether predictions agree with what was observed."""
    answers = (_ask("deciles", model, row, limits) for row in rows)
    return [answer for of_row in answers for answer in of_row]


def of_predictions(
    model: FittedModel, gap: float, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether R was told what Python predicts; `gap` is relative."""
    return _ask("predictions", model, gap, limits)


def of_draws(model: FittedModel, draws: int, *, limits: Limits = DEFAULTS) -> Answers:
    """Ask whether `predict` leaves R's stream alone; it took `draws` numbers of it."""
    return _ask("draws", model, draws, limits)


def of_importance(
    importance: Importance, data: Dataset, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether all was measured, and whether the numbers point the right way."""
    return _ask("importance", importance, data, limits)


def of_leak(
    importance: Importance, constant: float, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether one feature makes the model nearly perfect; `constant` is a loss."""
    return _ask("leak", importance, constant, limits)


def of_row_intervals(
    importance: Importance, rows: Sequence[Row], *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether intervals over other rows say that shuffling helps the model."""
    return _ask("row_intervals", importance, rows, limits)


def of_ensemble(
    importance: Importance,
    model: FittedModel | None,
    data: Dataset,
    *,
    limits: Limits = DEFAULTS,
) -> Answers:
    """Ask whether the ensemble that `model` was made into can bear its numbers."""
    if model is None or importance.engine != "python":
        return []
    return _ask("ensemble", importance, model, data, limits)


def of_leaves(
    importance: Importance, leaves: Leaves, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether the leaves behind an importance say something, if it has leaves."""
    return _ask("leaves", importance, leaves, limits)


CHECKS = {
    "same_columns": Check("columns", columns.same_columns),
    "constant_column": Check("columns", columns.constant_column),
    "dependence": Check("columns", columns.dependence),
    "split_shift": Check("shifts", columns.split_shift),
    "predict_writes": Check("model", models.predict_writes),
    "predict_ignores_x": Check("model", models.predict_ignores_x),
    "not_deterministic": Check("model", models.not_deterministic),
    "scored_on_training_rows": Check("model", models.scored_on_training_rows),
    "predict_draws": Check("model", models.predict_draws),
    "reads_more": Check("model", models.reads_more),
    "weak_model": Check("performance", models.weak_model),
    "train_test_gap": Check("gap", models.train_test_gap),
    "calibration": Check("deciles", models.calibration),
    "bias": Check("deciles", models.bias),
    "prediction_mismatch": Check("predictions", models.prediction_mismatch),
    "predict_draws_in_r": Check("draws", models.predict_draws_in_r),
    "unmeasured": Check("importance", importances.unmeasured),
    "constant_feature": Check("importance", importances.constant_feature),
    "unbounded": Check("importance", importances.unbounded),
    "unstable": Check("importance", importances.varies_over_trials),
    "event_level": Check("importance", importances.event_level),
    "leak_sign": Check("leak", importances.leak_sign),
    "negative_importance": Check("row_intervals", importances.negative_importance),
    "crowded_fits": Check("ensemble", subspaces.crowded_fits),
    "not_drawn": Check("ensemble", subspaces.not_drawn),
    "no_better_than_average": Check("ensemble", subspaces.no_better_than_average),
    "silent_leaves": Check("leaves", importances.silent_leaves),
}
"""Every check by the word of its finding. A function gets what its kind looks at, then
the limits; it returns None where there is nothing to judge."""


@np.errstate(invalid="ignore")  # infinite losses: inf - inf is NaN, not measured
def _ask(asks: str, *arguments: Any) -> Answers:
    """Return the answers of every check of one kind."""
    answers = (
        check.function(*arguments) for check in CHECKS.values() if check.asks == asks
    )
    return [answer for answer in answers if answer is not None]
