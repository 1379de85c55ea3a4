"""One exit code for several audits. The meanings of exit codes are in `cli.main`."""

from collections.abc import Iterable

LOCKED = 5
"""Another process is running the audit."""
GRAVEST = (130, 4, 3, 2, 1, 5, 0)
"""Exit codes, those that need most attention first. 5 comes last before 0, because the
audit is being run by another process."""


def gravest(codes: Iterable[int]) -> int:
    """Return the gravest of some exit codes, 0 if there are none.

    Examples
    --------
    >>> gravest([0, 5, 1]), gravest([1, 2, 4, 3]), gravest([])
    (1, 4, 0)
    """
    return min(codes, key=GRAVEST.index, default=0)
