"""Which run of an audit is the approved baseline, and who signed which. Reads only.

Not: the chain of the records (`signoff_trail`), or signing (`operate.sign`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ...records.errors import DataError
from ..summary import Approved
from .record import Signoff
from .signoff_trail import RUNS, TRAIL, read_if_present, read_trail, sha256

if TYPE_CHECKING:
    from ...records.result import AuditResult

SEE_VERIFY = "Run: importance-audit verify"


def signoffs_of(folder: Path, run_id: str) -> tuple[Signoff, ...]:
    """Return the sign-offs under a run, in their order.

    Parameters
    ----------
    folder : Path
        The folder of the audit.
    run_id : str

    Raises
    ------
    DataError
        If the trail cannot be read, or its chain is broken.
    """
    return tuple(r for r in read_signoffs(folder / TRAIL) if r.run_id == run_id)


def signoffs_in(run: Path) -> tuple[Signoff, ...]:
    """Return the sign-offs under a run, as its audit or its own folder holds them.

    A folder that was handed on holds copies of the trail: the longest counts.

    Raises
    ------
    DataError
        If a trail cannot be read, or its chain is broken.
    """
    run = run.resolve()
    if run.parent.name == RUNS:
        return signoffs_of(run.parents[1], run.name)
    copies = sorted(run.glob(f"signed/[1-9]*/{TRAIL}"), key=lambda p: p.stat().st_size)
    records = read_signoffs(copies[-1]) if copies else ()
    places = {f"signed/{path.parent.name}" for path in copies}
    return tuple(
        r for r in records if f"signed/{r.signoff_id.split('/')[-1]}" in places
    )


def baseline_of(folder: Path) -> Approved | None:
    """Return the run that was approved last, None if there is none.

    Raises
    ------
    DataError
        If the trail cannot be read, or its chain is broken.
    """
    approved = [r for r in read_signoffs(folder / TRAIL) if r.meaning == "approval"]
    if not approved:
        return None
    last = approved[-1]
    return Approved(
        run_id=last.run_id,
        content_digest=last.content_digest,
        manifest_sha256=last.manifest_sha256,
        signoff_id=last.signoff_id,
        printed_name=last.printed_name,
        signed_at=last.signed_at.isoformat(),
    )


def describe_missing_lines(folder: Path) -> str:
    """Return that the trail lacks what a run was signed with, in words, or "".

    Each sign-off left a copy of the trail in its run. What a shorter or another trail
    says of the baseline may not be true.

    Raises
    ------
    DataError
        If a trail cannot be read.
    """
    own = read_if_present(folder / TRAIL)
    copies = sorted(folder.glob(f"{RUNS}/[!.]*/signed/[1-9]*/{TRAIL}"))
    for path in copies:
        if not own.startswith(read_if_present(path)):
            place = path.parent.relative_to(folder).as_posix()
            return (
                f"{TRAIL} lacks sign-offs of its runs: the lines of {place}. "
                f"{SEE_VERIFY} {folder}"
            )
    return ""


def load_baseline(folder: Path, approved: Approved | None) -> "AuditResult | None":
    """Return the result of the approved run, None if there is none or it is gone.

    Raises
    ------
    DataError
        If the run is there but is not what was approved.
    """
    if approved is None or not (folder / RUNS / approved.run_id).is_dir():
        return None
    from ...records.as_json import from_dict
    from ..verify.statements import parse_result

    run = folder / RUNS / approved.run_id
    manifest_digest = sha256(_read_bytes(run / "manifest.json", run))
    _same(run / "manifest.json", manifest_digest, approved.manifest_sha256, run)
    path = run / "result.json"
    document, digest = parse_result(_read_bytes(path, run), str(path))
    _same(path, digest, approved.content_digest, run)
    return from_dict(document, name=str(path))


def read_signoffs(path: Path) -> tuple[Signoff, ...]:
    """Return the records of a trail; half a line at its end is left out.

    A sign-off that was killed before its line was whole is in the trail when the next
    `approve` has appended it.

    Raises
    ------
    DataError
        If it cannot be read, or its chain is broken.
    """
    data = read_if_present(path)
    trail = read_trail(data[: data.rfind(b"\n") + 1])
    for fault in trail.faults:
        raise DataError(
            f"{path} was changed after approve wrote it: line {fault.line} should "
            f"have {fault.expected} and has {fault.actual}. {SEE_VERIFY} "
            f"{path.parent}"
        )
    return tuple(record for record in trail.records if record is not None)


def _read_bytes(path: Path, run: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path}, a file of the approved run, cannot be read: {error.strerror}. "
            f"{SEE_VERIFY} {run}"
        ) from error


def _same(path: Path, digest: str, approved: str, run: Path) -> None:
    """Raise if a digest is not the approved one."""
    if digest != approved:
        raise DataError(
            f"{path} was changed after its run was approved: its digest was "
            f"{approved[:12]}… and is now {digest[:12]}…. {SEE_VERIFY} {run}"
        )
