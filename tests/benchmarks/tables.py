"""Time reading a CSV file beside pandas' own `read_csv`, and the whole of `[data]`.

Run from the project's root: ``python3 -m tests.benchmarks.tables``. Prints one table;
ours and peer alternate in one run, and the medians are compared.
"""

import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from importance_audit.config.load import parse_config
from importance_audit.data.datasets import read_datasets
from importance_audit.data.tables import read_table

from .permutation import print_lines, seconds

N_SAMPLES, ROUNDS = 200_000, 5


def table():
    """Return 30 columns of numbers, flags and texts, some cells of four missing."""
    rng = np.random.default_rng(1)
    columns = {f"x{i}": rng.normal(size=N_SAMPLES) for i in range(12)}
    columns |= {f"r{i}": rng.normal(size=N_SAMPLES).round(3) for i in range(6)}
    columns |= {f"n{i}": rng.integers(0, 1000, N_SAMPLES) for i in range(6)}
    zones = ["north", "south", "the far east", "centre of the town"]
    columns |= {f"zone{i}": rng.choice(zones, N_SAMPLES) for i in range(3)}
    places = [f"place number {i}" for i in range(2000)]
    columns |= {"place": rng.choice(places, N_SAMPLES)}
    columns["b"] = rng.choice(["true", "false"], N_SAMPLES)
    frame = pd.DataFrame(columns).astype({"n0": "Int64"})
    for name in ("x0", "r0", "n0", "zone0"):
        frame.loc[rng.random(N_SAMPLES) < 0.05, name] = pd.NA
    return frame.assign(y=rng.normal(size=N_SAMPLES))


def rows():
    """Yield task, size, ours, peer and limit of each line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table().to_csv(folder / "rows.csv", index=False)
        data = {"train": {"file": "rows.csv"}, "test": {"fraction": 0.25}}
        data |= {"target": "y", "task": "regression"}
        config = parse_config({"data": data}, base=folder)
        calls = [
            partial(read_table, data["train"], base=folder),
            lambda: read_datasets(**config.data_arguments),
            partial(pd.read_csv, folder / "rows.csv"),
        ]
        times = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
        reading, whole, peer = (median(column) for column in zip(*times, strict=True))
        yield "read_table / pandas", f"{N_SAMPLES} x 30", reading, peer, 6
        yield "read_datasets / pandas", f"{N_SAMPLES} x 30", whole, peer, 10


if __name__ == "__main__":
    print_lines(rows())
