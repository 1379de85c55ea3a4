"""The result of an audit and its run: the only thing saved, rendered and compared."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from .errors import quote
from .finding import SEVERITIES, Finding, by_cause
from .frames import FRAMES
from .frozen import Frozen
from .importance_record import Effect, Importance
from .ranking import Interval, shown_interval
from .surface_record import Surface

SCHEMA_VERSION = "2.0"


def run_id(started: datetime, config_sha256: str, data_sha256: str) -> str:
    """Return the name of a run: its start in UTC, then a hash of its inputs.

    Names sort by time; runs with equal hashes have the same configuration and data.

    Examples
    --------
    >>> run_id(datetime(2025, 11, 20, 8, 46, tzinfo=UTC), "", "")
    '20251120T084600Z-e3b0c442'
    """
    question = hashlib.sha256(f"{config_sha256}{data_sha256}".encode()).hexdigest()
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{question[:8]}"


@dataclass(frozen=True, kw_only=True, eq=False)
class RunInfo(Frozen):
    """The circumstances of a result; every field but `volatile` is part of its digest.

    Attributes
    ----------
    audit : str
        The name of the audit.
    status : {"complete", "interrupted", "failed"}
    config : mapping
        The resolved configuration, defaults included.
    config_sha256, data_sha256 : str
    versions : mapping of str to str
        Versions of the packages in Python and R that can change a number.
    environment : mapping of str to str
        Platform, BLAS, locale, R's settings.
    volatile : mapping
        run_id, started, ended, seconds, folder, seconds by step, log, and answered_by:
        whether trees or predict computed an entry. Host and process are left to the
        audit log, because reports are passed on.
    """

    audit: str
    status: Literal["complete", "interrupted", "failed"]
    config: Mapping[str, Any]
    config_sha256: str
    data_sha256: str
    versions: Mapping[str, str]
    environment: Mapping[str, str]
    volatile: Mapping[str, Any]


@dataclass(frozen=True, init=False, eq=False)
class AuditResult(Frozen):
    """Everything an audit found: the only thing saved, rendered and compared.

    Attributes
    ----------
    run : RunInfo
    frames : mapping of str to DataFrame
        Every frame of `FRAMES`, which documents their rows, in that order. Each is an
        attribute too: ``result.stability``. `AuditResult` and `replace` take frames as
        keywords by name; frames that are not given have no rows.
    importances : tuple of Importance
    effects : tuple of Effect
    surfaces : tuple of Surface
    findings : tuple of Finding
    """

    run: RunInfo
    frames: Mapping[str, pd.DataFrame]
    importances: tuple[Importance, ...]
    effects: tuple[Effect, ...]
    surfaces: tuple[Surface, ...]
    findings: tuple[Finding, ...]

    def __init__(
        self,
        *,
        run: RunInfo,
        importances: tuple[Importance, ...] = (),
        effects: tuple[Effect, ...] = (),
        surfaces: tuple[Surface, ...] = (),
        findings: tuple[Finding, ...] = (),
        frames: Mapping[str, pd.DataFrame] = MappingProxyType({}),
        **more_frames: pd.DataFrame,
    ) -> None:
        all_frames = {**frames, **more_frames}
        if unknown := all_frames.keys() - FRAMES.keys():
            raise TypeError(f"AuditResult has no frame {min(unknown)!r}.")
        whole = {
            name: all_frames[name] if name in all_frames else frame.of()
            for name, frame in FRAMES.items()
        }
        parts: dict[str, Any] = {"run": run, "frames": whole}
        parts |= {"importances": importances, "effects": effects}
        parts |= {"surfaces": surfaces, "findings": findings}
        for name, value in parts.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __getattr__(self, name: str) -> pd.DataFrame:
        try:
            return self.__dict__["frames"][name]
        except KeyError:
            raise AttributeError(f"AuditResult has no frame {quote(name)}.") from None

    def with_frames(self, **frames: pd.DataFrame) -> "AuditResult":
        """Return the same result with some frames replaced."""
        return replace(self, frames={**self.frames, **frames})

    def with_findings(self, findings: tuple[Finding, ...]) -> "AuditResult":
        """Return the same result with more findings."""
        return replace(self, findings=(*self.findings, *findings))

    def interval_of(self, record: Importance) -> Interval:
        """Return the interval that is shown for one of the importances."""
        place = next(k for k, r in enumerate(self.importances) if r is record)
        return shown_interval(record, place, self.row_intervals)

    def of_curve(self, name: str, effect: Effect) -> pd.DataFrame:
        """Return the rows of a frame about the predictions that a curve averages."""
        frame = self.frames[name]
        if effect.method != "partial_dependence":
            return frame[:0]
        same = frame["model"] == effect.model
        for name in ("positive_class", "split", "scale"):
            same &= frame[name] == getattr(effect, name)
        return frame[same]

    def mean_at_missing(self, effect: Effect) -> float:
        """Return the point of a curve at a missing value, NaN if it is not known."""
        own = self.of_curve("missing_predictions", effect)
        return float(own.loc[own["feature"] == effect.feature, "mean"].max())

    @cached_property
    def accepted(self) -> Mapping[str, str]:
        """The last day of each exception in force, by the key of its finding."""
        in_force = {}
        for row in self.answers.to_dict("records"):
            if row["state"] == "accepted":
                in_force[str(row["key"])] = str(row["accepted_until"])
        return MappingProxyType(in_force)

    @cached_property
    def grouped_findings(self) -> tuple[tuple[Finding, ...], ...]:
        """Findings grouped by cause and response, the most severe group first.

        Responses are the same if state, owner, due day and end of acceptance are. A
        note without a response joins the most severe finding of its cause.
        """
        names = ("state", "owner", "due", "accepted_until")
        rows = self.answers.to_dict("records")
        answers = {row["key"]: tuple(row[name] for name in names) for row in rows}
        parts: list[tuple[Finding, ...]] = []
        for group in by_cause(self.findings):
            by_answer: dict[tuple[str, ...] | None, list[Finding]] = {}
            for finding in group:  # notes are last
                own = answers.get(finding.key)
                if own is None and finding.severity == "info":
                    own = next(iter(by_answer), None)
                by_answer.setdefault(own, []).append(finding)
            parts += [tuple(part) for part in by_answer.values()]
        return tuple(sorted(parts, key=lambda p: SEVERITIES.index(p[0].severity)))

    def acceptance(self, key: str) -> str:
        """Return the last day of acceptance of a finding and who approved it."""
        rows = self.answers[self.answers["key"] == key].to_dict("records")
        (row,) = [row for row in rows if row["state"] == "accepted"]
        by = row["approved_by"] or row["owner"]
        return f"until {row['accepted_until']}" + (f" by {by}" if by else "")

    @cached_property
    def supplied_engines(self) -> frozenset[str]:
        """Names of the engines with supplied numbers, which this run did not call."""
        records: tuple[Importance | Effect, ...] = (*self.importances, *self.effects)
        return frozenset(record.engine for record in records if record.is_supplied)

    @cached_property
    def own_engines(self) -> frozenset[str]:
        """The user-defined engines: their independence is unknown."""
        entries = self.run.config.get("extensions", ())
        return frozenset(one["name"] for one in entries if one["kind"] == "engine")

    @cached_property
    def unconfirming_engines(self) -> frozenset[str]:
        """The engines whose numbers alone never lead to "confirmed"."""
        return self.supplied_engines | self.own_engines

    @property
    def against(self) -> tuple[Finding, ...]:
        """The findings at or above `fail_on` that no exception in force covers."""
        return tuple(filter(self.is_against, self.findings))

    def is_against(self, finding: Finding) -> bool:
        """Return whether a finding counts: see `against`."""
        at = {"failure"} | ({"warning"} & {self.run.config.get("fail_on")})
        return finding.severity in at and finding.key not in self.accepted

    @property
    def exceptions(self) -> tuple[Finding, ...]:
        """The findings that prevent "confirmed": all but informational notes."""
        return tuple(
            finding
            for finding in self.findings
            if finding.severity != "info" or finding.check == "engine_missing"
        )

    @property
    def is_complete(self) -> bool:
        """Whether the run came to its end, and no time limit left a question open."""
        ended = any(finding.ends_run for finding in self.findings)
        return self.run.status == "complete" and not ended

    @property
    def verdict(self) -> str:
        """The overall verdict on the audit, never on the model.

        "confirmed": at least one Python-R pair is replayed or equivalent, not counting
        supplied numbers or user-defined engines; no pair disagrees, no named engine is
        missing, and no finding is above info. "confirmed with exceptions": every
        finding at or above `fail_on` is accepted. "not cross-checked": the same, and no
        other engine reproduced one of our numbers with the same definition. "not
        confirmed": a finding at or above `fail_on` is not accepted. "not established":
        a method failed, nothing was measured, or the run did not finish, for example
        because its time limit left a question open.
        """
        if not self.is_complete or any(f.leaves_gap for f in self.findings):
            return "not established"
        if self.against:
            return "not confirmed"
        by_python = self.agreement[self.agreement["engine_a"] == "python"]
        with_python = {
            row["verdict"]
            for row in by_python.to_dict("records")
            if row.get("engine_b") not in self.unconfirming_engines
        }
        confirmed = with_python & {"replayed", "equivalent"}
        disagrees = "disagrees" in set(self.agreement["verdict"])
        if confirmed and not disagrees and not self.exceptions:
            return "confirmed"
        reproduced = {"replayed", "equivalent"} & set(by_python["verdict"])
        is_checked = disagrees or reproduced
        return "confirmed with exceptions" if is_checked else "not cross-checked"
