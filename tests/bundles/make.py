"""Makes the stored bundle of the schema version in hand: python tests/bundles/make.py.

Only before that version is released; afterwards its bundle stays as it is.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
from importance_audit.auditing.audit import audit  # noqa: E402
from importance_audit.config.load import load_config  # noqa: E402
from importance_audit.data.datasets import read_datasets  # noqa: E402
from importance_audit.operate.save import save_run  # noqa: E402
from importance_audit.r_bridge import host  # noqa: E402
from importance_audit.records.result import SCHEMA_VERSION  # noqa: E402

AUDIT = """seed = 3
[data]
train = { file = "train.csv" }
test = { file = "test.csv" }
target = "y"
task = "regression"
[[models]]
name = "linear"
estimator = "sklearn.linear_model.LinearRegression"
[[importance]]
method = "permutation"
n_repeats = 2
"""
RUN = "20261122T000000Z-00000000"


def main():
    """Measure two columns with one linear model; store the run without its pages."""
    folder = HERE / SCHEMA_VERSION
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for seed, name in enumerate(("train.csv", "test.csv")):
        X = np.random.default_rng(seed).normal(size=(10, 2)).round(2)
        rows = pd.DataFrame(X, columns=["a", "b"]).assign(y=(2 * X[:, 0]).round(2))
        rows.to_csv(folder / name, index=False)
    (folder / "audit.toml").write_text(AUDIT, encoding="utf8")
    config = load_config(folder)
    with host.session():
        result = audit(*read_datasets(**config.data_arguments), config)
    volatile = {**result.run.volatile, "run_id": RUN, "host": "", "folder": ""}
    stored = replace(result, run=replace(result.run, volatile=volatile))
    save_run(stored, folder, {"audit.toml": AUDIT}, exit_code=0)


if __name__ == "__main__":
    main()
