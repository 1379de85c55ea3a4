"""Reading findings.toml: all problems are reported together, one sentence each.

Not: the effect of an answer on the findings of a run (`answers`).
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeAlias

from ...records.errors import ConfigError, did_you_mean, listed, quote
from .answers import FILE_NAME, LEAST_DIGITS, Accepted, Answer


def load_answers(folder: Path) -> tuple[Answer, ...]:
    """Return the answers in the folder of an audit, none if there is no such file.

    Raises
    ------
    ConfigError
        With every problem of the file, one sentence each.
    """
    file = folder / FILE_NAME
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        problem = f"{FILE_NAME} cannot be read: {str(file)!r}: {why}."
        raise ConfigError([problem]) from error
    except UnicodeDecodeError as error:
        problem = f"{FILE_NAME} is not UTF-8 at byte {error.start + 1}."
        raise ConfigError([problem + " Save it as UTF-8."]) from error
    except (ValueError, RecursionError) as error:  # also too long, too deep
        problem = f"{FILE_NAME} is not valid TOML: {error}. Correct it there."
        raise ConfigError([problem]) from error
    return parse_answers(document)


def parse_answers(document: Mapping[str, Any]) -> tuple[Answer, ...]:
    """Return the answers in a mapping with the keys of a ``findings.toml``.

    Raises
    ------
    ConfigError
        With every problem, one sentence each.

    Examples
    --------
    >>> parse_answers({"finding": [{"key": "0123456789AB", "owner": "M. Kim"}]})[0].key
    '0123456789ab'
    """
    top = f"{FILE_NAME}: the top level"
    unknown = {name: value for name, value in document.items() if name != "finding"}
    problems = [*_problems_of_keys(top, "", unknown, {"finding": TEXT})]
    entries = document.get("finding", [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        rule = "must be a list of tables, [[finding]]"
        problems.append(f"{FILE_NAME}: finding {rule}; {quote(entries)} was given.")
        raise ConfigError(problems)
    answers: list[Answer] = []
    first_places: dict[str, int] = {}
    for n, entry in enumerate(entries, start=1):
        where = f"{FILE_NAME}: [finding{f' {n}' if len(entries) > 1 else ''}]"
        problems += _problems(where, entry)
        key = str(entry.get("key", "")).lower()
        before = first_places.setdefault(key[:LEAST_DIGITS], n)
        if key and before != n:
            problems.append(
                f"{where} key must be answered once; {quote(key)} is also answered by "
                f"[finding {before}]. Merge the two."
            )
        if not problems:
            facts: dict[str, Any] = {**entry, "key": key}
            if "exception" in entry:
                facts["exception"] = Accepted(**entry["exception"])
            answers.append(Answer(**facts))
    if problems:
        raise ConfigError(problems)
    return tuple(answers)


def _problems(where: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of one entry, in the order of its keys."""
    yield from _problems_of_keys(where, "", entry, KEYS)
    if "key" not in entry:
        yield f"{where} key is missing. Section K prints it."
    elif set(entry) == {"key"}:
        yield (
            f"{where} states only the key of its finding. Give one of "
            f"{listed(name for name in KEYS if name != 'key')}."
        )
    exception = entry.get("exception")
    if isinstance(exception, dict):
        yield from _problems_of_keys(where, "exception.", exception, EXCEPTION)
        for name in EXCEPTION:
            if name not in exception and name != "baseline":
                yield f"{where} exception.{name} is missing."


def _problems_of_keys(
    where: str, above: str, table: Mapping[str, Any], rules: Mapping[str, "_Rule"]
) -> Iterator[str]:
    """Yield the problems of unknown keys, and of values that break their rule."""
    for name, value in table.items():
        if name not in rules:
            place = f"{where} {above}".rstrip(" .")
            hint = did_you_mean(name, tuple(rules))
            yield f"{place} holds the unknown key {quote(name)}.{hint}"
            continue
        words, is_kept = rules[name]
        if not is_kept(value):
            given = str(value) if isinstance(value, date) else quote(value)  # as TOML
            yield f"{where} {above}{name} must be {words}; {given} was given."


_Rule: TypeAlias = tuple[str, Callable[[Any], bool]]
"""A rule of a value, in words and as a test."""
TEXT: _Rule = (
    "a text that is not empty",
    lambda v: isinstance(v, str) and bool(v.strip()),
)
DAY: _Rule = (
    "a day such as 2026-12-31, without quotes",
    lambda v: isinstance(v, date) and not isinstance(v, datetime),
)
_DIGITS = re.compile(rf"[0-9a-fA-F]{{{LEAST_DIGITS},64}}")
KEYS: dict[str, _Rule] = {
    "key": (
        f"the first {LEAST_DIGITS} to 64 hex digits of a finding's key",
        lambda v: isinstance(v, str) and bool(_DIGITS.fullmatch(v)),
    ),
    "owner": TEXT,
    "due": DAY,
    "response": TEXT,
    "exception": ("a table, [finding.exception]", lambda v: isinstance(v, dict)),
}
EXCEPTION = {
    "until": DAY,
    **dict.fromkeys(("reason", "control", "approved_by", "baseline"), TEXT),
}
