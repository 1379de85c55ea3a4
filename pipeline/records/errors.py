"""Exceptions for what a user can correct.

    AuditError
      ConfigError      the configuration: every problem at once
      DataError        a table, a column, a split
      ModelError       an estimator that cannot be created, fitted or used to predict
      ExtensionError   a user-defined method, loss or engine that fails
      NotApplicable    a valid request that this model or engine does not support
      LockedError      the audit is locked by another process

A message says what happened and what to do, in one or two plain sentences: first the
subject, then the value that was given, then the remedy. "must" is for rules that the
user broke. The message of a model or a library is part of it. The command line prints
each problem on one line and exits with 2, or with 5 if the audit is locked. Failures of
R are `importance_audit.r_bridge.errors.RBridgeError`.
"""

import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any


class AuditError(Exception):
    """A fault of the configuration, the data or a model that its owner can correct."""


class ConfigError(AuditError):
    """Everything that is wrong with a configuration, one sentence per problem.

    Attributes
    ----------
    problems : tuple of str
        One whole sentence each, once, in the order of the file.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(self.problems))


class DataError(AuditError):
    """A table or a column that cannot be audited without a change."""


class ModelError(AuditError):
    """An estimator that cannot be imported, created, loaded, fitted or used."""


class ExtensionError(AuditError):
    """A user-defined method or loss that fails, or breaks its contract."""


class NotApplicable(AuditError):  # noqa: N818 (an answer, not a fault)
    """A method or an engine that does not support this model or these columns."""


class LockedError(AuditError):
    """An audit that another process has locked."""


class OutOfTime(BaseException):
    """The time limit is over: raised where the next call of a model would begin.

    It is not an `Exception`, so that no handler takes it for an error of the model, and
    a running call of R is not waited for. `advice` is a setting that would have fitted
    into the time limit, empty if none is known.
    """

    advice = ""


QUOTED = 60
"""Most characters of a user's text in a message; a longer text is cut."""


def pip_install(*packages: str) -> str:
    """Return the command that installs packages into the running Python.

    It is not plain "pip", which may belong to another Python and may be absent from a
    virtual environment.
    """
    python = shlex.quote(sys.executable)
    pip = f"{python} -m pip"
    if find_spec("pip") is None:
        pip = f"python3 -m pip --python {python}"
    return f"{pip} install {shlex.join(packages)}"


def quote(value: object) -> str:
    """Return a value as it appears in a message: as Python writes it, cut if long.

    Numbers of numpy are written like Python's; numpy 2 writes them differently.

    Examples
    --------
    >>> print(quote("size"), quote(True), quote("x" * 80))
    'size' true 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "")  # numpy is slow to load
    if kind in ("b", "i", "u", "f") and getattr(value, "shape", None) == ():
        value = float(str(value)) if kind == "f" else value.item()  # type: ignore[attr-defined]
    if isinstance(value, str):
        value = str(value)  # numpy's is one too
    text = str(value).lower() if isinstance(value, bool) else repr(value)  # as TOML
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 3]}..."


def quote_odd(key: str) -> str:
    """Return a key of the configuration, in quotes only if long or unprintable."""
    return key if len(key) < QUOTED - 1 and key.isprintable() else quote(key)


def listed(names: Iterable[object], *, limit: int = 5) -> str:
    """Return the first `limit` names, each written by `quote`, and how many more."""
    return first_of(list(names), limit, quote)


def first_of(
    things: Sequence[object], limit: int, write: Callable[[Any], str] = str
) -> str:
    """Return the first `limit` items in one line, and how many more there are."""
    more = f" and {len(things) - limit} more" if len(things) > limit else ""
    return ", ".join(map(write, things[:limit])) + more


def single_columns(groups: Mapping[str, Sequence[str]], purpose: str) -> list[str]:
    """Return the column of each group; `purpose` needs groups of one column.

    Raises
    ------
    NotApplicable
        If a group has several columns.
    """
    for group, columns in groups.items():
        if len(columns) != 1:
            raise NotApplicable(
                f"Group {quote(group)} must have one column for {purpose}; it has "
                f"{len(columns)}: {listed(columns)}. Ask for its columns one by one."
            )
    return [columns[0] for columns in groups.values()]


SPACES = "\u00a0\u2009\u202f\u3000"
"""Characters that Python calls unprintable and every terminal shows as a space."""


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with control characters escaped, except those in `keep`.

    Examples
    --------
    >>> print(printable("größe\x1b[2J\n"))
    größe\x1b[2J\n
    """
    keep += SPACES
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


MOST_WORDS = 2000
"""Most characters of a text from a library or the user in a message."""


def in_short(prose: str) -> str:
    """Return a text on one line, without control characters, cut if long."""
    text = printable(" ".join(prose.split()))
    return text if len(text) <= MOST_WORDS else f"{text[: MOST_WORDS - 3]}..."


def words(error: BaseException) -> str:
    r"""Return the message of an exception, shortened by `in_short` unless it is ours.

    Examples
    --------
    >>> print(words(ValueError("no column \x1b[2J\n")), words(KeyError()))
    no column \x1b[2J KeyError
    """
    if isinstance(error, AuditError):
        return str(error)
    return in_short(str(error)) or type(error).__name__


def several(number: float, one: str) -> str:
    """Return a count with its noun, "1 run" or "2 runs"."""
    count = number if isinstance(number, int) else f"{number:g}"
    return f"{count} {one if number == 1 else f'{one}s'}"


MANY = 1000
"""Most candidates that a word is compared with: each comparison is quadratic."""
HINTED = 10
"""Most words of a list that get a suggestion; the words after them get none."""


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" with the nearest known word, or an empty text.

    Of more than `MANY` candidates, only the first that share the initial letter are
    compared.
    """
    if len(word) > QUOTED:  # time grows with the product of the lengths
        return ""
    by_lower = {name.casefold(): name for name in candidates}
    wanted, names = word.casefold(), list(by_lower)
    if len(names) > MANY:
        names = [name for name in names if name[:1] == wanted[:1]][:MANY]
    near = get_close_matches(wanted, names, n=1)
    return f" Did you mean {quote(by_lower[near[0]])}?" if near else ""


def hints(words: Iterable[str], candidates: Collection[str]) -> Iterator[str]:
    """Yield `did_you_mean` of each of the first `HINTED` words, then empty texts.

    Comparing a list of 20 000 names with 20 000 columns would take hours.
    """
    for place, word in enumerate(words):
        yield did_you_mean(word, candidates) if place < HINTED else ""
