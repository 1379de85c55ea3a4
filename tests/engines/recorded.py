"""Cases recorded from an R package, and the formulas that stand for its models."""

import json
import re
from pathlib import Path

import numpy as np
from tests.cases import for_each

FOLDER = Path(__file__).parents[1] / "reference"


class Recorded:
    """The cases of one file, each of which is compared or left out for a reason."""

    def __init__(self, package, left_out):
        self.file = json.loads((FOLDER / f"{package}.json").read_text("utf-8"))
        self.cases = {case["id"]: case for case in self.file["cases"]}
        self._patterns = left_out
        self._compared = set()

    def left_out(self):
        return {
            c for c in self.cases if any(re.fullmatch(p, c) for p in self._patterns)
        }

    def matching(self, pattern):
        """Let a test be one of all cases whose ids are as the pattern says."""
        names = [c for c in self.cases if re.match(pattern, c)]
        cases = [self.cases[c] for c in names if c not in self.left_out()]
        self._compared |= {case["id"] for case in cases}
        return for_each(cases, lambda case: case["id"])

    def assert_complete(self, n_cases):
        """Assert that no case is forgotten and no reason is without a case."""
        assert len(self.cases) == n_cases
        assert self._compared == set(self.cases) - self.left_out()
        assert all(any(re.fullmatch(p, c) for c in self.cases) for p in self._patterns)


def formula(text, X):
    """Return the values of a formula of columns that R and numpy read alike."""
    columns = {name: X[name].to_numpy() for name in X if name != "g"}
    if "g" in X:
        columns["g"] = X["g"].astype(object).to_numpy()
    return np.ones(len(X)) * eval(text, {"exp": np.exp}, columns)
