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


def run_on_full_disk(
    life: Life, source: Path, disk: Path, free: int
) -> tuple[ProcessEnd, list[str]]:
    """Return how a command ends on a full disk, and what is not as it must be."""
    folder = copied(source, disk / "audits")
    filler = disk / "filler"
    room = os.statvfs(disk)
    filler.write_bytes(bytes(room.f_bavail * room.f_frsize - 1024 * free))
    before = visible(folder)
    end = in_fork(life.arguments(folder))
    wrong = []
    if end.code and SAYS not in end.error:
        wrong.append(f"it ended with {end.code} and said {end.error!r}")
    if "Traceback" in end.error:
        wrong.append(f"it fell over: {end.error}")
    if end.code == 2 and visible(folder) != before:
        wrong.append(f"it left {visible(folder) - before}")
    filler.unlink()
    return end, [*wrong, *faults(folder), *next_run(folder)]


def visible(folder: Path) -> set[Path]:
    """Return what can be seen below a folder, the log left out."""
    paths = {path for path in folder.rglob("*") if "/." not in str(path)}
    return {path for path in paths if path.name != "audit-log.jsonl"}


def main() -> None:
    """Read the arguments and fill the disk."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("free", type=int, nargs="*", default=FREE, help="in KB")
    words.add_argument("--only", action="append", choices=ready())
    arguments = words.parse_args()
    wrong, lives = [], ready()
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as disk:
        mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", disk]
        subprocess.run(mount, check=True)
        source = template(Path(place))
        for name in arguments.only or lives:
            ends = []
            for free in arguments.free:
                end, problems = run_on_full_disk(lives[name], source, Path(disk), free)
                wrong += [f"{name}, {free} KB free: {fault}" for fault in problems]
                ends.append(end.code)
            sizes = ", ".join(map(str, arguments.free))
            print(f"{name} ended with {ends} at {sizes} KB free", flush=True)
        subprocess.run(["umount", disk], check=True)
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
