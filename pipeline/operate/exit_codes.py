"""Exit codes of several audits as one. What each means stands in `cli`."""

from collections.abc import Iterable

LOCKED = 5
"""Another process is at work on the audit."""
GRAVEST = (130, 4, 3, 2, 1, 5, 0)
"""The one that asks most of a person first. 5 is graver than 0 alone: the audit is
being run, by somebody else."""


def gravest(codes: Iterable[int]) -> int:
    """Return the exit code that stands for all, 0 for none.

    Examples
    --------
    >>> gravest([0, 5, 1]), gravest([1, 2, 4, 3]), gravest([])
    (1, 4, 0)
    """
    return min(codes, key=GRAVEST.index, default=0)
