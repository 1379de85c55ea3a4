"""Replay of a stored run: recomputation and comparison of all numbers. Reads only.

Not: the digests of the folder (`verify`), or the meaning of a difference (`diff`).
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RUnavailable

from ..auditing.audit import audit
from ..auditing.limits import limited
from ..config.load import AuditConfig, load_config
from ..data.datasets import datasets_frame, read_datasets
from ..records.as_json import NOT_FINITE, to_dict
from ..records.asker import FILE, asked_by
from ..records.errors import DataError, quote
from ..records.result import AuditResult
from ..records.stacks import FLOOR, OTHER_STACK, SAME_STACK, changes
from ..runs.baseline.drift import AGAINST_BASELINE, ROWS
from ..runs.folder import load_run
from ..runs.signoff import answers

SHOWN = 5
LATER = {
    *("pdf_failed", "uncovered_names", "clock_went_back"),
    *(*answers.LATER, *AGAINST_BASELINE),
}
"""Checks after the audit, on baseline, answers, report and clock; not replayed."""
PROSE = {"message", "remedy", "reason", "observed", "engine_version"}
"""Keys of texts with numbers or versions, compared only on the same stack."""


UNCHECKED = (
    "not checked: the files and sign-offs of the run (verify without --replay), what "
    "the pages of its report show, and who signed"
)


class Difference(NamedTuple):
    """One value that differs in the replay.

    Attributes
    ----------
    path : str
        Its path in result.json.
    stored, now : str
    """

    path: str
    stored: str
    now: str


class Replay(NamedTuple):
    """The outcome of a replay.

    Attributes
    ----------
    n_numbers : int
        Number of compared numbers; 0 if the rows differ, so that nothing was measured.
    n_equal : int
        Number of those that are equal bit by bit.
    tolerance : float
        The relative difference that was allowed.
    other : tuple of str
        Parts of the software stack with another version: name, stored and present.
    differences : tuple of Difference
        Values beyond the tolerance, in the order of result.json.
    unchecked : str
        What a replay never checks, in one line.
    """

    n_numbers: int
    n_equal: int
    tolerance: float
    other: tuple[str, ...]
    differences: tuple[Difference, ...]
    unchecked: str = UNCHECKED

    @property
    def is_mismatch(self) -> bool:
        """Whether a value is beyond the tolerance."""
        return bool(self.differences)

    def lines(self) -> tuple[str, ...]:
        """Return the stack, the tolerance, the first differences and the outcome."""
        stack = "other stack: " + "; ".join(self.other) if self.other else "same stack"
        allowed = (
            f"tolerance: {self.tolerance:g} relative, or {self.tolerance * FLOOR:g} of "
            "the largest number in the same array; NaN equals NaN"
        )
        difference_lines = [
            f"{path}: stored {old}, now {new}" for path, old, new in self.differences
        ]
        if not self.n_numbers:
            outcome = "the rows are not those of the run, so nothing was measured again"
            return (*difference_lines, f"mismatch: {outcome}")
        more = len(difference_lines) - SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        n, n_unequal = self.n_numbers, self.n_numbers - self.n_equal
        outcome = f"within tolerance: {n_unequal} of {n} numbers are not equal"
        if self.differences:
            outcome = f"mismatch: {len(self.differences)} of {n} values"
        elif not n_unequal:
            outcome = f"match: {n} numbers, all equal"
        return (stack, allowed, *difference_lines[:SHOWN], *rest, outcome)


def replay(
    folder: Path, on_step: Callable[[int, int, str], None] | None = None
) -> Replay:
    """Repeat the audit of a run, and compare every number of its result.

    The configuration is the audit.toml of the run; data, scripts and models are those
    in the folder of the audit, two levels up.

    Parameters
    ----------
    folder : Path
        A run folder.
    on_step : callable, optional
        Called at each step.

    Raises
    ------
    AuditError
        If the run, its configuration or its data cannot be read.
    RUnavailable
        If the run used R and it, or one of its packages, is missing.
    """
    folder = folder.resolve()
    stored_result = load_run(folder)
    config = _config(folder, stored_result)
    _check_r(stored_result.run.versions)
    asker = str(stored_result.run.volatile.get("asked_by", FILE))
    session = host.session(r_seconds=config.r.seconds, r_memory_gb=config.r.memory_gb)
    with asked_by(asker), session:
        train, test = read_datasets(**config.data_arguments)
        _, audited, _ = limited(config, test)
        stored, read = stored_result.datasets, datasets_frame(train, audited)
        digests = zip(stored["split"], stored["sha256"], read["sha256"], strict=True)
        other = tuple(
            Difference(f"SHA-256 of the {ROWS.get(split, 'rows')}", old, new)
            for split, old, new in digests
            if old != new
        )
        if other:
            return Replay(0, 0, SAME_STACK, (), other)
        now = audit(train, test, config, on_step=on_step, minutes=math.inf)
    if now.run.status != "complete":
        raise KeyboardInterrupt
    return compare(stored_result, now)


def _config(folder: Path, stored_result: AuditResult) -> AuditConfig:
    """Return the configuration of a run; files are relative to the audit's folder."""
    if stored_result.run.status != "complete":
        raise DataError(
            f"{folder} must hold a complete run to be replayed; it is "
            f"{stored_result.run.status}."
        )
    if any(finding.check == "time_limit" for finding in stored_result.findings):
        raise DataError(
            f"{folder} cannot be replayed: it reached its time limit, which stops "
            "every run at a different point. Replay a run with a longer limit."
        )
    config = load_config(folder / "audit.toml", base=folder.parents[1])
    return replace(config, audit=stored_result.run.audit)


def _check_r(versions: Mapping[str, str]) -> None:
    """Raise if R, or a package of R that the run had, is missing."""
    if "R" not in versions:
        return
    r_facts = host.installed()
    if r_facts["reason"]:
        raise RUnavailable(
            f"The run used R, which is not available: {r_facts['reason'].rstrip('.')}."
        )
    had = [name.removesuffix(" (R)") for name in versions if name.endswith(" (R)")]
    lacks = [name for name in had if name not in r_facts["packages"]]
    if lacks:
        raise RUnavailable(
            f"R package {quote(lacks[0])}, which the run had, is not installed in R "
            f"{r_facts['r_version']}."
        )


def compare(stored_result: AuditResult, now: AuditResult) -> Replay:
    """Return the comparison of two results, with the tolerance of their stacks.

    Two numbers agree if they differ by at most the tolerance times the larger of the
    two, or `FLOOR` times the tolerance times the largest number in their array.
    """
    other = tuple(changes(stored_result.run, now.run))
    tolerance = OTHER_STACK if other else SAME_STACK
    are_equal: list[bool] = []  # for each number
    differences: list[Difference] = []

    def differ(path: str, old: Any, new: Any) -> None:
        differences.append(Difference(path, _short(old), _short(new)))

    def walk(path: str, old: Any, new: Any, scale: float = 0.0) -> None:
        """Compare two values; `scale` is the largest number of their array."""
        if isinstance(old, dict) and isinstance(new, dict):
            for name in dict.fromkeys((*old, *new)):
                place = f"{path}.{name}" if path else name
                if name in PROSE and other:
                    continue
                if name in old and name in new:
                    walk(place, old[name], new[name])
                else:
                    differ(place, old.get(name), new.get(name))
        elif isinstance(old, list) and isinstance(new, list):
            if len(old) != len(new):
                differ(path, f"{len(old)} items", f"{len(new)} items")
                return
            scale = scale or _largest(old)
            for at, (one, another) in enumerate(zip(old, new, strict=True)):
                walk(f"{path}[{at}]", one, another, scale)
        elif _is_number(old) and _is_number(new):
            first, second = float(old), float(new)
            both_nan = math.isnan(first) and math.isnan(second)
            are_equal.append(first == second or both_nan)
            allowed = max(abs(first), abs(second), FLOOR * scale) * tolerance
            is_near = abs(first - second) <= allowed and math.isfinite(allowed)
            if not (are_equal[-1] or is_near):
                differ(path, old, new)
        elif old != new:
            differ(path, old, new)

    walk("", _outcome_of(stored_result), _outcome_of(now))
    n_equal = sum(are_equal)
    return Replay(len(are_equal), n_equal, tolerance, other, tuple(differences))


def _outcome_of(result: AuditResult) -> dict[str, Any]:
    """Return a result as a dict, without parts that do not follow from the audit."""
    document = json.loads(json.dumps(to_dict(result)))
    document.pop("answers", None)
    for name in ("volatile", "versions", "environment"):
        del document["run"][name]
    document["run"]["config"].pop("files", None)  # files of pages affect no number
    document["findings"] = [f for f in document["findings"] if f["check"] not in LATER]
    for name, part in document.items():
        if isinstance(part, dict) and "columns" in part:
            document[name] = {c["name"]: c["values"] for c in part["columns"]}
    is_outcome = [name not in LATER for name in document["checks"].get("check", ())]
    for name, values in document["checks"].items():
        document["checks"][name] = list(compress(values, is_outcome))
    return document


def _is_number(value: Any) -> bool:
    is_plain = isinstance(value, int | float) and not isinstance(value, bool)
    return is_plain or value in NOT_FINITE


def _largest(values: Any) -> float:
    """Return the largest finite absolute value of the numbers in nested lists."""
    if isinstance(values, list):
        return max(map(_largest, values), default=0.0)
    is_finite = _is_number(values) and math.isfinite(float(values))
    return abs(float(values)) if is_finite else 0.0


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
