"""Estimators: importing, unpickling, construction and description. Not: fitting."""

import hashlib
import io
import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module, metadata
from inspect import Parameter, isclass, signature
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

from ..data.tables import refuse_pointer
from ..records.errors import ModelError, did_you_mean, listed, quote, words
from ..records.finding import Finding

INSTALL = " Install the package that contains it, or put the module beside audit.toml."


def make(model: str, path: str, parameters: Mapping[str, Any]) -> Any:
    """Return a new estimator of the class at `path`.

    Parameters
    ----------
    model : str
        The name of the model, for messages.
    path : str
        Module and class, such as "sklearn.ensemble.RandomForestRegressor".
    parameters : mapping
        Keyword arguments of the class.

    Raises
    ------
    ModelError
        If the class does not exist, cannot fit and predict, or refuses a parameter.
    """
    kind = _class_at(model, path)
    accepted = signature(kind).parameters
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in accepted.values())
    unknown = [name for name in parameters if name not in accepted and not takes_any]
    if unknown:
        other = f" See the documentation of {kind.__name__}."
        raise ModelError(
            f"Model {quote(model)}: {kind.__name__} has no "
            f"{'parameter' if len(unknown) == 1 else 'parameters'} {listed(unknown)}."
            f"{did_you_mean(unknown[0], accepted) or other}"
        )
    try:
        return kind(**parameters)
    except Exception as error:
        raise ModelError(
            f"Model {quote(model)} cannot be created. {kind.__name__} says: "
            f"{words(error)}"
        ) from error


def is_seeded(model: str, path: str) -> bool:
    """Return whether the class at `path` accepts a `random_state`."""
    return "random_state" in signature(_class_at(model, path)).parameters


def _class_at(model: str, path: str) -> type:
    """Return the class at a dotted path."""
    module_name, _, name = path.rpartition(".")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        absent = error.name or module_name
        parent = absent.rpartition(".")[0]
        modules = iter_modules(import_module(parent).__path__) if parent else ()
        guess = did_you_mean(absent, [f"{parent}.{module.name}" for module in modules])
        raise ModelError(
            f"Model {quote(model)}: there is no module {quote(absent)}."
            f"{guess if parent else INSTALL}"
        ) from error
    except Exception as error:
        raise ModelError(
            f"Model {quote(model)}: module {quote(module_name)} cannot be imported: "
            f"{words(error)}"
        ) from error
    kind = getattr(module, name, None)
    if kind is None:
        guess = did_you_mean(name, vars(module))
        raise ModelError(
            f"Model {quote(model)}: module {quote(module_name)} has no "
            f"{quote(name)}.{guess}"
        )
    missing_methods = [verb for verb in ("fit", "predict") if not hasattr(kind, verb)]
    if not isclass(kind) or missing_methods:
        reason = f"has no {missing_methods[0]}" if missing_methods else "is not a class"
        raise ModelError(
            f"Model {quote(model)}: {path!r} {reason}. Name an estimator class with "
            "fit and predict."
        )
    return kind


def unpickled(model: str, path: Path, sha256: str) -> tuple[Any, tuple[Finding, ...]]:
    """Return the object in a `.joblib` file with the digest `sha256`.

    The bytes that were compared are the ones that are unpickled. Warnings of libraries,
    such as those of scikit-learn and XGBoost about another version, become a finding.

    Raises
    ------
    ModelError
        If the file is missing, has another digest, or cannot be read.
    """
    if path.suffix != ".joblib":
        raise ModelError(
            f"Model {quote(model)}: file must be a .joblib, .rds or .txt file; "
            f"{path.name!r} was given."
        )
    content = trusted(model, path, sha256)
    import joblib

    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            estimator = joblib.load(io.BytesIO(content))
    except Exception as error:
        remedy = ""
        if isinstance(error, AttributeError):
            remedy = (
                ". A class of a notebook or a script (__main__) has no module to be "
                "imported from: put it into a module in the folder of the audit, "
                "import it from there, and save the model again. A class that its "
                "library no longer has needs the version that saved the model."
            )
        elif isinstance(error, ImportError) and error.name == "numpy._core":
            own = metadata.version("numpy")
            remedy = (
                f". The file was saved with numpy 2, and numpy {own} is installed "
                "here: install numpy 2, or save the model again with numpy 1."
            )
        elif isinstance(error, ModuleNotFoundError):
            remedy = ". Install it, or put it into the folder of the audit."
        raise ModelError(
            f"Model {quote(model)} cannot be loaded from {path.name!r}. joblib says: "
            f"{words(error)}{remedy}"
        ) from error
    for w in caught:
        if not issubclass(w.category, UserWarning):  # as if it had not been caught
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
    texts = (str(w.message) for w in caught if issubclass(w.category, UserWarning))
    says = " ".join(dict.fromkeys(" ".join(text.split()) for text in texts))
    return estimator, (loaded_otherwise(model, path.name, says),) if says else ()


def loaded_otherwise(model: str, file: str, says: str) -> Finding:
    """Return the finding that a loaded model may differ from the saved one."""
    return Finding(
        check="loaded_otherwise",
        severity="warning",
        subject=model,
        message=f"The model may not be the one that was saved in {quote(file)}: {says}",
        remedy="Load it with the versions that saved it, or fit and save it anew.",
    )


def trusted(model: str, path: Path, sha256: str) -> bytes:
    """Return the bytes of a file with the digest `sha256`.

    Raises
    ------
    ModelError
        If the file is missing or has another digest.
    """
    content = read(model, path)
    refuse_pointer(path.name, content, ModelError)
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise ModelError(
            f"Model {quote(model)}: the sha256 of {path.name!r} is {digest!r}, and the "
            f"configuration gives {sha256!r}. Loading the file runs its code: state "
            "the new one only if you trust the file."
        )
    return content


def read(model: str, path: Path) -> bytes:
    """Return the bytes of a file, or raise a ModelError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"Model {quote(model)}: {str(path)!r} cannot be read: {error.strerror}."
        ) from error


def final(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself.

    TransformedTargetRegressor and fitted searches are replaced by their inner estimator
    first.
    """
    for part in ("regressor_", "best_estimator_"):
        inner = getattr(estimator, part, None)
        if inner is not None:
            return final(inner)
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


HOLDERS = frozenset(
    "steps transformers transformer_list estimator regressor transformer".split()
)
"""Parameters of wrappers that hold other estimators."""
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
"""Distribution of each package with a different name."""


def library_of(estimator: Any) -> str:
    """Return distribution and version of the library of an estimator.

    Empty for None and for code that belongs to no installed distribution.
    """
    return _library(type(final(estimator)).__module__.partition(".")[0])


_distributions = cache(metadata.packages_distributions)  # 40 ms per call, so cached


@cache
def _library(top: str) -> str:
    listed_by = sorted(set(_distributions().get(top, [])))
    # Debian's newest packages do not list their files: use the package's own name.
    name = listed_by[0] if listed_by else DISTRIBUTIONS.get(top, top)
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return ""


def class_name(estimator: Any) -> str:
    """Return the class of the final estimator; in R, its R class; "" for a function."""
    if hasattr(estimator, "r_class"):
        return str(estimator.kind)
    return "" if estimator is None else type(final(estimator)).__name__


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator: JSON scalars, or their repr."""
    last = final(estimator)
    if not hasattr(last, "get_params"):
        return {}
    return {name: _plain(value) for name, value in last.get_params(deep=False).items()}


class EstimatorStep(NamedTuple):
    """One part of a pipeline, a search or another wrapper.

    Attributes
    ----------
    path : str
        The names that lead to it, joined by /; empty for the wrapper itself.
    kind : str
        Its class, or the text used instead of a step: "drop", "passthrough".
    parameters : mapping
        Those that differ from the defaults of its class.
    """

    path: str
    kind: str
    parameters: Mapping[str, Any]


def steps_of(estimator: Any) -> tuple[EstimatorStep, ...]:
    """Return a wrapper and its steps, in order; empty for other estimators."""
    return tuple(_walk(estimator, "")) if _parts_of(estimator) else ()


def _walk(part: Any, path: str) -> Iterator[EstimatorStep]:
    """Yield one part of a wrapper, then the parts inside it."""
    if part is None or isinstance(part, str):
        yield EstimatorStep(path, part or "passthrough", {})
        return
    changed = {}  # parameters that differ from defaults, except those that hold parts
    if hasattr(part, "get_params"):
        defaults = signature(type(part)).parameters
        changed = {
            name: _plain(value)
            for name, value in part.get_params(deep=False).items()
            if name not in HOLDERS
            and (name not in defaults or repr(value) != repr(defaults[name].default))
        }
    yield EstimatorStep(path, type(part).__name__, changed)
    for name, inner in _parts_of(part):
        yield from _walk(inner, f"{path}/{name}" if path else str(name))


def _parts_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return the fitted parts of a scikit-learn wrapper, with their names."""
    if hasattr(estimator, "best_estimator_"):
        return [("best", estimator.best_estimator_)]
    if hasattr(estimator, "regressor_"):
        target = getattr(estimator, "transformer_", None)
        first = [] if target is None else [("target", target)]
        return [*first, ("regressor", estimator.regressor_)]
    for name in ("steps", "transformers_", "transformer_list"):
        if parts := getattr(estimator, name, None):
            return [(part[0], part[1]) for part in parts]
    return []


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, str | int | float | None):
        return value
    # Memory addresses differ in every run.
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as JSON with sorted keys."""
    return json.dumps(dict(parameters), sort_keys=True, ensure_ascii=False)
