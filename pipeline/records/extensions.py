"""Tables with rows of our own, and those that one audit brings along.

A method, loss or engine of a user is a row of our table inside `in_force` alone: an
audit beside it in the same process has its own. Not: loading them
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
    """A table that also finds the rows in force, and does not list them."""

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
    """Return whether the audit brings a row of this name."""
    return isinstance(name, str) and (kind, name) in _ROWS.get()


@contextmanager
def in_force(rows: Rows) -> Iterator[None]:
    """Let the tables find these rows inside the block, and no others."""
    token = _ROWS.set(rows)
    try:
        yield
    finally:
        _ROWS.reset(token)


def carried(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that has the rows in force with it, for workers."""
    rows = _ROWS.get()
    if not rows:
        return function
    rows = dict(rows)

    def with_rows(item: Any) -> Any:
        with in_force(rows):
            return function(item)

    return with_rows


def modules_in_force() -> set[str]:
    """Return the names of the modules that the rows in force are from."""
    rows: list[Any] = []
    for (kind, _), row in _ROWS.get().items():
        rows += row["importance"].values() if kind == "engine" else [row]
    return {getattr(row.function, "__module__", "") for row in rows} - {""}
