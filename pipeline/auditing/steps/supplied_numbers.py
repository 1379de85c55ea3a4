"""What a supplied file holds, as an engine's answer. Not: whether it is believed."""

import csv
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from importance_audit.r_bridge import handoff
from importance_audit.r_bridge.errors import (
    RBridgeError,
    RDied,
    RError,
    RTimeout,
    RUnavailable,
)

from ...config.questions import SuppliedSection
from ...engines.dalex import FULL, Y_PERMUTED
from ...records.cells import unescaped
from ...records.dataset_and_model import Floats
from ...records.errors import DataError, quote, words

SAME = 1e-9
"""Of the largest number: means of the same repeats, computed by two programmes."""

COLUMNS = "the columns 'feature', 'value' and 'repeat'"
AS_THEY_ARE = (
    "What DALEX's model_parts or vip's vi returns is read as R's write.csv writes it"
)
OF_DALEX = ("variable", "permutation", "dropout_loss")
OF_VIP = ("Variable", "Importance")
"""The columns by which a table is known as what a package returns."""


class Numbers(NamedTuple):
    """An importance as it was supplied.

    Attributes
    ----------
    features : tuple of str
    raw : ndarray of shape (n_features, n_repeats)
    baseline : ndarray of shape (n_repeats,)
        What a feature that does not matter measures.
    aggregator : {"mean", "pooled"}
    has_losses : bool
        Whether these are losses, of which every form can be made.
    knows_full : bool
        Whether differences of DALEX are held against the loss of their own round.
    is_means : bool
        Whether the one number of a feature is the mean over all repeats.
    """

    features: tuple[str, ...]
    raw: Floats
    baseline: Floats
    aggregator: str = "mean"
    has_losses: bool = False
    knows_full: bool = True
    is_means: bool = False


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
    lacks = "it has not" if FULL in first else f"it has no row {quote(FULL)}"
    _require(entry, "have one loss per variable and round", "" if whole else lacks)
    losses = np.array([table[key][0] for key in keys]).reshape(-1, len(numbers))
    size = float(np.abs(losses[np.isfinite(losses)]).max(initial=0.0))
    form = _form_of_parts(entry, float(losses[-1].mean()), size)
    if form == "difference":  # of the mean over the rounds: of each its own
        return _finished(entry, features, losses[:-1] - losses[-1])
    if form == "ratio":  # of that mean already
        return _finished(entry, features, losses[:-1])
    return Numbers(features, losses[:-1], losses[-1], "pooled", has_losses=True)


def _form_of_parts(entry: SuppliedSection, full: float, size: float) -> str:
    """Return which `type` DALEX was asked for, which its full model tells.

    Of raw losses every form follows; a difference or a ratio must be what is said.
    """
    if entry.form not in ("difference", "ratio"):
        return "raw"
    places = {"difference": 0.0, "ratio": 1.0}
    forms = [name for name, at in places.items() if abs(full - at) <= SAME * size]
    form = forms[0] if forms else "raw"
    if form not in ("raw", entry.form):
        remedy = (
            'Set form = "ratio" if type = "ratio" was asked for, else form = "raw"'
            if form == "ratio"
            else 'Supply what type = "raw" returns, of which every form follows'
        )
        raise DataError(
            f"[[supplied]] {quote(entry.file)} must be shown as a {entry.form}, as "
            f"`form` says; {FULL} is at {full:.6g}. {remedy}."
        )
    return form


def _from_csv(entry: SuppliedSection, path: Path) -> Numbers:
    """Return a table: tidy, or as DALEX's or vip's own is written."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            header, rows = table.fieldnames or (), list(table)
        if set(OF_DALEX) <= {*header}:
            _require_package(entry, "DALEX")
            return _from_parts(entry, _parts_in(entry, rows))
        if set(OF_VIP) <= {*header}:
            _require_package(entry, "vip")
            return _from_vip_table(entry, rows)
        _require_columns(entry, header)
        return _from_tidy(entry, rows)
    except (TypeError, ValueError, csv.Error) as error:
        raise DataError(
            f"[[supplied]] {quote(entry.file)} must be a table with {COLUMNS}; it "
            f"cannot be read: {error}."
        ) from error


def _parts_in(
    entry: SuppliedSection, rows: Sequence[Mapping[str, str]]
) -> dict[str, list[Any]]:
    """Return the columns of DALEX's table as R hands over those of its object."""
    n_models = len({row.get("label") for row in rows})
    _require(entry, "be about one model", f"it has {n_models}" if n_models > 1 else "")
    return {
        "feature": [row["variable"] for row in rows],
        "round": [float(row["permutation"]) for row in rows],
        "value": [_number_in(row["dropout_loss"]) for row in rows],
    }


def _from_vip_table(
    entry: SuppliedSection, rows: Sequence[Mapping[str, str]]
) -> Numbers:
    """Return the table of a `vi`: of several repeats it has the means alone."""
    means = np.array([[_number_in(row["Importance"])] for row in rows])
    features = tuple(row["Variable"] for row in rows)
    is_means = bool(rows) and "StDev" in rows[0]
    return _finished(entry, features, means)._replace(is_means=is_means)


def _number_in(text: str) -> float:
    """Return a number as R writes it; what is missing is NaN."""
    return float("nan" if text == "NA" else text)


def _from_tidy(entry: SuppliedSection, rows: Sequence[Mapping[str, str]]) -> Numbers:
    """Return a tidy table: feature, value, and repeat if there are several."""
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
    features = tuple(dict.fromkeys(feature for feature, _ in values))
    repeats = sorted({repeat for _, repeat in values})
    whole = len(values) == len(features) * len(repeats)
    _require(
        entry, "have every repeat of every feature", "" if whole else "some are missing"
    )
    raw = [[values[feature, repeat] for repeat in repeats] for feature in features]
    return _finished(entry, features, np.array(raw))._replace(knows_full=False)


def _require_package(entry: SuppliedSection, package: str) -> None:
    finding = "" if entry.package == package else f"it is a table of {package}"
    _require(entry, f"hold what {entry.package} returns, as `package` says", finding)


def _require_columns(entry: SuppliedSection, header: Collection[str]) -> None:
    """Refuse a table without the columns that every one needs."""
    for name in ("feature", "value"):
        lacks = f"it has no {quote(name)}. {AS_THEY_ARE}"
        finding = "" if name in header else lacks
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
        if n_expected not in (None, n_repeats) and not numbers.is_means
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
