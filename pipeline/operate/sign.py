"""A sign-off: a record that binds a name to a digest, and the report that prints it.

What is signed must verify first. The folder ``signed/<n>/`` of the run appears whole
or not at all, and with it the sign-off is made; then the same line goes to the trail
of the audit. A kill between the two leaves a line that the next sign-off appends. Not:
who somebody is (nobody is authenticated), or how a report looks (`report`).
"""

import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..records.as_csv import rows_of
from ..records.as_json import content_digest
from ..records.errors import AuditError, ConfigError, DataError, quote
from ..records.result import AuditResult
from ..report.pages.html import page_files
from ..report.pages.pdf import PdfError
from ..runs import manifest
from ..runs.files import as_bytes, stored_attachments
from ..runs.folder import write_folder
from ..runs.load import load_context, load_whole_run
from ..runs.locks import locked
from ..runs.run_context import RunContext
from ..runs.signoff.approvals import SEE_VERIFY, read_signoffs
from ..runs.signoff.record import MEANINGS, Signoff, detached_method, line_of, place_of
from ..runs.signoff.signoff_trail import (
    RUNS,
    TRAIL,
    anchors,
    append_bytes,
    read_if_present,
    read_trail,
    sha256,
)
from ..runs.verify.run import LEFT, verify_folder
from ..runs.verify.signoffs import SIGNATURE
from ..runs.verify.statements import read_statement
from .save import renderer

LONGEST = {"name": 200, "role": 200, "relation": 200, "statement": 2000}
"""Characters that fit on a page."""
LARGEST = 1_000_000
"""Bytes of a detached signature."""
TYPED = "a name typed at the terminal"
GIVEN = "a name given on the command line"


class SignoffRequest(NamedTuple):
    """What a person says when signing.

    Attributes
    ----------
    name, role, relation, meaning, statement : str
        Relation is that to the developer of the model; meaning one of `MEANINGS`.
    how : str
        How the words came, as it follows "Identity was established by".
    signature : Path, optional
        A detached signature, made by an outside tool over manifest.json. It is kept
        and listed, not checked.
    """

    name: str
    role: str
    relation: str
    meaning: str
    statement: str
    how: str = TYPED
    signature: Path | None = None


class SignoffResult(NamedTuple):
    """A sign-off that was made.

    Attributes
    ----------
    record : Signoff
    folder : Path
        Where it lies in its run.
    notes : tuple of str
        What else the signer is to know.
    """

    record: Signoff
    folder: Path
    notes: tuple[str, ...] = ()


def sign(run: Path, request: SignoffRequest) -> SignoffResult:
    """Sign a run: add a folder to it, and a line to the trail of its audit.

    Raises
    ------
    ConfigError
        If the words given are not as they must be; every problem at once.
    AuditError
        If the run is not as it was written, if it is to be approved and did not
        complete, if the trail is broken, or if something cannot be written.
    """
    if problems := tuple(_problems(request)):
        raise ConfigError(problems)
    signature = _signature(request.signature)
    audit, run = audit_of(run), run.resolve()
    with locked(audit):
        notes = [*append_missing_line(audit), *_remove_leftovers(run)]
        check_run(run)
        _as_signed_last(audit)
        result = load_whole_run(run)
        _may_be_signed(run, result, request.meaning)
        record = _record(run, audit, result, request, signature)
        notes += _clock(audit, record)
        files, fault = _files(run, audit, result, record, signature)
        folder = run / "signed" / record.signoff_id.rpartition("/")[2]
        write_folder(folder, files)
        _append(audit, folder, line_of(record) + b"\n")
    return SignoffResult(record, folder, (*notes, *fault))


def audit_of(run: Path) -> Path:
    """Return the folder of the audit that a run belongs to.

    Raises
    ------
    DataError
        If it is no run below runs/.
    """
    folder = run.resolve()
    if folder.parent.name != RUNS or not (folder / "manifest.json").is_file():
        raise DataError(
            f"{run} is not a run folder below runs/ of its audit. Name one."
        )
    return folder.parents[1]


def check_run(run: Path) -> None:
    """Raise if a run, or the trail of its audit, is not as it was written.

    Raises
    ------
    AuditError
        With the first mismatch that `verify` finds, and how many there are.
    """
    mismatches = verify_folder(run).mismatches
    if mismatches:
        more = f"; {len(mismatches)} mismatches in all" if len(mismatches) > 1 else ""
        raise AuditError(
            f"{run} is not as it was written and cannot be signed: "
            f"{mismatches[0]}{more}. {SEE_VERIFY} {run}"
        )


def append_missing_line(audit: Path) -> tuple[str, ...]:
    """Append to the trail the one line that a killed sign-off left out, and say so.

    Its folder is whole, so it was signed. More than one line is lacking for another
    reason, which `verify` names.
    """
    data = read_if_present(audit / TRAIL)
    for path in sorted(audit.glob(f"{RUNS}/[!.]*/signed/[1-9]*/{TRAIL}")):
        copy = path.read_bytes()
        rest = copy.removeprefix(data)
        is_next = copy.startswith(data) and rest.count(b"\n") == 1
        if is_next and _is_whole(path, copy):
            _append(audit, path.parent, rest)
            where = path.parent.relative_to(audit).as_posix()
            return (f"{TRAIL} lacked the line of {where}, which was appended to it.",)
    return ()


def _as_signed_last(audit: Path) -> None:
    """Raise if the trail is not what the sign-off before left in its run.

    No later line names the last one yet: its copy alone tells that it was altered.
    """
    data = read_if_present(audit / TRAIL)
    for record in read_signoffs(audit / TRAIL)[-1:]:
        copy = read_if_present(audit / place_of(record) / TRAIL)
        if copy and copy != data:
            raise AuditError(
                f"{audit / TRAIL} is not as it was signed last: it differs from the "
                f"copy in {place_of(record)}. {SEE_VERIFY} {audit}"
            )


def _is_whole(path: Path, copy: bytes) -> bool:
    """Return whether a copy of the trail is the one that its sign-off was made with."""
    try:
        data = (path.parent / "manifest.json").read_bytes()
        files = read_statement(data, "manifest.json", "sign-off")["files"]
    except (OSError, DataError):
        return False
    listed = {file["path"]: file["sha256"] for file in files}
    is_listed = listed.get(TRAIL) == sha256(copy)
    return manifest.is_sealed(data) and is_listed and not read_trail(copy).faults


def _append(audit: Path, folder: Path, line: bytes) -> None:
    try:
        append_bytes(audit / TRAIL, line)
    except OSError as error:
        raise AuditError(
            f"{audit / TRAIL} cannot take the line of this sign-off: "
            f"{error.strerror}. The sign-off stands in {folder}; the next approve of "
            "this audit appends its line."
        ) from error


def _remove_leftovers(run: Path) -> tuple[str, ...]:
    """Remove what a killed sign-off left half-written."""
    parts = [
        path
        for path in (run / "signed").glob(".*.part")
        if LEFT.match(f"signed/{path.name}/")
    ]
    for path in parts:
        shutil.rmtree(path, ignore_errors=True)
    return ("Half a sign-off, left by a kill, was removed.",) if parts else ()


def _problems(request: SignoffRequest) -> Iterator[str]:
    """Yield what is wrong with the words given, one sentence each."""
    for name in ("name", "role", "relation", "meaning", "statement"):
        text = getattr(request, name)
        rule = f"--{name} must"
        if not text.strip():
            yield f"{rule} not be empty."
        elif not _is_utf8(text):
            yield f"{rule} be UTF-8 text; {quote(text)} was given."
        elif len(text) > LONGEST.get(name, len(text)):
            most = f"have at most {LONGEST[name]} characters"
            yield f"{rule} {most}; {len(text)} were given."
        elif name == "meaning" and text not in MEANINGS:
            meanings = ", ".join(MEANINGS)
            yield f"{rule} be one of {meanings}; {quote(text)} was given."


def _is_utf8(text: str) -> bool:
    try:
        return bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _signature(path: Path | None) -> dict[str, bytes]:
    """Return a detached signature by its place in the folder of the sign-off."""
    if path is None:
        return {}
    try:
        size = path.stat().st_size
        data = path.read_bytes() if 0 < size <= LARGEST else b""
    except OSError as error:
        raise DataError(
            f"--signature {path} cannot be read: {error.strerror}."
        ) from error
    if not data:
        raise DataError(
            f"--signature {path} must have 1 to {LARGEST} bytes; it has {size}."
        )
    if not _is_utf8(path.name):
        raise DataError(f"--signature {path.name!r} is not UTF-8 text.")
    return {f"{SIGNATURE}{path.name}": data}


def _may_be_signed(run: Path, result: AuditResult, meaning: str) -> None:
    """Raise if a run that did not come to its end is to become the baseline."""
    status = result.run.status
    if meaning == "approval" and status != "complete":
        others = ", ".join(word for word in MEANINGS if word != "approval")
        raise AuditError(
            f"{run} must be complete to be approved; it is {status}. It can be signed "
            f"with another meaning: {others}."
        )


def _record(
    run: Path,
    audit: Path,
    result: AuditResult,
    request: SignoffRequest,
    signature: Mapping[str, bytes],
) -> Signoff:
    """Return the record of a sign-off, which follows the last line of the trail."""
    lines = read_trail(read_if_present(audit / TRAIL)).lines
    number = 1 + sum(r.run_id == run.name for r in read_signoffs(audit / TRAIL))
    method = request.how
    for path, data in signature.items():
        name = path.removeprefix(SIGNATURE)
        method = detached_method(name, sha256(data))
    return Signoff(
        signoff_id=f"{run.name}/{number}",
        run_id=run.name,
        content_digest=content_digest(result),
        manifest_sha256=sha256((run / "manifest.json").read_bytes()),
        printed_name=request.name,
        role=request.role,
        relation_to_developer=request.relation,
        signed_at=datetime.now(UTC).replace(microsecond=0),
        meaning=request.meaning,
        statement=request.statement,
        method=method,
        previous_sha256=sha256(lines[-1]) if lines else "",
    )


def _clock(audit: Path, record: Signoff) -> tuple[str, ...]:
    """Return a sentence if the clock says that the sign-off before is yet to come."""
    last = max(
        (r.signed_at for r in read_signoffs(audit / TRAIL)), default=record.signed_at
    )
    if last <= record.signed_at:
        return ()
    return (
        f"The clock went back: an earlier line of {TRAIL} is of {last.isoformat()}, "
        f"this one of {record.signed_at.isoformat()}.",
    )


def _files(
    run: Path,
    audit: Path,
    result: AuditResult,
    record: Signoff,
    signature: Mapping[str, bytes],
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the files of a sign-off, and why there is no PDF if there is none."""
    before = load_context(run)
    context = before._replace(signoffs=(*before.signoffs, record))
    pages, fault = _pages(run, result, context)
    line = line_of(record) + b"\n"
    files = {**pages, TRAIL: read_if_present(audit / TRAIL) + line, **signature}
    files["manifest.json"] = manifest.signed_manifest(
        result,
        files,
        signoff_id=record.signoff_id,
        parent_sha256=record.manifest_sha256,
        trail=anchors(audit),
        renderer=renderer(files),
    )
    return files, fault


def _pages(
    run: Path, result: AuditResult, context: RunContext
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the signed document, with the tables of the run that it links to."""
    make_files = partial(
        page_files,
        result,
        attachments=stored_attachments(run),
        context=context,
        figures="",
    )
    fault: tuple[str, ...] = ()
    try:
        files = make_files()
    except PdfError as error:
        fault = (f"The signed PDF was not written beside the HTML: {error}",)
        files = make_files(pdf=False)
    documents = {path: as_bytes(data) for path, data in files.items()}
    pages = b"".join(data for path, data in documents.items() if path.endswith(".html"))
    for path in rows_of(result):
        if f'{path}"'.encode() in pages and (run / path).is_file():
            documents[path] = (run / path).read_bytes()
    return documents, fault
