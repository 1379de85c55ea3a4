"""Read, check and complete a configuration, with all problems reported together.

No data is read and no model made here. The rules of single keys are in `sections`.
"""

import shlex
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, get_args

from ..assess.claims import keys_of
from ..assess.claims.section import CLAIM_KINDS, ClaimSection, claim_rules
from ..methods.importance import METHODS, RESERVED, options_of
from ..records.dataset_and_model import Task
from ..records.errors import ConfigError, did_you_mean, listed, quote, quote_odd
from ..records.extensions import in_force
from ..records.value_rules import Misfit, Misfits, Rule
from . import cross_checks as checks
from .claim_checks import claim_problems
from .cross_checks import Entry, Facts
from .extensions import load_extensions, rows_of
from .questions import MEASURED, ImportanceSection, SuppliedSection, unknown_loss
from .report_files import load_report_files
from .sections import (
    KEYS,
    LISTS,
    TABLES,
    AuditConfig,
    option_rules,
    required_of,
    rules_of,
)
from .settings import ReportSection

Question = TypeVar("Question", ImportanceSection, SuppliedSection)

FILE_NAME = "audit.toml"
OF_LOSS = ("loss", "losses")
MAY_BE_EMPTY = ("derived", "models", "surfaces", "claims", "expected", "supplied")
OWN_KEYS: dict[type, tuple[str, Collection[str], Callable[[str], dict[str, Rule]]]] = {
    ImportanceSection: ("method", METHODS, option_rules),
    ClaimSection: ("kind", CLAIM_KINDS, claim_rules),
    SuppliedSection: ("method", MEASURED, option_rules),
}
"""Sections in which the value of one key determines further keys: that key, its values,
and the rules of the further keys for each value."""
CROSS_CHECKS: dict[str, Callable[[Entry, Facts], Iterator[str]]] = {
    "data": checks.data_problems,
    "derived": checks.derived_problems,
    "models": checks.model_problems,
    "importance": checks.importance_problems,
    "surfaces": checks.surface_problems,
    "claims": claim_problems,
    "expected": checks.expected_problems,
    "supplied": checks.supplied_problems,
    "significance": checks.significance_problems,
    "top_k": checks.top_k_problems,
    "selection": checks.selection_problems,
    "report": checks.report_problems,
    "execution": checks.execution_problems,
}
SEE_INIT = (
    " `importance-audit init --every-key`, in another folder, writes a file that has "
    "every key."
)
ONE_QUESTION = ({"method": "permutation"},)
LATER_OPTIONS = (
    *("draws", "convention", "weighting", "merits", "held_out"),
    "permutation.n_neighbours",
)
"""Options of later versions; they are filled in only if they differ from the default.

The same question thus has the same options in earlier runs. An option has the name of
its method before it if another method already had an option of that name.
"""


def is_later(method: str, name: str) -> bool:
    """Return whether an option of a method or curve is in `LATER_OPTIONS`."""
    return not {name, f"{method}.{name}"}.isdisjoint(LATER_OPTIONS)


def load_config(
    path: Path | str,
    *,
    required: tuple[str, ...] = ("data", "models"),
    base: Path | None = None,
) -> AuditConfig:
    """Return the configuration of an audit.

    Parameters
    ----------
    path : path
        The file, or the folder with its ``audit.toml``. The audit is named after the
        folder, from which relative files start.
    required : tuple of str
        The sections that must be given.
    base : Path, optional
        The folder that relative files start from; by default that of the file.

    Raises
    ------
    ConfigError
        With every problem of the file, one sentence each.
    """
    file = Path(path)
    if file.is_dir():
        file = file / FILE_NAME
    try:
        text = file.read_bytes().decode("utf-8-sig")
        document = tomllib.loads(text)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        problem = f"No {FILE_NAME} can be read from {str(file)!r}: {why}."
        if file.name != FILE_NAME and file.suffix == ".toml":
            problem += " Correct the path."
        else:
            folder = file.parent if file.name == FILE_NAME else file
            here = "" if folder == Path() else f" {shlex.quote(str(folder))}"
            problem += f" Write one with: importance-audit init{here}"
        raise ConfigError([problem]) from error
    except UnicodeDecodeError as error:
        problem = f"{file.name} is not UTF-8: byte {error.start + 1} cannot be read."
        raise ConfigError([problem + " Save it as UTF-8."]) from error
    except (ValueError, RecursionError) as error:  # e.g. nesting too deep
        problem = f"{file.name} is not valid TOML: {error}. Correct it there."
        raise ConfigError([problem]) from error
    folder = file.resolve().parent
    base = base or file.parent
    sections = _sections(document, f"{file.name}: ", base, required=required)
    return AuditConfig(audit=folder.name, base=base, text=text, **sections)


def parse_config(
    document: Mapping[str, Any],
    *,
    audit: str = "audit",
    base: Path | str = Path(),
    functions: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    task: str = "",
) -> AuditConfig:
    """Return the configuration of a mapping with the keys of an ``audit.toml``.

    Parameters
    ----------
    document : mapping
        For rows and models that are passed in Python, the sections `data` and `models`
        may be left out.
    audit : str
        The name of the audit.
    base : path
        The folder that relative files start from.
    functions : mapping of str to callable
        Methods and losses passed in Python, by their names in `document`.
    task : str
        The task of the rows, if `data` is left out and it is known.

    Raises
    ------
    ConfigError
        With every problem, one sentence each.

    Examples
    --------
    >>> config = parse_config({"importance": [{"method": "permutation"}]})
    >>> config.importance[0].options["n_repeats"]
    10
    """
    base = Path(base)
    sections = _sections(document, "", base, functions=functions, task=task)
    return AuditConfig(audit=audit, base=base, **sections)


def _sections(
    document: Mapping[str, Any],
    source: str,
    base: Path,
    *,
    required: tuple[str, ...] = (),
    functions: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    task: str = "",
) -> dict[str, Any]:
    """Return the keyword arguments of `AuditConfig`, or raise every problem.

    If the extension of an entry cannot be loaded, only that is reported, because the
    entry cannot be checked without it.
    """
    document = {key: value for key, value in document.items() if value is not None}
    extensions, problems = load_extensions(document, base, functions, source)
    if problems:
        raise ConfigError(problems)
    with in_force(rows_of(extensions)):
        arguments = _arguments(document, source, required, task)
    report = arguments.get("report", ReportSection())
    files = MappingProxyType(load_report_files(report, base, f"{source}[report]"))
    return {**arguments, "extensions": extensions, "files": files}


def _arguments(
    document: Mapping[str, Any], source: str, required: tuple[str, ...], task: str
) -> dict[str, Any]:
    """Return the keyword arguments of `AuditConfig` except extensions and files."""
    data = document.get("data")
    stated = data.get("task") if isinstance(data, Mapping) else None
    task = next((one for one in get_args(Task) if one == stated), task)
    questions = {**document, "importance": document.get("importance", ONE_QUESTION)}
    sections = {
        key: tuple(_entries(key, value, source, task))
        for key, value in questions.items()
    }
    problems = tuple(_problems(sections, source, required))
    if problems:
        raise ConfigError(problems)

    arguments: dict[str, Any] = {}
    for key, entries in sections.items():
        if key in LISTS:
            arguments[key] = tuple(LISTS[key](**entry.values) for entry in entries)
        elif key in TABLES:
            arguments[key] = TABLES[key](**entries[0].values)
        else:
            arguments.update(entries[0].values)
    asked = [_with_options(entry) for entry in arguments["importance"]]
    if section := arguments.get("data"):
        asked = [replace(e, losses=e.losses_for(section.task)) for e in asked]
    arguments["importance"] = tuple(asked)
    arguments["supplied"] = tuple(map(_with_options, arguments.get("supplied", ())))
    arguments["claims"] = tuple(
        replace(
            claim, options=MappingProxyType({**keys_of(claim.kind), **claim.options})
        )
        for claim in arguments.get("claims", ())
    )
    return arguments


def _with_options(entry: Question) -> Question:
    """Return an entry with the default form and options of its method filled in."""
    method = METHODS[entry.method]
    usual = options_of(method.function)
    options = {
        name: value
        for name, value in (usual | dict(entry.options)).items()
        if not is_later(entry.method, name) or value != usual[name]
    }
    return replace(
        entry, form=entry.form or method.form, options=MappingProxyType(options)
    )


def _entries(key: str, value: Any, source: str, task: str) -> Iterator[Entry]:
    """Yield the entry of one top-level key, or the entries of its list."""
    if key in TABLES:
        yield _read(f"{source}[{key}]", TABLES[key], value, task)
    elif key in MAY_BE_EMPTY and value in ([], ()):
        return
    elif key in LISTS and isinstance(value, list | tuple) and value:
        for number, item in enumerate(value, start=1):
            where = (
                f"{source}[{key}]" if len(value) == 1 else f"{source}[{key} {number}]"
            )
            yield _read(where, LISTS[key], item, task)
    elif key in LISTS:
        rule = f"must be a list of tables, [[{key}]]; {quote(value)} was given."
        yield Entry(source, {}, (f"{source}{key} {rule}",))
    elif key in (rules := rules_of(AuditConfig)):
        values, problems = _values(rules, {key: value}, source, task)
        yield Entry(source, values, problems)
    else:
        yield Entry(source, {}, (_unknown_key(f"{source}The top level", key, KEYS),))


def _read(where: str, section: type, table: Any, task: str) -> Entry:
    """Return the entry of one section; the options of a method are keys of it."""
    if not isinstance(table, Mapping):
        return Entry(
            where, {}, (f"{where} must be a table; {quote(table)} was given.",)
        )
    rules, needed = rules_of(section), list(required_of(section))
    options: dict[str, Rule] = {}
    choice = None
    if section in OWN_KEYS:
        key, choices, rules_by_name = OWN_KEYS[section]
        choice = table.get(key)
        if not isinstance(choice, str) or choice not in choices:
            choice = None
        for name in (choice,) if choice else choices:
            options |= rules_by_name(name)
    if choice and section is ClaimSection:
        defaults = keys_of(choice)
        needed += [key for key in defaults if defaults[key] is Parameter.empty]
    values, problems = _values(
        {**rules, **options}, table, f"{where} ", task, options if choice else ()
    )
    faulty = frozenset(table) - frozenset(values)
    missing = tuple(
        f"{where} {key} is missing.{SEE_INIT}" for key in needed if key not in table
    )
    if section in OWN_KEYS:
        own = {key: values.pop(key) for key in options if key in values}
        values["options"] = own
    return Entry(where, values, (*problems, *missing), faulty)


def _values(
    rules: Mapping[str, Rule],
    table: Mapping[str, Any],
    where: str,
    task: str,
    options: Collection[str] = (),
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the valid keys with their values, and a sentence for every other key."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for key, value in table.items():
        if key not in rules:
            problems.append(_unknown_key(where.rstrip(), key, tuple(rules), options))
            continue
        try:
            values[key] = rules[key].read(value)
        except Misfits as misfits:
            problems += [_sentence(where, key, item, task) for item in misfits.items]
    return values, tuple(problems)


def _problems(
    sections: Mapping[str, tuple[Entry, ...]], source: str, required: tuple[str, ...]
) -> Iterator[str]:
    """Yield all problems in the order of the file, then the missing sections."""
    nothing = (Entry("", {}),)
    (data,), (groups,) = (sections.get(key, nothing) for key in ("data", "groups"))
    names = tuple(entry.values.get("name", "") for entry in sections.get("models", ()))
    facts = Facts(
        data=data.values,
        importance=sections["importance"],
        groups=None if groups.problems else tuple(groups.values.get("groups", ())),
        models=names if "models" in required and all(names) else None,
    )
    for key, entries in sections.items():
        for entry in entries:
            yield from entry.problems
        if key in CROSS_CHECKS:
            for n, entry in enumerate(entries):
                here = facts._replace(before=entries[:n])
                for problem in CROSS_CHECKS[key](entry, here):
                    yield f"{entry.where} {problem}"
    for key in required:
        if not sections.get(key):
            yield f"{source}[{key}] is missing.{SEE_INIT}"


def _sentence(where: str, key: str, misfit: Misfit, task: str) -> str:
    """Return the sentence about a value that breaks its rule."""
    if key in OF_LOSS and isinstance(misfit.value, str) and not misfit.is_repeated:
        return unknown_loss(f"{where}{key}", misfit.value, task)
    subject = f"{where}{'.'.join((key, *map(quote_odd, misfit.path)))}"
    if key in ("groups", "labels") and misfit.path:
        subject = f"{where}[{key}] {quote_odd(misfit.path[0])}"
    if misfit.is_missing:
        return f"{subject} is missing; it must be {misfit.rule}."
    hint = ""
    if isinstance(misfit.value, str):
        hint = did_you_mean(misfit.value, misfit.allowed_names)
    times = " twice" if misfit.is_repeated else ""
    clause = f"{quote(misfit.value)} was given{times}"
    return f"{subject} must be {misfit.rule}; {clause}.{hint}"


def _unknown_key(
    where: str, key: str, keys: tuple[str, ...], options: Collection[str] = ()
) -> str:
    """Return the sentence about a key that does not exist in a section.

    `options` are the keys that depend on the method.
    """
    hint = did_you_mean(key, keys)
    if not hint and key in KEYS:
        hint = " It belongs at the top level, before the first section."
    elif not hint and key in RESERVED:
        hint = " The audit sets it."
    elif not hint and options:
        hint = f" The method takes {listed(options, limit=30)}."
    elif not hint:
        kinds = {**TABLES, **LISTS}.items()
        own = [f"[{name}]" for name, kind in kinds if key in rules_of(kind)]
        if len(own) == 1:
            hint = f" It is a key of {own[0]}."
    return f"{where} has no key {quote(key)}.{hint}"
