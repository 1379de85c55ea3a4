"""Fitted R models: read from bytes that were hashed, held by R, asked by digest.

They live in a second R of the session, `host.current_models`: predict of an R model is
asked while the first R waits for the answer.
"""

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from r_bridge import host
from r_bridge.errors import RBridgeError, RError, RUnavailable
from r_bridge.process import private_folder

PACKAGES = {
    "lm": "stats",
    "aov": "stats",
    "glm": "stats",
    "rlm": "MASS",
    "negbin": "MASS",
    "randomForest": "randomForest",
    "randomForest.formula": "randomForest",
    "ranger": "ranger",
    "gbm": "gbm",
    "rpart": "rpart",
    "nnet.formula": "nnet",
    "multinom": "nnet",
    "earth": "earth",
    "svm": "e1071",
    "svm.formula": "e1071",
}
"""The package that predicts for the first class of a model: what can be audited."""

LARGEST = 1 << 30


@dataclass(frozen=True, kw_only=True)
class RModel:
    """A fitted model of R.

    Attributes
    ----------
    path : str
        Where it came from, for messages.
    content : bytes
        The .rds file; R reads these bytes, and reads them again after it died.
    sha256 : str
        Their digest, by which R holds the model.
    r_class : tuple of str
        What R's ``class`` says.
    package, package_version : str
        What predicts for it.
    """

    path: str
    content: bytes = field(repr=False)
    sha256: str
    r_class: tuple[str, ...]
    package: str
    package_version: str

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
            As in `host.Worker.call`. The next call finds the model in its place again.
        """
        worker = host.current_models()
        asked = {"sha256": self.sha256, "name": function, "arguments": arguments}
        answer = worker.call("with_model", asked, **more)
        if not answer:
            _hold(self.path, self.content, self.sha256)
            answer = worker.call("with_model", asked, **more)
        return answer["value"]


def read_model(path: str, content: bytes) -> RModel:
    """Return the model in the bytes of an .rds file.

    Parameters
    ----------
    path : str
        Where they came from, for messages.
    content : bytes
        What was hashed and is trusted: reading it may run code in it.

    Raises
    ------
    RUnavailable
        If R, or the package that predicts for the model, is not there.
    RBridgeError
        If R cannot read the bytes, or they hold no model of a class in `PACKAGES`.
    """
    if len(content) > LARGEST:
        raise RBridgeError(
            f"R model {path!r} must have at most {LARGEST >> 20} MB, but has "
            f"{len(content) >> 20}. Save it without its training data."
        )
    sha256 = hashlib.sha256(content).hexdigest()
    facts = _hold(path, content, sha256)
    return RModel(
        path=path,
        content=content,
        sha256=sha256,
        r_class=tuple(facts["r_class"]),
        package=facts["package"][0],
        package_version=facts["package_version"][0],
    )


def _hold(path: str, content: bytes, sha256: str) -> dict[str, Any]:
    """Let R read a model, and return what it says about it."""
    with _as_file(content) as file:
        asked = {"sha256": sha256, "file": str(file), "package_of": PACKAGES}
        try:
            facts: dict[str, Any] = host.current_models().call("hold_model", asked)
        except RError as error:
            said = " ".join(error.message.split())
            raise RBridgeError(
                f"R model {path!r} must be a file that saveRDS wrote, but R cannot "
                f"read it: {said}. Save it again, with this R or an older one."
            ) from error
        except RUnavailable:
            raise
        except RBridgeError as error:
            raise RBridgeError(
                f"R model {path!r} must be readable by R, but reading it failed: "
                f"{error}"
            ) from error
    if "found" in facts:
        raise RBridgeError(
            f"R model {path!r} must be of a class that can be audited "
            f"({', '.join(PACKAGES)}), but is a {'/'.join(facts['found'])}. Wrap its "
            "predict in a model of Python, or refit it as one of these."
        )
    if not facts["package_is_there"][0]:
        package = facts["package"][0]
        raise RUnavailable(
            f"R package {package!r} must be installed for model {path!r}, but R finds "
            f"none. Run in R: install.packages({package!r})"
        )
    return facts


@contextlib.contextmanager
def _as_file(content: bytes) -> Iterator[Path]:
    """Write bytes where only R and we look, for as long as R reads them."""
    with contextlib.ExitStack() as leftovers:
        folder = private_folder(Path(tempfile.gettempdir()), leftovers)
        file = folder / "model.rds"
        file.write_bytes(content)
        yield file
