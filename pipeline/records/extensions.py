"""Tables of our own rows, extended by the rows that one audit defines.

A user-defined method, loss or engine is a row of our table only inside `in_force`, so
that audits in the same process do not see each other's rows. Not: loading them
(`config.extensions`).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

R = TypeVar("R")
Kind: TypeAlias = Literal["method", "loss", "engine"]
Rows: TypeAlias = Mapping[tuple[Kind, str], Any]

_ROWS: ContextVar[Rows] = ContextVar("_ROWS", default=MappingProxyType({}))


class OpenTable(dict[str, R]):
    """A table that also looks up the rows in force, but does not list them."""

    def __init__(self, kind: Kind, rows: Mapping[str, R]) -> None:
        super().__init__(rows)
        self.kind: Kind = kind

    def __missing__(self, name: str) -> R:
        try:
            row: R = _ROWS.get()[self.kind, name]
        except KeyError:
            raise KeyError(name) from None
        return row

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (self.kind, name) in _ROWS.get()

    def get(self, name: str, default: Any = None) -> Any:
        """Return a row, ours or in force, or the default."""
        try:
            return self[name]
        except KeyError:
            return default


def is_in_force(kind: Kind, name: Any) -> bool:
    """Return whether the audit defines a row of this name."""
    return isinstance(name, str) and (kind, name) in _ROWS.get()


@contextmanager
def in_force(rows: Rows) -> Iterator[None]:
    """Add these rows, and no others, to the tables inside the block."""
    token = _ROWS.set(rows)
    try:
        yield
    finally:
        _ROWS.reset(token)


def carried(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function with the rows in force attached, so that workers see them."""
    rows = _ROWS.get()
    if not rows:
        return function
    rows = dict(rows)

    def with_rows(item: Any) -> Any:
        with in_force(rows):
            return function(item)

    return with_rows


def modules_in_force() -> set[str]:
    """Return the names of the modules that define the rows in force."""
    rows: list[Any] = []
    for (kind, _), row in _ROWS.get().items():
        rows += row["importance"].values() if kind == "engine" else [row]
    return {getattr(row.function, "__module__", "") for row in rows} - {""}
