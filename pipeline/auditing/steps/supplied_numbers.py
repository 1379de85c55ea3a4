"""What a supplied file holds, as an engine's answer. Not: whether it is believed."""

import csv
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from importance_audit.r_bridge import handoff
from importance_audit.r_bridge.dalex import FULL, Y_PERMUTED
from importance_audit.r_bridge.errors import (
    RBridgeError,
    RDied,
    RError,
    RTimeout,
    RUnavailable,
)

from ...config.questions import SuppliedSection
from ...records.cells import unescaped
from ...records.dataset_and_model import Floats
from ...records.errors import DataError, quote, words

SAME = 1e-9
"""Of the largest number: means of the same repeats, computed by two programmes."""

COLUMNS = "the columns 'feature', 'value' and 'repeat'"


class Numbers(NamedTuple):
    """An importance as it was supplied.

    Attributes
    ----------
    features : tuple of str
    raw : ndarray of shape (n_features, n_repeats)
    baseline : ndarray of shape (n_repeats,)
        What a feature that does not matter measures.
    aggregator : {"mean", "pooled"}
    """

    features: tuple[str, ...]
    raw: Floats
    baseline: Floats
    aggregator: str = "mean"


Curves = Mapping[str, tuple[npt.NDArray[Any], Floats]]
"""By feature, the points and the values of a profile."""


def numbers_of(entry: SuppliedSection, base: Path) -> Numbers | Curves:
    """Return the importance or the curves in a file.

    Parameters
    ----------
    entry : SuppliedSection
        The file, and what it is said to hold.
    base : Path
        The folder that relative files start from.

    Raises
    ------
    DataError
        If it holds something else, or R cannot read it.
    importance_audit.r_bridge.errors.RUnavailable
        If R cannot be asked.
    """
    path = base / entry.file
    if path.suffix == ".csv":
        return _checked(entry, _from_csv(entry, path))
    content = _object_in(entry, path)
    if content["kind"] == "profile":
        return _curves(entry, content)
    of_kind = {"vi": _from_vi, "parts": _from_parts}
    return _checked(entry, of_kind[content["kind"]](entry, content))


def _object_in(entry: SuppliedSection, path: Path) -> dict[str, Any]:
    """Return what R reads in an .rds file; its owner can mend what stops R."""
    subject = f"[[supplied]] {quote(entry.file)}"
    try:
        return handoff.read(path, subject=subject)
    except RUnavailable:
        raise
    except (RError, RTimeout, RDied) as error:
        raise DataError(f"{subject} cannot be read by R: {words(error)}") from error
    except RBridgeError as error:
        raise DataError(str(error)) from error


def _from_vi(entry: SuppliedSection, content: Mapping[str, Any]) -> Numbers:
    """Return the raw scores of vip, which are finished values."""
    values = np.asarray(content["values"], dtype=np.float64)
    means = np.asarray(content["importance"], dtype=np.float64)
    size = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        apart = np.abs(values.mean(axis=1) - means)
    _require(
        entry,
        "hold importances that are means of its raw scores",
        "they were scaled or ranked" if (apart > SAME * size).any() else "",
    )
    return _finished(entry, tuple(map(str, content["feature"])), values)


def _from_parts(entry: SuppliedSection, content: Mapping[str, Any]) -> Numbers:
    """Return the losses of DALEX by round, each held against that of the same round."""
    rounds = np.asarray(content["round"], dtype=np.int64)
    names = np.array(list(map(str, content["feature"])), dtype=object)
    values = np.asarray(content["value"], dtype=np.float64)
    numbers = np.unique(rounds[rounds > 0]) if (rounds > 0).any() else np.array([0])
    # In the order of a round, but for a single one, which is sorted.
    first = names[rounds == numbers[0]].tolist()
    features = tuple(n for n in first if n not in (FULL, Y_PERMUTED))
    table: dict[tuple[str, int], list[float]] = {}
    for name, number, value in zip(names, rounds, values, strict=True):
        if number in numbers:
            table.setdefault((name, int(number)), []).append(float(value))
    keys = [(name, int(n)) for name in (*features, FULL) for n in numbers]
    whole = all(len(table.get(key, ())) == 1 for key in keys)
    _require(
        entry, "have one loss per variable and round", "" if whole else "it has not"
    )
    losses = np.array([table[key][0] for key in keys]).reshape(-1, len(numbers))
    _require_form(entry, float(losses[-1].mean()), np.abs(losses).max(initial=0.0))
    if entry.form == "difference":  # of the mean over the rounds: of each its own
        return _finished(entry, features, losses[:-1] - losses[-1])
    if entry.form == "ratio":  # of that mean already
        return _finished(entry, features, losses[:-1])
    return Numbers(features, losses[:-1], losses[-1], "pooled")


def _require_form(entry: SuppliedSection, full: float, size: float) -> None:
    """Refuse an object whose full model is not where its form has it."""
    at = {"difference": 0.0, "ratio": 1.0}.get(str(entry.form))
    if at is None:
        return
    _require(
        entry,
        f"be shown as a {entry.form}, as `form` says",
        "" if abs(full - at) <= SAME * max(size, 1.0) else f"{FULL} is at {full:.6g}",
    )


def _from_csv(entry: SuppliedSection, path: Path) -> Numbers:
    """Return a tidy table: feature, value, and repeat if there are several."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            header, rows = table.fieldnames or (), list(table)
        _require_columns(entry, header)
        _require(entry, "have a row", "" if rows else "it has none")
        values = {}
        for row in rows:
            key = (unescaped(row["feature"]), int(row.get("repeat") or 1))
            _require(
                entry,
                "have one row per feature and repeat",
                f"{quote(key[0])} has two" if key in values else "",
            )
            values[key] = float(row["value"])
    except (TypeError, ValueError, csv.Error) as error:
        raise DataError(
            f"[[supplied]] {quote(entry.file)} must be a table with {COLUMNS}; it "
            f"cannot be read: {error}."
        ) from error
    features = tuple(dict.fromkeys(feature for feature, _ in values))
    repeats = sorted({repeat for _, repeat in values})
    whole = len(values) == len(features) * len(repeats)
    _require(
        entry, "have every repeat of every feature", "" if whole else "some are missing"
    )
    raw = [[values[feature, repeat] for repeat in repeats] for feature in features]
    return _finished(entry, features, np.array(raw))


def _require_columns(entry: SuppliedSection, header: Collection[str]) -> None:
    """Refuse a table without the columns that every one needs."""
    for name in ("feature", "value"):
        finding = "" if name in header else f"it has no {quote(name)}"
        _require(entry, f"be a table with {COLUMNS}", finding)


def _finished(
    entry: SuppliedSection, features: tuple[str, ...], values: Floats
) -> Numbers:
    nothing = 1.0 if entry.form == "ratio" else 0.0
    aggregator = "pooled" if entry.package == "DALEX" else "mean"
    return Numbers(features, values, np.full(values.shape[1], nothing), aggregator)


def _checked(entry: SuppliedSection, numbers: Numbers) -> Numbers:
    """Return an importance with a feature once, and the repeats that were said."""
    twice = len(set(numbers.features)) < len(numbers.features)
    _require(entry, "name each feature once", "one is given twice" if twice else "")
    n_expected, n_repeats = entry.options.get("n_repeats"), numbers.raw.shape[1]
    _require(
        entry,
        f"have the {n_expected} repeats that n_repeats says",
        f"it has {n_repeats}"
        if n_expected is not None and n_expected != n_repeats
        else "",
    )
    return numbers


def _curves(entry: SuppliedSection, content: Mapping[str, Any]) -> Curves:
    """Return the profiles by feature, points in their order."""
    _require(
        entry,
        f"hold what method {entry.method!r} measures",
        ""
        if (entry.method, content["method"]) == ("partial_dependence", "partial")
        else f"it holds {content['method']} profiles",
    )
    names = np.array(list(map(str, content["feature"])), dtype=object)
    points, values = np.asarray(content["x"]), np.asarray(content["value"], np.float64)
    return MappingProxyType(
        {
            str(name): (points[names == name], values[names == name])
            for name in dict.fromkeys(names.tolist())
        }
    )


def _require(entry: SuppliedSection, rule: str, finding: str) -> None:
    if finding:
        raise DataError(f"[[supplied]] {quote(entry.file)} must {rule}; {finding}.")
