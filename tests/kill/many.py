"""Kill commands at many moments, and look at what they leave.

``python -m tests.kill.many 200`` kills so many processes, half of them at a moment
drawn evenly over the whole life of the command, half in or around its saving. `--seed`
repeats the draws of a former time, `--only run` kills one command alone. After each
kill the folders are looked at, and the audit is run again. A command that came to its
end before its moment does not count. Ends with 1 if anything is not as it must be.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from tests.kill.lives import Life, copied, ready, runs
from tests.kill.whole import faults, next_run, template

ROOT = Path(__file__).parents[2]
END = "ended before its moment"
POLL = 0.001
"""Seconds between two looks at what a command has written."""
MOST_RUNS = 12
"""Runs in a folder, above which the next kill gets a fresh one."""


class Length(NamedTuple):
    """How long a command lives, and when it saves: seconds from its start."""

    whole: float
    saving: float
    saved: float


class Moment(NamedTuple):
    """When a command is killed.

    Attributes
    ----------
    life : str
    of : {"life", "saving"}
        What the share is of: the whole life, or the time from the first thing that is
        written to twice as long as writing takes.
    share : float
    """

    life: str
    of: str
    share: float


def moments(seed: int, lives: Sequence[str]) -> Iterator[Moment]:
    """Draw when to kill what, the commands by turns."""
    draw = random.Random(seed)
    for life in cycle(lives):
        of = draw.choice(("life", "saving"))
        yield Moment(life, of, draw.random())


def length(life: Life, folder: Path) -> Length:
    """Return how long a command lives that nobody kills."""
    watch = Watch(life, folder)
    while watch.is_alive():
        time.sleep(POLL)
    if watch.process.returncode:
        raise SystemExit(f"{watch.process.args} must end well when nobody kills it.")
    whole = time.monotonic() - watch.began
    saved = watch.saved or whole
    return Length(whole, watch.saving or saved, saved)


def kill(life: Life, moment: Moment, usual: Length, folder: Path) -> str:
    """Kill a command with all its processes; return what of its life was over."""
    watch = Watch(life, folder)
    wait = moment.share * usual.whole
    if moment.of == "saving":
        while watch.is_alive() and not watch.saving:
            time.sleep(POLL)
        wait = watch.saving + 2 * moment.share * (usual.saved - usual.saving)
    while watch.is_alive() and time.monotonic() - watch.began < wait:
        time.sleep(POLL)
    if watch.process.poll() is not None:
        return END
    os.killpg(watch.process.pid, signal.SIGKILL)
    watch.process.wait()
    watch.look()
    if watch.saved:
        return "killed after the saving"
    return f"killed {'in' if watch.saving else 'before'} the saving"


class Watch:
    """A command at work, and when it was first seen to save, and to have saved."""

    def __init__(self, life: Life, folder: Path) -> None:
        self.life, self.folder = life, folder
        self.before = life.written(folder), life.n_done(folder)
        self.saving = self.saved = 0.0
        self.process, self.began = _started(life, folder), time.monotonic()

    def is_alive(self) -> bool:
        """Look what it has written, and return whether it lives."""
        self.look()
        return self.process.poll() is None

    def look(self) -> None:
        """Keep when it began to save and when it was done."""
        now = time.monotonic() - self.began
        written, n_done = self.before
        if not self.saved and self.life.n_done(self.folder) != n_done:
            self.saved = now
        if not self.saving:
            is_new = bool(self.life.written(self.folder) - written)
            self.saving = now * (is_new or bool(self.saved))


def _started(life: Life, folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "importance_audit", *life.arguments(folder)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def killed(n: int, seed: int, lives: dict[str, Life], place: Path) -> int:
    """Kill so often; print each fault and a count. Return how many faults there are."""
    source = template(place)
    usual, where, n_faults = {}, Counter(), 0
    for name, life in lives.items():
        usual[name] = length(life, copied(source, place / "measured"))
        print(
            f"{name}: lives {usual[name].whole:.2f} s, saves from "
            f"{usual[name].saving:.2f} s to {usual[name].saved:.2f} s",
            flush=True,
        )
    for i, moment in enumerate(moments(seed, [*lives])):
        folder = place / moment.life.replace(" ", "")
        if not folder.exists() or len(runs(folder)) > MOST_RUNS:
            copied(source, folder)
        part = kill(lives[moment.life], moment, usual[moment.life], folder)
        where[moment.life, part] += 1
        for fault in (*faults(folder), *next_run(folder)):
            n_faults += 1
            print(f"draw {i} of seed {seed}, {moment}, {part}: {fault}", flush=True)
        if (i + 1) % 20 == 0:
            print(f"{i + 1} draws, {n_faults} faults so far", flush=True)
        n_ended = sum(times for (_, part), times in where.items() if part == END)
        if i + 1 - n_ended == n:
            break
    for (name, part), times in sorted(where.items()):
        print(f"{name}, {part}: {times}")
    print(f"{n} kills, seed {seed}: {n_faults} faults")
    return n_faults


def main() -> None:
    """Read the arguments and kill."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("n", type=int)
    words.add_argument(
        "--seed", type=int, default=random.SystemRandom().randrange(10**6)
    )
    words.add_argument("--only", action="append", choices=ready())
    arguments = words.parse_args()
    all_lives = ready()
    lives = {name: all_lives[name] for name in arguments.only or all_lives}
    with tempfile.TemporaryDirectory() as place:
        sys.exit(bool(killed(arguments.n, arguments.seed, lives, Path(place))))


if __name__ == "__main__":
    main()
