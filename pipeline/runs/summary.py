"""Summaries of runs, and the history of earlier runs that a run stores.

A run folder stores both in history.json: the history, so that its report can be
rendered without the other runs, and its own summary, so that later runs need not read
its result. Not: which runs are read (`history`), or the states of findings
(`finding_states`).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

from ..records.errors import DataError

if TYPE_CHECKING:
    from ..records.importance_record import Importance
    from ..records.result import AuditResult

HISTORY_FORMAT = "importance-audit-history/3"
NO_BASELINE = "baseline_missing"
NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
"""Text in JSON of a number that is not finite, by its `repr`."""


class Leader(NamedTuple):
    """One feature of the lead ranking of a run: estimate, interval and rank."""

    feature: str
    value: float
    low: float
    high: float
    rank: float


class RunSummary(NamedTuple):
    """The summary of a run.

    Attributes
    ----------
    run_id, verdict, content_digest, list_sha256 : str
    started : str
        An ISO text in UTC.
    status : {"complete", "interrupted", "failed"}
    exit_code : int
    measure : str
        The measure of the leaders in words: method, model, loss. Only runs with the
        same text can be drawn as one line.
    leaders : tuple of Leader
        Every feature of the lead ranking, by rank.
    findings : mapping of str to str
        Key and severity of each finding.
    data_sha256 : str
        The digest of the rows.
    missing : tuple of str
        The requested engines that were missing, and `NO_BASELINE` if the approved run
        was: findings that depend on them were not looked for.
    changes : tuple of str
        Changes since the run before, as the owner was notified (`baseline.news`).
    differences : tuple of str
        Other differences from the run before: rows, settings, code.
    """

    run_id: str = ""
    started: str = ""
    status: str = ""
    verdict: str = ""
    exit_code: int = 0
    content_digest: str = ""
    list_sha256: str = ""
    measure: str = ""
    leaders: tuple[Leader, ...] = ()
    findings: Mapping[str, str] = {}
    data_sha256: str = ""
    missing: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


class FindingSummary(NamedTuple):
    """A finding of one run, the gravest with its key; `engines` as in `Finding`."""

    key: str
    check: str
    subject: str
    severity: str
    engines: tuple[str, ...] = ()


class ResultSummary(NamedTuple):
    """The summary of a result, as later runs read it.

    Attributes
    ----------
    started, status, measure, leaders, data_sha256, missing, changes, differences
        As in `RunSummary`; `started` is empty if unknown.
    findings : tuple of FindingSummary
    """

    started: str = ""
    status: str = ""
    measure: str = ""
    data_sha256: str = ""
    findings: tuple[FindingSummary, ...] = ()
    leaders: tuple[Leader, ...] = ()
    missing: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


class FindingHistory(NamedTuple):
    """One finding of earlier runs.

    Attributes
    ----------
    key, check, subject, severity : str
        As in the last run that found it.
    first_run, last_run : str
        The first and the last run that found it.
    times : int
        Number of runs that found it.
    in_last : bool
        Whether the last complete run found it.
    engines : tuple of str
        The packages whose results it depends on, as in `Finding`.
    """

    key: str
    check: str
    subject: str
    severity: str
    first_run: str
    last_run: str
    times: int
    in_last: bool
    engines: tuple[str, ...] = ()


class Approved(NamedTuple):
    """The approved baseline: a run, and the sign-off that approved it."""

    run_id: str
    content_digest: str
    list_sha256: str
    printed_name: str
    signed_at: str


class RunHistory(NamedTuple):
    """The history of earlier runs that a run stores.

    Attributes
    ----------
    baseline : Approved, optional
    runs : tuple of RunSummary
        The last ones, oldest first.
    n_runs : int
        Number of all earlier runs.
    findings : tuple of FindingHistory
        Every finding of any earlier run.
    """

    baseline: Approved | None = None
    runs: tuple[RunSummary, ...] = ()
    n_runs: int = 0
    findings: tuple[FindingHistory, ...] = ()


NO_HISTORY = RunHistory()


def summarise(result: "AuditResult") -> ResultSummary:
    """Return the summary of a result: its lead ranking, findings and status.

    Names that are not valid Unicode are escaped, as in all files of the run.
    """
    from ..records.finding import gravest_by_key
    from ..records.ranking import interval, lead_of, order_of

    lead, leaders = lead_of(result.importances), []
    if lead is not None:
        numbers = (lead.mean, *interval(lead), lead.rank)
        for row in order_of(lead).tolist():
            values = (float(number[row]) for number in numbers)
            leaders.append(Leader(_utf8(lead.features[row]), *values))
    return ResultSummary(
        started=str(result.run.volatile.get("started", "")),
        status=result.run.status,
        measure=_measure(lead) if lead else "",
        data_sha256=result.run.data_sha256,
        findings=tuple(
            FindingSummary(f.key, f.check, _utf8(f.subject), f.severity, f.engines)
            for f in gravest_by_key(result.findings).values()
        ),
        leaders=tuple(leaders),
        missing=missing_engines(result),
    )


def missing_engines(result: "AuditResult") -> tuple[str, ...]:
    """Return the requested engines that were missing, and a missing baseline."""
    engines = (f.subject for f in result.findings if f.check == "engine_missing")
    is_lost = any(f.check == NO_BASELINE for f in result.findings)
    return (*engines, *((NO_BASELINE,) if is_lost else ()))


def _measure(record: "Importance") -> str:
    """Return the measure of a record in words, with a digest of its estimand.

    The number of rows is left out: a line over runs is to include runs on other rows.
    """
    estimand = sorted(
        (k, str(v)) for k, v in record.estimand.items() if k != "n_samples"
    )
    digest = hashlib.sha256(repr((*estimand, record.unit)).encode("utf-8", "replace"))
    return f"{stored_question(record)} (estimand {digest.hexdigest()[:8]})"


def stored_question(record: "Importance") -> str:
    """Return the question of a record by its keys, the same in every version."""
    names = (record.model, f"{record.method} of {record.of}", record.loss)
    return _utf8(", ".join(filter(None, (*names, record.positive_class))))


def _utf8(text: Any) -> str:
    return str(text).encode("utf-8", "backslashreplace").decode()


def history_json(
    history: RunHistory,
    result: "AuditResult",
    changes: Iterable[str] = (),
    differences: Iterable[str] = (),
) -> str:
    """Return the text of history.json: the summary of a run, and its earlier runs.

    Each part is one line, so that the summary can be read without the long history.
    """
    short = summarise(result)._replace(
        changes=tuple(map(_utf8, changes)), differences=tuple(map(_utf8, differences))
    )
    own = to_plain(short) | {"run_id": result.run.volatile.get("run_id", "")}
    parts = {"format": HISTORY_FORMAT, "run": own, "past": to_plain(history)}
    lines = (f"{_json(key)}: {_json(value)}" for key, value in parts.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def to_plain(record: Any) -> Any:
    """Return a record, or a tuple of records, as JSON values; a leader as a list."""
    if isinstance(record, float):
        return NOT_FINITE.get(repr(record), record)
    if isinstance(record, Mapping):
        return dict(record)
    if hasattr(record, "_asdict") and not isinstance(record, Leader):
        return {key: to_plain(value) for key, value in record._asdict().items()}
    return [*map(to_plain, record)] if isinstance(record, tuple) else record


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_history(text: str | bytes, name: str) -> RunHistory:
    """Return the history in a history.json; messages call it `name`.

    Raises
    ------
    DataError
        If it is not JSON, has another format, or is incomplete.
    """
    history: RunHistory = _part(RunHistory, "past", text, name)
    return history


def read_summary(data: bytes, name: str) -> ResultSummary:
    """Return the summary of a run, from the first lines of its history.json.

    Raises
    ------
    DataError
        As `read_history`.
    """
    head = b"".join(data.split(b"\n", 3)[1:3])
    short: ResultSummary = _part(
        ResultSummary, "run", b"{" + head.removesuffix(b",") + b"}", name
    )
    return short


def _part(kind: Any, key: str, text: str | bytes, name: str) -> Any:
    """Return one part of a history.json as a record of type `kind`."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is not valid JSON: {error}.") from error
    try:
        if (stated := plain["format"]) != HISTORY_FORMAT:
            raise DataError(
                f"{name} has format {stated!r}; this version reads {HISTORY_FORMAT!r}. "
                "Use the version of importance-audit that wrote it."
            )
        return _read(kind, plain[key])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise DataError(
            f"{name} cannot be read as the history of a run: {why}. Run: "
            "importance-audit verify"
        ) from error


def _read(kind: Any, plain: Any) -> Any:
    """Return a value of type `kind` from its JSON value; the inverse of `to_plain`."""
    origin, inside = get_origin(kind), get_args(kind)
    if NoneType in inside:
        return None if plain is None else _read(inside[0], plain)
    if origin is tuple:
        if not isinstance(plain, list):
            raise TypeError(f"{plain!r} is not a list")
        return tuple(_read(inside[0], one) for one in plain)
    if origin is Mapping:
        return {_read(str, key): _read(inside[1], one) for key, one in plain.items()}
    if kind is Leader:
        plain = dict(zip(Leader._fields, plain, strict=True))
    if hasattr(kind, "_fields"):
        types = _types(kind).items()
        return kind(**{name: _read(type_, plain[name]) for name, type_ in types})
    return float(plain) if kind is float else plain


_types = lru_cache(get_type_hints)
