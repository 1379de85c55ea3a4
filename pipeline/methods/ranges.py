"""Checks of the ranges of options, with one wording of the errors."""

from ..records.errors import quote


def within(name: str, value: object, holds: bool, rule: str) -> None:
    """Refuse an option that is out of its range."""
    if not holds:
        raise ValueError(f"{name} must be {rule}; {quote(value)} was given.")


def at_least(least: int, **options: float) -> None:
    """Refuse options, given by their names, that are less than `least`."""
    for name, value in options.items():
        within(name, value, value >= least, f"at least {least}")


def rows_within(n_samples: int, **options: int | None) -> None:
    """Refuse numbers of rows that cannot be drawn; None stands for all rows."""
    for name, n_rows in options.items():
        if n_rows is not None and not 1 <= n_rows <= n_samples:
            raise ValueError(
                f"{name} must lie between 1 and the {n_samples} rows there are; "
                f"{n_rows} was given."
            )
