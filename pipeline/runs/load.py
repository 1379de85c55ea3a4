"""Loading a stored run for commands; an altered run is refused.

Not: which file of a folder is altered (`verify`), or recomputation (`replay`).
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from ..records.as_json import content_digest, digest_of, from_dict, keep_digest
from ..records.errors import DataError, quote
from ..records.result import AuditResult
from .audit_log import SEE_VERIFY
from .digests import LIST, digest_of_file, list_of, why
from .files import ALWAYS, WHOLE, path_in_run
from .folder import load_document
from .run_context import RunContext
from .signoff.approvals import RUNS, signoffs_in
from .summary import NO_HISTORY, Approved, read_history

HISTORY = "history.json"
SHOWN = (HISTORY, *ALWAYS, *WHOLE)
"""Files of a stored run that its report is made from, or carries."""


def load_whole_run(folder: Path | str) -> AuditResult:
    """Return the result stored in a run folder, if it is unaltered.

    The content digest does not cover the names of audit and run, which are used as file
    names, and the start, which is used as a date: these are checked too.

    Raises
    ------
    DataError
        If there is none, if it cannot be read, or if it is altered.
    """
    folder = Path(folder)
    path, document = folder / "result.json", load_document(folder)
    result, digest = from_dict(document, name=str(path)), digest_of(document)
    keep_digest(result, digest)
    if document.get("content_digest") != digest:
        raise DataError(
            f"{path} was changed after the run: its content has the digest "
            f"{digest[:12]}… but states another. {SEE_VERIFY} {folder}"
        )
    for key, value in (
        ("audit", result.run.audit),
        ("run_id", result.run.volatile.get("run_id")),
    ):
        if not isinstance(value, str) or {"/", "\0"} & set(value):
            raise DataError(
                f"{path} has {quote(value)} as its {key}, which must be text without "
                f"'/'. {SEE_VERIFY} {folder}"
            )
    try:
        datetime.fromisoformat(result.run.volatile.get("started"))  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{path} does not say when its run started. {SEE_VERIFY} {folder}"
        ) from error
    return result


def load_baseline(folder: Path, approved: Approved | None) -> AuditResult | None:
    """Return the result of the approved run, None if there is none or it is gone.

    Raises
    ------
    DataError
        If the run exists but differs from the approved one.
    """
    if approved is None or not (folder / RUNS / approved.run_id).is_dir():
        return None
    run = folder / RUNS / approved.run_id
    try:
        found = digest_of_file(run / LIST)
    except OSError as error:
        found = why(error)
    if found != approved.list_sha256:
        raise DataError(
            f"{run / LIST} was changed after its run was approved: its SHA-256 was "
            f"{approved.list_sha256}, now found: {found}. {SEE_VERIFY} {run}"
        )
    result, was = load_whole_run(run), approved.content_digest
    if (digest := content_digest(result)) != was:
        raise DataError(
            f"{run / 'result.json'} was changed after its run was approved: its digest "
            f"was {was[:12]}… and is now {digest[:12]}…. {SEE_VERIFY} {run}"
        )
    return result


def load_context(folder: Path, baseline: Path | None = None) -> RunContext:
    """Return the context of the report on a stored run.

    Parameters
    ----------
    folder : Path
        The run folder.
    baseline : Path, optional
        A run folder to compare with instead of the approved run.

    Raises
    ------
    DataError
        If one of them cannot be read, is altered, lacks a file that it lists, or was
        made by an older version.
    """
    _check_listed(folder)
    path, history = folder / HISTORY, NO_HISTORY
    with suppress(FileNotFoundError):  # a run that was saved without a history
        history = read_history(path.read_bytes(), str(path))
    signoffs, audit = signoffs_in(folder), folder.resolve().parent.parent
    with_ = (
        load_whole_run(baseline) if baseline else load_baseline(audit, history.baseline)
    )
    return RunContext(with_, history, signoffs, (folder / "report.pdf").exists())


def _check_listed(folder: Path) -> None:
    """Raise if a file of `SHOWN` does not match the list of the run."""
    listed = list_of(folder)
    for path in map(path_in_run, SHOWN):
        try:
            found = digest_of_file(folder / path)
        except FileNotFoundError:
            found = ""
        except OSError as error:
            found = why(error)
        if found == listed.get(path, ""):
            continue
        if not found:
            words = f"is missing, and {LIST} lists it"
        elif path not in listed:
            words = f"is there, and {LIST} does not list it"
        else:
            words = f"has SHA-256 {found}; {LIST} states {listed[path]}"
        raise DataError(f"{folder / path} {words}. {SEE_VERIFY} {folder}")
