"""The outcome of a verification, and its text."""

from typing import NamedTuple

from ...records.errors import printable, several
from ..digests import Mismatch

UNCHECKED = (
    "not checked: whether the numbers come out again (verify --replay), whether the "
    "pages of the report show them beyond the content digest, and whether somebody "
    "wrote files and log anew together: for that, compare the log with the SHA-256 of "
    "its last line from elsewhere (--head), or with signatures (--signers)"
)
"""Note for the verification of an audit, or of a run in it."""
UNCHECKED_ALONE = (
    "not checked: whether the numbers come out again (verify --replay), whether the "
    "pages of the report show them beyond the content digest, who signed, and whether "
    "somebody wrote the folder anew with its list: verify it with the log of its audit"
)
"""Note for the verification of a run folder without its audit."""


class Verification(NamedTuple):
    """The outcome of the verification of a run, a PDF or a whole audit.

    Attributes
    ----------
    n_files : int
        Number of hashed files.
    digest : str
        The computed content digest; empty if result.json is altered, and for an audit.
    mismatches : tuple of Mismatch
    notes : tuple of str
        What could not be checked and why, and other remarks.
    n_runs, n_signoffs, n_lines : int, optional
        Numbers in the audit; None for a run or a PDF without its audit.
    head : str
        The SHA-256 of the last line of the audit log.
    unchecked : str
        What this kind of verification never checks, in one line.
    """

    n_files: int
    digest: str
    mismatches: tuple[Mismatch, ...]
    notes: tuple[str, ...] = ()
    n_runs: int | None = None
    n_signoffs: int | None = None
    n_lines: int | None = None
    head: str = ""
    unchecked: str = UNCHECKED

    @property
    def is_mismatch(self) -> bool:
        """Whether there is a mismatch."""
        return bool(self.mismatches)

    def lines(self) -> tuple[str, ...]:
        """Return one line for each mismatch and note, and one with the outcome.

        Control characters, as in the name of a file, are made printable.
        """
        counts = {
            "run": self.n_runs,
            "file": self.n_files,
            "sign-off": self.n_signoffs,
            "line": self.n_lines,
        }
        looked_at = [several(n, what) for what, n in counts.items() if n is not None]
        looked_at += [f"the last with SHA-256 {self.head}"] * bool(self.head)
        looked_at += [f"content digest {self.digest}"] * bool(self.digest)
        outcome = f"match: {', '.join(looked_at)}"
        if self.mismatches:
            outcome = f"mismatch: {len(self.mismatches)} found"
        said = (*self.mismatches, *(f"note: {note}" for note in self.notes))
        return (*(printable(str(line)) for line in said), outcome)
