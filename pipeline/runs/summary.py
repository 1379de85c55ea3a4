"""What a run knows of the runs before it: verdicts, leaders, findings, the baseline.

A run folder keeps it as history.json, so that its report can be rendered again without
the others, and says there in short what it found itself, so that later runs need not
read its result. Not: where it is read from (`history`), or what it means
(`finding_states`).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..records.errors import DataError
from .audit_log import is_instant

if TYPE_CHECKING:
    from ..records.importance_record import Importance
    from ..records.result import AuditResult

HISTORY_FORMAT = "importance-audit-history/2"
NO_BASELINE = "baseline_missing"
VERDICTS = (
    *("confirmed", "confirmed with exceptions", "not cross-checked"),
    *("not confirmed", "not established"),
)
NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
"""How JSON holds, as a text, what `repr` calls so."""


class Leader(NamedTuple):
    """One feature of the lead ranking of a run: estimate and interval, rank."""

    feature: str
    value: float
    low: float
    high: float
    rank: float


class RunSummary(NamedTuple):
    """One run of the audit, in short.

    Attributes
    ----------
    run_id, verdict, content_digest, list_sha256 : str
    started : str
        An ISO text in UTC.
    status : {"complete", "interrupted", "failed"}
    exit_code : int
    measure : str
        What the leaders are of, in words: method, model, loss; runs with another text
        are not to be drawn as one line.
    leaders : tuple of Leader
        Every feature of the lead ranking, by rank.
    findings : mapping of str to str
        Key and severity of each finding above a note.
    columns : tuple of str
        The features of the data.
    config_sha256, data_sha256 : str
        What was asked of which rows.
    missing : tuple of str
        The engines that were asked for and not there, and `NO_BASELINE` if the approved
        run was gone: what it did not find by them, it did not look for.
    accepted : mapping of str to str
        Until when and by whom each finding that does not count is accepted, by its key.
    """

    run_id: str
    started: str
    status: str
    verdict: str
    exit_code: int
    content_digest: str
    list_sha256: str
    measure: str = ""
    leaders: tuple[Leader, ...] = ()
    findings: Mapping[str, str] = {}
    columns: tuple[str, ...] = ()
    config_sha256: str = ""
    data_sha256: str = ""
    missing: tuple[str, ...] = ()
    accepted: Mapping[str, str] = {}


class FindingSummary(NamedTuple):
    """A finding of one run, above a note; `engines` as in `Finding`."""

    key: str
    check: str
    subject: str
    severity: str
    engines: tuple[str, ...] = ()


class ResultSummary(NamedTuple):
    """What a run found, as far as the runs after it are told.

    Attributes
    ----------
    started, status, measure, leaders, columns, config_sha256, data_sha256, missing,
    accepted
        As in `RunSummary`; `started` is empty where nobody knows it.
    findings : tuple of FindingSummary
    """

    started: str = ""
    status: str = ""
    measure: str = ""
    columns: tuple[str, ...] = ()
    config_sha256: str = ""
    data_sha256: str = ""
    findings: tuple[FindingSummary, ...] = ()
    leaders: tuple[Leader, ...] = ()
    missing: tuple[str, ...] = ()
    accepted: Mapping[str, str] = {}


class FindingHistory(NamedTuple):
    """One finding of earlier runs.

    Attributes
    ----------
    key, check, subject, severity : str
        As it was found last.
    first_run, last_run : str
        The first and the last run that found it.
    times : int
        How many runs did.
    in_last : bool
        Whether the last complete run did.
    engines : tuple of str
        The packages that had to answer for it to be found; as in `Finding`.
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
    """The approved baseline: a run, and the signature that made it one."""

    run_id: str
    content_digest: str
    list_sha256: str
    printed_name: str
    signed_at: str


class RunHistory(NamedTuple):
    """Everything a run knows of the runs before it.

    Attributes
    ----------
    baseline : Approved, optional
    runs : tuple of RunSummary
        The last ones, oldest first.
    n_runs : int
        How many there are in all.
    findings : tuple of FindingHistory
        Every finding above a note that any run before made.
    gaps : tuple of str
        Where the chain of runs is broken, one sentence each.
    """

    baseline: Approved | None = None
    runs: tuple[RunSummary, ...] = ()
    n_runs: int = 0
    findings: tuple[FindingHistory, ...] = ()
    gaps: tuple[str, ...] = ()


NO_HISTORY = RunHistory()


def summarise(result: "AuditResult") -> ResultSummary:
    """Return what a result says in short: who leads by which measure, what was found.

    Names of files that are no UTF-8 are escaped, as every file of the run has them.
    """
    from ..records.ranking import lead_of

    lead = lead_of(result.importances)
    columns = result.columns.get("feature", ())
    return ResultSummary(
        started=str(result.run.volatile.get("started", "")),
        status=result.run.status,
        measure=_measure(lead) if lead else "",
        columns=tuple(map(_utf8, columns)),
        config_sha256=result.run.config_sha256,
        data_sha256=result.run.data_sha256,
        findings=tuple(
            FindingSummary(f.key, f.check, _utf8(f.subject), f.severity, f.engines)
            for f in result.findings
            if f.severity != "info"
        ),
        leaders=tuple(_leaders(lead)) if lead else (),
        missing=missing_engines(result),
        accepted={
            f.key: _utf8(result.acceptance(f.key))
            for f in result.findings
            if f.severity != "info" and f.key in result.accepted
        },
    )


def missing_engines(result: "AuditResult") -> tuple[str, ...]:
    """Return the engines that were asked for and not there, and the baseline so."""
    engines = (f.subject for f in result.findings if f.check == "engine_missing")
    is_lost = any(f.check == NO_BASELINE for f in result.findings)
    return (*engines, *((NO_BASELINE,) if is_lost else ()))


def _measure(record: "Importance") -> str:
    """Return what is measured in words, and a digest of what else defines it.

    The number of rows is left out: other rows are what a line over runs is to show.
    """
    names = (record.model, f"{record.method} of {record.of}", record.loss)
    words = ", ".join(filter(None, (*names, record.positive_class)))
    estimand = sorted(
        (k, str(v)) for k, v in record.estimand.items() if k != "n_samples"
    )
    digest = hashlib.sha256(repr((*estimand, record.unit)).encode("utf-8", "replace"))
    return f"{_utf8(words)} (estimand {digest.hexdigest()[:8]})"


def _leaders(record: "Importance") -> Iterable[Leader]:
    from ..records.ranking import interval, order_of

    numbers = (record.mean, *interval(record), record.rank)
    for row in order_of(record).tolist():
        yield Leader(_utf8(record.features[row]), *(float(n[row]) for n in numbers))


def _utf8(text: Any) -> str:
    return str(text).encode("utf-8", "backslashreplace").decode()


def history_json(history: RunHistory, result: "AuditResult") -> str:
    """Return history.json: the past of a run, and the run itself in short.

    One line per part, so that the short one is read without the long one.
    """
    own = to_plain(summarise(result)) | {
        "run_id": result.run.volatile.get("run_id", "")
    }
    parts = {"format": HISTORY_FORMAT, "run": own, "past": to_plain(history)}
    lines = (f"{_json(key)}: {_json(value)}" for key, value in parts.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def to_plain(record: Any) -> Any:
    """Return a record or a tuple of them as JSON holds it, a leader as a list."""
    if isinstance(record, float):
        return NOT_FINITE.get(repr(record), record)
    if isinstance(record, Leader):
        return [NOT_FINITE.get(repr(value), value) for value in record]
    if hasattr(record, "_asdict"):
        return {key: to_plain(value) for key, value in record._asdict().items()}
    if isinstance(record, Mapping):
        return dict(record)
    return [*map(to_plain, record)] if isinstance(record, tuple) else record


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_history(text: str, name: str) -> RunHistory:
    """Return the past that a history.json holds; `name` is what messages call it.

    Raises
    ------
    DataError
        If it is not JSON, not of this format, or not whole.
    """
    plain = _document(text, name)
    try:
        history = plain["past"]
        return RunHistory(
            baseline=_baseline(history["baseline"]),
            runs=tuple(map(_run_summary, history["runs"])),
            n_runs=_whole(history["n_runs"]),
            findings=tuple(map(_finding_history, history["findings"])),
            gaps=_texts(history["gaps"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _broken(name, error) from error


def read_summary(data: bytes, name: str) -> ResultSummary:
    """Return what a run says of itself at the head of its history.json.

    Raises
    ------
    DataError
        As `read_history`.
    """
    head = b"".join(data.split(b"\n", 3)[1:3])
    plain = _document(b"{" + head.removesuffix(b",") + b"}", name)
    try:
        return _result_summary(plain["run"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _broken(name, error) from error


def _document(text: str | bytes, name: str) -> dict[str, Any]:
    try:
        plain = json.loads(text)
        kind = plain["format"]
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is not valid JSON: {error}.") from error
    except (KeyError, TypeError) as error:
        raise _broken(name, error) from error
    if kind != HISTORY_FORMAT:
        raise DataError(
            f"{name} has format {kind!r}; this version reads {HISTORY_FORMAT!r}. Use "
            "the version of importance-audit that wrote it."
        )
    return dict(plain)


def _broken(name: str, error: Exception) -> DataError:
    why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return DataError(
        f"{name} cannot be read as the history of a run: {why}. Run: importance-audit "
        "verify"
    )


def _result_summary(plain: Mapping[str, Any]) -> ResultSummary:
    other_fields: dict[str, Any] = {
        "started": _start(plain["started"]),
        "columns": _texts(plain["columns"]),
        "missing": _texts(plain["missing"]),
        "accepted": {_text(k): _text(v) for k, v in plain["accepted"].items()},
        "findings": tuple(
            FindingSummary(
                **_texts_but(
                    FindingSummary, finding, {"engines": _texts(finding["engines"])}
                )
            )
            for finding in plain["findings"]
        ),
        "leaders": tuple(map(_leader, plain["leaders"])),
    }
    return ResultSummary(**_texts_but(ResultSummary, plain, other_fields))


def _run_summary(plain: Mapping[str, Any]) -> RunSummary:
    other_fields: dict[str, Any] = {
        "started": _start(plain["started"]),
        "verdict": _verdict(plain["verdict"]),
        "exit_code": _whole(plain["exit_code"]),
        "leaders": tuple(map(_leader, plain["leaders"])),
        "findings": {_text(k): _text(v) for k, v in plain["findings"].items()},
        "columns": _texts(plain["columns"]),
        "missing": _texts(plain["missing"]),
        "accepted": {_text(k): _text(v) for k, v in plain["accepted"].items()},
    }
    return RunSummary(**_texts_but(RunSummary, plain, other_fields))


def _leader(plain: Any) -> Leader:
    feature, *numbers = plain
    return Leader(_text(feature), *map(float, numbers))


def _finding_history(plain: Mapping[str, Any]) -> FindingHistory:
    in_last = _truth(plain["in_last"])
    times = _whole(plain["times"])
    engines = _texts(plain["engines"])
    other_fields = {"times": times, "in_last": in_last, "engines": engines}
    return FindingHistory(**_texts_but(FindingHistory, plain, other_fields))


def _baseline(plain: Mapping[str, Any] | None) -> Approved | None:
    return None if plain is None else Approved(**_texts_but(Approved, plain, {}))


def _texts_but(
    kind: Any, plain: Mapping[str, Any], other_fields: dict[str, Any]
) -> dict[str, Any]:
    """Return the fields of a record, of which all that are not given are texts."""
    names = (name for name in kind._fields if name not in other_fields)
    return other_fields | {name: _text(plain[name]) for name in names}


def _texts(plain: Any) -> tuple[str, ...]:
    if not isinstance(plain, list):
        raise TypeError(f"{plain!r} is not a list")
    return tuple(map(_text, plain))


def _text(plain: Any) -> str:
    if not isinstance(plain, str):
        raise TypeError(f"{plain!r} is not text")
    return plain


def _start(plain: Any) -> str:
    if plain != "" and not is_instant(plain):  # "" where nobody knows it
        raise ValueError(f"{plain!r} is not a time")
    return _text(plain)


def _verdict(plain: Any) -> str:
    if plain not in VERDICTS:
        raise ValueError(f"{plain!r} is not a verdict")
    return str(plain)


def _whole(plain: Any) -> int:
    if not isinstance(plain, int) or isinstance(plain, bool):
        raise TypeError(f"{plain!r} is not an integer")
    return plain


def _truth(plain: Any) -> bool:
    if not isinstance(plain, bool):
        raise TypeError(f"{plain!r} is neither true nor false")
    return plain
