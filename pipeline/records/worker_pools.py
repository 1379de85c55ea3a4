"""Pools of workers: threads, processes of this machine, a Dask cluster.

Each pool sends one function once, and then many items. Not: the order of results,
errors, and recovery after a worker dies (`execution`).
"""

import logging
import pickle
import platform
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from .errors import AuditError, several, words

Function: TypeAlias = Callable[[Any], Any]
WorkerWarning: TypeAlias = tuple[str, type[Warning], str, int]
"""A warning: its text, its class, and the file and line that issued it."""
IDLE_SECONDS = 60
"""Seconds after which an idle process ends; the next work starts another."""
CONNECT_SECONDS = 10
PACKAGES = ("importance-audit", "numpy", "pandas", "scipy", "scikit-learn")
"""Packages that must have our versions on a cluster: they can change a number."""
MOST_FUNCTIONS = 2
"""Most functions that a worker caches, including the rows and models bound to them."""


class PoolLost(Exception):  # noqa: N818 (what happened)
    """No worker is left that could do the work; the message says why."""


class WorkerDied(Exception):  # noqa: N818 (what happened)
    """A worker died, and its work may be sent again; the message says why."""


@dataclass
class Answer:
    """The result of a worker for one item.

    Attributes
    ----------
    value : Any
    error : BaseException or None
        Exception of the function, in a thread of this process.
    fault : str
        Exception in another process, as text.
    warnings : list of WorkerWarning
    """

    value: Any = None
    error: BaseException | None = None
    fault: str = ""
    warnings: list[WorkerWarning] = field(default_factory=list)


Send: TypeAlias = Callable[[Any], "Future[Answer]"]


class Threads:
    """Threads of this process, which end with it even while they are working."""

    def __init__(self, n_workers: int) -> None:
        from multiprocessing.pool import ThreadPool

        self.n_workers, self.words = n_workers, several(n_workers, "thread")
        self._pool = ThreadPool(n_workers)

    def sender(self, function: Function, content: bytes) -> Send:
        """Return a function that sends items to `function`, called by the threads."""
        del content

        def send(item: Any) -> Future[Answer]:
            future: Future[Answer] = Future()
            self._pool.apply_async(_fulfil, (future, function, item))
            return future

        return send

    def end(self, *, at_once: bool) -> None:
        """End the threads; running work is not waited for."""
        self._pool.terminate() if at_once else self._pool.close()


class Processes:
    """Processes of this machine, by the loky that is part of joblib."""

    def __init__(self, n_workers: int) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self.n_workers = n_workers
        self.words = f"{n_workers} process{'es' * (n_workers != 1)}"
        self._folder = tempfile.TemporaryDirectory(prefix="importance-audit-")
        self._numbers = count()
        # Not the executor that joblib shares: models may use and reconfigure that one.
        self._executor = ProcessPoolExecutor(
            max_workers=n_workers,
            timeout=IDLE_SECONDS,
            initializer=_ignore_interrupts,
            # Libraries use as many threads as in this process, so that sums are rounded
            # equally. PASSIVE threads do not spin while waiting, so none is slowed.
            env={"OMP_WAIT_POLICY": "PASSIVE"},
        )

    def sender(self, function: Function, content: bytes) -> Send:
        """Write the pickle of a function to a file that each process reads once.

        The returned function sends items; it raises `WorkerDied` if a process died.
        """
        del function
        path = Path(self._folder.name) / str(next(self._numbers))
        path.write_bytes(content)

        def send(item: Any) -> Future[Answer]:
            try:
                future: Future[Answer] = self._executor.submit(
                    call, str(path), str(path), item
                )
            except RuntimeError as error:  # a process died since the last item
                raise WorkerDied(words(error)) from error
            return future

        return send

    def end(self, *, at_once: bool) -> None:
        """End the processes."""
        self._executor.shutdown(wait=not at_once, kill_workers=at_once)
        self._folder.cleanup()


class Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, scheduler: str) -> None:
        from distributed import Client

        for name in list(logging.root.manager.loggerDict):
            if f"{name}.".startswith("distributed"):  # findings report the same
                logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(
                scheduler, timeout=CONNECT_SECONDS, set_as_default=False
            )
            self._require_same_software()
        except Exception as error:
            raise PoolLost(in_words(error)) from error
        threads = self._client.nthreads()
        self.n_workers = max(1, sum(threads.values()))
        self.words = f"{several(len(threads), 'Dask worker')} of {scheduler}"
        self._executor = self._client.get_executor(pure=False)
        self._former: Any = None

    def _require_same_software(self) -> None:
        """Refuse workers with other versions of `PACKAGES` than ours."""
        self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        own = software()
        for address, other in self._client.run(software).items():
            for name, number in own.items():
                if other[name] != number:
                    raise AuditError(
                        f"worker {address} has {name} {other[name] or 'not at all'}, "
                        f"and this process {number}"
                    )

    def sender(self, function: Function, content: bytes) -> Send:
        """Scatter the pickle of a function to all workers; return the item sender."""
        from threadpoolctl import threadpool_info

        del function
        threads = {each["prefix"]: each["num_threads"] for each in threadpool_info()}
        try:
            # Dask would hash the content of a byte string to name it. A list is named
            # quickly, and stored whole.
            self._former = self._client.scatter([content], broadcast=True, hash=False)
        except Exception as error:
            raise PoolLost(in_words(error)) from error
        (shared,) = self._former
        key = shared.key
        return lambda item: self._executor.submit(call, key, shared, item, threads)

    def require(self) -> None:
        """Raise `PoolLost` if the scheduler is not running or has no workers."""
        if self._client.status != "running":
            raise PoolLost("the scheduler does not answer any more")
        try:
            ask = self._client.scheduler.ncores
            is_empty = not self._client.sync(ask, callback_timeout=CONNECT_SECONDS)
        except Exception as error:
            raise PoolLost(in_words(error)) from error
        if is_empty:
            raise PoolLost("the scheduler has no workers any more")

    def end(self, *, at_once: bool) -> None:
        """Release the resources of the cluster; a lost connection ends by itself."""
        if self._client.status == "running":
            with suppress(Exception):
                self._executor.shutdown(wait=not at_once)
                self._client.close(timeout=2)


Pool: TypeAlias = Threads | Processes | Cluster
"""A pool of `n_workers` workers; `words` describes them."""


def in_words(error: BaseException | None) -> str:
    """Return the type and message of an exception; empty for None."""
    return "" if error is None else f"{type(error).__name__}: {words(error)}"


def has_dask() -> bool:
    """Return whether the package for clusters is installed."""
    return find_spec("distributed") is not None


def software() -> dict[str, str]:
    """Return the versions that can change a number; empty for missing packages."""
    versions = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = ""
    return versions


# --- The functions below run in a worker ---------------------------------------------


class _Local(threading.local):
    """The result of the call that this thread is running, None outside a call."""

    answer: Answer | None = None


_local = _Local()
_lock = threading.Lock()
_functions: dict[str, Function] = {}
_is_collecting: list[bool] = []


def call(
    key: str, content: bytes | str, item: Any, threads: dict[str, int] | None = None
) -> Answer:
    """Call a function, given by its pickle or the path of it, on one item.

    Parameters
    ----------
    key : str
        Identifies the function in this worker.
    content : bytes or str
    item : Any
    threads : dict of str to int, optional
        Number of threads of each linear-algebra library in the sending process, so that
        sums are rounded equally.
    """
    _collect_warnings()
    _local.answer = answer = Answer()
    try:
        done = _outcome(_read(key, content, threads), item)
    finally:
        _local.answer = None
    answer.value, answer.fault = done.value, in_words(done.error)
    return answer


def _read(key: str, content: bytes | str, threads: dict[str, int] | None) -> Function:
    """Return a function that was sent, unpickled once."""
    with _lock:
        if key not in _functions:
            while len(_functions) >= MOST_FUNCTIONS:
                del _functions[next(iter(_functions))]
            if isinstance(content, str):
                content = Path(content).read_bytes()
            try:
                _functions[key] = pickle.loads(content)
            except Exception as error:  # a module that it imports may be missing here
                _functions[key] = partial(_fail, error)
            if threads:
                from threadpoolctl import threadpool_limits

                threadpool_limits(threads)
        return _functions[key]


def _fail(error: Exception, _: Any) -> Any:
    """Raise the exception of unpickling the function, for each of its items."""
    raise error


def _fulfil(future: Future[Answer], function: Function, item: Any) -> None:
    """Set the result of a future, unless it was cancelled."""
    if future.set_running_or_notify_cancel():
        future.set_result(_outcome(function, item))


def _outcome(function: Function, item: Any) -> Answer:
    """Return the value of a call or its exception, even a request to stop."""
    try:
        return Answer(function(item))
    except BaseException as error:
        return Answer(error=error)


def _collect_warnings() -> None:
    """From now on, collect the warnings issued inside `call`."""
    with _lock:
        if _is_collecting:
            return
        _is_collecting.append(True)
        former = warnings.showwarning

        def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if _local.answer is None:
                former(message, category, *where, **more)
            else:
                filename, lineno = where[:2]
                kept: WorkerWarning = (str(message), category, filename, lineno)
                _local.answer.warnings.append(kept)

        warnings.showwarning = show


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
