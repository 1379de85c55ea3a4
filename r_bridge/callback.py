"""A Python predict as an R function; keeps what goes wrong for host.py to raise.

R calls the function with a data.frame. The rows cross to the parent, which asks the
model and answers with numbers or with the reason why there are none. No exception
passes through R, where it would be swallowed: R gets two texts instead, and the guard's
wrapper makes an R error of them.
"""

from typing import Any

from rpy2 import rinterface

from . import r_values
from .errors import RBridgeError
from .wire import Line

# What R may still call must stay referenced, or R calls into freed memory.
_for_ever: list[Any] = []


class Callback:
    """Answers R's calls of predict by asking the other process.

    Attributes
    ----------
    function : R function
        ``(newdata)``; see `python_predict` in guard.R.
    failures : list of str
        What went wrong on this side since the request began; the first entry is raised
        even when R reports success.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self.failures: list[str] = []
        self.function = rinterface.rternalize(self._answer, signature=False)
        _for_ever.append(self.function)

    def _answer(self, newdata: Any) -> Any:
        """Return the predictions for a data.frame, or two texts."""
        try:
            return self._ask(newdata)
        except BaseException as error:
            self.failures.append(str(error))
            return _no_answer(str(error))

    def _ask(self, newdata: Any) -> Any:
        classes = newdata.rclass
        if "data.frame" not in classes:
            raise RBridgeError(
                f"R called predict with a value of class {classes[0]}, not with a "
                "data.frame."
            )
        record = r_values.read_frame(newdata, subject="newdata")
        self._line.send(("predict", record))
        word, content = self._line.receive()
        return _no_answer(content) if word == "failed" else r_values.build(content)


def _no_answer(text: str) -> Any:
    return rinterface.StrSexpVector(["__python_error__", text])
