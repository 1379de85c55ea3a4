"""Start of the command: `--help` against an empty Python and its imports of click.

Run from the project's root: ``python3 -m tests.benchmarks.command``.
"""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import click": ["-c", "import click"],
    "importance-audit --help": ["-m", "importance_audit", "--help"],
}
LIMIT_SECONDS = 0.3


def seconds(arguments):
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def main():
    rounds = [{name: seconds(a) for name, a in COMMANDS.items()} for _ in range(9)]
    medians = {name: statistics.median(r[name] for r in rounds) for name in COMMANDS}
    click = medians["import click"]
    print(f"{'task':26}{'seconds':>9}{'ratio to import click':>24}{'limit':>8}")
    for name, median in medians.items():
        limit = f"{LIMIT_SECONDS:.1f} s" if name.endswith("--help") else ""
        print(f"{name:26}{median:9.3f}{median / click:24.2f}{limit:>8}")


if __name__ == "__main__":
    main()
