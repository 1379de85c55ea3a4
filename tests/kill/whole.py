"""What must hold of a folder of audits after a command was killed in it."""

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.kill.lives import AUDIT, audits, ready, runs

from importance_audit.cli.main import main
from importance_audit.operate.run import run_audit
from importance_audit.records.errors import AuditError
from importance_audit.runs.audit_log import LOG, read_log
from importance_audit.runs.locks import locked
from importance_audit.runs.verify import verify

VISIBLE = {
    "": {"one", "two"},
    "audit": {
        *("audit.toml", "train.csv", "test.csv", "runs"),
        *(LOG, "audit-log.torn", "signoffs", "history.html"),
    },
}


class ProcessEnd(NamedTuple):
    """How a process ended, and what it printed."""

    code: int
    out: str
    error: str


def template(place: Path) -> Path:
    """Return a folder of audits with two runs, made in this process.

    What a run loads, forks of this process have loaded.
    """
    folder = audits(place / "template")
    for _ in range(2):
        run_audit(folder / AUDIT)
    return folder


def in_fork(arguments: Sequence[str], before: object = None) -> ProcessEnd:
    """Return how a command ends in a fork of this process, which has it all loaded.

    Parameters
    ----------
    arguments : sequence of str
    before : callable, optional
        Is called first.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as error:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _be_a_command(arguments, out.fileno(), error.fileno(), before)
        _, status = os.waitpid(pid, 0)
        outputs = []
        for file in (out, error):
            file.seek(0)
            outputs.append(file.read())
    return ProcessEnd(os.waitstatus_to_exitcode(status), *outputs)


def _be_a_command(arguments, out, error, before):
    code = 70
    try:
        os.dup2(out, 1)
        os.dup2(error, 2)
        if before is not None:
            before()
        main(list(arguments), prog_name="importance-audit")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def faults(folder: Path) -> list[str]:
    """Return what is not as it must be after a kill, one line each."""
    audits = [folder / name for name in (AUDIT, "two")]
    return [
        *_strangers(folder, VISIBLE[""]),
        *(line for audit in audits for line in _strangers(audit, VISIBLE["audit"])),
        *(line for audit in audits for line in _broken(audit)),
        *_half(folder),
        *(line for place in (folder, *audits) for line in _not_free(place)),
        *_past(folder),
    ]


def next_run(folder: Path) -> list[str]:
    """Run the audit again; return what goes wrong, and what a kill left for good."""
    before = set(runs(folder))
    # A run whose line was written is finished: the next one gives its folder its name.
    lines = read_log(folder / AUDIT).of("run")
    nameless = {entry["run"] for entry in lines} - {run.name for run in before}
    outcome = in_fork(["run", str(folder / AUDIT), "-q"])
    new_runs = set(runs(folder)) - before
    wrong = (
        [f"the next run ended with {outcome.code}: {outcome.error}"]
        if outcome.code
        else []
    )
    if len(new_runs) != 1 + len(nameless) or nameless - {run.name for run in new_runs}:
        wrong.append(f"the next run left {new_runs}, and {nameless} had no name")
    left = [*folder.glob(f"{AUDIT}/runs/.*"), *folder.glob(f"{AUDIT}/runs/*/**/.*")]
    return [*wrong, *_broken(folder / AUDIT), *(f"left for good: {p}" for p in left)]


def _strangers(folder: Path, names: set[str]) -> Iterator[str]:
    """Yield what can be seen of a file that is none of those that are known."""
    for path in sorted(folder.glob("[!.]*")):
        if path.name not in names:
            yield f"{path} is a file that nobody knows"


def _broken(audit: Path) -> Iterator[str]:
    """Yield where a run, a sign-off or the log is not as stated.

    Half a line at the end of the log is what a kill may leave.
    """
    if not (audit / LOG).exists() and not (audit / "runs").exists():
        return
    try:
        found = verify(audit).mismatches
        yield from (str(item) for item in found if "without one" not in item.actual)
    except AuditError as error:
        yield f"{audit} cannot be verified: {error}"


def _half(folder: Path) -> Iterator[str]:
    """Yield which files are there by half."""
    for path in (*folder.glob("*.html"), *folder.glob("*/*.html")):
        if not path.read_bytes().rstrip().endswith(b"</html>"):
            yield f"{path} has no end"
    for path in folder.glob(f"*/{LOG}"):
        yield from map(str, read_log(path.parent).faults)


def _not_free(folder: Path) -> Iterator[str]:
    """Yield that a lock did not become free with the end of its process."""
    try:
        with locked(folder):
            pass
    except AuditError as error:
        yield str(error)


def _past(folder: Path) -> Iterator[str]:
    """Yield where the newest run knows another past than all runs together."""
    if "history" not in ready():
        return
    arguments = ["history", str(folder / AUDIT), "--json", "--last"]
    newest, every = in_fork([*arguments, "1"]), in_fork([*arguments, "0"])
    if newest.code or every.code:
        yield f"{arguments} ended with {newest.code}, {every.code}: {newest.error}"
        return
    told, whole = (json.loads(one.out)["audits"][0] for one in (newest, every))
    if told != {**whole, "rows": whole["rows"][-1:]}:
        yield f"{arguments} says otherwise if every run is read"


def die_at(n: int, folder: Path) -> object:
    """Return what lets this process kill itself before its n-th change of a folder."""
    count = [0]
    changes = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate")

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        is_open = event == "open" and _is_to_write(arguments)
        if (is_open or event in changes) and str(arguments[0]).startswith(str(folder)):
            count[0] += 1
            if count[0] == n:
                os.kill(os.getpid(), signal.SIGKILL)

    return lambda: sys.addaudithook(hook)


def _is_to_write(arguments: tuple[object, ...]) -> bool:
    """Return whether what is opened is opened to be written to."""
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
