"""Time refits on one worker against two and four, of each kind.

Run from the project's root: ``python3 -m tests.benchmarks.workers``. Prints one table;
the kinds alternate in one run, and the medians are compared. The limit is the ratio of
two busy cores to one as they are now: two processes that count, against one.
"""

import multiprocessing
import tempfile
from contextlib import ExitStack
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
from distributed import Client
from tests.records.workers import cluster_of

from importance_audit.methods.importance.drop_column import drop_column
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.records import execution

ROUNDS, BAR = 3, 1.7
KINDS = {"2 processes": (2, "loky"), "2 threads": (2, "threads")}
CLUSTERS = {"2 of Dask": 2, "4 of Dask": 4}
MODELS = {
    "sklearn.ensemble.RandomForestRegressor": {"n_estimators": 20, "random_state": 1},
    "sklearn.ensemble.GradientBoostingRegressor": {"n_estimators": 40},
    "sklearn.ensemble.HistGradientBoostingRegressor": {"max_iter": 40},
    "sklearn.linear_model.LinearRegression": {},
}


def seconds(function):
    """Return how long one call takes."""
    start = perf_counter()
    function()
    return perf_counter() - start


def counting(number):
    """Keep one core busy."""
    return sum(range(number))


def work_of_two(number=20_000_000):
    """Return how much more two processes do than one, on this machine, now."""
    with multiprocessing.Pool(2) as pool:
        alone = seconds(partial(pool.map, counting, [number]))
        both = seconds(partial(pool.map, counting, [number] * 2, chunksize=1))
    return 2 * alone / both


def wait_for(address, n_workers):
    """Return when so many workers have reported to a scheduler."""
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(n_workers)


def refused(severity, message, remedy):
    """Stop: what was asked of the cluster was done without it."""
    raise RuntimeError(f"{severity}: {message} {remedy}")


def rows():
    """Yield model, kind, seconds on one and on two workers, and the machine's ratio."""
    data = normal_data(*np.linspace(0, 2, 10), n_samples=4_000)
    with ExitStack() as stack:
        crews = {
            name: stack.enter_context(execution.workers(*kind))
            for name, kind in KINDS.items()
        }
        for name, n_workers in CLUSTERS.items():
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            address = stack.enter_context(cluster_of(n_workers, folder)).address
            wait_for(address, n_workers)
            crew = execution.workers(2, "dask", address, report=refused)
            crews[name] = stack.enter_context(crew)
        for path, parameters in MODELS.items():
            section = ModelSection(name="m", estimator=path, parameters=parameters)
            model = fit(section, data).with_losses(("mse",))
            ask = partial(drop_column, model, data, seed=1, n_repeats=2)
            times = {name: [] for name in ("one", *crews)}
            for _ in range(ROUNDS):
                for name, each in times.items():
                    execution._current.set(crews.get(name))
                    each.append(seconds(ask))
            limit = work_of_two()
            one = median(times["one"])
            for name in crews:
                yield path.rpartition(".")[2], name, one, median(times[name]), limit
        execution._current.set(None)


if __name__ == "__main__":
    print(f"{'22 refits, 4 000 x 10':34}{'kind':12}{'one':>9}{'more':>9}", end="")
    print(f"{'ratio':>8}{'bar':>7}{'cores':>8}")
    for model, kind, one, two, limit in rows():
        print(f"{model:34}{kind:12}{one:8.3f}s{two:8.3f}s", end="")
        print(f"{one / two:8.2f}{BAR:7.1f}{limit:8.2f}")
