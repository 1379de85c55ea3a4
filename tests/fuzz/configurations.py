"""Mutated configurations: each is read, or refused with a ConfigError.

Run from the project's root: ``python -m tests.fuzz.configurations 5000 [seed]``. Prints
the seed of every document that another exception escapes from, and fails if one does.
The same seed makes the same document again.
"""

import copy
import random
import sys
import tomllib
from collections import Counter
from pathlib import Path

from tests.test_long_names import check

from importance_audit.config import json_schema
from importance_audit.config.load import parse_config
from importance_audit.records.errors import AuditError

EXAMPLE = Path(json_schema.__file__).with_name("example.toml")
OUTCOMES = ("read", "audited", "refused")
VALUES = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63 - 1, 10**400, -(10**400)),
    *(0.0, -1.5, 1e-305, 1e308, float("inf"), float("nan")),
    *("", " ", "a", "x" * 100_000, "\x1b[2J", "\0", "\udc80", "größe", "=1+1"),
    *([], {}, [[]], [{}], {"a": 1}, ["a", "a"], [1, "a", None], {"": {}}),
    *([f"x{i}" for i in range(2000)], {f"x{i}": i for i in range(500)}),
)


def places(node):
    """Return every table or list of a document with each of its keys."""
    keys = node if isinstance(node, dict) else range(len(node))
    found = [(node, key) for key in keys]
    for key in keys:
        if isinstance(node[key], dict | list):
            found += places(node[key])
    return found


def mutated(seed):
    """Return the example with one to five changes."""
    draw = random.Random(seed)
    document = copy.deepcopy(tomllib.loads(EXAMPLE.read_text("utf-8")))
    for _ in range(draw.randint(1, 5)):
        node, key = draw.choice(places(document))
        change = draw.randrange(5)
        if change == 0:
            del node[key]
        elif change == 1 and isinstance(node, dict):
            node[draw.choice(("", "x", "seed", "x" * 1000, f"{key}s"))] = node.pop(key)
        elif change == 2 and isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        elif change == 3:
            node[key] = copy.deepcopy(draw.choice(places(document))[0])
        else:
            node[key] = copy.deepcopy(draw.choice(VALUES))
    return document


def outcome(seed):
    """Return "read" or "refused", or what escapes from reading a document.

    A message that grows with what was given, or that a terminal obeys, is an escape.
    """
    try:
        try:
            parse_config(mutated(seed)).resolved()
        except AuditError as error:
            check(str(error))
            return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "read"


def report(what, outcome, count, first):
    """Print each escape and the outcomes counted; return how many escaped."""
    counts = Counter()
    for seed in range(first, first + count):
        if (result := outcome(seed)) not in OUTCOMES:
            print(f"seed {seed}: {result[:200]}", flush=True)
            result = "escaped"
        counts[result] += 1
    each = ", ".join(f"{n} {result}" for result, n in sorted(counts.items()))
    print(f"{count} {what} from seed {first}: {each}")
    return counts["escaped"]


def main(count, first=1):
    """Read `count` documents; return how many let something escape."""
    return report("configurations", outcome, count, first)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:3]))))
