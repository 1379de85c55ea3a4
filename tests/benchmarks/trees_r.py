"""Time permutation by the trees of a ranger beside R's own tools on the same model.

Run from the project's root: ``python3 -m tests.benchmarks.trees_r``. Prints one table:
processor time of Python and R together, one thread each, medians of rounds in which
ours and the peers alternate. Ours reads the trees through the bridge anew in every
round. Of a peer one repeat is timed, and counted ten times; DALEX and vip make every
prediction anew in every repeat. What is compiled is compiled before.
"""

from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import pandas as pd

from importance_audit.data.datasets import dataset
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.trees import r_trees
from importance_audit.models import r_models
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import host

from .trees_exact import drawn

N_TREES, N_REPEATS, ROUNDS, BAR = 500, 10, 3, 10
SCRIPT = "ranger::ranger(y ~ ., train, num.trees = {}, num.threads = 1, seed = 1)"
R_FILE = Path(__file__).with_name("trees_r.R")
PEERS = {"DALEX": "dalex_repeat", "vip": "vip_repeat"}


def fitted(data, n_trees):
    """Return a forest that R fits."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "fit.R")
        path.write_text(SCRIPT.format(n_trees))
        section = ModelSection(name="ranger", r_script=path.name)
        return r_models.load(section, data, base=path.parent)


def seconds(model, function):
    """Return the processor time of a call, in this process and in that of R."""
    before = process_time() + model.estimator.call("processor_seconds", {})[0]
    function()
    return process_time() + model.estimator.call("processor_seconds", {})[0] - before


def ours(model, data):
    """Read the trees and permute all features."""
    r_trees._packings.clear()
    permutation(model, data, seed=1, n_repeats=N_REPEATS)


def rounds(model, data, peers):
    """Yield the times of ours and of ten repeats of each peer, round by round."""
    rows = {"data": data.X, "y": data.y}
    for _ in range(ROUNDS):
        own = seconds(model, lambda: ours(model, data))
        yield (
            own,
            {
                name: N_REPEATS
                * seconds(model, partial(model.estimator.call, PEERS[name], rows))
                for name in peers
            },
        )


if __name__ == "__main__":
    X, y = drawn()
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(1, X.shape[1] + 1)])
    data = dataset(X, y, task="regression", name="rows", split="train")
    with host.session(r_seconds=3600, extra_r_files=[R_FILE]):
        small = fitted(data, 1)
        ours(small, data)
        version = small.estimator.call("version_of", {"package": "ranger"})[0]
        packages = host.installed()["packages"]
        for name in PEERS.keys() - packages.keys():
            print(f"{name} is not installed, so it is not asked.")
        peers = [name for name in PEERS if name in packages]
        print(f"ranger {version}, {N_TREES} trees, {X.shape[0]} x {X.shape[1]}")
        print(f"{'medians so far':46}{'ours':>9}{'peer':>10}{'ratio':>8}{'bar':>6}")
        done = []
        for times in rounds(fitted(data, N_TREES), data, peers):
            done.append(times)
            own = median(mine for mine, _ in done)
            for name in peers:
                other = median(theirs[name] for _, theirs in done)
                task = (
                    f"{N_REPEATS} repeats / {name} {packages[name]}, one x {N_REPEATS}"
                )
                line = f"{task:46}{own:8.1f}s{other:9.1f}s{other / own:8.1f}{BAR:6}"
                print(line, flush=True)
