"""What a call of predict from R costs beyond predict itself, beside a copied frame.

Run from the project's root: ``python3 -m tests.benchmarks.bridge``. The least of some
rounds has a limit for 10 000 rows of 20 numbers; a row beyond it ends with "!", and the
exit status says so. The processor's time, of both sides, is free of waiting for others.
"""

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from importance_audit.r_bridge import host

from .permutation import seconds

FUNCTIONS = Path(__file__).parents[1] / "r_bridge" / "functions.R"
SIZES = {(10_000, 20): 200, (100_000, 50): 100}
"""Rows and columns, and how often predict is called in a round."""
LIMIT_MS, N_ROUNDS = 5.0, 5


def numbers(size):
    """Return a frame of float64."""
    values = np.random.default_rng(1).normal(size=size)
    return pd.DataFrame(values, columns=[f"x{n}" for n in range(size[1])])


def mixed(size):
    """Return a frame: a half float64, a quarter int64, a quarter category."""
    frame = numbers(size)
    quarter = frame.shape[1] // 4
    for name in frame.columns[2 * quarter : 3 * quarter]:
        frame[name] = (100 * frame[name]).astype(int)
    for name in frame.columns[3 * quarter :]:
        frame[name] = pd.Categorical(np.where(frame[name] > 0, "up", "down"))
    return frame


def processor_seconds(pid):
    """Return the processor time of a process, whoever else uses the machine."""
    return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) does


def overhead_ms(r, frame, n_calls):
    """Return the least time per call of a predict that takes none.

    By the clock, and of the processor.
    """
    answer, waited, busy = np.zeros(len(frame)), [], []

    def predict(_):
        return answer

    ask = {"data": frame, "times": n_calls}
    r.call("echo", {"x": 1})
    for _ in range(N_ROUNDS):
        used = time.process_time() + processor_seconds(r.pid)
        call = partial(r.call, "ask_often", ask, predict=predict, schema_of=frame)
        waited.append(seconds(call))
        busy.append(time.process_time() + processor_seconds(r.pid) - used)
    return 1000 * min(waited) / n_calls, 1000 * min(busy) / n_calls


def main():
    """Print a row per frame; return whether the limit is held."""
    is_held = True
    print(f"{'frame':24}{'overhead':>11}{'processor':>11}{'a copy':>11}{'limit':>8}")
    with host.session(r_seconds=600, extra_r_files=[FUNCTIONS]) as r:
        for size, n_calls in SIZES.items():
            for make in (numbers, mixed):
                frame = make(size)
                copy = 1000 * min(seconds(frame.copy) for _ in range(50))
                overhead, busy = overhead_ms(r, frame, n_calls)
                is_limited = (make, size) == (numbers, (10_000, 20))
                is_beyond = is_limited and overhead > LIMIT_MS
                is_held &= not is_beyond
                name = f"{make.__name__}, {size[0]} x {size[1]}"
                limit = f"{LIMIT_MS:.0f} ms" if is_limited else ""
                times = f"{overhead:8.2f} ms{busy:8.2f} ms{copy:8.2f} ms"
                print(f"{name:24}{times}{limit:>8}{' !' * is_beyond}", flush=True)
    return is_held


if __name__ == "__main__":
    sys.exit(not main())
