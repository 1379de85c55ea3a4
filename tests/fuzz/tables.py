"""Random tables: each is audited, or refused with an AuditError or RBridgeError.

Run from the project's root: ``python -m tests.fuzz.tables 800 [seed]``. Prints the seed
of every table that another exception escapes from, or that stops a step of the audit,
and fails if one does. The same seed makes the same table again.
"""

import random
import sys
import warnings

import numpy as np
import pandas as pd
from tests.fuzz.configurations import report
from tests.test_long_names import check

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.records.as_csv import tables
from importance_audit.records.as_json import dumps, loads
from importance_audit.records.errors import AuditError

METHODS = ("permutation", "partial_dependence", "relieff", "spearman", "mrmr", "firm")
SCALES = (0.0, 1e-320, 1e-305, 1e-9, 1.0, 1e9, 1e153, 1e300)
NAMES = ("a", "=1+1", "größe", "\x1b[2J", "x" * 100_000, " ", 'a"b', "a,b", "-1", "\n")


def column(draw, n):
    """Return a column of some kind, constant or with missing values now and then."""
    kind = draw.choice(("number", "number", "integer", "text", "flag", "constant"))
    values = {
        "number": lambda: [draw.gauss(0, 1) * draw.choice(SCALES) for _ in range(n)],
        "integer": lambda: [draw.randint(-3, 3) for _ in range(n)],
        "text": lambda: [draw.choice(("u", "=v", "1", "")) for _ in range(n)],
        "flag": lambda: [draw.random() < 0.5 for _ in range(n)],
        "constant": lambda: [draw.choice(SCALES)] * n,
    }[kind]()
    if draw.random() < 0.15:
        values[draw.randrange(n)] = draw.choice((None, np.nan, np.inf))
    return values


def audited(seed):
    """Audit the table of a seed, and write what was found and read it again."""
    draw = random.Random(seed)
    n, task = draw.choice((2, 3, 8, 40)), draw.choice(("regression", "binary"))
    names = draw.sample(NAMES, draw.randint(1, 4))
    X = pd.DataFrame({name: column(draw, n) for name in names})
    scale = draw.choice(SCALES)
    y = [draw.gauss(0, 1) * scale for _ in range(n)]
    classes = None
    if task == "binary":
        y, classes = [draw.randint(0, 1) for _ in range(n)], [0, 1]
    rows = dataset(X, y, name="rows", task=task, classes=classes)
    weight = draw.choice((0.0, 1.0, scale))

    def predict(frame):
        codes = frame.iloc[:, 0].astype("category").cat.codes.to_numpy(float)
        share = 1 / (1 + np.exp(-codes))
        return share if task == "binary" else codes * weight

    facts = {"name": "m", "task": task, "features": tuple(names)}
    model = wrap(predict, **facts, **({"classes": classes} if classes else {}))
    methods = draw.sample(METHODS, 2)
    entries = [{"method": method} for method in methods]
    result = audit(None, rows, parse_config({"importance": entries}), models=(model,))
    loads(dumps(result))
    tables(result)
    return result


def outcome(seed):
    """Return "audited" or "refused", or what escapes from an audit or stops it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = audited(seed)
            except (AuditError, RBridgeError) as error:
                check(str(error))
                return "refused"
        for finding in result.findings:
            check(f"{finding.message}\n{finding.remedy}")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    faults = [f for f in result.findings if f.cause == "ours" or "stopped" in f.message]
    return faults[0].message if faults else "audited"


def main(count, first=1):
    """Audit `count` tables; return how many let something escape."""
    return report("tables", outcome, count, first)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:3]))))
