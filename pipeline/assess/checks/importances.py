"""Checks of an importance: missing, infinite, unstable and implausible values."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from ...data.column_types import is_category
from ...methods.importance import METHODS
from ...records import trials
from ...records.check_answers import Limit, Limits, Seen
from ...records.dataset_and_model import Dataset
from ...records.errors import listed, quote
from ...records.finding import cause_of
from ...records.frames import Row
from ...records.importance_record import Importance
from ...records.ranking import LEVEL, null_value_of
from .columns import is_constant

Leaves: TypeAlias = dict[str, tuple[int, int]]
"""For each feature the number of leaves with a single value of it, and of leaves."""

LITTLE_LOSS = 0.05
"""Loss of a nearly perfect model as a share of that of the constant predictor."""
LEAST_FEATURES = 3
"""Features of a ranking below which `leak_sign` does not apply."""
NUMBERS = ("lowess_r2", "auc", "spearman", "pca")
"""Methods for numeric columns only."""
DEFINED_FOR = {
    **dict.fromkeys(
        ("lowess_r2", "anova", "auc", "spearman", "pca", "mrmr", "relieff"),
        "columns that vary and lack no value",
    ),
    "gradient_sensitivity": (
        "numbers, not true and false, that vary and lack no value"
    ),
    "t_statistic": (
        "features of the model without an interaction with others, whose coefficients "
        "the training rows decide"
    ),
    "standardised_coefficient": "features without an interaction with others",
    "raw_weights": "features with one term, which is no interaction with others",
    "olden": "features that the network reads in one column",
    "firm auto": "numbers, and categories of at most n_bins levels",
    "firm binary": "columns of two values that lack no value",
    "firm binned": "numbers",
    "firm linear": "numbers that lack no value",
    "firm lowess": "numbers that lack no value",
    "firm gaussian": (
        "single columns of numbers, not true and false, that vary and lack no value"
    ),
    "firm signs": "single columns of -1 and 1",
}
"""The features that each method, or estimator of FIRM, is defined for, for messages."""


def unmeasured(importance: Importance, data: Dataset, **_: Any) -> Seen:
    """Fire if some features have no importance.

    It is a note if the reason is known for each: the feature is constant, the method is
    not defined for it, or models are refitted and none is given its columns.
    """
    missing = [
        name
        for name, mean in zip(importance.features, importance.mean, strict=True)
        if np.isnan(mean)
    ]
    columns = dict(zip(importance.features, importance.columns, strict=True))
    unread = set(data.unread) if METHODS[importance.method].asks == "refit" else set()
    broken = undefined(importance, data)
    outside = {name for names in broken.values() for name in names}
    constant = {name for name in missing if is_constant(data, columns[name])}
    expected = all(
        name in outside | constant or set(columns[name]) <= unread for name in missing
    )
    why = " ".join(
        f"{importance.method!r} is defined only for {rule}, not for {listed(names)}."
        for rule, names in broken.items()
    )
    return Seen(
        bool(missing),
        len(missing),
        f"No importance could be computed for {listed(missing)}. "
        f"{'It is' if len(missing) == 1 else 'They are'} shown without a rank. "
        f"{why}".rstrip(),
        severity="info" if expected else "warning",
        remedy=(
            "Use another method for them."
            if outside.issuperset(missing)
            else "Look for constant columns, infinite losses, unknown levels and "
            "columns that no model is given."
        ),
        evidence={"features": len(missing)},
        cause=(
            cause_of("constant_column", data.name)
            if constant.issuperset(missing)
            else cause_of("unmeasured", question(importance))
        ),
    )


def constant_feature(
    importance: Importance, data: Dataset, limits: Limits, **_: Any
) -> Seen | None:
    """Fire if the permuted loss of a constant column differs from the baseline.

    Differences within rounding are ignored: SAGE sums losses in another order, and R
    sums means of losses.
    """
    constant = [
        n for n, columns in enumerate(importance.columns) if is_constant(data, columns)
    ]
    # vip compares the loss of a subsample with the baseline of all rows.
    subsampled = importance.options.get("n_rows") is not None
    has_other_baseline = subsampled and importance.stream == "vip-0.4"
    if not constant or not _permutes(importance) or has_other_baseline:
        return None
    names = listed(importance.features[n] for n in constant)
    gaps = np.abs(importance.raw - importance.baseline)[constant]
    off = float(np.nanmax(gaps, initial=0.0))
    losses = np.abs(np.append(importance.raw, importance.baseline))
    rounding = float(limits["prediction_gap"].value) * np.nanmax(losses, initial=0.0)
    off = off if off > rounding else 0.0
    return Seen(
        off != 0,
        off,
        f"{names} {'is' if len(constant) == 1 else 'are'} constant, but the permuted "
        f"loss differs from the baseline by {off:.2g}. Permuting a constant column "
        "changes no loss.",
        evidence={"features": len(constant), "off": off},
    )


def unbounded(importance: Importance, limits: Limits, **_: Any) -> Seen | None:
    """Fire if losses are infinite, or if ratios have a baseline of almost zero.

    Such values are shown and ranked, but their order means little. The check is of our
    own numbers only; the agreement compares those of other engines with them.
    """
    if importance.engine != "python" or not importance.loss:
        return None
    limit, form = limits["ratio"], importance.form
    largest = float(np.nanmax(np.abs(importance.values), initial=0.0))
    highest = float(np.nanmax(np.abs(importance.raw), initial=0.0))
    baseline = float(importance.baseline.mean())
    is_infinite = np.isinf(importance.raw).any(axis=1)
    subject, message = question(importance), ""
    remedy = (
        "Use a loss that is always finite, such as brier; log losses are infinite if "
        "the observed class has probability 0."
    )
    if np.isinf(baseline):
        message = "The loss of the model before permutation is infinite."
    elif is_infinite.any():
        names = listed(importance.features[n] for n in np.flatnonzero(is_infinite))
        their = "its rank means" if is_infinite.sum() == 1 else "their ranks mean"
        subject = question_and_engine(importance)
        message = f"The loss for {names} is infinite, so {their} little."
    elif form == "ratio" and abs(baseline) * float(limit.value) < highest:
        message = (
            "The loss of the model before permutation is almost zero "
            f"({baseline:.1e}), so ratios to it mean little."
        )
        remedy = 'Use form = "difference".'
    return Seen(
        bool(message),
        largest,
        message,
        limit=limit if form == "ratio" else None,
        subject=subject,
        remedy=remedy,
        cause=cause_of("unbounded", question(importance)),
    )


def unstable(importance: Importance, **_: Any) -> Seen | None:
    """Fire if a mean is small relative to its standard deviation over trials."""
    if not trials.is_of_trials(importance) or importance.n_repeats < 2:
        return None
    is_unstable = trials.unstable(importance)
    names = [importance.features[n] for n in np.flatnonzero(is_unstable)]
    return Seen(
        bool(names),
        len(names),
        f"The importance of {listed(names)} is less than {trials.LEAST:g} standard "
        "deviations over the trials.",
        evidence={"features": len(names)},
    )


def silent_leaves(leaves: Leaves, limits: Limits, **_: Any) -> Seen | None:
    """Fire if a feature has a single value in most leaves, which say nothing of it."""
    if not leaves:
        return None
    limit = float(limits["silent_leaves"].value)
    shares = {name: ignored / total for name, (ignored, total) in leaves.items()}
    above = [name for name, share in shares.items() if share > limit]
    counts = ", ".join(
        f"{quote(name)} in {leaves[name][0]} of {leaves[name][1]}" for name in above
    )
    largest = max(shares.values())
    return Seen(
        bool(above),
        largest,
        f"In more than {limit:.0%} of the leaves over all trials the feature has a "
        f"single value, so these leaves say nothing about it: {counts}.",
        evidence={"features": len(above), "share": largest},
    )


def event_level(
    importance: Importance, error: float, limits: Limits, **_: Any
) -> Seen | None:
    """Fire if the largest change of the loss by permuting is a fall, beyond chance.

    If no feature has an effect, the largest change is a fall in half of the cases, but
    hardly larger than `error`, the standard error of the loss over other rows.
    """
    rise = replace(importance, form="difference", aggregator="mean").mean
    has_baseline = bool(np.isfinite(importance.baseline).all())
    if not _permutes(importance) or np.isnan(rise).all() or not has_baseline:
        return None
    strongest = int(np.nanargmax(np.abs(rise)))
    observed = float(rise[strongest])
    n_errors, set_by = limits["standard_errors"]
    n_rows = importance.options.get("n_rows") or importance.n_samples
    least = -float(n_errors) * error * np.sqrt(importance.n_samples / n_rows)
    return Seen(
        None if np.isnan(least) else bool(observed < least),
        observed,
        f"Permuting {quote(importance.features[strongest])} changes the loss most, and "
        f"lowers it, by {-observed:.3g}: more than {n_errors:g} standard errors of the "
        f"loss, {-least:.2g}.",
        limit=Limit(least, set_by),
        evidence={"rise": observed},
        cause=cause_of("event_level", question(importance)),
    )


def negative_importance(
    importance: Importance, rows: Sequence[Row], **_: Any
) -> Seen | None:
    """Fire if shuffling a feature improves a model beyond chance over other rows.

    It is a note if an interval over other rows lies below the null value, which happens
    by chance for one of 40 features without effect. It is a warning if the interval
    still does after a Bonferroni correction for the features of the ranking.
    """
    if importance.form not in ("difference", "ratio"):
        return None  # only these have a fixed null value
    nothing = null_value_of(importance)
    by_name = {row["feature"]: row for row in rows if row["route"]}
    if not by_name:
        return None
    below = [name for name, row in by_name.items() if row["high"] < nothing]
    quantile = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / len(by_name))
    means = dict(zip(importance.features, importance.mean, strict=True))
    is_sure = any(
        means[name] + quantile * by_name[name]["std_error"] < nothing for name in below
    )
    one = len(below) == 1
    return Seen(
        bool(below),
        len(below),
        f"Shuffling {listed(below)} improves the model on these rows: the {LEVEL:.0%} "
        f"{'interval' if one else 'intervals'} over resampled rows "
        f"{'lies' if one else 'lie'} entirely below {nothing:g}.",
        severity="warning" if is_sure else "info",
        remedy=(
            f"Refit the model without {'it' if one else 'them'}, and compare the two "
            "on rows that neither has seen."
        ),
        evidence={"features": len(below)},
        cause=cause_of("negative_importance", importance.model, *sorted(below)),
    )


def leak_sign(importance: Importance, constant: float, limits: Limits) -> Seen | None:
    """Note a feature with nearly all importance in a nearly perfect model.

    A column that becomes known only with the target is such a feature. So is the cause
    in a law of nature, and a feature of few tables without a leak, counted in
    `tests/benchmarks/leak_sign.py`.
    """
    raw = replace(importance, form="difference", aggregator="mean").mean
    rise = np.where(raw > 0, raw, 0.0)  # NaN, not measured, adds nothing either
    loss = float(importance.baseline.mean())
    is_judged = np.isfinite([rise.sum(), loss, constant]).all()
    if len(rise) < LEAST_FEATURES or not is_judged or constant <= 0 or not rise.any():
        return None
    share_of_loss = loss / constant
    if importance.unit == "y":  # a root mean square or an absolute error
        share_of_loss *= share_of_loss
    if share_of_loss >= LITTLE_LOSS:
        return Seen(False, f"loss {loss / constant:.0%} of the constant's")
    first = int(rise.argmax())
    share = float(rise[first] / rise.sum())
    return Seen(
        share >= float(limits["leak_sign"].value),
        share,
        f"{quote(importance.features[first])} has {share:.1%} of all positive "
        f"importance, and the loss of the model is {loss / constant:.1%} of that of "
        "the constant predictor: the feature may hold what becomes known only with "
        "the target.",
        evidence={"share": share, "loss": loss, "constant": constant},
        measure=importance.features[first],
        cause=cause_of("leak_sign", importance.features[first]),
    )


def _permutes(importance: Importance) -> bool:
    """Return whether the numbers are losses of one model on permuted rows."""
    return bool(importance.loss) and METHODS[importance.method].asks == "predict"


def question(importance: Importance) -> str:
    """Return the model, method, unit of permutation, loss and class, for the reader."""
    parts = (importance.model, importance.method, importance.of, importance.loss)
    return ", ".join(part for part in (*parts, importance.positive_class) if part)


def question_and_engine(importance: Importance) -> str:
    """Return the `question` of an importance, its stream and its engine."""
    draws = f", {importance.stream} draws" if importance.stream else ""
    return f"{question(importance)}: {importance.engine}{draws}"


def undefined(importance: Importance, data: Dataset) -> dict[str, tuple[str, ...]]:
    """Return the features that a method is not defined for, by its rule.

    For example, categories with method `spearman`, by the rule "numeric columns".
    """
    method = importance.method
    estimator = importance.options.get("estimator")
    kind = f"firm {estimator}" if method in ("firm", "firm_labels") else method
    undefined_for: dict[str, tuple[str, ...]] = {}
    for name, columns, mean in zip(
        importance.features, importance.columns, importance.mean, strict=True
    ):
        rule, is_numeric = "", not is_category(data.X[columns[0]])
        if method in NUMBERS and not is_numeric:
            rule = "numeric columns"
        elif method == "anova" and is_numeric == (data.task == "regression"):
            rule = (
                "categories with a numeric target"
                if is_numeric
                else "numeric columns with a target of classes"
            )
        elif np.isnan(mean) and not is_constant(data, columns):
            rule = DEFINED_FOR.get(kind, "")
        if rule:
            undefined_for[rule] = (*undefined_for.get(rule, ()), name)
    return undefined_for
