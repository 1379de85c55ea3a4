"""A Python predict as an R function; keeps what goes wrong for host.py to raise.

R calls the function with a data.frame. The rows cross to the parent, which asks the
model and answers with numbers or with the reason why there are none. No exception
passes through R, where it would be swallowed: R gets two texts instead, and the guard's
wrapper makes an R error of them.
"""

from typing import Any

from rpy2 import rinterface

from . import from_r, to_r
from .channel import Array, Channel
from .errors import RBridgeError

# What R may still call must stay referenced, or R calls into freed memory.
_for_ever: list[Any] = []


class Callback:
    """Answers R's calls of predict over the channel.

    Attributes
    ----------
    function : R function
        ``(newdata, has_known_columns)``; see `python_predict` in guard.R.
    failures : list of str
        What went wrong on this side since the request began; the first entry is raised
        even when R reports success.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._columns: tuple[from_r.Column, ...] | None = None
        self.failures: list[str] = []
        self.function = rinterface.rternalize(self._answer, signature=False)
        _for_ever.append(self.function)

    def _answer(self, newdata: Any, has_known_columns: Any) -> Any:
        """Return the predictions for a data.frame, or two texts."""
        try:
            if self._columns is None or not has_known_columns[0]:
                self._columns = None
                self._columns = _columns_of(newdata)
            return self._ask(newdata, self._columns)
        except BaseException as error:
            self.failures.append(str(error))
            return _no_answer(str(error))

    def _ask(self, newdata: Any, columns: tuple[from_r.Column, ...]) -> Any:
        arrays: list[Array] = []
        record = from_r.read_frame(newdata, columns, arrays, subject="newdata")
        self._channel.send(("predict", record), arrays)
        message, answers = self._channel.receive()
        if message[0] == "failed":
            return _no_answer(message[1])
        return to_r.build(message[1], answers)


def _columns_of(newdata: Any) -> tuple[from_r.Column, ...]:
    """Return what is known of the columns of a data.frame, and refuse other values."""
    classes = newdata.rclass
    if "data.frame" not in classes:
        raise RBridgeError(
            f"R called predict with a value of class {classes[0]}, not with a "
            "data.frame."
        )
    return from_r.describe_columns(newdata, subject="newdata")


def _no_answer(text: str) -> Any:
    return rinterface.StrSexpVector(["__python_error__", text])
