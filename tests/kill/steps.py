"""Kill commands before each change they make to a folder, one after the other.

``python -m tests.kill.steps`` takes every step of every command, `--every 7` each
seventh. The command runs in a fork, so that none has to load its libraries.
"""

import argparse
import random
import signal
import sys
import tempfile
from pathlib import Path

from tests.kill.lives import LIVES, Life, copied
from tests.kill.whole import die_at, faults, in_fork, next_run, template


def steps(name: str, life: Life, source: Path, place: Path, every: int) -> list[str]:
    """Return what goes wrong, and print how many steps were taken."""
    wrong: list[str] = []
    n_kills, step = 0, random.randrange(every) + 1
    while True:
        folder = copied(source, place / name.replace(" ", ""))
        end = in_fork(life(folder), die_at(step, folder))
        if end.code != -signal.SIGKILL:
            break
        problems = (*faults(folder), *next_run(folder))
        wrong += [f"{name}, killed before change {step}: {fault}" for fault in problems]
        n_kills, step = n_kills + 1, step + every
    if end.code:
        wrong.append(f"{name} ended with {end.code} when nobody killed it")
    print(f"{name}: killed before {n_kills} changes, {len(wrong)} faults", flush=True)
    return wrong


def main() -> None:
    """Read the arguments and kill."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--every", type=int, default=1)
    words.add_argument("--only", action="append", choices=LIVES)
    arguments = words.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as place:
        source = template(Path(place))
        for name in arguments.only or LIVES:
            wrong += steps(name, LIVES[name], source, Path(place), arguments.every)
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
