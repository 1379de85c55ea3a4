"""Numbers in a supplied file, as an engine's result. Not: whether they are accepted."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...config.questions import SuppliedSection
from ...engines.dalex import FULL, Y_PERMUTED
from ...records.cells import unescaped
from ...records.dataset_and_model import Floats
from ...records.errors import DataError, quote

SAME = 1e-9
"""Tolerance for rounding in DALEX means of 0 or 1, relative to the largest."""

COLUMNS = "the columns 'feature', 'value' and 'repeat'"


class Numbers(NamedTuple):
    """A supplied importance.

    Attributes
    ----------
    features : tuple of str
    raw : ndarray of shape (n_features, n_repeats)
    baseline : ndarray of shape (n_repeats,)
        The null value.
    aggregator : {"mean", "pooled"}
    has_losses : bool
        Whether these are losses, from which every form follows.
    knows_full : bool
        Whether differences of DALEX are relative to the loss of their own round.
    """

    features: tuple[str, ...]
    raw: Floats
    baseline: Floats
    aggregator: str = "mean"
    has_losses: bool = False
    knows_full: bool = True


Curves = Mapping[str, tuple[tuple[str, ...], Floats]]
"""By feature, the points, as text, and the values of a profile."""
Rows = Sequence[Mapping[str, str]]


def numbers_of(entry: SuppliedSection, base: Path) -> Numbers | Curves:
    """Return the importance or the curves in a file.

    Parameters
    ----------
    entry : SuppliedSection
        The file, and the description of its content.
    base : Path
        The folder that relative paths start from.

    Raises
    ------
    DataError
        If its content differs from the description.
    """
    try:
        with (base / entry.file).open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            header, rows = {*(table.fieldnames or ())}, list(table)
        if {"feature", "x", "value"} <= header:
            return _curves(entry, rows)
        numbers = _importance(entry, header, rows)
        n_expected, n_repeats = entry.options.get("n_repeats"), numbers.raw.shape[1]
        rule = f"have the {n_expected} repeats that n_repeats says"
        _require(entry, n_expected in (None, n_repeats), rule, f"it has {n_repeats}")
        return numbers
    except (TypeError, ValueError, csv.Error) as error:
        raise DataError(
            f"[[supplied]] {quote(entry.file)} must be a table with {COLUMNS}; it "
            f"cannot be read: {error}."
        ) from error


def _curves(entry: SuppliedSection, rows: Rows) -> Curves:
    """Return the profiles by feature, points in the order of the file."""
    fits = entry.method == "partial_dependence"
    rule = f"hold what method {entry.method!r} measures"
    _require(entry, fits, rule, "it holds partial profiles")
    _require(entry, bool(rows), "have a row", "it has none")
    curves: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        point = (unescaped(row["x"]), _number_in(row["value"]))
        curves.setdefault(unescaped(row["feature"]), []).append(point)
    return {
        feature: (tuple(x for x, _ in points), np.array([value for _, value in points]))
        for feature, points in curves.items()
    }


def _importance(entry: SuppliedSection, header: set[str], rows: Rows) -> Numbers:
    """Return the values, or losses of DALEX, in a table per feature and repeat."""
    for name in ("feature", "value"):
        finding = f"it has no {quote(name)}. The R function write_importance writes one"
        _require(entry, name in header, f"be a table with {COLUMNS}", finding)
    _require(entry, bool(rows), "have a row", "it has none")
    values: dict[tuple[str, float], float] = {}
    for row in rows:
        feature = unescaped(row["feature"])
        key = (feature, float(row.get("repeat") or 1))
        rule = "have one row per feature and repeat"
        _require(entry, key not in values, rule, f"{quote(feature)} has two")
        values[key] = _number_in(row["value"])
    names = list(dict.fromkeys(name for name, _ in values))
    has_losses = FULL in names
    if has_losses:
        rule = f"hold what {entry.package} returns, as `package` says"
        _require(entry, entry.package == "DALEX", rule, "it is of DALEX")
        names = [*(n for n in names if n not in (FULL, Y_PERMUTED)), FULL]
    repeats = sorted({repeat for _, repeat in values})
    is_whole = all((name, repeat) in values for name in names for repeat in repeats)
    _require(entry, is_whole, "have every repeat of every feature", "some are missing")
    table = np.array([[values[name, n] for n in repeats] for name in names])
    if has_losses:
        return _of_losses(entry, tuple(names[:-1]), table[:-1], table[-1])
    return _finished(entry, tuple(names), table)._replace(knows_full=False)


def _of_losses(
    entry: SuppliedSection, features: tuple[str, ...], losses: Floats, full: Floats
) -> Numbers:
    """Return the losses of DALEX by round, relative to the full model of the round.

    The loss of the full model shows which `type` was used.
    """
    everything = np.vstack([losses, full])
    size = float(np.abs(everything[np.isfinite(everything)]).max(initial=0.0))
    form, mean = "raw", float(full.mean())
    if entry.form in ("difference", "ratio"):  # every form follows from raw losses
        places = {"difference": 0.0, "ratio": 1.0}
        forms = [name for name, at in places.items() if abs(mean - at) <= SAME * size]
        form = forms[0] if forms else "raw"
    if form not in ("raw", entry.form):
        remedy = (
            'Set form = "ratio" if type = "ratio" was asked for, else form = "raw"'
            if form == "ratio"
            else 'Supply what type = "raw" returns, of which every form follows'
        )
        raise DataError(
            f"[[supplied]] {quote(entry.file)} must be shown as a {entry.form}, as "
            f"`form` says; {FULL} is at {mean:.6g}. {remedy}."
        )
    if form == "difference":  # from relative to the mean, to relative to each round
        return _finished(entry, features, losses - full)
    if form == "ratio":  # relative to the mean already
        return _finished(entry, features, losses)
    return Numbers(features, losses, full, "pooled", has_losses=True)


def _number_in(text: str) -> float:
    """Return a number written by R; "NA" is NaN."""
    return float("nan" if text == "NA" else text)


def _finished(
    entry: SuppliedSection, features: tuple[str, ...], values: Floats
) -> Numbers:
    nothing = 1.0 if entry.form == "ratio" else 0.0
    aggregator = "pooled" if entry.package == "DALEX" else "mean"
    return Numbers(features, values, np.full(values.shape[1], nothing), aggregator)


def _require(entry: SuppliedSection, holds: bool, rule: str, finding: str) -> None:
    if not holds:
        raise DataError(f"[[supplied]] {quote(entry.file)} must {rule}; {finding}.")
