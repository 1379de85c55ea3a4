"""One call of an R function: the request, calls of predict, the deadline, the result.

Not: choosing and restarting the process; see `host`.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy.typing as npt
import pandas as pd

from .errors import RBridgeError, RError, RTimeout
from .process import Process, ProcessEnded
from .python_values import unpack
from .schema import check_prediction, restore
from .wire import Message, Record

Predict = Callable[[pd.DataFrame], npt.NDArray[Any]]

_GRACE_SECONDS = 2.0
_AGAIN_SECONDS = 0.2
_LONGEST = 1000


class Question(NamedTuple):
    """A call of an R function, and the predict function that R may call back.

    Attributes
    ----------
    function : str
        The name of an R function.
    predict : callable or None
    schema_of : DataFrame
        A frame with the columns, dtypes and levels that `predict` expects.
    labels : tuple of str
        Column names of a matrix of predictions; empty for a vector.
    seconds : float
        The time limit of the call, predict included.
    about : str
        Name of the call for its user, in messages; empty for the function's name.
    """

    function: str
    predict: Predict | None
    schema_of: pd.DataFrame
    labels: tuple[str, ...]
    seconds: float
    about: str = ""


class Dialogue:
    """A running call.

    Parameters
    ----------
    process : Process
        It is killed if it does not end when interrupted.
    question : Question

    Attributes
    ----------
    output : mapping
        R's warnings and messages, available after the call.
    """

    def __init__(self, process: Process, question: Question) -> None:
        self._process = process
        self._question = question
        self._deadline = time.monotonic() + question.seconds
        self._failure: BaseException | None = None
        self._is_open = False
        self._n_calls, self._predict_seconds = 0, 0.0
        self.output: Mapping[str, Any] = {}

    def run(self, arguments: Record) -> Any:
        """Send the arguments, serve calls of predict, and return the result.

        Raises
        ------
        RError, RTimeout, RDied, RBridgeError
        BaseException
            The exception of predict itself, even if R turned it into another error.
        """
        question = self._question
        has_predict = question.predict is not None
        request = ("call", question.function, arguments, has_predict)
        self._is_open = True
        try:
            self._process.send(request)
            return self._result(self._last_message())
        except ProcessEnded as end:
            called = question.about or repr(question.function)
            death = self._process.died(f"the call of {called}")
            _raise_first(self._failure, death, end)
        except KeyboardInterrupt:
            self._stop()
            raise
        finally:
            if self._is_open:
                self._process.end()

    def _last_message(self) -> Message:
        """Serve calls of predict until the final message, and return it."""
        while True:
            if not self._process.wait(self._deadline - time.monotonic()):
                self._raise_late()
            message = self._process.receive()
            if message[0] != "predict":
                self._is_open = False
                return message
            self._answer(message[1])

    def _answer(self, record: Record) -> None:
        """Serve one call of predict; after a failure, repeat that failure."""
        if self._failure is None:
            try:
                answer = self._predictions(record)
            except BaseException as error:
                self._failure = error
                if not isinstance(error, Exception):
                    # Ctrl-C or exit: R gets the grace period to finish.
                    soon = time.monotonic() + _GRACE_SECONDS
                    self._deadline = min(self._deadline, soon)
            else:
                self._process.send(("answer", answer))
                return
        self._process.send(("failed", _words(self._failure)))

    def _predictions(self, record: Record) -> Record:
        """Return the predictions for the rows that R sent, as a record."""
        question = self._question
        if question.predict is None:
            raise RBridgeError(
                f"R function {question.function!r} asked for predictions, but was "
                "called without predict."
            )
        X = restore(question.schema_of, record)
        n_rows, started = len(X), time.monotonic()
        prediction = question.predict(X)
        self._n_calls += 1
        self._predict_seconds += time.monotonic() - started
        values = check_prediction(prediction, n_rows, question.labels)
        vector = ("double", values.ravel(order="F"))
        if not question.labels:
            return vector
        return ("array", vector, values.shape, (None, list(question.labels)))

    def _result(self, message: Message) -> Any:
        """Return the result of the call, or raise its error."""
        word, *content, self.output = message
        error = _error_of(self._question.function, word, content)
        _raise_first(self._failure, error, None)
        return unpack(content[0])

    def _raise_late(self) -> NoReturn:
        """Stop R at the deadline and raise `RTimeout`."""
        self._stop()
        question, seconds = self._question, self._predict_seconds
        spent = f" ({seconds:.1f} s went into {self._n_calls} calls of predict)"
        late = RTimeout(
            f"R function {question.function!r} did not end within "
            f"{question.seconds:g} s{spent if question.predict else ''}. Allow more "
            "time, or ask for less."
        )
        if question.about:
            late = RTimeout(
                f"R did not finish the call of {question.about} within "
                f"{question.seconds:g} s. Allow more time, or give it less to do."
            )
        _raise_first(self._failure, late, None)
        raise late

    def _stop(self) -> None:
        """Interrupt R; without a result in the grace period, the process is ended."""
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._is_open and time.monotonic() < deadline:
            self._process.interrupt()
            try:
                if not self._process.wait(_AGAIN_SECONDS):
                    continue
                message = self._process.receive()
                self._is_open = message[0] == "predict"
                if self._is_open:
                    self._process.send(("failed", "The call was interrupted."))
            except ProcessEnded:
                break


def _error_of(function: str, word: str, content: list[Any]) -> RBridgeError | None:
    """Return the error in R's last message, None if there is none."""
    if word == "value":
        return None
    if word == "error":
        message, call = content
        where = f" in {call}" if call else ""
        shown = message
        if len(message) > _LONGEST:
            shown = (
                f"{message[:_LONGEST].rstrip()} … ({len(message)} characters in all)"
            )
        stopped = f"stopped{where}: {shown}"
        return RError(
            f"R function {function!r} {stopped}",
            message=message,
            call=call,
        )
    if word == "interrupted":
        return RBridgeError(f"R function {function!r} was interrupted.")
    return RBridgeError(content[0])


def _raise_first(
    failure: BaseException | None,
    error: BaseException | None,
    cause: BaseException | None,
) -> None:
    """Raise predict's exception with `error` as its cause, otherwise `error`."""
    if failure is not None:
        # A cause of its own explains more than R's error does.
        if failure.__cause__ is None and failure.__context__ is None:
            raise failure from error
        raise failure
    if error is not None:
        raise error from cause


def _words(failure: BaseException | None) -> str:
    """Return type and message of an exception, even if its message cannot be made."""
    try:
        return f"{type(failure).__name__}: {failure}"
    except Exception:
        return type(failure).__name__
