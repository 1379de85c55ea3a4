"""What an audit found, and how: the only thing saved, rendered and compared."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from .finding import Finding
from .frozen import freeze
from .importance_record import Effect, Importance
from .surface_record import Surface

SCHEMA_VERSION = "1.2"


def run_id(started: datetime, config_sha256: str, data_sha256: str) -> str:
    """Return the name of a run: its start in UTC, then what it asked of which data.

    Names sort by time; equal endings asked the same question.

    Examples
    --------
    >>> run_id(datetime(2025, 11, 20, 8, 46, tzinfo=UTC), "", "")
    '20251120T084600Z-e3b0c442'
    """
    question = hashlib.sha256(f"{config_sha256}{data_sha256}".encode()).hexdigest()
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{question[:8]}"


@dataclass(frozen=True, kw_only=True, eq=False)
class RunInfo:
    """How a result came about; only `volatile` is kept out of every digest.

    Attributes
    ----------
    audit : str
        The name of the audit.
    status : {"complete", "interrupted", "failed"}
    config : mapping
        The resolved configuration, defaults included.
    config_sha256, data_sha256 : str
    versions : mapping of str to str
        Packages on both sides that can change a number.
    environment : mapping of str to str
        Platform, BLAS, locale, R's settings.
    volatile : mapping
        run_id, started, ended, seconds, host, pid, paths, seconds by step, log.
    """

    audit: str
    status: Literal["complete", "interrupted", "failed"]
    config: Mapping[str, Any]
    config_sha256: str
    data_sha256: str
    versions: Mapping[str, str]
    environment: Mapping[str, str]
    volatile: Mapping[str, Any]

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditResult:
    """Everything an audit found: the only thing saved, rendered and compared.

    Attributes
    ----------
    run : RunInfo
    columns : DataFrame
        One row per feature, made by `data.describe`.
    datasets : DataFrame
        One row per set of rows, made by `data.datasets_frame`.
    distributions : DataFrame
        Where the rows of curves lie: one row per split, feature and bin or level,
        made by `distributions.distributions_frame`.
    models : DataFrame
        One row per model, made by `model_table.models_frame`.
    performance : DataFrame
        One row per model, loss and split, made by `performance.performance`.
    y_permuted : DataFrame
        Loss with the target permuted: model, of, loss, repeat, value.
    agreement, disagreements : DataFrame
        Made by `agreement`.
    checks : DataFrame
        check, subject, observed, threshold, set_by, verdict; made by `checks`.
    claims : DataFrame
        One row per claim of a paper, made by `reproduction`.
    expected : DataFrame
        One row per expectation of the owner and ranking, made by `expected`.
    losses : DataFrame
        One row per ranking and two of its losses, made by `loss_sensitivity`.
    associations : DataFrame
        One row per pair of features, made by `associated.associations_frame`.
    stability : DataFrame
        One row per ranking of ours and feature, made by `stability.stability_frame`.
    resampled_ranks : DataFrame
        One row per ranking of ours, feature and rank it took on resampled rows, made
        by `stability.ranks_frame`.
    significance : DataFrame
        One row per ranking of the data and feature, made by
        `significance.significance_frame`.
    convergence : DataFrame
        One row per ranking of ours, number of first repeats and feature, by
        `convergence`: what these repeats alone tell.
    top_k : DataFrame
        One row per ranking, protocol, judging model, number of features and fold.
    mean_predictions : DataFrame
        One row per model, class and scale of its curves, made by `mean_predictions`.
    selection : DataFrame
        One row per ranking, judging model and split: the loss from the features kept.
    quantiles : DataFrame
        One row per split, column and value or level of its sketch, made by
        `quantiles.quantiles_frame`.
    answers : DataFrame
        One row per answer to a finding as it stood when the run started, made by
        `answers.with_answers`.
    importances : tuple of Importance
    effects : tuple of Effect
    surfaces : tuple of Surface
    findings : tuple of Finding
    as_read : result_versions.AsRead or None
        The form of the file it was read from, which `result_json` keeps; no content.
    """

    run: RunInfo
    columns: pd.DataFrame
    datasets: pd.DataFrame
    distributions: pd.DataFrame
    models: pd.DataFrame
    performance: pd.DataFrame
    y_permuted: pd.DataFrame
    agreement: pd.DataFrame
    disagreements: pd.DataFrame
    checks: pd.DataFrame
    claims: pd.DataFrame
    expected: pd.DataFrame
    losses: pd.DataFrame
    associations: pd.DataFrame
    stability: pd.DataFrame
    resampled_ranks: pd.DataFrame
    significance: pd.DataFrame
    convergence: pd.DataFrame
    top_k: pd.DataFrame
    mean_predictions: pd.DataFrame
    selection: pd.DataFrame
    quantiles: pd.DataFrame
    answers: pd.DataFrame
    importances: tuple[Importance, ...] = ()
    effects: tuple[Effect, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    findings: tuple[Finding, ...] = ()
    as_read: Any = None

    def __post_init__(self) -> None:
        freeze(self)

    def with_findings(self, findings: tuple[Finding, ...]) -> "AuditResult":
        """Return the same result with more findings."""
        return replace(self, findings=(*self.findings, *findings))

    @cached_property
    def accepted(self) -> Mapping[str, str]:
        """The last day of each exception in force, by the key of its finding."""
        in_force = {}
        for row in self.answers.to_dict("records"):
            if row["state"] == "accepted":
                in_force[str(row["key"])] = str(row["accepted_until"])
        return MappingProxyType(in_force)

    @cached_property
    def supplied_engines(self) -> frozenset[str]:
        """The engines, by the names rows and records give them, not asked here."""
        records: tuple[Importance | Effect, ...] = (*self.importances, *self.effects)
        return frozenset(record.engine for record in records if record.is_supplied)

    @property
    def against(self) -> tuple[Finding, ...]:
        """The findings at or above `fail_on` that no exception in force covers."""
        at = {"failure"} | ({"warning"} & {self.run.config.get("fail_on")})
        accepted = self.accepted
        return tuple(
            finding
            for finding in self.findings
            if finding.severity in at and finding.key not in accepted
        )

    @property
    def verdict(self) -> str:
        """The overall verdict on the audit, never on the model.

        "confirmed": a Python-R pair replayed or equivalent, not with numbers that
        were supplied, none disagreeing, no named engine missing, nothing found above
        info. "confirmed with exceptions":
        nothing at or above `fail_on` but what is accepted. "not confirmed": something
        is. "not established": a method failed, or the run did not come to its end.
        """
        found = {finding.severity for finding in self.findings}
        checks = {finding.check for finding in self.findings}
        if "method_failed" in checks or self.run.status != "complete":
            return "not established"
        if self.against:
            return "not confirmed"
        words = self.agreement["verdict"]
        by_python = self.agreement[self.agreement["engine_a"] == "python"]
        with_python = {
            row["verdict"]
            for row in by_python.to_dict("records")
            if row.get("engine_b") not in self.supplied_engines
        }
        confirmed = with_python & {"replayed", "equivalent"}
        if "disagrees" in set(words):
            confirmed = set()
        if confirmed and "engine_missing" not in checks and not found - {"info"}:
            return "confirmed"
        return "confirmed with exceptions"
