"""Verification of a run, a PDF report or a whole audit: whether it is unaltered.

Not: the checks of an audit (`audit`), a run folder (`run`) or a PDF (`pdf`).
"""

from pathlib import Path

from ...records.errors import DataError
from ..audit_log import LOG
from ..digests import LIST
from ..signoff.approvals import RUNS
from .audit import verify_audit
from .pdf import verify_pdf
from .run import compare_run
from .verification import UNCHECKED_ALONE, Verification


def verify(
    path: Path, *, signers: Path | None = None, head: str = "", only: str = ""
) -> Verification:
    """Return the verification of a run folder, a PDF report or an audit.

    Parameters
    ----------
    path : Path
    signers : Path, optional
        The folder with the allowed_signers of ssh, best not in that of the audit. If
        given, every sign-off must have a valid signature of its signer.
    head : str
        The SHA-256 of a line that the log of the audit must still have.
    only : str
        The name of the only run to verify; the others need not exist.

    Raises
    ------
    DataError
        If it cannot be read as any of these.
    """
    if signers is not None and not (signers / "allowed_signers").is_file():
        raise DataError(f"{signers} holds no file allowed_signers. Name its folder.")
    if not path.is_dir():
        _refuse_options(path, signers, head, only)
        return verify_pdf(path)
    folder = path.resolve()
    audit = folder.parent.parent
    if folder.parent.name == RUNS and (audit / LOG).exists():
        return verify_audit(audit, signers=signers, head=head, only=folder.name)
    if (folder / LOG).exists() or (folder / RUNS).is_dir():
        return verify_audit(folder, signers=signers, head=head, only=only)
    _refuse_options(path, signers, head, only)
    if not (folder / LIST).exists():
        raise DataError(
            f"{path} has neither {LIST} nor {LOG}. Name a folder below runs/, the "
            "folder of an audit, or a PDF report."
        )
    checked = compare_run(folder)
    note = f"{LOG} of its audit is not here, so the run was compared with its own list"
    return checked._replace(notes=(*checked.notes, note), unchecked=UNCHECKED_ALONE)


def _refuse_options(path: Path, signers: Path | None, head: str, only: str) -> None:
    """Raise if an option needs the log of an audit and there is none."""
    if signers or head or only:
        raise DataError(
            f"{path} has no {LOG}, which --head, --only and --signers are about. Name "
            "the folder of an audit."
        )
