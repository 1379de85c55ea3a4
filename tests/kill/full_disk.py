"""Let the disk run full under each command, at many sizes.

``unshare -rm python -m tests.kill.full_disk`` mounts a small disk that nobody else
sees. Each command must say that there is no space, or do without, and leave everything
as it was; with space again, the audit runs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kill.lives import Life, copied, ready
from tests.kill.whole import ProcessEnd, faults, in_fork, next_run, template

FREE = (0, 4, 8, 16, 32, 64, 96, 128, 160, 192, 256, 512)
"""Kilobytes that are left to a command; what a run saves has some 200."""
SAYS = "No space left on device"


def tried(
    life: Life, made: Path, disk: Path, free: int
) -> tuple[ProcessEnd, list[str]]:
    """Return how a command ends on a full disk, and what is not as it must be."""
    folder = copied(made, disk / "audits")
    filler = disk / "filler"
    room = os.statvfs(disk)
    filler.write_bytes(bytes(room.f_bavail * room.f_frsize - 1024 * free))
    before = visible(folder)
    said = in_fork(life.arguments(folder))
    wrong = []
    if said.code and SAYS not in said.error:
        wrong.append(f"it ended with {said.code} and said {said.error!r}")
    if "Traceback" in said.error:
        wrong.append(f"it fell over: {said.error}")
    if said.code == 2 and visible(folder) != before:
        wrong.append(f"it left {visible(folder) - before}")
    filler.unlink()
    return said, [*wrong, *faults(folder), *next_run(folder)]


def visible(folder: Path) -> set[Path]:
    """Return what can be seen below a folder, logs and index left out."""
    found = {path for path in folder.rglob("*") if "/." not in str(path)}
    logs = {"events.jsonl", "batch.jsonl", "batch.html"}
    return {
        path
        for path in found
        if path.name not in logs and not path.name.startswith("history.sqlite")
    }


def main() -> None:
    """Read the arguments and fill the disk."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("free", type=int, nargs="*", default=FREE, help="in KB")
    words.add_argument("--only", action="append", choices=ready())
    given = words.parse_args()
    wrong, known = [], ready()
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as disk:
        mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", disk]
        subprocess.run(mount, check=True)
        made = template(Path(place))
        for name in given.only or known:
            ends = []
            for free in given.free:
                said, found = tried(known[name], made, Path(disk), free)
                wrong += [f"{name}, {free} KB free: {fault}" for fault in found]
                ends.append(said.code)
            sizes = ", ".join(map(str, given.free))
            print(f"{name} ended with {ends} at {sizes} KB free", flush=True)
        subprocess.run(["umount", disk], check=True)
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
