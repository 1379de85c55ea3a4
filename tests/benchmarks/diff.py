"""Time `diff` at 220 features: the whole command, against its imports alone.

Run from the project's root: ``python3 -m tests.benchmarks.diff``. Also the sketch of
220 columns of 100 000 rows, against sorting them.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.data.quantiles import quantiles_frame
from importance_audit.methods.known_answers import linear_model
from importance_audit.records.as_json import dumps

N_FEATURES = 220
ROUNDS = 5
LIMITS = {"diff": 1.0, "sketch": 2.0}
IMPORTS = "import numpy, pandas, scipy.special"


def rows(seed, split, n, shift=0.0):
    """Return rows of `N_FEATURES` numbers; the first is higher by `shift`."""
    X = np.random.default_rng(seed).normal(size=(n, N_FEATURES))
    X[:, 0] += shift
    names = [f"x{number}" for number in range(1, N_FEATURES + 1)]
    frame = pd.DataFrame(X, columns=names)
    return dataset(frame, X[:, 1], task="regression", name="made", split=split)


def store_result(folder, seed, shift=0.0):
    """Store the result of an audit as its run folder would hold it."""
    config = parse_config({"importance": [{"method": "permutation", "n_repeats": 10}]})
    train, test = rows(seed, "train", 3000, shift), rows(seed + 1, "test", 1000, shift)
    model = linear_model(N_FEATURES, 0)
    folder.mkdir()
    result = audit(train, test, config, models=(model,))
    (folder / "result.json").write_text(dumps(result), encoding="utf-8")
    return str(folder)


def seconds(arguments):
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def seconds_of(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    """Print one line per task."""
    with tempfile.TemporaryDirectory() as name:
        sides = [store_result(Path(name, f"run{s}"), 10 * s, s / 2) for s in (1, 2)]
        command = ["-m", "importance_audit", "diff", *sides]
        times = [(seconds(["-c", IMPORTS]), seconds(command)) for _ in range(ROUNDS)]
    data = rows(1, "test", 100_000)
    columns = [data.X[column].to_numpy() for column in data.X]
    sketch = [seconds_of(lambda: quantiles_frame([data])) for _ in range(ROUNDS)]
    sort = [seconds_of(lambda: [np.sort(values) for values in columns])]
    imports, diff = (statistics.median(side) for side in zip(*times, strict=True))
    print(f"{'task':24}{'seconds':>9}{'ratio':>8}  to")
    print(f"{'diff':24}{diff:9.3f}{diff / imports:8.2f}  its imports alone")
    least = statistics.median(sketch)
    print(f"{'sketch':24}{least:9.3f}{least / sort[0]:8.2f}  sorting the columns")
    print("limits: " + ", ".join(f"{k} {v:.1f} s" for k, v in LIMITS.items()))


if __name__ == "__main__":
    main()
