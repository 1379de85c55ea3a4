"""What the bridge to R costs: each number beside the one it is held against.

    python3 -m tests.benchmarks.bridge [overheads] [rounds] [transfers] [life]

*Overhead* is what a call of predict takes beyond predict itself. *Rounds* of
DALEX and vip are held against the calls of predict plus what R takes for the same
rounds with a model that costs nothing, and against the same rounds through rpy2's
pandas converter, in a process of its own. A row that is beyond its limit ends with "!",
and the exit status says so. Times are the best of several rounds.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from importance_audit.engines.asking import ask  # noqa: E402
from importance_audit.engines.dalex import OWN_LOSSES  # noqa: E402
from importance_audit.r_bridge import host  # noqa: E402
from importance_audit.r_bridge.errors import RTimeout  # noqa: E402

R_FILES = (
    ROOT / "tests" / "r_bridge" / "functions.R",
    Path(__file__).with_suffix(".R"),
)
SIZES = {"S": (10_000, 20), "L": (100_000, 50)}
LIMIT_MS = 5.0
N_CALLS = {"S": 200, "L": 100}
N_ROUNDS = 5


def numbers(size):
    """Return a frame of float64."""
    n_rows, n_columns = SIZES[size]
    values = np.random.default_rng(1).normal(size=(n_rows, n_columns))
    return pd.DataFrame(values, columns=[f"x{n}" for n in range(n_columns)])


def mixed(size):
    """Return a frame: a half float64, a quarter int64, a quarter category."""
    frame = numbers(size)
    quarter = frame.shape[1] // 4
    for name in frame.columns[2 * quarter : 3 * quarter]:
        frame[name] = (100 * frame[name]).astype(int)
    for name in frame.columns[3 * quarter :]:
        frame[name] = pd.Categorical(np.where(frame[name] > 0, "up", "down"))
    return frame


def texts():
    """Return 100 000 strings, 1000 of them distinct."""
    return [f"level {n % 1000}" for n in range(100_000)]


def linear(X):
    """Predict by the sum of the columns."""
    return X.to_numpy().sum(axis=1)


def seconds_of(task, n_rounds=5):
    """Return how long a task takes at best."""
    times = []
    for _ in range(n_rounds):
        started = time.perf_counter()
        task()
        times.append(time.perf_counter() - started)
    return min(times)


class Table:
    """Prints rows and remembers whether one is beyond its limit."""

    def __init__(self):
        self.is_beyond = False
        print(f"{'item':<50}{'measured':>12}{'against':>12}{'ratio':>8}{'limit':>8}")

    def row(self, item, measured, against, unit, *, at_most=None, at_least=None):
        """Print how often `against` goes into `measured`, and hold it to a limit."""
        ratio = measured / against
        limit, is_beyond = "", False
        if at_most is not None:
            limit, is_beyond = f"<={at_most:g}", ratio > at_most
        if at_least is not None:
            limit, is_beyond = f">={at_least:g}", ratio < at_least
        self.is_beyond |= is_beyond
        cells = f"{measured:>9.2f} {unit:<2}{against:>9.2f} {unit:<2}{ratio:>8.2f}"
        print(f"{item:<50}{cells}{limit:>8}{' !' if is_beyond else ''}", flush=True)


def processor_seconds(pid):
    """Return the processor time of a process, whoever else uses the machine."""
    return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) does


def overhead_ms(r, frame, size):
    """Return, for each round, the time per call which predict itself did not take.

    And the least processor time of both sides, which is free of waiting for others.
    """
    answer, overhead_per_call, busy = np.zeros(len(frame)), [], []
    r.call("echo", {"x": 1})
    for _ in range(N_ROUNDS):
        before = r.counts.seconds
        used = time.process_time() + processor_seconds(r.pid)
        started = time.perf_counter()
        r.call(
            "ask_often",
            {"data": frame, "times": N_CALLS[size]},
            predict=lambda _: answer,
            schema_of=frame,
        )
        seconds = time.perf_counter() - started - (r.counts.seconds - before)
        overhead_per_call.append(1000 * seconds / N_CALLS[size])
        used = time.process_time() + processor_seconds(r.pid) - used
        busy.append(1000 * used / N_CALLS[size])
    return overhead_per_call, min(busy)


def overheads(r, table):
    """Hold the overhead to its limit and to a plain copy of the frame."""
    for size in SIZES:
        for make in (numbers, mixed):
            frame = make(size)
            name = f"{make.__name__}, {size}"
            copy = 1000 * seconds_of(lambda frame=frame: frame.copy(deep=True), 50)
            rounds, busy = overhead_ms(r, frame, size)
            label = f"overhead, {name}: of a copy"
            table.row(label, min(rounds), copy, "ms")
            median = statistics.median(rounds)
            limit = {"at_most": 1} if (make, size) == (numbers, "S") else {}
            label = f"  of limit (median {median:.2f}, processor {busy:.2f})"
            table.row(label, min(rounds), LIMIT_MS, "ms", **limit)


def forest(frame, y):
    """Return the predict of a forest of 20 trees."""
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(20, max_depth=8, random_state=1)
    model.fit(frame[:2000].to_numpy(), y[:2000])
    return lambda X: model.predict(X.to_numpy())


def rounds_of(package, r, frame, y, predict):
    """Return what asks a package for its rounds, and what asks it with a free model."""
    draws = {"seed": 1, "n_repeats": 1, "n_rows": None}
    each = {name: [name] for name in frame}
    arguments = {"y": y, "loss": "rmse", **draws}
    if package == "DALEX":
        arguments |= {"groups": each, "own_loss": OWN_LOSSES["rmse"]}
        functions = ("dalex_parts", "parts_alone")
    else:
        arguments |= {"features": list(frame), "form": "difference"}
        functions = ("vip_permute", "permute_alone")
    return (
        lambda: ask(functions[0], frame, predict, **arguments),
        lambda: r.call(functions[1], {"data": frame, **arguments}),
    )


def rounds(r, table):
    """Hold the rounds of DALEX and vip against their parts."""
    for package in {"DALEX", "vip"} & set(host.installed()["packages"]):
        for size in SIZES:
            frame = numbers(size)
            y = np.random.default_rng(2).normal(size=len(frame))
            for name, predict in (("linear", linear), ("forest", forest(frame, y))):
                ask_both, ask_alone = rounds_of(package, r, frame, y, predict)
                ask_alone()  # loads the package
                times = []
                for _ in range(3):
                    alone = seconds_of(ask_alone, 1)
                    before = r.counts.seconds
                    whole = seconds_of(ask_both, 1)
                    times.append((whole, alone + r.counts.seconds - before))
                whole, parts = min(times, key=lambda pair: pair[0] / pair[1])
                label = f"{package}, {name}, {size}: of predict and R alone"
                limit = {"at_most": 1.15} if name == "forest" else {}
                table.row(label, 1000 * whole, 1000 * parts, "ms", **limit)
                if name == "linear":
                    label = "  the way to predict and back, of the whole"
                    limit = {"at_most": 0.15} if size == "L" else {}
                    way = max(whole - parts, 0)
                    table.row(label, 1000 * way, 1000 * whole, "ms", **limit)
                if (package, name, size) == ("DALEX", "linear", "S"):
                    slow = float(converter("rounds"))
                    label = "  through the pandas converter, of the bridge"
                    table.row(label, 1000 * slow, 1000 * whole, "ms", at_least=1)


def transfers(r, table):
    """Hold frames and strings on their way to R against rpy2's own ways."""
    for size in SIZES:
        frame = numbers(size)
        ours = seconds_of(lambda frame=frame: r.call("nrow_of", {"x": frame}))
        converter_seconds = float(converter("frame", size))
        label = f"frame to R, {size}: the pandas converter, of ours"
        table.row(label, 1000 * converter_seconds, 1000 * ours, "ms", at_least=50)
    strings = np.array(texts(), dtype=object)
    there = seconds_of(lambda: r.call("nrow_of", {"x": strings}))
    both = seconds_of(lambda: r.call("echo", {"x": strings}))
    converter_seconds = float(converter("texts"))
    label = "100 000 strings both ways: one by one, of ours"
    table.row(label, 1000 * converter_seconds, 1000 * both, "ms", at_least=10)
    table.row("  there alone, of both ways", 1000 * there, 1000 * both, "ms")


def life(r, table):
    """Hold start, a small request, an interrupt and the memory to their limits."""
    small = numbers("S")[:100]
    request = seconds_of(lambda: r.call("echo", {"x": 1}), 200)
    table.row("a request with guard, of 1 ms", 1000 * request, 1.0, "ms")

    def start():
        with host.fresh() as other:
            other.call("data_sets_of", {"package": "stats"})

    label = "start, an answer and end, of 2 s"
    table.row(label, seconds_of(start, 3), 2.0, "s", at_most=1)

    def interrupt():
        try:
            r.call("say_and", {"fifo": "", "what": "loop"}, seconds=0.5)
        except RTimeout:
            return

    r.call("echo", {"x": 1})
    ended = seconds_of(interrupt, 2)
    label = "end of a loop, of deadline and grace"
    table.row(label, ended, 2.5, "s", at_most=1)

    def kilobytes():
        return r.call("resident_kb", {})[0], resource.getrusage(
            resource.RUSAGE_SELF
        ).ru_maxrss

    def call_often(times):
        r.call(
            "ask_often",
            {"data": small, "times": times},
            predict=linear,
            schema_of=small,
        )

    call_often(500)
    before = kilobytes()
    call_often(3000)
    grown = max(after - now for after, now in zip(kilobytes(), before, strict=True))
    label = "memory after 3000 calls, of 5 MB"
    table.row(label, max(grown, 0) / 1000, 5.0, "MB", at_most=1)


def converter(task, *arguments):
    """Return the seconds that rpy2's own ways take, in a process of its own."""
    environment = os.environ | {"R_LIBS": str(host.library_folder() or "")}
    command = [sys.executable, __file__, "converter", task, *arguments]
    ran = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout.split()[-1]


def in_converter(task, size="S"):
    """Print how long a task takes through rpy2's converters."""
    from rpy2 import rinterface, robjects
    from rpy2.robjects import conversion, pandas2ri

    frame = numbers(size)
    rules = robjects.default_converter + pandas2ri.converter
    with conversion.localconverter(rules):
        to_r = conversion.get_conversion().py2rpy
        tasks = {
            "frame": lambda: to_r(frame),
            "texts": lambda: list(rinterface.StrSexpVector(texts())),
            "rounds": lambda: rounds_in_converter(frame, robjects),
        }
        print(seconds_of(tasks[task], 1 if size == "L" else 2))


def rounds_in_converter(frame, robjects):
    """Ask DALEX as the documentation of rpy2 does: every frame converted."""
    from rpy2 import rinterface

    y = np.random.default_rng(2).normal(size=len(frame))

    def predict(_, newdata):
        to_python = robjects.conversion.get_conversion().rpy2py
        X = to_python(robjects.DataFrame(newdata))
        return rinterface.FloatSexpVector(linear(X))

    ask = robjects.r(
        """function(data, y, predict) {
          explainer <- DALEX::explain(structure(list(), class = "m"), data = data,
            y = y, predict_function = predict, precalculate = FALSE, verbose = FALSE,
            model_info = list(package = "p", ver = "1", type = "regression"))
          set.seed(1)
          DALEX::model_parts(explainer, B = 1, N = NULL)$dropout_loss
        }"""
    )
    wrap = robjects.r("function(raw) function(object, newdata, ...) raw(1, newdata)")
    callback = rinterface.rternalize(predict)  # must outlive the call
    ask(frame, robjects.FloatVector(y), wrap(callback))


PARTS = {part.__name__: part for part in (overheads, rounds, transfers, life)}


def main(names):
    """Print the parts of the table; return 1 if a row is beyond its limit."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors, load {load:.1f}")
    table = Table()
    with host.session(extra_r_files=R_FILES) as r:
        for name in names or PARTS:
            PARTS[name](r, table)
    return int(table.is_beyond)


if __name__ == "__main__":
    if sys.argv[1:2] == ["converter"]:
        sys.exit(in_converter(*sys.argv[2:]))
    sys.exit(main(sys.argv[1:]))
