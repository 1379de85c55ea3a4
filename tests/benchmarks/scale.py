"""Time and weigh audits of wide and of long tables, each in a process of its own.

Run from the project's root: ``python3 -m tests.benchmarks.scale [task …]``, the tasks
being those of `TASKS`; all of them take about a quarter of an hour on two cores. Prints
one table. Peaks are of the whole process, less the table where the bar says so; the
processor's seconds say more than the clock's where others use the machine.
"""

import resource
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import importance_audit as ia
from importance_audit.engines.dalex import dalex_permutation
from importance_audit.methods.importance.permutation import permutation
from importance_audit.r_bridge import host

GIB = 2**30
N_ASKED_OF_R = 50


def table(n_samples, n_features):
    """Return rows of which five columns matter, and their target."""
    rng = np.random.default_rng(1)
    names = [f"x{k}" for k in range(n_features)]
    X = pd.DataFrame(rng.normal(size=(n_samples, n_features)), columns=names)
    target = 2 * X["x0"] + X["x1"] ** 2 + X["x2"] * X["x3"] - X["x4"]
    return X, (target + rng.normal(size=n_samples)).to_numpy()


def forest(n_trees, **parameters):
    """Return a forest that draws some columns for each split."""
    return RandomForestRegressor(n_trees, n_jobs=2, random_state=1, **parameters)


def timed(function):
    """Return the seconds of a call by the clock, and those of the processor."""
    start, used = perf_counter(), process_time()
    function()
    return perf_counter() - start, process_time() - used


def peak():
    """Return the most memory that this process ever had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB


def saved(estimator, X, y, methods, *, pdf, n_jobs=None):
    """Audit an estimator with all else at its default, and write the run folder."""
    folder = Path(tempfile.mkdtemp())
    try:
        result = ia.audit(estimator, X, y, methods=methods, n_jobs=n_jobs)
        result.save(folder, pdf=pdf)
    finally:
        shutil.rmtree(folder)


def wide(n_samples=2_000, n_features=5_000):
    """Yield permutation of all columns, and the whole audit, beside limits and R."""
    X, y = table(n_samples, n_features)
    estimator = forest(100, max_features="sqrt").fit(X, y)
    estimator.set_params(n_jobs=1)
    model = ia.wrap(estimator, name="forest")
    data = ia.dataset(X, y, task="regression", name="wide")
    size = f"{n_samples} x {n_features}, 10 repeats"
    clock, used = timed(partial(permutation, model, data, seed=1, n_repeats=10))
    yield "forest 100: permutation, clock", size, "s", clock, 60, 1.0
    yield "forest 100: permutation, processor", size, "s", used, 60, 1.0
    yield "forest 100: permutation, peak", size, "GiB", peak(), 2, 1.0
    if shutil.which("Rscript") and find_spec("rpy2"):
        some = data.with_groups({name: (name,) for name in X.columns[:N_ASKED_OF_R]})
        ask = partial(dalex_permutation, model, some, seed=1, n_repeats=1)
        with host.session():
            in_r = timed(ask)[0] * 10 * n_features / N_ASKED_OF_R
        yield "  beside DALEX, scaled from 50 x 1", size, "s", clock, in_r, 0.1
    clock, used = timed(partial(saved, estimator, X, y, ["permutation"], pdf=True))
    yield "forest 100: audit with PDF, clock", size, "s", clock, clock, None
    yield "forest 100: audit with PDF, processor", size, "s", used, used, None
    yield "forest 100: audit with PDF, peak", size, "GiB", peak(), 2, None


def large(n_samples=200_000, n_features=30):
    """Yield a whole audit of a large table beside the fit and three predictions."""
    X, y = table(n_samples, n_features)
    estimator = forest(50, max_features=1 / 3, min_samples_leaf=5)
    fit = timed(partial(estimator.fit, X, y))
    ask = [timed(partial(estimator.predict, X)) for _ in range(3)]
    size = f"{n_samples} x {n_features}"
    for what, methods in {
        "audit": ["permutation"],
        "with curves": ["permutation", "partial_dependence"],
    }.items():
        whole = timed(partial(saved, estimator, X, y, methods, pdf=True, n_jobs=2))
        for k, name in enumerate(("clock", "processor")):
            parts = fit[k] + sum(seconds[k] for seconds in ask)
            bar = 1.3 + 30 / parts
            ours = fit[k] + whole[k]
            yield f"fit, {what}, PDF, {name}", size, "s", ours, parts, bar
    yield "forest 50: audit with PDF, peak", size, "GiB", peak(), peak(), None


def memory(n_samples=1_000_000, n_features=50):
    """Yield the peak of permutation and of a whole audit, less the table itself."""
    X, y = table(n_samples, n_features)
    held = X.memory_usage().sum() / GIB
    estimator = forest(20, min_samples_leaf=5).fit(X[:20_000], y[:20_000])
    estimator.set_params(n_jobs=1)
    size = f"{n_samples} x {n_features}"
    entry = {"method": "permutation", "n_repeats": 3}
    for name, model in {
        "OLS": LinearRegression().fit(X, y),
        "forest 20": estimator,
    }.items():
        clock, _ = timed(partial(saved, model, X, y, [entry], pdf=True))
        task = f"{name}: audit with PDF, beyond the table"
        yield task, size, "GiB", peak() - held, 2, 1.0
        yield f"{name}: audit with PDF, clock", size, "s", clock, clock, None


TASKS = {"wide": wide, "large": large, "memory": memory}


def lines(name):
    """Return the lines of a task; asked in a process of its own."""
    return list(TASKS[name]())


if __name__ == "__main__":
    head = f"{'task':40}{'size':28}{'ours':>10}{'limit':>10}{'ratio':>8}{'bar':>7}"
    print(head, flush=True)
    for name in sys.argv[1:] or TASKS:
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            answers = process.submit(lines, name).result()
        for task, size, unit, ours, limit, bar in answers:
            cells = f"{ours:9.2f}{unit[0]}{limit:9.2f}{unit[0]}{ours / limit:8.2f}"
            print(f"{task:40}{size:28}{cells}{bar or '-':>7.4}", flush=True)
