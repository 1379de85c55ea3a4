"""What R's packages answered, as recorded in `tests/reference`."""

import json
import re
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd
from tests.cases import for_each

REFERENCE = Path(__file__).parents[1] / "reference"
KINDS = {"numeric": float, "integer": np.int64, "logical": bool}


def recorded(name):
    """Return a file of `tests/reference`."""
    return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf8"))


def frame_of(block, names=None):
    """Return recorded columns with the types that they had in R."""
    types, levels = block.get("types", {}), block.get("levels", {})
    X = pd.DataFrame({name: block["columns"][name] for name in names or types})
    for name in X:
        kind = KINDS.get(types.get(name, "numeric"))
        is_category = kind is None or name in levels
        X[name] = X[name].astype(
            pd.CategoricalDtype(levels.get(name)) if is_category else kind
        )
    return X


def evaluated(formula, X):
    """Return a formula of columns, which R and numpy read alike, (n_samples,)."""
    is_level = {name: X[name].dtype == "category" for name in X}
    columns = {n: X[n].astype(object if is_level[n] else X[n].dtype) for n in X}
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    return np.broadcast_to(eval(formula, {"exp": np.exp}, arrays), len(X)) * 1.0


class Cases(dict):
    """Recorded cases by id, each to be compared by a test or left out for a reason."""

    def __init__(self, cases, left_out, *, match=re.fullmatch, short=str):
        super().__init__({case["id"]: case for case in cases})
        self.left_out, self.compared = left_out, set()
        self._match, self._short = match, short

    def like(self, pattern):
        """Return the ids of a pattern."""
        return [name for name in self if self._match(pattern, self._short(name))]

    def of(self, *patterns):
        """Let one test compare all cases of some patterns."""
        names = [name for pattern in patterns for name in self.like(pattern)]
        self.compared.update(names)
        return for_each(names)

    def matching(self, pattern):
        """Let one test be of all cases that begin so and are not left out."""
        names = [name for name in self if re.match(pattern, name)]
        names = [name for name in names if name not in self._all_left_out()]
        self.compared.update(names)
        return for_each([self[name] for name in names], itemgetter("id"))

    def _all_left_out(self):
        return {name for pattern in self.left_out for name in self.like(pattern)}

    def assert_accounted_for(self):
        """Each case is in one of both, and each reason is of some case."""
        left_out = self._all_left_out()
        assert self.keys() - self.compared - left_out == set()
        assert left_out & self.compared == set()
        assert all(map(self.like, self.left_out))
