"""What a schedule needs of this machine: its crontab, its systemd, its time zone.

Only the user's own are touched, and only what `schedule` put there. Nothing is written
before `Plan.apply` is called. Not: the texts (`schedule`).
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ..config.load import FILE_NAME
from ..config.sections import AuditConfig
from ..records.errors import AuditError, quote
from ..runs.folder import write_file
from .schedule import Job, marker, name_of

LOCALTIME = Path("/etc/localtime")
KEPT = (
    *"R_HOME R_LIBS R_LIBS_USER R_LIBS_SITE IMPORTANCE_AUDIT_R_LIBRARY".split(),
    "LD_LIBRARY_PATH",
)
"""Variables that decide which R and which of its packages are found."""
PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin")
UNITS = ("service", "timer")
PREFIX = "importance-audit-"
FORMER_CALL = re.compile(r"""(?<!\S)"?-m"?\s+"?pipeline"?\s""")
"""How jobs called the package before it was importable as `importance_audit`."""
PATIENCE = 60.0
BYTES = ("utf-8", "surrogateescape")


class Plan(NamedTuple):
    """A change of what is installed.

    Attributes
    ----------
    words : str
        What would change, for the user to confirm; "" if there is nothing to change.
    apply : callable
        Makes the change, or raises AuditError with the words of the system.
    is_there : bool
        Whether a job of this name is installed, be it as it is wanted or not.
    """

    words: str
    apply: Callable[[], None]
    is_there: bool


class Answer(NamedTuple):
    """What a program answered: its exit code, its output, and its words on one line."""

    code: int
    output: str
    message: str


class Zone(NamedTuple):
    """A time zone: its name, and by how many minutes it is ahead of UTC in a year."""

    name: str
    offsets: tuple[int, ...]


def job_of(config: AuditConfig, audit: Path) -> Job:
    """Return the job that runs `audit` with this Python, wherever it is started."""
    folder = config.base.resolve()
    resolved_audit = folder if _is_usual(audit) else folder / audit.name
    python = os.path.abspath(sys.executable)
    return Job(
        audit=resolved_audit,
        folder=folder,
        section=config.schedule,
        minutes=config.unattended_minutes,
        # -P: an importance_audit.py in its working folder is not to be imported.
        command=(
            python,
            "-P",
            "-m",
            "importance_audit",
            "run",
            "--unattended",
            str(resolved_audit),
        ),
        environment=_environment(config),
        timeout=shutil.which("timeout") or "",
    )


def named_job(audit: Path) -> str:
    """Return the name of the job of an audit, be that still there or not."""
    return name_of(audit.resolve().parent if audit.name == FILE_NAME else audit)


def cron_zone(file: Path = LOCALTIME, *, now: datetime | None = None) -> Zone:
    """Return the zone of the machine, by which cron goes: without a file, UTC."""
    if not file.exists():
        return Zone("UTC", (0,))
    name = str(file.resolve()).rpartition("zoneinfo/")[2]
    with file.open("rb") as content:
        zone = ZoneInfo.from_file(content, key=name)
    start = now or datetime.now(UTC)
    offsets = {
        (start + timedelta(days=day)).astimezone(zone).utcoffset() for day in range(400)
    }
    return Zone(
        name,
        tuple(sorted(int(o.total_seconds()) // 60 for o in offsets if o is not None)),
    )


def crontab_plan(name: str, line: str | None) -> Plan:
    """Return how the line of a job gets into the user's crontab, or out if None.

    It goes to the top, where no variable that the user sets for later lines changes
    what it means.
    """
    before = _crontab()
    lines = before.split("\n")
    own = [old for old in lines if _is_own(old, name)]
    new = [line] if line else []
    after = "\n".join([*new, *(old for old in lines if not _is_own(old, name))])
    if after and not after.endswith("\n"):
        after += "\n"
    words = ["This line will be added at the top of your crontab:", "", *new, ""] * len(
        new
    )
    words += ["This line will be removed from your crontab:", "", *own, ""] * bool(own)
    text = "" if own == new else "\n".join(words)
    return Plan(text, lambda: _set_crontab(before, after), bool(own))


def units_plan(name: str, files: Mapping[str, str] | None) -> Plan:
    """Return how the units of a job get into the user's systemd, or out if None."""
    folder = _unit_folder()
    _program("systemctl")
    there = [folder / f"{name}.{kind}" for kind in UNITS]
    there = [path for path in there if path.exists()]
    if files is None:
        listed = "\n".join(map(str, there))
        words = f"These files will be removed, and the timer stopped:\n\n{listed}\n"
        gone = words if there else ""
        return Plan(gone, lambda: _remove_units(name, there), bool(there))
    texts = {folder / file: text for file, text in files.items()}
    same = all(_text_of(path) == text for path, text in texts.items())
    contents = "\n".join(f"{path}\n\n{text}" for path, text in texts.items())
    words = f"These files will be written, and the timer started:\n\n{contents}"
    words = "" if same and _is_on(name) else words
    return Plan(words, lambda: _set_units(name, texts), bool(there))


def outdated_jobs() -> tuple[str, ...]:
    """Return the names of the user's jobs that call the package by its former name.

    A crontab or a folder of units that cannot be read has none.
    """
    names = set()
    with suppress(AuditError):
        for line in _crontab().splitlines():
            name = line.rstrip().rpartition(" # ")[2]
            if FORMER_CALL.search(line) and _is_own(line, name):
                names.add(name)
    for path in _unit_folder().glob(f"{PREFIX}*.service"):
        if FORMER_CALL.search(_text_of(path) or ""):
            names.add(path.stem)
    return tuple(sorted(name for name in names if name.startswith(PREFIX)))


def _environment(config: AuditConfig) -> dict[str, str]:
    """Return the variables of a job: as bare as cron's, where nothing decides."""
    schedule = config.schedule
    hooks = (schedule.on_change, schedule.on_failure, schedule.on_success)
    executables = [
        shutil.which(name) for name in ("R", *(hook[0] for hook in hooks if hook))
    ]
    programs = [sys.executable, *filter(None, executables)]
    folders = [os.path.dirname(os.path.abspath(path)) for path in programs]
    variables = {
        name: _absolute(os.environ[name]) for name in KEPT if os.environ.get(name)
    }
    modules = _absolute(os.environ.get("PYTHONPATH", "")).split(os.pathsep)
    path = list(filter(None, modules))
    return {
        "HOME": str(Path.home()),
        "PATH": os.pathsep.join(dict.fromkeys((*folders, *PROGRAMS))),
        **{"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        **({"PYTHONPATH": os.pathsep.join(dict.fromkeys(path))} if path else {}),
        **variables,
    }


def _is_usual(audit: Path) -> bool:
    return audit.is_dir() or audit.name == FILE_NAME


def _absolute(paths: str) -> str:
    """Return a list of paths with those that lie below the working folder whole."""
    return os.pathsep.join(
        os.path.abspath(path) if path and os.path.exists(path) else path
        for path in paths.split(os.pathsep)
    )


def _is_own(line: str, name: str) -> bool:
    """Whether a line of a crontab is that of the job; a comment is the user's."""
    return line.rstrip().endswith(marker(name)) and not line.lstrip().startswith("#")


def _crontab() -> str:
    """Return the user's crontab; an empty one if there is none."""
    answer = _run("crontab", "-l")
    if answer.code and "no crontab for" not in answer.message:
        raise AuditError(
            f"Your crontab cannot be read; crontab says: {answer.message} Nothing was "
            "changed."
        )
    return "" if answer.code else answer.output


def _set_crontab(before: str, after: str) -> None:
    """Write the user's crontab and see that it is there; keep the old one if not."""
    backup = _backup(before)
    answer = _run("crontab", "-", stdin=after)
    current_lines = iter("" if answer.code else _crontab().split("\n"))
    if answer.code or not all(line in current_lines for line in after.split("\n")):
        raise AuditError(
            f"Your crontab could not be changed; crontab says: {answer.message} A "
            f"copy of its previous contents is in {backup}. Check with: crontab -l"
        )
    backup.unlink()


def _backup(text: str) -> Path:
    """Return a file, for its owner only, with what is about to be replaced."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    path = Path(base) / "importance-audit" / f"crontab-{stamp}-{os.getpid()}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(text.encode(*BYTES))
    except OSError as error:
        raise AuditError(
            f"Your crontab could not be copied to {path} before the change: "
            f"{error.strerror}. Nothing was changed."
        ) from error
    return path


def _unit_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "systemd" / "user"


def _text_of(path: Path) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    return None


def _is_on(name: str) -> bool:
    """Whether the timer of a job waits for its time."""
    states = ("is-enabled", "is-active")
    answers = (
        _run("systemctl", "--user", "-q", state, f"{name}.timer") for state in states
    )
    return all(not answer.code for answer in answers)


def _set_units(name: str, texts: Mapping[Path, str]) -> None:
    """Write units and start the timer; leave all as it was if that fails."""
    former = {path: _text_of(path) for path in texts}
    try:
        for path, text in texts.items():
            _make_folder(path.parent)
            write_file(path, text)
        _systemctl("daemon-reload")
        _systemctl("enable", f"{name}.timer")
        # A timer that waits already keeps its old time until it is started again.
        _systemctl("restart", f"{name}.timer")
    except AuditError as error:
        for path, old in former.items():
            with suppress(AuditError, OSError):
                path.unlink(missing_ok=True) if old is None else write_file(path, old)
        _run("systemctl", "--user", "daemon-reload")
        raise AuditError(f"{error} The files are as they were.") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(
            f"Folder {str(folder)!r} cannot be made for units: {error.strerror}."
        ) from error


def _remove_units(name: str, there: Iterable[Path]) -> None:
    """Stop the timer, then take its files away."""
    _systemctl("disable", "--now", f"{name}.timer")
    try:
        for path in there:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise AuditError(
            f"File {str(error.filename)!r} cannot be removed: {error.strerror}. Its "
            "timer is stopped."
        ) from error
    _systemctl("daemon-reload")


def _systemctl(*words: str) -> None:
    """Ask the user's systemd, or say what keeps it from answering."""
    answer = _run("systemctl", "--user", *words)
    if answer.code:
        raise AuditError(
            f"'systemctl --user {' '.join(words)}' failed: {answer.message}"
        )


def _program(name: str) -> str:
    """Return the whole path of a program of the system."""
    path = shutil.which(name)
    if path is None:
        other = {"crontab": "systemd", "systemctl": "cron"}[name]
        raise AuditError(
            f"Program {quote(name)} is not on PATH. Install it, or use --as {other}."
        )
    return path


def _run(program: str, *words: str, stdin: str = "") -> Answer:
    """Return the answer of a program of the system, in English."""
    path = _program(program)
    try:
        process = subprocess.run(
            [path, *words],
            input=stdin.encode(*BYTES),
            capture_output=True,
            env={**os.environ, "LC_ALL": "C"},
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        limit = f"answer within {PATIENCE:g} seconds"
        raise AuditError(f"Program {path!r} did not {limit}.") from error
    except OSError as error:
        raise AuditError(
            f"Program {path!r} cannot be started: {error.strerror}."
        ) from error
    words_of = (process.stderr or process.stdout).decode("utf-8", "replace").split()
    message = " ".join(words_of) or f"nothing, and ends with {process.returncode}"
    return Answer(
        process.returncode, process.stdout.decode(*BYTES), f"{message.rstrip('.')}."
    )
