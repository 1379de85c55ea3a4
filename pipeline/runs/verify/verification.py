"""What a verification found, and how it is said."""

from typing import NamedTuple

from ...records.errors import printable, several
from ..digests import Mismatch

UNCHECKED = (
    "not checked: whether the numbers come out again (verify --replay), whether the "
    "pages of the report show them beyond the content digest, and whether somebody "
    "wrote files and log anew together: for that, compare the log with the SHA-256 of "
    "its last line from elsewhere (--head), or with signatures (--signers)"
)
"""Of an audit, and of a run in it."""
UNCHECKED_ALONE = (
    "not checked: whether the numbers come out again (verify --replay), whether the "
    "pages of the report show them beyond the content digest, who signed, and whether "
    "somebody wrote the folder anew with its list: verify it with the log of its audit"
)
"""Of a run folder without its audit."""


class Verification(NamedTuple):
    """What the verification of a run, of a PDF alone or of a whole audit found.

    Attributes
    ----------
    n_files : int
        How many files were hashed.
    digest : str
        The content digest, computed anew; empty where result.json is altered, and of
        an audit.
    mismatches : tuple of Mismatch
    notes : tuple of str
        What could not be checked here, and why; what else is to be known.
    n_runs, n_signoffs, n_lines : int, optional
        How many an audit has; None of a run or a PDF without one.
    head : str
        The SHA-256 of the last line of the audit log.
    unchecked : str
        What such a verification never checks, in one line.
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
        """Whether anything is not as it must be."""
        return bool(self.mismatches)

    def lines(self) -> tuple[str, ...]:
        """Return one line per mismatch and note, and the outcome.

        What others wrote, such as the name of a file, cannot end a line.
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
