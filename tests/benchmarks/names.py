"""How the time of reading a configuration grows with the names in its lists.

Run from the project's root: ``python3 -m tests.benchmarks.names``. Prints the processor
time of 20 000 names in each list that may be long, beside ten times that of 2 000, and
fails if any grows LIMIT times faster than the names: comparing every name with every
other one would be 10.
"""

import sys
from time import process_time

from importance_audit.config.load import parse_config

SHORT, LONG, LIMIT, ROUNDS = 2_000, 20_000, 3.0, 3
MODEL = {"name": "m", "estimator": "a.B"}


def configurations(n):
    """Return configurations with n names in a list, by the key of the list."""
    names = [f"x{i}" for i in range(n)]
    return {
        "groups": {"groups": {"all": names}},
        "features": {"importance": [{"method": "permutation", "features": names}]},
        "models": {"importance": [{"method": "permutation", "models": names}]},
        "always_show": {"report": {"always_show": names}},
        "limits": {"report": {"limits": names}},
        "many groups": {"groups": {name: [name] for name in names}},
        "many models": {"models": [MODEL | {"name": name} for name in names]},
    }


def seconds(document):
    """Return the shortest of some processor times."""
    times = []
    for _ in range(ROUNDS):
        start = process_time()
        parse_config(document)
        times.append(process_time() - start)
    return min(times)


def main():
    """Print the times; return whether all are in bounds."""
    short, long = configurations(SHORT), configurations(LONG)
    print(f"{'key':14}{SHORT:>10}{LONG:>10}{'growth':>10}")
    worst = 0.0
    for key in short:
        few, many = seconds(short[key]), seconds(long[key])
        growth = many / few / (LONG / SHORT)
        worst = max(worst, growth)
        print(f"{key:14}{few:9.4f}s{many:9.4f}s{growth:10.2f}", flush=True)
    print(f"largest growth {worst:.2f}, limit {LIMIT}")
    return worst <= LIMIT


if __name__ == "__main__":
    sys.exit(not main())
