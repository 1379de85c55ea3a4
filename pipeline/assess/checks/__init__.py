"""The table of all checks, and the function that runs those of one kind.

A check results in one row of the table of thresholds and, if it fires, in one Finding.
A check that does not apply has no row; one that cannot be decided has the verdict
"not run". Not: the agreement of engines (`engines.agreement`), nor the type of a
result (`records.check_answers`).

    columns       duplicate, constant, shifted, dependent columns; copies of the target
    models        predictions: deterministic, better than a constant, calibrated
    importances   missing, infinite, unstable and implausible importances
    subspaces     ensembles with too few rows or draws for their importances
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...records.check_answers import VERDICTS, Answers, Limit, Limits, Seen, row_of
from ...records.dataset_and_model import FittedModel
from ...records.finding import Finding, Severity
from ...records.ranking import options_text
from . import columns, importances, models, subspaces
from .importances import Leaves

__all__ = ["CHECKS", "DEFAULTS", "Answers", "Kind", "Leaves", "Limit", "run"]

DEFAULTS: Limits = {
    # Largest difference of predictions that should be equal, relative to the largest.
    "prediction_gap": Limit(1e-12),
    # Standard errors of a difference that chance may explain.
    "standard_errors": Limit(2.0),
    # Standard errors by which losses on training and evaluation rows may differ.
    "gap_errors": Limit(3.0),
    # Largest permuted loss as a multiple of the baseline: beyond it, by the tolerance
    # of `agreement`, the baseline is rounding.
    "ratio": Limit(1e9),
    # Smallest association of two features that count as dependent.
    "dependence": Limit(0.8),
    # Columns per distinct row from which unpenalised fits are mostly chance.
    "columns_per_row": Limit(0.3),
    # Largest share of the leaves of a feature in which it has a single value.
    "silent_leaves": Limit(0.5),
    # Level of the binomial test of the deciles outside their intervals.
    "calibration": Limit(0.05),
    # Largest population stability index between training and evaluation rows.
    "split_shift": Limit(0.25),
    # Share of all positive importance from which one feature may be a leak.
    "leak_sign": Limit(0.8),
}
"""Default limits of the checks; `[checks]` sets some of them."""


Kind = Literal[
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


class Check(NamedTuple):
    """A check; the fields of a `Seen` that its function returns take precedence.

    Attributes
    ----------
    asks : str
        The kind of its arguments; all checks of one kind run together.
    function : callable
        Its arguments, by name, are those of its kind and `limits`. It returns None if
        the check does not apply.
    severity : {"info", "warning", "failure"}
    remedy : str
    limit : float or str
        A key of `DEFAULTS`, or a fixed value.
    """

    asks: Kind
    function: Callable[..., Seen | None]
    severity: Severity = "warning"
    remedy: str = ""
    limit: float | str = 0.0


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
        importances.unstable,
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
"""All checks, by the name in their findings."""


@np.errstate(invalid="ignore")  # infinite losses: inf - inf is NaN, not measured
def run(kind: Kind, subject: str, limits: Limits = DEFAULTS, **inputs: Any) -> Answers:
    """Run all checks of one kind.

    Parameters
    ----------
    kind : str
    subject : str
        The subject of their findings, unless a check names its own.
    limits : mapping of str to Limit
    inputs : Any
        The arguments of the functions of this kind, by name.
    """
    importance = inputs.get("importance")
    measure = options_text(importance, with_repeats=False) if importance else ""
    answers: Answers = []
    for name, check in CHECKS.items():
        if check.asks != kind:
            continue
        seen = check.function(**inputs, limits=limits)
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


def of_performance(
    model: FittedModel, performance: pd.DataFrame, *, limits: Limits = DEFAULTS
) -> Answers:
    """Compare each test loss with that of the constant predictor and of training rows.

    Training rows of a forest are predicted out of bag, if possible.
    """
    rows = performance.to_dict("records")
    by_split = {(row["loss"], row["split"]): row for row in rows}
    answers: Answers = []
    for row in (row for row in rows if row["split"] == "test"):
        answers += run("performance", model.name, limits, model=model, row=row)
        fitted = [by_split.get((row["loss"], s)) for s in ("out_of_bag", "train")]
        train = next((side for side in fitted if side is not None), None)
        if train is not None:
            answers += run("gap", model.name, limits, model=model, rows=(train, row))
    return answers
