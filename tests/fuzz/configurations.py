"""Mutated configurations: each is read, or refused with a ConfigError.

Run from the project's root: ``python -m tests.fuzz.configurations 5000 [seed]``. Prints
the seed of every document that another exception escapes from, and fails if one does.
The same seed makes the same document again.
"""

import copy
import random
import sys
import tomllib
from pathlib import Path

from importance_audit.config import json_schema
from importance_audit.config.load import parse_config
from importance_audit.records.errors import AuditError

EXAMPLE = Path(json_schema.__file__).with_name("example.toml")
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


def escape(seed):
    """Return what escapes from reading a document, None if nothing does."""
    try:
        parse_config(mutated(seed)).resolved()
    except AuditError:
        return None
    except Exception as error:
        return error
    return None


def main(count, first=1):
    """Read `count` documents; return how many let something escape."""
    escapes = 0
    for seed in range(first, first + count):
        if (error := escape(seed)) is not None:
            escapes += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:200]}")
    print(f"{count} configurations from seed {first}: {escapes} escapes")
    return escapes


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:3]))))
