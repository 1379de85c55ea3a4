"""What R's calls of predict cost beyond predict itself, at 10 000 x 20.

    python tests/benchmarks/bridge.py

The limit is 1 ms per call, for a frame of numbers and for one of mixed columns. It is
held against the best of several rounds; their median, and the best as a multiple of a
plain copy of the same frame, stand beside it.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from r_bridge import host  # noqa: E402

LIMIT_MS = 1.0
N_ROWS, N_COLUMNS, N_CALLS, N_ROUNDS = 10_000, 20, 200, 7


def numbers():
    """Return a frame of float64."""
    values = np.random.default_rng(1).normal(size=(N_ROWS, N_COLUMNS))
    return pd.DataFrame(values, columns=[f"x{n}" for n in range(N_COLUMNS)])


def mixed():
    """Return a frame of 10 float64, 5 int64 and 5 category columns."""
    frame = numbers()
    for name in frame.columns[10:15]:
        frame[name] = (100 * frame[name]).astype(int)
    for name in frame.columns[15:]:
        frame[name] = pd.Categorical(np.where(frame[name] > 0, "up", "down"))
    return frame


def overhead_ms(r, frame):
    """Return, for each round, the time per call which predict itself did not take."""
    answer = np.zeros(len(frame))
    found = []
    for _ in range(N_ROUNDS):
        before = r.counts.seconds
        started = time.perf_counter()
        r.call(
            "ask_often",
            {"data": frame, "times": N_CALLS},
            predict=lambda _: answer,
            schema_of=frame,
        )
        seconds = time.perf_counter() - started - (r.counts.seconds - before)
        found.append(1000 * seconds / N_CALLS)
    return found


def copy_ms(frame):
    """Return the least time of a plain copy."""
    found = []
    for _ in range(N_CALLS):
        started = time.perf_counter()
        frame.copy(deep=True)
        found.append(1000 * (time.perf_counter() - started))
    return min(found)


def main():
    """Print the table; return 1 if one of the frames takes longer than the limit."""
    print(f"{'frame':<10}{'best, ms':>10}{'median':>10}{'of limit':>10}{'of copy':>10}")
    ratios = []
    functions = ROOT / "tests" / "r_bridge" / "functions.R"
    with host.session(extra_r_files=[functions]) as r:
        for name, frame in (("numbers", numbers()), ("mixed", mixed())):
            rounds = overhead_ms(r, frame)
            best, median = min(rounds), statistics.median(rounds)
            ratios.append(best / LIMIT_MS)
            of_copy = best / copy_ms(frame)
            print(
                f"{name:<10}{best:>10.2f}{median:>10.2f}{ratios[-1]:>10.2f}"
                f"{of_copy:>10.1f}"
            )
    return int(max(ratios) > 1)


if __name__ == "__main__":
    sys.exit(main())
