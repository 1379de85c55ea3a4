"""Draw the data of the papers' audits: simulated as their papers describe, or R's.

    .venv/bin/python scripts/draw_paper_data.py

Each audit reads the table beside it, so what was measured can be measured again after
numpy has changed its streams; the audit's first lines hold the table's SHA-256. Numbers
are rounded to six digits, so that a last digit of another machine draws the same table.
Tables made of R's data sets are drawn where R has the package.
"""

import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd

from importance_audit.data.tables import read_table
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RBridgeError

REPORTS = Path(__file__).parents[1] / "reports"


def quadratic() -> pd.DataFrame:
    """Return y = x1^2 + x2 + 100 with x1, x2 uniform on [0, 3]."""
    X = np.random.default_rng(1).uniform(0, 3, size=(1250, 2))
    return _table(X, X[:, 0] ** 2 + X[:, 1] + 100)


def linear() -> pd.DataFrame:
    """Return Y = 1 + 3 X1 - 5 X2 + N(0, 0.01^2) with X1, X2 uniform on [0, 1]."""
    random = np.random.default_rng(1)
    X = random.uniform(size=(1000, 2))
    noise = random.normal(scale=0.01, size=len(X))
    return _table(X, 1 + 3 * X[:, 0] - 5 * X[:, 1] + noise)


def correlated(rho: float, p: int = 17) -> pd.DataFrame:
    """Return f = 1 + 2 x3 + x7 + 3 x9 + N(0, 1), p normal columns, rho^|i-j|.

    200 rows to fit, as in the paper, and 100 more to judge the model by.
    """
    random = np.random.default_rng(1)
    place = np.arange(p)
    cov = rho ** np.abs(place[:, np.newaxis] - place)
    # As x = 1 + L z: a factor of its own, whatever numpy's sampler does.
    X = 1 + random.normal(size=(300, p)) @ np.linalg.cholesky(cov).T
    y = 1 + 2 * X[:, 2] + X[:, 6] + 3 * X[:, 8] + random.normal(size=300)
    split = np.repeat(["train", "test"], [200, 100])
    return _table(X, y).assign(split=split)


def truth_table(scale: float = 1) -> pd.DataFrame:
    """Return x1 or (not x1 and not x2), as 1 or -1, for all values of x1, x2, x3."""
    X = np.array(list(product([0, 1], repeat=3)))
    holds = (X[:, 0] == 1) | (X[:, 1] == 0)
    return _table(X, np.where(holds, scale, -scale))


def conjunctions() -> pd.DataFrame:
    """Return the truth table with every conjunction of two of its literals."""
    table = truth_table()
    y = table.pop("y")
    literals = {
        name: {"": table[name], "not_": 1 - table[name]} for name in table.columns
    }
    for one, other in combinations(list(table.columns), 2):
        for a, b in product(("", "not_"), repeat=2):
            table[f"{a}{one}_and_{b}{other}"] = literals[one][a] * literals[other][b]
    return table.assign(y=y)


def gaussians(scale: float = 1) -> pd.DataFrame:
    """Return two normal classes, means (0.5, 1.5, 0) and its negative: x3 is noise."""
    y = np.repeat([1, -1], 200)
    X = np.random.default_rng(1).normal(size=(400, 3))
    return _table(X + np.outer(y, [0.5, 1.5, 0]), scale * y)


def friedman() -> pd.DataFrame:
    """Return Friedman's first problem with N(0, 1), ten uniform columns, n = 500."""
    random = np.random.default_rng(1)
    X = random.uniform(size=(500, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return _table(X, y + 10 * X[:, 3] + 5 * X[:, 4] + random.normal(size=len(X)))


def hedonic(boston: pd.DataFrame) -> pd.DataFrame:
    """Return the terms of Harrison and Rubinfeld's equation.

    R's `b` is already 1000 (B - 0.63)^2, `nox` is in parts per 10 million where the
    equation has parts per 100 million, and `lstat` is in per cent.
    """
    terms = {
        "rm_squared": boston["rm"] ** 2,
        "age": boston["age"],
        "log_dis": np.log(boston["dis"]),
        "log_rad": np.log(boston["rad"]),
        "tax": boston["tax"],
        "ptratio": boston["ptratio"],
        "b_squared": boston["b"] / 1000,
        "log_lstat": np.log(boston["lstat"] / 100),
        "crim": boston["crim"],
        "zn": boston["zn"],
        "indus": boston["indus"],
        "chas": boston["chas"].astype(int),
        "nox_squared": (10 * boston["nox"]) ** 2,
        "log_mv": np.log(1000 * boston["medv"]),
    }
    return pd.DataFrame(terms)


def corrected(boston: pd.DataFrame) -> pd.DataFrame:
    """Return the corrected values of homes and the 13 measurements of Boston."""
    return boston.drop(columns=["town", "tract", "lon", "lat", "medv"])


def complete(pima: pd.DataFrame) -> pd.DataFrame:
    """Return the women without a missing value, measurements to mean 0 and SD 1."""
    whole = pima.dropna().reset_index(drop=True)
    X = whole.drop(columns="diabetes")
    return ((X - X.mean()) / X.std()).assign(diabetes=whole["diabetes"])


def sequences(seed: int, n_each: int = 2500) -> tuple[np.ndarray, np.ndarray]:
    """Return letters 0 to 3 (A, C, G, T) at 60 positions, and classes 1 and -1.

    Into those of class 1 GATTACA is planted, its first letter at round(N(35, 7)), one
    of its seven drawn anew, so that a quarter stay as they are. The length of 60 is
    ours; what would run over the end is moved to it. No audit reads these: they are
    drawn for the test of POIM.
    """
    random = np.random.default_rng(seed)
    letters = random.integers(4, size=(2 * n_each, 60))
    first = np.rint(random.normal(35, 7, size=n_each)).astype(int) - 1
    planted = np.tile(["ACGT".index(letter) for letter in "GATTACA"], (n_each, 1))
    row = np.arange(n_each)
    planted[row, random.integers(7, size=n_each)] = random.integers(4, size=n_each)
    columns = np.clip(first, 0, 53)[:, np.newaxis] + np.arange(7)
    letters[row[:, np.newaxis], columns] = planted
    return letters, np.repeat([1, -1], n_each)


def housing(boston: pd.DataFrame) -> pd.DataFrame:
    """Return the 506 rows of Boston, the factor `chas` as 0 and 1."""
    return boston.assign(chas=boston["chas"].astype(str).astype(int))


def standardised(boston: pd.DataFrame) -> pd.DataFrame:
    """Return the same with mean 0 and SD 1 in every column but the target."""
    table = housing(boston)
    X = table.drop(columns="medv")
    return ((X - X.mean()) / X.std(ddof=0)).assign(medv=table["medv"])


def flights(every: pd.DataFrame) -> pd.DataFrame:
    """Return 3000 complete rows of the flights, 17 columns and the target.

    Six are categories: weekday, carrier, origin, dest, flight and tailnum. The four
    that are texts become codes in sorted order of all rows, as in the paper.
    """
    table = every.dropna().reset_index(drop=True)
    day = pd.to_datetime(table[["year", "month", "day"]])
    frame = table.assign(weekday=day.dt.dayofweek + 1, yearday=day.dt.dayofyear)
    departs, arrives = (
        table[name] // 100 * 60 + table[name] % 100
        for name in ("sched_dep_time", "sched_arr_time")
    )
    frame["sched_time"] = (arrives - departs) % 1440
    for name in ("carrier", "origin", "dest", "tailnum"):
        frame[name] = frame[name].astype(str).rank(method="dense").astype(int)
    rows = np.random.default_rng(1).choice(len(frame), 3000, replace=False)
    return frame.loc[np.sort(rows), [*FLIGHTS, "arr_delay"]]


FLIGHTS = (
    *("month", "day", "weekday", "yearday", "carrier", "origin", "dest", "flight"),
    *("tailnum", "sched_dep_time", "sched_arr_time", "dep_time", "air_time"),
    *("distance", "sched_time", "hour", "minute"),
)


def _table(X: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    names = [f"x{j}" for j in range(1, X.shape[1] + 1)]
    return pd.DataFrame(X, columns=names).assign(y=y)


TABLES = {
    "parr-quadratic": quadratic,
    "greenwell-linear": linear,
    "greenwell-friedman": friedman,
    "fokoue-simulation": lambda: correlated(0.0),
    "fokoue-simulation-correlated": lambda: correlated(0.75),
    "fokoue-simulation-wide": lambda: correlated(0.0, p=250),
    "zien-boolean": lambda: truth_table(10),
    "zien-boolean-labels": conjunctions,
    "zien-gaussian": lambda: gaussians(100),
}
"""The audit a table belongs to, and what draws it."""

FROM_R = {
    "greenwell-hedonic": ("mlbench::BostonHousing2", hedonic),
    "greenwell-boston": ("mlbench::BostonHousing2", corrected),
    "greenwell-pima": ("mlbench::PimaIndiansDiabetes2", complete),
    "parr-boston": ("mlbench::BostonHousing", housing),
    "parr-boston-splits": ("mlbench::BostonHousing", housing),
    "parr-boston-models": ("mlbench::BostonHousing", standardised),
    "parr-flights": ("nycflights13::flights", flights),
}
"""The audit a table belongs to, the data set of R, and what makes the table of it."""


def text_of(audit: str) -> str:
    """Return the table of an audit as the text of its file."""
    if audit in TABLES:
        return _text(TABLES[audit]())
    name, make_table = FROM_R[audit]
    with host.session():
        return _text(make_table(read_table({"r": name}, base=REPORTS).frame))


def _text(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    for audit in (*TABLES, *FROM_R):
        try:
            text = text_of(audit)
        except RBridgeError as error:
            sys.stderr.write(f"{audit} is left as it is: {error}\n")
            continue
        folder = REPORTS / audit
        folder.mkdir(exist_ok=True)
        (folder / "data.csv").write_text(text, encoding="utf-8")
