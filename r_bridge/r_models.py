"""Fitted R models: read from bytes with a known digest, and kept in R by that digest.

They are kept in a second R of the session, `host.current_models`, because an R model
predicts while the first R waits for the predictions.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host
from .errors import RBridgeError, RError, RUnavailable, UnknownClass
from .process import scratch

Floats = npt.NDArray[np.float64]

LARGEST = 1 << 30
"""Most bytes of an .rds file."""

_NO_MEMORY = re.compile("memory exhausted|memory limit|cannot allocate")
_UNREADABLE = (
    "be a file that saveRDS wrote",
    "Save it again, with this R or an older one.",
)
_TOO_LARGE = (
    "fit into the memory that R may use",
    "Allow R more, or save the model without its training data.",
)


@dataclass(frozen=True, kw_only=True)
class RModel:
    """A fitted model of R.

    Attributes
    ----------
    path : str
        Its origin, for messages.
    content : bytes
        The .rds file; R reads these bytes, again if it was restarted.
    sha256 : str
        Digest of content and script, which identifies the model in R.
    script : str or None
        An R script whose value is the predict function of model and data frame.
    r_class : tuple of str
        Its class in R.
    package, package_version, r_version : str
        The R package that predicts, and the versions.
    saved_by : str
        The version of R that wrote the file.
    about : str
        Its name in messages about R's death or a timeout: "model 'm'".
    """

    path: str
    content: bytes = field(repr=False)
    sha256: str
    r_class: tuple[str, ...]
    package: str
    package_version: str
    r_version: str
    script: str | None = None
    saved_by: str = ""
    about: str = ""

    def __reduce__(self) -> NoReturn:
        """Refuse pickling: only the process that started R can use the model."""
        raise TypeError("only the process that started R can ask a model of R.")

    @property
    def kind(self) -> str:
        """The familiar class name: "randomForest" for randomForest.formula."""
        return self.r_class[0].removesuffix(".formula")

    def call(self, function: str, arguments: Mapping[str, Any], **more: Any) -> Any:
        """Call an R function of the bridge with this model as its argument ``model``.

        Parameters
        ----------
        function : str
            The name of a function in one of the R files.
        arguments : mapping of str to value
            Its other arguments, by name.
        **more
            As in `host.Worker.call`.

        Raises
        ------
        RBridgeError
            As in `host.Worker.call`. The next call loads the model again.
        """
        worker = host.current_models()
        question = {"sha256": self.sha256, "name": function, "arguments": arguments}
        more = {"about": self.about or f"R model {self.path!r}", **more}
        try:
            answer = worker.call("with_model", question, **more)
            if not answer:
                _load(self.path, self.content, self.sha256, self.script)
                answer = worker.call("with_model", question, **more)
        except RError as error:
            if worker.memory_gb and _NO_MEMORY.search(error.message):
                # R's message does not state its limit.
                error.message += f" (R may hold {worker.memory_gb:g} GB)"
            raise
        return answer["value"]


def read_model(
    path: str, content: bytes, script: str | None = None, about: str = ""
) -> RModel:
    """Return the model in the bytes of an .rds file.

    Parameters
    ----------
    path : str
        Their origin, for messages.
    content : bytes
        The bytes that were hashed and are trusted: reading them may run code.
    script : str, optional
        An R script whose value is a predict function; then the class does not matter.
    about : str
        As in `RModel`.

    Raises
    ------
    RUnavailable
        If R, or the package that predicts for the model, is not installed.
    RBridgeError
        If R cannot read the bytes, they hold no model of a known class, or the script
        fails or does not end in a function of two arguments.
    """
    if len(content) > LARGEST:
        raise RBridgeError(
            f"R model {path!r} must have at most {LARGEST >> 20} MB; has "
            f"{len(content) >> 20}. Save it without its training data."
        )
    hashed = content if script is None else content + script.encode()
    sha256 = hashlib.sha256(hashed).hexdigest()
    facts = _load(path, content, sha256, script)
    return RModel(
        path=path,
        content=content,
        sha256=sha256,
        r_class=tuple(facts["r_class"]),
        package=facts["package"][0],
        package_version=facts["package_version"][0],
        r_version=facts["r_version"][0],
        script=script,
        saved_by=facts["saved_by"][0],
        about=about,
    )


def fit_by_script(
    path: str,
    script: str,
    train: pd.DataFrame,
    weights: Floats | None = None,
    predict: str | None = None,
    about: str = "",
) -> tuple[RModel, tuple[str, ...]]:
    """Return the fitted model that is the value of an R script, and R's warnings.

    The script can use the variables ``train``, and ``weights`` if given. Every script
    starts with ``set.seed(1)`` and cannot change options permanently.

    Parameters
    ----------
    path : str
        Origin of the script, for messages.
    script : str
    train : DataFrame
    weights : ndarray of shape (n_rows,), optional
    predict : str, optional
        As `script` of `read_model`.
    about : str
        As in `RModel`.

    Raises
    ------
    RError
        If the script stops.
    RUnavailable, RBridgeError
        As in `read_model`.
    """
    worker = host.current_models()
    with scratch() as folder:
        file = folder / "model.rds"
        worker.call(
            "fit_by_script",
            {"script": script, "train": train, "weights": weights, "file": str(file)},
            about=f"R script {path!r}",
        )
        warnings = worker.warnings
        content = file.read_bytes()
    return read_model(path, content, predict, about), warnings


def _load(path: str, content: bytes, sha256: str, script: str | None) -> dict[str, Any]:
    """Load a model into R, and return its properties."""
    with scratch() as folder:
        file = folder / "model.rds"
        file.write_bytes(content)
        question = {"sha256": sha256, "file": str(file), "script": script}
        try:
            facts: dict[str, Any] = host.current_models().call(
                "hold_model", question, about=f"readRDS for {path!r}"
            )
        except RError as error:
            message = " ".join(error.message.split())
            is_too_large = _NO_MEMORY.search(message)
            rule, remedy = _TOO_LARGE if is_too_large else _UNREADABLE
            raise RBridgeError(
                f"R model {path!r} must {rule}; R cannot read it: {message}. {remedy}"
            ) from error
        except RUnavailable:
            raise
        except RBridgeError as error:
            raise RBridgeError(
                f"R model {path!r} could not be read: {error}"
            ) from error
    if "script_error" in facts:
        reason = " ".join(facts["script_error"][0].split())
        raise RBridgeError(
            f"the script that predicts for R model {path!r} must end in a function of "
            f"the model and a data frame. R says: {reason}."
        )
    if "known_classes" in facts:
        raise UnknownClass(
            f"R model {path!r} must be of a class that can be audited "
            f"({', '.join(facts['known_classes'])}); it is of class "
            f"{'/'.join(facts['class'])!r}."
        )
    if "missing_package" in facts:
        package = facts["missing_package"][0]
        raise RUnavailable(
            f"R package {package!r} of model {path!r} is not installed. Run in R: "
            f"install.packages({package!r})"
        )
    return facts
