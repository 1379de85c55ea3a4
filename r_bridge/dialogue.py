"""One call of an R function: the request, predict's answers, the deadline, the end.

Not: which process is asked and what becomes of it; see `host`.
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


class Counts(NamedTuple):
    """How often R called predict, with how many rows, and how long predict took."""

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0


class Question(NamedTuple):
    """What is asked of R, and who answers when R asks back.

    Attributes
    ----------
    function : str
        The name of an R function.
    predict : callable or None
    schema_of : DataFrame
        What the frames that `predict` expects are like.
    labels : tuple of str
        Column names of a matrix of predictions; empty for a vector.
    seconds : float
        The time that the call may take, predict included.
    about : str
        What a user knows the call by, for messages; empty for the function.
    """

    function: str
    predict: Predict | None
    schema_of: pd.DataFrame
    labels: tuple[str, ...]
    seconds: float
    about: str = ""


class Dialogue:
    """A call under way.

    Parameters
    ----------
    process : Process
        Is ended if it does not come back to order.
    question : Question

    Attributes
    ----------
    counts : Counts
        The calls of predict so far.
    output : mapping
        R's warnings and messages, once the call has ended.
    """

    def __init__(self, process: Process, question: Question) -> None:
        self._process = process
        self._question = question
        self._deadline = time.monotonic() + question.seconds
        self._failure: BaseException | None = None
        self._is_open = False
        self.counts = Counts()
        self.output: Mapping[str, Any] = {}

    def run(self, arguments: Record) -> Any:
        """Send the arguments, answer predict until there is a result, and return it.

        Raises
        ------
        RError, RTimeout, RDied, RBridgeError
        BaseException
            What predict raised: the same object, whatever R made of it.
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
        """Answer predict until R has come to an end."""
        while True:
            if not self._process.wait(self._deadline - time.monotonic()):
                self._raise_late()
            message = self._process.receive()
            if message[0] != "predict":
                self._is_open = False
                return message
            self._answer(message[1])

    def _answer(self, record: Record) -> None:
        """Answer one call of predict; after a failure, always with that failure."""
        if self._failure is None:
            try:
                answer = self._predictions(record)
            except BaseException as error:
                self._failure = error
                if not isinstance(error, Exception):
                    # Ctrl-C or exit: R gets the time of a grace to come to an end.
                    soon = time.monotonic() + _GRACE_SECONDS
                    self._deadline = min(self._deadline, soon)
            else:
                self._process.send(("answer", answer))
                return
        self._process.send(("failed", _words(self._failure)))

    def _predictions(self, record: Record) -> Record:
        """Return what predict says about the rows that R sent."""
        question = self._question
        if question.predict is None:
            raise RBridgeError(
                f"R function {question.function!r} asked for predictions, but was "
                "called without predict."
            )
        X = restore(question.schema_of, record)
        n_rows = len(X)
        started = time.monotonic()
        try:
            prediction = question.predict(X)
        finally:
            calls, rows, seconds = self.counts
            seconds += time.monotonic() - started
            self.counts = Counts(calls + 1, rows + n_rows, seconds)
        values = check_prediction(prediction, n_rows, question.labels)
        vector = ("double", values.ravel(order="F"))
        if not question.labels:
            return vector
        return ("array", vector, values.shape, (None, list(question.labels)))

    def _result(self, message: Message) -> Any:
        """Return the result of the call, or raise what it ended with."""
        word, *content, self.output = message
        error = _error_of(self._question.function, word, content)
        _raise_first(self._failure, error, None)
        return unpack(content[0])

    def _raise_late(self) -> NoReturn:
        """Stop R at the deadline and say so."""
        self._stop()
        question, counts = self._question, self.counts
        spent = f" ({counts.seconds:.1f} s went into {counts.calls} calls of predict)"
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
        """Interrupt R; when it does not come back within the grace, end it."""
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
    """Return the error that R's last message stands for, or None."""
    if word == "value":
        return None
    if word == "error":
        message, call, classes, traceback = content
        where = f" in {call}" if call else ""
        stopped = f"stopped{where}: {_cut(message)}"
        return RError(
            f"R function {function!r} {stopped}",
            message=message,
            call=call,
            classes=tuple(classes),
            traceback=tuple(traceback),
        )
    if word == "interrupted":
        return RBridgeError(f"R function {function!r} was interrupted.")
    return RBridgeError(content[0])


def _cut(message: str) -> str:
    """Return the words of R, the first of them where they are very many."""
    if len(message) <= _LONGEST:
        return message
    return f"{message[:_LONGEST].rstrip()} … ({len(message)} characters in all)"


def _raise_first(
    failure: BaseException | None,
    error: BaseException | None,
    cause: BaseException | None,
) -> None:
    """Raise what predict raised, because of the error it caused; else the error."""
    if failure is not None:
        # A cause of its own says more than what R made of it.
        if failure.__cause__ is None and failure.__context__ is None:
            raise failure from error
        raise failure
    if error is not None:
        raise error from cause


def _words(failure: BaseException | None) -> str:
    """Return the words of any exception, even of one that cannot say them."""
    try:
        return f"{type(failure).__name__}: {failure}"
    except Exception:
        return type(failure).__name__
