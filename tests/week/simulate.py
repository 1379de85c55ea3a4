"""A week of daily runs on the passengers of the Titanic, as a scheduler makes them.

    python -m tests.week.simulate FOLDER

Day 1 is approved. On day 4 fares come in another unit, on day 5 the port of
embarkation is gone, on day 6 there is no R, on day 7 the machine stops in the middle of
the run; then comes the morning after. What came out of each day is printed and held
against what happened; the audit stays in FOLDER to be looked at. With `faketime` each
run has the time of its day. Needs R with DALEX.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from importance_audit.r_bridge.install import default_library

ROOT = Path(__file__).parents[2]
AUDIT = """\
seed = 16
require = ["DALEX"]

[data]
train = { file = "train.csv" }
test = { file = "today.csv" }
target = "survived"
task = "binary"

[[models]]
name = "forest"
estimator = "sklearn.ensemble.RandomForestClassifier"
parameters = { n_estimators = 100, min_samples_leaf = 5, random_state = 1 }

[[importance]]
method = "permutation"
engines = ["DALEX"]
losses = ["one_minus_auc"]
n_repeats = 10

[report]
title = "What survival on the Titanic is predicted from"
owner = "A. Miller"

[schedule]
retries = 0
on_change = ["/bin/sh", "tell.sh"]
on_failure = ["/bin/sh", "tell.sh"]
on_success = ["/bin/sh", "tell.sh"]
"""
TELL = """\
{
  echo "== $IMPORTANCE_AUDIT_EVENT, exit code $IMPORTANCE_AUDIT_EXIT_CODE,"
  echo "   verdict: $IMPORTANCE_AUDIT_VERDICT, run: ${IMPORTANCE_AUDIT_RUN##*/}"
  echo "$IMPORTANCE_AUDIT_NEWS"
} >>told.txt
"""
SIGN = (
    *("--name", "A. Miller", "--role", "model owner", "--relation", "none"),
    *("--meaning", "approval", "--statement", "Fit for its purpose."),
)
FIRST = 16  # of November 2026


def main(folder: Path) -> None:
    """Live through the week."""
    prepare(folder)
    codes = [day(folder, 1)]
    (first,) = runs(folder)
    command("approve", str(first), *SIGN, on=1, check=True)
    codes += [day(folder, n) for n in range(2, 6)]
    codes += [day(folder, 6, **without_r(folder))]
    stop_in_the_middle(folder)
    codes += [day(folder, 8)]
    output = command("history", str(folder), on=8, check=True)
    command("history", str(folder), "--html", on=8, check=True)
    command("verify", str(folder), on=8, check=True)
    print(output)
    hold(folder, codes)


def prepare(folder: Path) -> None:
    """Write the audit, and passengers that the model may be fitted to."""
    folder.mkdir(parents=True)
    file = folder.resolve() / "passengers.csv"
    words = f'write.csv(DALEX::titanic_imputed, "{file}", row.names = FALSE)'
    library = {"R_LIBS": str(default_library() or "")}
    subprocess.run(
        ["Rscript", "-e", words], check=True, env={**environment(), **library}
    )
    rows = pd.read_csv(file)
    train = rows.sample(frac=0.5, random_state=1)
    train.to_csv(folder / "train.csv", index=False)
    rows.drop(train.index).to_csv(folder / "rest.csv", index=False)
    (folder / "audit.toml").write_text(AUDIT, encoding="utf-8")
    (folder / "tell.sh").write_text(TELL, encoding="utf-8")


def without_r(folder: Path) -> dict[str, str]:
    """Return an environment in which nobody finds R; faketime asks `date`."""
    programs = folder.resolve() / "programs"
    programs.mkdir()
    (programs / "date").symlink_to(str(shutil.which("date")))
    return {"R_HOME": "", "PATH": str(programs)}


def bring(folder: Path, on: int) -> None:
    """Write the passengers that a day brings, as it brings them."""
    today = pd.read_csv(folder / "rest.csv").sample(500, random_state=on)
    if on >= 4:
        today = today.assign(fare=(today["fare"] * 3).round(2))
    if on >= 5:
        today = today.drop(columns="embarked")
        train = pd.read_csv(folder / "train.csv").drop(
            columns="embarked", errors="ignore"
        )
        train.to_csv(folder / "train.csv", index=False)
    today.to_csv(folder / "today.csv", index=False)


def day(folder: Path, on: int, **changed: str) -> int:
    """Return the exit code of the run of a day, and print what was told of it."""
    bring(folder, on)
    before = read_messages(folder)
    ran = process("run", "--unattended", "--quiet", str(folder), on=on, **changed)
    output, _ = ran.communicate()
    news = read_messages(folder).removeprefix(before)
    print(f"---- day {on}: exit code {ran.returncode}\n{output}{news}")
    return ran.returncode


def stop_in_the_middle(folder: Path) -> None:
    """Kill the run of day 7 with all its children, once it measures."""
    bring(folder, 7)
    ran = process("run", "--unattended", "--quiet", str(folder), on=7)
    while not any(event["kind"] == "began" for event in events(folder)[-1:]):
        time.sleep(0.05)
    time.sleep(1.0)
    pid = events(folder)[-1]["pid"]
    os.killpg(ran.pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    ran.communicate()
    print("---- day 7: killed")


def hold(folder: Path, codes: list[int]) -> None:
    """Hold what was said against what happened."""
    lines = read_messages(folder)
    happened = {
        "exit codes": (codes, [0, 0, 0, 0, 0, 3, 0]),
        "run folders": (len(runs(folder)), 7),
        "fare is told once": (lines.count("New: warning, Distribution has shifted"), 1),
        "embarked is told": (
            "Columns that no longer exist: 'embarked'." in lines,
            True,
        ),
        "no R is told": (lines.count("== failure, exit code 3,") > 0, True),
        "the stop is told": ("was killed, or its machine stopped" in lines, True),
    }
    wrong = {name: pair for name, pair in happened.items() if pair[0] != pair[1]}
    print("\n".join(f"{name}: {value}" for name, (value, _) in happened.items()))
    if wrong:
        sys.exit(f"Not as it happened: {wrong}")


def runs(folder: Path) -> list[Path]:
    return sorted((folder / "runs").glob("[!.]*"))


def events(folder: Path) -> list[dict[str, object]]:
    text = (folder / "audit-log.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read_messages(folder: Path) -> str:
    file = folder / "told.txt"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def process(*words: str, on: int, **changed: str) -> "subprocess.Popen[str]":
    """Begin a command of the project at six in the morning of a day."""
    faketime = shutil.which("faketime")
    clock = [faketime, f"2026-11-{FIRST + on - 1} 06:00:00"] if faketime else []
    return subprocess.Popen(
        [*clock, *COMMAND, *words],
        env={**environment(), **changed},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def command(*words: str, on: int, check: bool) -> str:
    """Return what a command of the project says."""
    ran = process(*words, on=on)
    output, _ = ran.communicate()
    if check and ran.returncode:
        sys.exit(f"{' '.join(words)} ended with {ran.returncode}: {output}")
    return output


def environment() -> dict[str, str]:
    return {**os.environ, "TZ": "UTC", "PYTHONPATH": str(ROOT)}


COMMAND = (sys.executable, "-m", "importance_audit")

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.week.simulate FOLDER")
    main(Path(sys.argv[1]))
