"""Our side: starts R, keeps it warm, starts it again when it died.

    with session():
        values = current().call("some_r_function", {"x": 1.0})

One R process serves a whole session and is started by its first question. It is the one
object that the programme has once: R can neither be copied nor shared.
"""

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from .dialogue import Counts, Dialogue, Predict, Question
from .errors import RBridgeError, RUnavailable
from .installation import library_folder, what_is_installed
from .process import Process, ProcessEnded
from .python_values import pack

_PACKAGE = Path(__file__).parent
_START_SECONDS = 60.0

_log = logging.getLogger(__name__)
_session_lock = threading.Lock()
_sessions: list["Worker"] = []


class Worker:
    """R in a process of its own, replaced when it dies.

    Parameters
    ----------
    r_seconds : float
        How long one call may take, predict included.
    files : sequence of Path
        The R files whose functions may be called.
    memory_gb : float, optional
        How much R may hold in vectors, in 2**30 bytes.

    Attributes
    ----------
    memory_gb : float or None
        That limit.
    warnings, messages : tuple of str
        R's, of the last call; of many warnings the first 50 and how many more.
    counts : Counts
        All calls of predict so far.
    """

    def __init__(
        self,
        *,
        r_seconds: float,
        files: Sequence[Path],
        memory_gb: float | None = None,
    ) -> None:
        self._r_seconds = r_seconds
        self.memory_gb = memory_gb
        self._files = tuple(files)
        self._process: Process | None = None
        self._lock = threading.Lock()
        self._busy_thread = 0
        self._n_starts = 0
        self._is_closed = False
        self._unseen_deaths = 0
        self._models: Worker | None = None
        self._models_lock = threading.Lock()
        self.owner = os.getpid()
        self.warnings: tuple[str, ...] = ()
        self.messages: tuple[str, ...] = ()
        self.counts = Counts()

    @property
    def pid(self) -> int | None:
        """The process id of the R that runs, or None."""
        return None if self._process is None else self._process.pid

    @property
    def restarts(self) -> int:
        """How often R was started again after it had died or had to be ended."""
        return max(0, self._n_starts - 1)

    @property
    def unseen_deaths(self) -> int:
        """How often R, or that of models, died between two calls, with no error."""
        others = 0 if self._models is None else self._models.unseen_deaths
        return self._unseen_deaths + others

    @property
    def models(self) -> "Worker":
        """A second R beside this one, for the fitted models of R.

        This R waits for predict; a model of R must answer it from elsewhere.
        """
        with self._models_lock:
            if self._models is None:
                self._models = Worker(
                    r_seconds=self._r_seconds,
                    files=self._files,
                    memory_gb=self.memory_gb,
                )
            return self._models

    def call(
        self,
        function: str,
        arguments: Mapping[str, Any],
        *,
        predict: Predict | None = None,
        schema_of: pd.DataFrame | None = None,
        labels: tuple[str, ...] = (),
        seconds: float | None = None,
        about: str = "",
    ) -> Any:
        """Call an R function of the bridge and return its result.

        Parameters
        ----------
        function : str
            The name of a function in one of the R files; never code.
        arguments : mapping of str to value
            By name; see `python_values.pack` for what can be sent.
        predict : callable, optional
            ``predict(X) -> (n_rows,)``, or ``(n_rows, n_labels)`` with `labels`. The
            R function gets it as its argument ``predict``, a function
            ``(object, newdata, ...)``. X is its own to change.
        schema_of : DataFrame, optional
            The frame whose columns, dtypes and levels `predict` expects.
        labels : tuple of str
            The column names of a matrix of predictions; empty for a vector.
        seconds : float, optional
            The deadline, if not that of the session.
        about : str
            What a user knows the call by, for messages: "model 'm'".

        Returns
        -------
        None, ndarray, dict, list or DataFrame
            See `python_values.unpack`.

        Raises
        ------
        RBridgeError
            If a value cannot cross; `RError`, `RTimeout`, `RDied` and `RUnavailable`
            if R does not answer. The next call finds R in order again.
        ValueError
            If there is a `predict` but no `schema_of`.
        BaseException
            Whatever `predict` raised: the same object, even when R went on without it.
        """
        if predict is not None and schema_of is None:
            raise ValueError("schema_of must be given with predict; it is None.")
        question = Question(
            function=function,
            predict=predict,
            schema_of=pd.DataFrame() if schema_of is None else schema_of,
            labels=labels,
            seconds=self._r_seconds if seconds is None else seconds,
            about=about,
        )
        subject = f"The input of {function!r}"
        record = pack(dict(arguments), subject=subject)
        with self._turn():
            dialogue = Dialogue(self._running(), question)
            try:
                return dialogue.run(record)
            finally:
                self._remember(dialogue)

    def close(self) -> None:
        """End R, if it runs, and with it a call that another thread has under way."""
        if self._models is not None:
            self._models.close()
        if self._process is not None and os.getpid() == self.owner:
            self._process.end(politely=not self._lock.locked())
        self._process = None
        self._is_closed = True

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let in one thread at a time, and never a predict that asks R itself."""
        if self._busy_thread == threading.get_ident():
            raise RBridgeError(
                "predict asked R, which waits for it. Let predict answer without R."
            )
        if self._is_closed:
            raise RBridgeError("The session of R has ended. Open another one.")
        if os.getpid() != self.owner:
            raise RBridgeError(
                "A fork of the process that opened the session asked R. Open a session "
                "there."
            )
        with self._lock:
            self._busy_thread = threading.get_ident()
            try:
                yield
            finally:
                self._busy_thread = 0

    def _running(self) -> Process:
        """Return the process, a new one if there is none."""
        if self._process is not None and not self._process.is_alive:
            self._unseen_deaths += not self._process.is_known_to_have_ended
            self._process.end()
            self._process = None
        if self._process is None:
            self._process = self._start()
            self._n_starts += 1
        return self._process

    def _start(self) -> Process:
        try:
            process = Process(
                self._files, library=library_folder(), memory_gb=self.memory_gb
            )
        except OSError as error:
            raise RUnavailable(f"R did not start: {error}.") from error
        try:
            if not process.wait(_START_SECONDS):
                raise ProcessEnded
            process.receive()
        except ProcessEnded as error:
            death = process.died("its start")
            reason = str(installed()["reason"] or death).rstrip(".")
            raise RUnavailable(f"{reason}.") from error
        except BaseException:
            process.end()
            raise
        return process

    def _remember(self, dialogue: Dialogue) -> None:
        """Keep what R said in a call, and log it."""
        output = dialogue.output
        warnings = list(output.get("warnings", ()))
        n_left_out = output.get("n_warnings", 0) - len(warnings)
        if n_left_out > 0:
            warnings.append(f"... and {n_left_out} more warnings")
        self.warnings = tuple(warnings)
        self.messages = tuple(output.get("messages", ()))
        (calls, rows, seconds), more = self.counts, dialogue.counts
        self.counts = Counts(
            calls + more.calls, rows + more.rows, seconds + more.seconds
        )
        for line in (*self.warnings, *self.messages):
            _log.info("R: %s", line.rstrip())


@contextmanager
def session(
    *,
    r_seconds: float = 600.0,
    r_memory_gb: float | None = None,
    extra_r_files: Sequence[str | os.PathLike[str]] = (),
) -> Iterator[Worker]:
    """Keep one R for all that happens inside.

    A session inside another shares its R; the settings of the outer one hold.

    Parameters
    ----------
    r_seconds : float
        How long one R call may take, predict included.
    r_memory_gb : float, optional
        How much R may hold in vectors, in 2**30 bytes.
    extra_r_files : sequence of path
        R files whose functions can be called as well: for tests and extensions.
    """
    with _session_lock:
        is_outer = not _sessions or _sessions[-1].owner != os.getpid()
        if is_outer:
            files = [*_r_files(), *(Path(file).absolute() for file in extra_r_files)]
            _sessions.append(
                Worker(r_seconds=r_seconds, files=files, memory_gb=r_memory_gb)
            )
        worker = _sessions[-1]
    try:
        yield worker
    finally:
        if is_outer:
            _sessions.remove(worker)
            worker.close()


@contextmanager
def fresh() -> Iterator[Worker]:
    """Keep one more R, which knows nothing of what that of the session has done."""
    worker = Worker(r_seconds=60.0, files=_r_files())
    try:
        yield worker
    finally:
        worker.close()


def current() -> Worker:
    """Return the worker of the running session; its R starts with the first call.

    Raises
    ------
    RBridgeError
        If no session is open.
    """
    if not _sessions:
        raise RBridgeError(
            "No session of R is open. Ask inside r_bridge.host.session()."
        )
    return _sessions[-1]


def current_models() -> Worker:
    """Return the worker that holds fitted R models; its R starts with the first call.

    Raises
    ------
    RBridgeError
        If no session is open.
    """
    return current().models


def _r_files() -> list[Path]:
    """Return the R files whose functions may be called, in the order of their names."""
    others = {"guard.R", "install.R"}  # what calls them, and a script
    files = sorted(path for path in _PACKAGE.glob("*.R") if path.name not in others)
    package = _PACKAGE / "importanceaudit" / "R"
    return [*files, package / "objects.R", package / "training_levels.R"]


def installed() -> dict[str, Any]:
    """Return what R and rpy2 can do here, asked once in a child process.

    Returns
    -------
    dict
        ``reason``: why R cannot be used, empty if it can; ``r_version``, ``platform``,
        ``rng_kind``, ``utf8``; ``rpy2``: its parts and their versions; ``packages``:
        R packages that load and their versions; ``broken``: those that do not, and
        why; ``origins``: where each came from; ``not_had``: those that install-r tried
        in vain, and why. All but ``reason`` are empty where R cannot be used.
    """
    return dict(what_is_installed(library_folder()))
