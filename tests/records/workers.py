"""What tests of parallel work send to workers, and a Dask cluster of real processes.

Workers import this file by its name, so it must not be loaded under another one.
"""

import os
import socket
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

from sklearn.linear_model import LinearRegression

from importance_audit.records import worker_pools

ROOT = Path(__file__).parents[2]


class OwnError(ValueError):
    """An error whose making takes other arguments than its message."""

    def __init__(self, name, number):
        super().__init__(f"{name} is {number}")


def added(numbers, item):
    return numbers.sum() + item


def failing(numbers, item):
    if item == 3:
        raise KeyError(f"item {item} of {len(numbers)}")
    if item == 4:
        raise OwnError("item", 4)
    return item


def warning(numbers, item):
    del numbers
    warnings.warn("the fit did not converge", RuntimeWarning, stacklevel=1)
    return item


def dying(flag, item):
    """Die in the first worker that gets to item 5: the flag says that one did."""
    time.sleep(0.02)
    if item == 5:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return item
        os._exit(7)
    return item


def always_dying(home, item):
    return item if os.getpid() == home else os._exit(7)


def locked(item):
    del item
    return threading.Lock()


def only_in(home, item):
    if os.getpid() != home:
        raise OSError("no such file")
    return item


def slow(seconds, item):
    time.sleep(seconds)
    return item


def marking(folder, item):
    """Take a minute, and leave a mark in the folder as it begins and as it ends."""
    (folder / "begun").touch()
    time.sleep(60)
    (folder / "ended").touch()
    return item


class NotHere:
    """What a worker cannot read, as a class in a folder that it does not have."""

    def __init__(self, home):
        self.home = home

    def __reduce__(self):
        return not_elsewhere, (self.home,)

    def __call__(self, item):
        return 2 * item


def not_elsewhere(home):
    if os.getpid() != home:
        raise ModuleNotFoundError("No module named 'scorecard'")
    return NotHere(home)


class SlowWithout(LinearRegression):
    """A model that takes a minute to fit, unless it is given all columns."""

    def __init__(self, columns=0, folder=""):
        super().__init__()
        self.columns = columns
        self.folder = folder

    def fit(self, X, y):
        if X.shape[1] < self.columns:
            marking(Path(self.folder), 0)
        return super().fit(X, y)


class OtherHere:
    """A function that answers otherwise in the process that made it."""

    def __init__(self, here):
        self.here = here

    def __call__(self):
        return self.here

    def __reduce__(self):
        return getattr, (worker_pools, "software")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """A scheduler and its workers, processes of this machine."""

    def __init__(self, n_workers, folder):
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self._folder = folder
        host = ["--host", "127.0.0.1", "--port", self.address.rpartition(":")[2]]
        self.scheduler = self._started("dask_scheduler", *host)
        common = ("--nthreads", "1", "--no-nanny")
        self.workers = [
            self._started("dask_worker", self.address, *common)
            for _ in range(n_workers)
        ]

    def _started(self, command, *options):
        code = f"from distributed.cli.{command} import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", code, *options, "--no-dashboard"],
            cwd=self._folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "OMP_WAIT_POLICY": "PASSIVE",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def cluster_of(n_workers, folder):
    """Keep a cluster until the end of the block."""
    cluster = Cluster(n_workers, folder)
    try:
        yield cluster
    finally:
        cluster.end()
