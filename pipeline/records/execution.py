"""The single interface for parallel work: `each` runs it here or on workers.

The result for an item depends on the item alone: random numbers are drawn from a stream
that the item names, or before the item is sent. So no number depends on the number of
workers, on their kind, or on their failures. Not: the kinds of workers
(`worker_pools`).
"""

import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from .errors import AuditError, pip_install, several, words
from .extensions import carried, modules_in_force
from .finding import Severity
from .worker_pools import (
    Answer,
    Cluster,
    Pool,
    PoolLost,
    Processes,
    Threads,
    WorkerDied,
    has_dask,
    in_words,
)

T = TypeVar("T")
S = TypeVar("S")
Backend: TypeAlias = Literal["loky", "threads", "dask"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
Report: TypeAlias = Callable[[Severity, str, str], None]
POLL_SECONDS = 0.5
"""Seconds between two calls of `check` while waiting."""
AHEAD = 3
"""Items per worker that are sent before the first result is awaited."""
MOST_DEATHS = 3
"""Deaths of workers in succession, without a result in between, that end the work."""


def _quiet(*_: Any) -> None:
    pass


class WorkersDied(AuditError):  # noqa: N818 (what happened)
    """Workers died repeatedly at the same piece of work."""


def each(function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """Yield the result of a function for each item, in the order of the items.

    Parameters
    ----------
    function : callable
        Sent to each worker once. Bind rows and models to it, for example by `partial`.
    items : iterable
        Sent one by one, so they should be small. Consumed lazily.

    Raises
    ------
    WorkersDied
        Workers died repeatedly at the same item.
    """
    executor = _current.get()
    if executor is None:
        yield from map(function, items)
    else:
        yield from executor.each(carried(function), items)


def n_threads() -> int:
    """Return the number of threads a compiled loop may use here: 1 inside a worker."""
    executor = _current.get()
    return 1 if executor is None else executor.n_jobs


@contextmanager
def threads_of(n: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a thread pool for the parts of one loop; leaving cancels pending parts."""
    threads = ThreadPoolExecutor(n)
    try:
        yield threads
    finally:
        threads.shutdown(cancel_futures=True)


@contextmanager
def workers(
    n_jobs: int = 1,
    backend: Backend = "loky",
    scheduler: str = "",
    *,
    report: Report = _quiet,
    check: Callable[[], None] = _quiet,
) -> Iterator["Executor | None"]:
    """Run the work of `each` inside the block on workers, started when needed.

    Parameters
    ----------
    n_jobs : int, default 1
        Number of threads or processes; 1 without a cluster runs everything here.
    backend : {"loky", "threads", "dask"}, default "loky"
        Processes, threads, or the workers of a Dask cluster.
    scheduler : str, optional
        The address of the cluster.
    report : callable, optional
        ``report(severity, message, remedy)`` of deviations from the configuration.
    check : callable, optional
        Called while results are awaited; it raises if the work is to stop.

    Raises
    ------
    AuditError
        The package that a cluster needs is missing.
    """
    if backend == "dask" and not has_dask():
        raise AuditError(
            '[execution] backend = "dask" needs the package distributed, which is not '
            f"installed. Run: {pip_install('distributed')}, or on Debian: "
            "apt install python3-distributed"
        )
    if backend != "dask" and n_jobs == 1:
        yield None
        return
    executor = Executor(
        n_jobs=n_jobs,
        backend=backend,
        scheduler=scheduler,
        report=report,
        check=check,
    )
    token = _current.set(executor)
    try:
        yield executor
    finally:
        _current.reset(token)
        executor.end(at_once=False)


@dataclass
class _Sent:
    """An item without a result, and the future of its result if it has been sent."""

    item: Any
    future: Future[Answer] | None = None

    @property
    def answer(self) -> Answer | None:
        """The result, even of a worker that has since died; None if there is none."""
        future = self.future
        if future is None or not future.done() or future.cancelled():
            return None
        return None if future.exception() else future.result()


@dataclass(kw_only=True)
class Executor:
    """The workers of one audit.

    Attributes
    ----------
    used : list of str
        The pools that did work, in words, in the order of their first use.
    """

    n_jobs: int
    backend: Backend
    scheduler: str
    report: Report
    check: Callable[..., None]
    used: list[str] = field(default_factory=list)
    _pool: Pool | None = None
    _messages: set[str] = field(default_factory=set)

    def each(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """Do the work of `execution.each`."""
        content = self._pickled(function)
        items = iter(items)
        sent: deque[_Sent] = deque()
        n_deaths = 0
        try:
            while content is not None and (pool := self.pool()) is not None:
                try:
                    send = pool.sender(function, content)
                    for one in sent:
                        if one.answer is None:
                            one.future = None  # belongs to a lost pool
                            one.future = send(one.item)
                    while True:
                        room = max(0, pool.n_workers * AHEAD - len(sent))
                        for item in islice(items, room):
                            self.check()
                            sent.append(_Sent(item))  # kept even if sending fails
                            sent[-1].future = send(item)
                        if not sent:
                            return
                        answer = self._result_of(sent[0], pool)
                        n_deaths = 0
                        item = sent.popleft().item
                        yield self._value(function, item, answer)
                except PoolLost as lost:
                    self.fall_back(str(lost))
                except WorkerDied as error:
                    n_deaths += 1
                    if n_deaths == MOST_DEATHS:
                        raise WorkersDied(
                            f"Workers died {several(n_deaths, 'time')} at the same "
                            f"piece of work: {words(error)} Often there is not enough "
                            "memory: reduce n_jobs under [execution]."
                        ) from error
                    self.end(at_once=True)
                    self.say("info", "A worker died, and its work was done again.")
            for one in sent:
                yield self._value(function, one.item, one.answer)
            yield from map(function, items)
        except Exception:
            for one in sent:
                if one.future is not None:
                    one.future.cancel()
            raise
        except BaseException:  # results of running work are no longer awaited
            if any(one.future is None or not one.future.done() for one in sent):
                self.end(at_once=True)
            raise

    def pool(self) -> Pool | None:
        """Return the pool, started if necessary; None if work is done here."""
        if self._pool is None and self.backend == "dask":
            try:
                self._pool = Cluster(self.scheduler)
            except PoolLost as lost:
                return self.fall_back(str(lost))
        elif self._pool is None and self.backend == "threads":
            self._pool = Threads(self.n_jobs)
        elif self._pool is None and self.n_jobs > 1:
            self._pool = Processes(self.n_jobs)
        if self._pool is not None and self._pool.words not in self.used:
            self.used.append(self._pool.words)
        return self._pool

    def fall_back(self, reason: str) -> Pool | None:
        """Report that the cluster cannot be used; return the pool that replaces it."""
        self.end(at_once=True)
        self.backend = "loky"
        where = f"in {self.n_jobs} processes" * (self.n_jobs > 1) or "in one process"
        self.say(
            "warning",
            f"The Dask cluster at {self.scheduler} could not be used, and the work "
            f"was done on this machine, {where}: {reason.rstrip('.')}.",
            "Start the scheduler and its workers, with the versions of this process, "
            "or correct `scheduler` under [execution]. The numbers are the same.",
        )
        return self.pool()

    def say(self, severity: Severity, message: str, remedy: str = "") -> None:
        """Report a message, once."""
        if message not in self._messages:
            self._messages.add(message)
            self.report(severity, message, remedy)

    def say_here(self, fault: str) -> None:
        """Report that work was done here because workers could not do it."""
        self.say(
            "info",
            "Some work was done in the main process, one item after the other, because "
            f"a model cannot be sent to workers. {fault}",
        )

    def end(self, *, at_once: bool) -> None:
        """End the workers; the next work starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.end(at_once=at_once)

    def _pickled(self, function: Callable[..., Any]) -> bytes | None:
        """Return the pickle of a function; without one, report that and return None.

        Threads need no content, but the same test: an object that cannot leave the
        process, such as a model of R or an open connection, is not safe for two
        threads.
        """
        from joblib.externals import cloudpickle

        try:
            if self.backend == "threads":
                cloudpickle.dumps(function, 5, buffer_callback=lambda _: None)
                return b""
            # Workers cannot import modules next to an audit.toml: send their code
            # along.
            for name in modules_in_force() & sys.modules.keys():
                cloudpickle.register_pickle_by_value(sys.modules[name])
            return bytes(cloudpickle.dumps(function))
        except Exception as error:
            self.say_here(in_words(error))
            return None

    def _result_of(self, one: _Sent, pool: Pool) -> Answer:
        """Wait for a result and return it."""
        future = one.future
        assert future is not None  # it was sent
        while not wait([future], timeout=POLL_SECONDS).done:
            self.check()
            if isinstance(pool, Cluster):
                pool.require()
        try:
            return future.result()
        except CancelledError as error:
            raise PoolLost("the scheduler dropped the work") from error
        except Exception as error:  # of the pool: errors of a function are in `Answer`
            if isinstance(error, BrokenExecutor) or "Killed" in type(error).__name__:
                raise WorkerDied(words(error)) from error
            if self.backend == "dask":
                raise PoolLost(in_words(error)) from error
            return Answer(fault=in_words(error))  # item or result cannot be pickled

    def _value(
        self, function: Callable[[Any], Any], item: Any, answer: Answer | None
    ) -> Any:
        """Return the value of a result, and issue its warnings in this process.

        An item that failed in another process is computed again here: either it fails
        with its original exception, or it succeeds because this process has, for
        example, code of a user that the cluster lacks. So is an item without a result.
        """
        if answer is None:
            return function(item)
        if answer.error is not None:
            raise answer.error
        if answer.fault:
            value = function(item)
            self.say_here(answer.fault)
            return value
        for message, category, filename, lineno in answer.warnings:
            warnings.warn_explicit(
                message, category, filename, lineno, registry=_registry
            )
        return answer.value


_current: ContextVar[Executor | None] = ContextVar("executor", default=None)
_registry: dict[Any, Any] = {}
"""Registry of the workers' warnings already shown, so that each is shown once."""
