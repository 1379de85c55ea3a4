"""Load and check the methods, losses and engines that the user wrote (extensions).

``"my_module:my_method"`` is a function of ``my_module.py`` in the folder of audit.toml.
The run records the SHA-256 of the very bytes that are run. An engine is a class of such
a file. docs/extending.md describes the requirements of each.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from importlib.metadata import entry_points
from inspect import Parameter, Signature
from pathlib import Path
from traceback import extract_tb
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_type_hints,
)

import numpy as np

from ..engines import ENGINES
from ..methods.importance import METHODS, RESERVED, Method, Of, options_of
from ..models.own_code import forget_modules, modules_of
from ..records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ..records.errors import AuditError, ExtensionError, listed, quote, words
from ..records.extensions import Kind, Rows
from ..records.losses import BINARY, LOSSES, MULTICLASS, REGRESSION, Evaluation, Loss
from ..records.value_rules import OWN_NAME, Range, rule_of

TASKS = (REGRESSION, BINARY, MULTICLASS)
TABLES: Mapping[Kind, Mapping[str, Any]] = {
    "method": METHODS,
    "loss": LOSSES,
    "engine": ENGINES,
}
NAMED_IN: Mapping[str, Kind] = {
    "method": "method",
    "losses": "loss",
    "loss": "loss",
    "engines": "engine",
    "engine": "engine",
}
"""The kind of extension that each key of an entry may name."""
UNITS = ("loss", "prediction", "y", "1")
ASKS = ("predict", "refit", "estimator", "data")


Engine: TypeAlias = dict[str, dict[str, Any]]


class Extension(NamedTuple):
    """A method, a loss or an engine that the user wrote.

    Attributes
    ----------
    kind : {"method", "loss", "engine"}
    name : str
        The name in the configuration.
    row : Method, Loss or dict
        Its row of METHODS, LOSSES or ENGINES.
    facts : dict
        The facts that the run records: kind, name, file, sha256, the digests of other
        files of the folder that it imports, its docstring and the fields of its row; of
        an engine, its version and the methods that it measures. An extension defined in
        an interactive session has no file; its digest is that of its source, empty if
        the source is not known.
    """

    kind: Kind
    name: str
    row: Method | Loss | Engine
    facts: dict[str, Any]


def rows_of(extensions: Sequence[Extension]) -> Rows:
    """Return the rows of extensions for `records.extensions.in_force`."""
    return {(item.kind, item.name): item.row for item in extensions}


def stored_rows(config: Mapping[str, Any]) -> Rows:
    """Return the rows of the extensions of a stored run, with functions that raise."""
    rows: dict[tuple[Kind, str], Any] = {}
    for item in config.get("extensions", ()):
        if item["kind"] == "loss":
            row: Any = Loss(_no_code, *_loss_facts(item))
        elif item["kind"] == "engine":
            measured = {name: METHODS[name] for name in item["measures"]}
            stored = {n: m._replace(function=_no_code) for n, m in measured.items()}
            row = {"importance": stored, "effects": {}}
        else:
            row = Method(item["asks"], item["unit"], item["form"], _no_code)
        rows[item["kind"], item["name"]] = row
    return rows


def _loss_facts(item: Mapping[str, Any]) -> tuple[tuple[str, ...], str, str, str]:
    label = item["name"].partition(":")[2] or item["name"]
    formula = item["text"].partition("\n")[0].rstrip(".")
    return tuple(item["tasks"]), item["unit"], label, formula or label


def _no_code(*_: Any, **__: Any) -> Any:
    raise ExtensionError("A stored run has no code to measure with.")


def load_extensions(
    document: Mapping[str, Any],
    base: Path,
    functions: Mapping[str, Callable[..., Any]],
    source: str = "",
) -> tuple[tuple[Extension, ...], tuple[str, ...]]:
    """Return the extensions that a configuration uses, and a sentence per problem.

    Parameters
    ----------
    document : mapping
        The configuration before any check.
    base : Path
        The folder of the modules.
    functions : mapping of str to callable
        Functions passed in Python, by their names.
    source : str
        The beginning of each sentence.
    """
    extensions: list[Extension] = []
    problems: list[str] = []
    names = tuple(dict.fromkeys(_names(document)))
    if names:
        forget_modules(base)  # a file may have changed since the last audit
    for kind, name in names:
        try:
            function, source_facts = _load_function(kind, name, base, functions)
            extensions.append(_extension(kind, name, function, source_facts))
        except ExtensionError as error:
            problems.append(f"{source}{kind.capitalize()} {quote(name)} {error}")
    return tuple(extensions), tuple(problems)


def _names(document: Mapping[str, Any]) -> Iterator[tuple[Kind, str]]:
    """Yield the names in a configuration that are not built in, with their kind."""
    for section in ("importance", "claims"):
        entries = document.get(section)
        for entry in entries if isinstance(entries, list | tuple) else ():
            if not isinstance(entry, Mapping):
                continue
            for key, kind in NAMED_IN.items():
                value = entry.get(key)
                for name in value if isinstance(value, list | tuple) else [value]:
                    if not isinstance(name, str) or name in {*TABLES[kind]}:
                        continue
                    if re.fullmatch(OWN_NAME, name) or _entry_point(kind, name):
                        yield kind, name


def _entry_point(kind: Kind, name: str) -> Any:
    """Return the entry point of an installed package, None if there is none."""
    group = f"importance_audit.{'losses' if kind == 'loss' else f'{kind}s'}"
    return next(iter(entry_points(group=group, name=name)), None) if name else None


def _load_function(
    kind: Kind, name: str, base: Path, functions: Mapping[str, Callable[..., Any]]
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return a function, and the facts of its source."""
    if name in functions or not re.fullmatch(OWN_NAME, name):
        try:
            function = functions.get(name) or _entry_point(kind, name).load()
            return function, _facts(*_source_of(function))
        except Exception as error:
            how = "Write it in a file: its digest is what shows later what it was."
            raise ExtensionError(f"cannot be read: {_in_words(error)} {how}") from error
    stem, _, attribute = name.partition(":")
    module, data = _module(stem, base)
    function = getattr(module, attribute, None)
    file, folder = Path(str(module.__file__)), base.resolve()
    if not callable(function):
        what = "class" if kind == "engine" else "function"
        fits = getattr(inspect, f"is{what}")
        own = {n: v for n, v in vars(module).items() if fits(v)}
        names = [n for n, v in own.items() if v.__module__ == module.__name__]
        has = f"it has {listed(names)}" if names else "it has none"
        raise ExtensionError(f"is no {what} of {file.name}; {has}.")
    facts = _facts(file.name, data)
    used = _files_used(data, folder, {file}) - {file} if file.parent == folder else ()
    if used:
        facts["imports"] = {
            path.relative_to(folder).as_posix(): _digest(path.read_bytes())
            for path in sorted(used)
        }
    return function, facts


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _facts(file: str, data: bytes) -> dict[str, Any]:
    """Return the file name and the digest of a source, empty if it is not known."""
    return {"file": file, "sha256": _digest(data) if data else ""}


def _source_of(function: Callable[..., Any]) -> tuple[str, bytes]:
    """Return the file of an object, and its content.

    What a notebook or prompt defines has no file. Its content is its own source, empty
    if Python does not keep it: for a prompt, and for a class before Python 3.13.
    """
    thing = inspect.unwrap(function)
    in_session = getattr(thing, "__module__", "") == "__main__"
    try:
        file = Path(inspect.getsourcefile(thing) or "")
        if in_session and not file.is_file():
            return "", inspect.getsource(thing).encode()
        return file.name, file.read_bytes()
    except (OSError, TypeError):
        if in_session:
            return "", b""
        raise


def _module(stem: str, base: Path) -> tuple[Any, bytes]:
    """Return a module in the folder of the audit, and the bytes that it was run from.

    If the folder has no such module, an installed one is used.
    """
    file = base.resolve() / f"{stem}.py"
    with modules_of(base):
        try:
            known = importlib.util.find_spec(stem)
        except ValueError:
            known = None
        if known is None and not file.is_file():
            where = f"there is no {file.name} in the folder of the audit"
            raise ExtensionError(f"cannot be imported: {where}, {str(base)!r}.")
        origin = Path(str(known.origin)).resolve() if known else file
        if file.is_file() and origin != file:
            raise ExtensionError(
                f"cannot be imported: {stem!r} is the name of a module that is "
                f"installed, {str(origin)!r}. Rename {file.name}."
            )
        try:
            data = origin.read_bytes()
            if origin != file:
                return importlib.import_module(stem), data
            spec = importlib.util.spec_from_file_location(stem, file)
            assert spec is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[stem] = module
            exec(compile(data, str(file), "exec"), vars(module))
        except (Exception, SystemExit) as error:
            sys.modules.pop(stem, None)
            raise ExtensionError(f"cannot be imported: {_in_words(error)}") from error
    return module, data


def _files_used(data: bytes, folder: Path, files: set[Path]) -> set[Path]:
    """Return `files` and the files of a folder that code imports, also indirectly.

    Of a package, all files are included.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    found = {folder / f"{name}.py" for name in names}
    for name in names:
        found |= {*(folder / name).rglob("*.py")}
    for file in sorted(path for path in found - files if path.is_file()):
        if file not in files:
            files.add(file)
            _files_used(file.read_bytes(), folder, files)
    return files


def _extension(
    kind: Kind,
    name: str,
    function: Callable[..., Any],
    source_facts: Mapping[str, Any],
) -> Extension:
    """Return the extension of a function after checks of its attributes."""
    text = (inspect.getdoc(function) or "").strip()
    facts: dict[str, Any] = {"kind": kind, "name": name, **source_facts, "text": text}
    if kind == "engine":
        facts["version"] = _attribute(function, "version", "", None)
        engine = _engine(name, function)
        facts["measures"] = [*engine["importance"]]
        return Extension(kind, name, engine, facts)
    if kind == "loss":
        facts |= {
            "unit": _attribute(function, "unit", "1", None),
            "tasks": list(_attribute(function, "tasks", TASKS, TASKS)),
        }
        loss = Loss(_checked_loss(name, function), *_loss_facts(facts))
        return Extension(kind, name, loss, facts)
    facts |= {
        "asks": _attribute(function, "asks", "predict", ASKS),
        "unit": _attribute(function, "unit", "1", UNITS),
        "form": _attribute(function, "form", "difference", get_args(Form)),
    }
    of = _attribute(function, "of", ("features", "groups"), get_args(Of))
    method = _checked_method(name, function, facts["unit"])
    row = Method(facts["asks"], facts["unit"], facts["form"], method, of=tuple(of))
    return Extension(kind, name, row, facts)


def _engine(name: str, engine: Any) -> Engine:
    """Return the row of ENGINES for a class, each of its functions checked.

    Its functions have the names of methods and are called like those of METHODS, with
    the options that they define.
    """
    if not inspect.isclass(engine):
        raise ExtensionError(f"must be a class; it is a {type(engine).__name__}.")
    public = {key: getattr(engine, key) for key in dir(engine) if key[0] != "_"}
    functions = {key: value for key, value in public.items() if callable(value)}
    other = [key for key in functions if key not in METHODS]
    if other:
        raise ExtensionError(
            f"has the function {quote(other[0])}, which no method of audit.toml is "
            "called. Begin the name of a helper with _."
        )
    if not functions:
        raise ExtensionError(
            "must have a function with the name of a method, such as permutation; it "
            "has none."
        )
    rows = {}
    for key, function in functions.items():
        try:
            method = _checked_method(f"{name}.{key}", function, METHODS[key].unit)
        except ExtensionError as error:
            raise ExtensionError(f"has a function {key} that {error}") from error
        usual = options_of(METHODS[key].function)
        more = [option for option in options_of(method) if option not in usual]
        if more:
            rule = f"which the method {key} has not; it has {listed(usual) or 'none'}"
            raise ExtensionError(f"has a function {key} with {quote(more[0])}, {rule}.")
        rows[key] = METHODS[key]._replace(function=method)
    return {"importance": rows, "effects": {}}


def _attribute(function: Any, name: str, usual: Any, allowed: Any) -> Any:
    """Return an attribute that a function has, as in ``my_method.unit = "loss"``."""
    value = getattr(function, name, usual)
    is_tuple, rule = isinstance(usual, tuple), "a text"
    if allowed:
        rule = f"{'a tuple' if is_tuple else 'one'} of {listed(allowed)}"
    texts = value if isinstance(value, list | tuple) else (value,)
    is_sound = is_tuple == isinstance(value, list | tuple) and len(texts) > 0
    if not is_sound or not all(
        isinstance(text, str) and (not allowed or text in allowed) for text in texts
    ):
        raise ExtensionError(f"has {name} = {quote(value)}; it must be {rule}.")
    return value


def _options(function: Callable[..., Any]) -> list[Parameter]:
    """Return the options of a method as keyword-only arguments, each with its type."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:
        why = f"has a signature that cannot be read: {_in_words(error)}"
        raise ExtensionError(why) from error
    names = [p.name for p in parameters]
    if "seed" not in names[2:]:
        takes = f"it takes ({', '.join(names)})"
        raise ExtensionError(f"must take (model, data, *, seed, …); {takes}.")
    options = []
    for parameter in parameters[2:]:
        name, usual = parameter.name, parameter.default
        if name == "seed" or parameter.kind is Parameter.VAR_KEYWORD:
            continue
        if usual is Parameter.empty:
            raise ExtensionError(
                f"has an option {name} without a default. Give it one."
            )
        if name in RESERVED:
            rule = "which the audit sets or keeps for itself. Choose another name"
            raise ExtensionError(f"has an option {name}, {rule}.")
        hint = hints.get(name)
        if hint is None and name == "n_repeats":
            hint = int
        elif hint is None:  # the type follows from the default
            is_plain = isinstance(usual, bool | float | str)
            hint = type(usual) if is_plain else Any
            hint = Annotated[int, Range()] if type(usual) is int else hint
        try:
            rule_of(hint).read(usual)
        except Exception as error:
            kinds = "a text, a number, true or false, or a list or table of these"
            rule = f"whose type or default is none of audit.toml: {kinds}"
            raise ExtensionError(f"has an option {name}, {rule}.") from error
        kind = Parameter.KEYWORD_ONLY
        options.append(Parameter(name, kind, default=usual, annotation=hint))
    return options


def _checked_method(
    name: str, function: Callable[..., Any], unit: str
) -> Callable[..., tuple[Floats, Floats]]:
    """Return a method with the signature of METHODS that checks its result.

    A method with repeats accepts the argument `stream`, which is always "numpy".
    """
    options = _options(function)

    @wraps(function)
    def method(
        model: FittedModel | None, data: Dataset, *, seed: int, **given: Any
    ) -> tuple[Floats, Floats]:
        given.pop("stream", None)
        own = replace(data, X=data.X.copy())  # the function may change X
        try:
            result = function(model, own, seed=seed, **given)
        except AuditError:
            raise
        except Exception as error:
            raise _raised(name, function, error) from error
        n_scores = 1
        if model is not None and unit in ("loss", "prediction"):
            n_scores = len(model.losses if unit == "loss" else model.outputs)
        return _checked_result(name, result, len(data.groups), n_scores)

    keyword = Parameter.KEYWORD_ONLY
    fixed = [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in ("model", "data")]
    fixed.append(Parameter("seed", keyword, annotation=int))
    if any(option.name == "n_repeats" for option in options):
        stream = Literal["numpy"]
        fixed.append(Parameter("stream", keyword, default="numpy", annotation=stream))
    method.__signature__ = Signature([*fixed, *options])  # type: ignore[attr-defined]
    method.__annotations__ = {p.name: p.annotation for p in options}
    return method


def _checked_result(
    name: str, result: Any, n_groups: int, n_scores: int
) -> tuple[Floats, Floats]:
    """Return the raw values and baseline of a method, or refuse their types or shapes.

    Raises
    ------
    ExtensionError
        If the result does not have the form that docs/extending.md requires.
    """

    def refusal(problem: str) -> ExtensionError:
        return ExtensionError(f"{name} must return {problem}")

    if not isinstance(result, tuple | list) or len(result) != 2:
        kind = type(result).__name__
        raise refusal(f"two arrays, raw and baseline; it returned {kind}.")
    if any(np.iscomplexobj(part) for part in result):
        raise refusal("real numbers; some are complex.")
    try:
        raw, baseline = (np.array(part, dtype=np.float64) for part in result)
    except (TypeError, ValueError) as error:
        raise refusal(f"numbers: {_in_words(error)}") from error
    n_repeats = raw.shape[1] if raw.ndim == 3 else 0
    if raw.ndim != 3 or (raw.shape[0], raw.shape[2]) != (n_groups, n_scores):
        shape = f"({n_groups}, n_repeats, {n_scores}), features or groups first"
        raise refusal(f"raw of shape {shape}; it has shape {raw.shape}.")
    if baseline.shape != (n_repeats, n_scores) or not n_repeats:
        shape = f"({n_repeats or 'n_repeats'}, {n_scores})"
        raise refusal(f"baseline of shape {shape}; it has shape {baseline.shape}.")
    if np.isnan(baseline).any():
        why = "only raw may hold NaN, where a feature has no answer"
        raise refusal(f"a baseline without NaN; {why}.")
    return raw, baseline


def _checked_loss(name: str, function: Callable[..., Any]) -> Evaluation:
    """Return a loss that cannot change its arguments and checks its result."""
    try:
        inspect.signature(function).bind(None, None, None)
    except (TypeError, ValueError) as error:
        problem = f"must take (y, prediction, weights): {_in_words(error)}"
        raise ExtensionError(problem) from error

    @wraps(function)
    def loss(y: Any, prediction: Any, weights: Any) -> float:
        views = [np.asarray(part).view() for part in (y, prediction, weights)]
        for view in views:
            view.flags.writeable = False
        try:
            value = function(*views)
        except Exception as error:
            raise _raised(name, function, error) from error
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            kind = f"{type(value).__name__} of shape {np.shape(value)}"
            problem = f"{name} must return one number; it returned {kind}."
            raise ExtensionError(problem) from error

    return loss


def _raised(
    name: str, function: Callable[..., Any], error: Exception
) -> ExtensionError:
    """Return the error of a user's function, with its last line in the user's file."""
    frames = extract_tb(error.__traceback__)
    file = inspect.getsourcefile(inspect.unwrap(function))
    lines = [frame.lineno for frame in frames if frame.filename == file]
    message = _in_words(error)
    if lines:
        message = f"{message.rstrip('.')} ({Path(str(file)).name}, line {lines[-1]})."
    return ExtensionError(f"{name} raised {message}")


def _in_words(error: BaseException) -> str:
    """Return the type and message of an exception, as the end of a sentence."""
    text = f"{type(error).__name__}: {words(error)}"
    return text if text.endswith((".", "!", "?")) else f"{text}."
