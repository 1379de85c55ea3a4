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
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...records.check_answers import VERDICTS, Answers, Limit, Limits, Seen, row_of
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.finding import Finding, Severity
from ...records.frames import Row
from ...records.importance_record import Importance
from ...records.ranking import options_text
from . import columns, importances, models, subspaces
from .importances import Leaves, question, question_and_engine

__all__ = ["CHECKS", "DEFAULTS", "Answers", "Leaves", "Limit"]

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
    """A check; what depends on what its function saw is in what that returns.

    Attributes
    ----------
    asks : str
        What it looks at.
    function : callable
    severity : {"info", "warning", "failure"}
    remedy : str
    limit : float or str
        A key of `DEFAULTS`, or the value that nobody can change.
    """

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
    function: Callable[..., Seen | None]
    severity: Severity = "warning"
    remedy: str = ""
    limit: float | str = 0.0


def of_columns(
    train: Dataset | None,
    test: Dataset,
    *,
    grouped: Collection[tuple[str, ...]] = (),
    limits: Limits = DEFAULTS,
) -> Answers:
    """Ask whether the columns can be told apart; `grouped` ones are asked together."""
    return _ask("columns", test.name, limits, train=train, test=test, grouped=grouped)


def of_shifts(
    test: Dataset, rows: Sequence[Row], *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether the evaluation rows are distributed like the training rows."""
    return _ask("shifts", test.name, limits, rows=rows)


def of_model(
    model: FittedModel, data: Dataset, *, train: Dataset | None = None, seed: int
) -> Answers:
    """Ask whether `predict` reads its rows, repeats itself, and meets new rows here."""
    facts: dict[str, Any] = {"data": data, "train": train, "seed": seed}
    return _ask("model", model.name, model=model, **facts)


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
        facts: dict[str, Any] = {"model": model, "row": row}
        own = by_place.get((row["loss"], "train"))
        answers += _ask("performance", model.name, limits, own=own, **facts)
        fitted = [by_place.get((row["loss"], s)) for s in ("out_of_bag", "train")]
        train = next((side for side in fitted if side is not None), None)
        if train is not None:
            answers += _ask("gap", model.name, limits, model=model, rows=(train, row))
    return answers


def of_deciles(
    model: FittedModel, rows: Sequence[Row], *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask of `calibration_checks` whether predictions agree with what was observed."""
    answers: Answers = []
    for row in rows:
        answers += _ask("deciles", model.name, limits, model=model, row=row)
    return answers


def of_predictions(model: FittedModel, gap: float) -> Answers:
    """Ask whether R was told what Python predicts; `gap` is relative."""
    return _ask("predictions", model.name, gap=gap)


def of_draws(model: FittedModel, draws: int) -> Answers:
    """Ask whether `predict` leaves R's stream alone; it took `draws` numbers of it."""
    return _ask("draws", model.name, draws=draws)


def of_importance(importance: Importance, data: Dataset, error: float) -> Answers:
    """Ask whether all was measured, and whether the numbers point the right way.

    `error` is the standard error of the loss over other rows, NaN if not known.
    """
    subject = question_and_engine(importance)
    return _ask("importance", subject, importance=importance, data=data, error=error)


def of_leak(
    importance: Importance, constant: float, *, limits: Limits = DEFAULTS
) -> Answers:
    """Ask whether one feature makes the model nearly perfect; `constant` is a loss."""
    subject = question(importance)
    return _ask("leak", subject, limits, importance=importance, constant=constant)


def of_row_intervals(importance: Importance, rows: Sequence[Row]) -> Answers:
    """Ask whether intervals over other rows say that shuffling helps the model."""
    subject = question(importance)
    return _ask("row_intervals", subject, importance=importance, rows=rows)


def of_ensemble(
    importance: Importance, model: FittedModel | None, data: Dataset
) -> Answers:
    """Ask whether the ensemble that `model` was made into can bear its numbers."""
    if model is None or importance.engine != "python":
        return []
    # An ensemble is one for all classes.
    subject = question(replace(importance, positive_class=""))
    return _ask("ensemble", subject, importance=importance, model=model, data=data)


def of_leaves(importance: Importance, leaves: Leaves) -> Answers:
    """Ask whether the leaves behind an importance say something, if it has leaves."""
    subject = question_and_engine(importance)
    return _ask("leaves", subject, importance=importance, leaves=leaves)


CHECKS = {
    "same_columns": Check("columns", columns.same_columns),
    "target_copy": Check(
        "columns",
        columns.target_copy,
        remedy="Leave out what is not known at the time of prediction.",
    ),
    "constant_column": Check(
        "columns",
        columns.constant_column,
        "info",
        "Leave them out, or audit rows in which they vary.",
    ),
    "missing_words": Check("columns", columns.missing_words, "info"),
    "dependence": Check("columns", columns.dependence, "info", limit="dependence"),
    "split_shift": Check(
        "shifts",
        columns.split_shift,
        "info",
        "Check how the rows were divided, and whether both are of one period.",
        limit="split_shift",
    ),
    "predict_writes": Check(
        "model",
        models.predict_writes,
        "failure",
        "Make predict work on a copy of its argument.",
        limit="unchanged",
    ),
    "predict_ignores_x": Check(
        "model",
        models.predict_ignores_x,
        "failure",
        "Make predict use its argument. A constant model has no importances.",
        limit="changed",
    ),
    "not_deterministic": Check(
        "model",
        models.not_deterministic,
        remedy="Fix the seed of the estimator, or use a single thread.",
        limit="prediction_gap",
    ),
    "scored_on_training_rows": Check(
        "model", models.scored_on_training_rows, limit="other rows"
    ),
    "predict_draws": Check(
        "model",
        models.predict_draws,
        remedy="Give the estimator a fixed seed of its own.",
    ),
    "reads_more": Check(
        "model",
        models.reads_more,
        "failure",
        "List every column that predict reads.",
        limit="unchanged",
    ),
    "weak_model": Check(
        "performance",
        models.weak_model,
        remedy="Improve the model before interpreting its importances.",
        limit="standard_errors",
    ),
    "better_on_new_rows": Check(
        "performance",
        models.better_on_new_rows,
        "info",
        "Check that training and evaluation rows are not exchanged, and that the model "
        "was fitted on the training rows. If so, find out why the others are easier.",
        limit="gap_errors",
    ),
    "train_test_gap": Check(
        "gap",
        models.train_test_gap,
        remedy=(
            "Check whether the evaluation rows come from another population or "
            "period. If not, fit a simpler model."
        ),
    ),
    "calibration": Check(
        "deciles",
        models.calibration,
        "info",
        "Calibrate the model on rows that neither fitted nor evaluate it, or explain "
        "how the evaluation rows differ.",
    ),
    "bias": Check(
        "deciles",
        models.bias,
        "info",
        "Plot the residuals against each feature to find a term that the model lacks, "
        "or explain how the evaluation rows differ.",
    ),
    "prediction_mismatch": Check(
        "predictions",
        models.prediction_mismatch,
        remedy="Compare the types and category levels of the columns on both sides.",
        limit="prediction_gap",
    ),
    "predict_draws_in_r": Check(
        "draws",
        models.predict_draws_in_r,
        remedy="Give the model a seed of its own for its predictions.",
    ),
    "unmeasured": Check("importance", importances.unmeasured),
    "constant_feature": Check(
        "importance",
        importances.constant_feature,
        "failure",
        "Do not use these numbers: the engine does not permute correctly.",
    ),
    "unbounded": Check("importance", importances.unbounded, limit="finite"),
    "unstable": Check(
        "importance",
        importances.varies_over_trials,
        "info",
        "Do not rank these features, or use more rows.",
    ),
    "event_level": Check(
        "importance",
        importances.event_level,
        remedy="Check which class is the positive one, and whether the model is "
        "better than chance.",
    ),
    "leak_sign": Check(
        "leak",
        importances.leak_sign,
        "info",
        "Check that it is known at the time of prediction.",
        limit="leak_sign",
    ),
    "negative_importance": Check("row_intervals", importances.negative_importance),
    "crowded_fits": Check("ensemble", subspaces.crowded_fits, limit="columns_per_row"),
    "not_drawn": Check("ensemble", subspaces.not_drawn, remedy="Increase n_repeats."),
    "no_better_than_average": Check(
        "ensemble",
        subspaces.no_better_than_average,
        "info",
        "Do not discard features for this reason; use random_subspace_permutation or "
        "drop_column as well.",
        limit="standard_errors",
    ),
    "silent_leaves": Check(
        "leaves",
        importances.silent_leaves,
        "info",
        "Increase min_samples_leaf or n_trees, or merge rare levels.",
        limit="silent_leaves",
    ),
}
"""Every check by the word of its finding. A function gets what its kind looks at and
the limits, by name; it returns None where there is nothing to judge."""


@np.errstate(invalid="ignore")  # infinite losses: inf - inf is NaN, not measured
def _ask(
    asks: str, subject: str, limits: Limits = DEFAULTS, **looked_at: Any
) -> Answers:
    """Return the answers of every check of one kind."""
    importance = looked_at.get("importance")
    measure = options_text(importance, with_repeats=False) if importance else ""
    answers: Answers = []
    for name, check in CHECKS.items():
        if check.asks != asks:
            continue
        seen = check.function(**looked_at, limits=limits)
        if seen is None:
            continue
        finding = Finding(
            check=name,
            severity=seen.severity or check.severity,
            subject=seen.subject or subject,
            message=seen.message,
            remedy=seen.remedy or check.remedy,
            evidence=seen.evidence,
            measure=seen.measure or measure,
            cause=seen.cause,
        )
        by_definition = Limit(check.limit, "definition")
        limit = limits.get(str(check.limit), by_definition)
        verdict = VERDICTS[finding.severity] if seen.fires else "pass"
        if seen.fires is None:
            verdict = "not run"
        row = row_of(finding, seen.observed, seen.limit or limit, verdict)
        answers.append((row, finding if seen.fires else None))
    return answers
