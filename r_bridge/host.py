"""The Python side: starts R, keeps it running, and restarts it after it died.

    with session():
        values = current().call("some_r_function", {"x": 1.0})

One R process serves a whole session and is started by its first call. It is the only
global object of the program, because R can neither be copied nor shared.
"""

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from .dialogue import Dialogue, Predict, Question
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
    """R in a separate process, restarted after it died.

    Parameters
    ----------
    r_seconds : float
        Time limit of one call, predict included.
    files : sequence of Path
        The R files with the functions that may be called.
    memory_gb : float, optional
        Limit of R's vector memory, in 2**30 bytes.

    Attributes
    ----------
    memory_gb : float or None
        That limit.
    warnings, messages : tuple of str
        Those of R in the last call; at most 50 warnings, then the number of the others.
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

    @property
    def pid(self) -> int | None:
        """The id of the running R process, or None."""
        return None if self._process is None else self._process.pid

    @property
    def restarts(self) -> int:
        """Number of restarts of R after it had died or was killed."""
        return max(0, self._n_starts - 1)

    @property
    def unseen_deaths(self) -> int:
        """Number of deaths of R, or the R for models, between two calls."""
        others = 0 if self._models is None else self._models.unseen_deaths
        return self._unseen_deaths + others

    @property
    def models(self) -> "Worker":
        """A second R, for the fitted models of R.

        While the first R waits for predict, a model of R must predict elsewhere.
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
            ``(object, newdata, ...)``. It may modify X.
        schema_of : DataFrame, optional
            A frame with the columns, dtypes and levels that `predict` expects.
        labels : tuple of str
            The column names of a matrix of predictions; empty for a vector.
        seconds : float, optional
            The time limit, by default that of the session.
        about : str
            Name of the call for its user, in messages: "model 'm'".

        Returns
        -------
        None, ndarray, dict, list or DataFrame
            See `python_values.unpack`.

        Raises
        ------
        RBridgeError
            If a value cannot be sent; `RError`, `RTimeout`, `RDied` and `RUnavailable`
            if R returns no result. The next call works again.
        ValueError
            If there is a `predict` but no `schema_of`.
        BaseException
            The exception of `predict` itself, even if R continued without it.
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
        with self._exclusive_use():
            dialogue = Dialogue(self._running(), question)
            try:
                return dialogue.run(record)
            finally:
                self._store_output(dialogue)

    def close(self) -> None:
        """End R, if it runs, including a call that another thread is waiting for."""
        if self._models is not None:
            self._models.close()
        if self._process is not None and os.getpid() == self.owner:
            self._process.end(politely=not self._lock.locked())
        self._process = None
        self._is_closed = True

    @contextmanager
    def _exclusive_use(self) -> Iterator[None]:
        """Allow one thread at a time, and refuse a predict that itself calls R."""
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
        """Return the process, started if there is none."""
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

    def _store_output(self, dialogue: Dialogue) -> None:
        """Store and log the warnings and messages of a call."""
        output = dialogue.output
        warnings = list(output.get("warnings", ()))
        n_left_out = output.get("n_warnings", 0) - len(warnings)
        if n_left_out > 0:
            warnings.append(f"... and {n_left_out} more warnings")
        self.warnings = tuple(warnings)
        self.messages = tuple(output.get("messages", ()))
        for line in (*self.warnings, *self.messages):
            _log.info("R: %s", line.rstrip())


@contextmanager
def session(
    *,
    r_seconds: float = 600.0,
    r_memory_gb: float | None = None,
    extra_r_files: Sequence[str | os.PathLike[str]] = (),
) -> Iterator[Worker]:
    """Keep one R process for all calls inside the block.

    A nested session shares the R and the settings of the outer one.

    Parameters
    ----------
    r_seconds : float
        Time limit of one R call, predict included.
    r_memory_gb : float, optional
        Limit of R's vector memory, in 2**30 bytes.
    extra_r_files : sequence of path
        Further R files with functions to call: for tests and extensions.
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
    """Run one more R, independent of that of the session."""
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
    """Return the R files with the functions that may be called, sorted by name."""
    others = {"guard.R", "install.R"}  # the caller of the functions, and a script
    files = sorted(path for path in _PACKAGE.glob("*.R") if path.name not in others)
    package = _PACKAGE / "importanceaudit" / "R"
    return [*files, package / "objects.R", package / "training_levels.R"]


def installed() -> dict[str, Any]:
    """Return the properties of R and rpy2 here, found once by a child process.

    Returns
    -------
    dict
        ``reason``: why R cannot be used, empty if it can; ``r_version``, ``platform``,
        ``rng_kind``, ``utf8``; ``rpy2``: its parts and their versions; ``packages``:
        R packages that load and their versions; ``broken``: packages that do not load,
        and why; ``not_had``: packages that install-r could not install, and why. All
        but ``reason`` are empty if R cannot be used.
    """
    return dict(what_is_installed(library_folder()))
