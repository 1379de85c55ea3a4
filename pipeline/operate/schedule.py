"""Scheduler files that run an audit: for cron, systemd, a CI, Kubernetes or Airflow.

A file is only printed; the user installs it. It runs the Python that printed it.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import distributions
from math import ceil
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ..config.load import FILE_NAME
from ..config.sections import AuditConfig
from ..config.settings import DAYS, ScheduleSection
from ..records.errors import SPACES, AuditError
from ..records.template_folder import templates

LOCALTIME = Path("/etc/localtime")
KEPT = (
    *"PYTHONPATH R_HOME R_LIBS R_LIBS_USER R_LIBS_SITE".split(),
    *("IMPORTANCE_AUDIT_R_LIBRARY", "LD_LIBRARY_PATH"),
)
"""Variables that affect which modules, R and packages of R are found."""
PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin")
LOG = "schedule.log"
LONGEST = 998  # bytes of a command; Debian 12 refuses 999 as too long
SPARE_SECONDS = 600.0
GRACE_SECONDS = 300.0  # more than an unattended run needs to end after SIGTERM
DAY = 24 * 60
_HARMLESS = SPACES + "\u200c\u200d"
"""Spaces and joiners allowed in names; other non-printable characters are refused."""


class Job(NamedTuple):
    """A scheduled run: its command, environment, time and limits.

    Attributes
    ----------
    audit : Path
        The argument of `run`, which also names the job: the folder, or a file with
        another name than audit.toml.
    folder : Path
        The folder of the audit; links are resolved in both.
    section : ScheduleSection
    minutes : float
        The time limit of the run.
    command : tuple of str
        The program, by its absolute path, and its arguments.
    environment : mapping of str to str
        The environment variables of the command.
    """

    audit: Path
    folder: Path
    section: ScheduleSection
    minutes: float
    command: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of units and workflow, the same for all paths to the audit."""
        return _job_name(self.audit.resolve().name, str(self.audit.resolve()))

    @property
    def seconds(self) -> int:
        """Seconds after which the scheduler ends it, later than the run ends itself."""
        commands = 2 * self.section.command_seconds
        return ceil(self.minutes * 60 + commands + SPARE_SECONDS)

    @property
    def grace(self) -> int:
        """Seconds that it then has to save the run and send notifications."""
        return ceil(GRACE_SECONDS + 2 * self.section.command_seconds)


def schedule_text(kind: str, config: AuditConfig, audit: Path) -> str:
    """The file that runs an audit at the time of its [schedule].

    Parameters
    ----------
    kind : {"cron", "systemd", "github", "gitlab", "kubernetes", "airflow"}
    config : AuditConfig
    audit : Path
        The folder that the configuration was read from, or its file.

    Raises
    ------
    AuditError
        If a path cannot be written in such a file, a CI is to run an audit that is not
        in a git repository, or a command of [schedule] cannot be started here.
    """
    job = job_of(config, audit)
    if kind in ("cron", "systemd"):  # others run it on another machine
        _startable(job)
    if kind == "cron":
        return cron_text(job, utc_offset())
    if kind == "systemd":
        return "\n".join(units(job).values())
    if kind == "airflow":
        return dag(job)
    versions = [d.version for d in distributions(name="importance-audit")][:1]
    if kind == "kubernetes":
        return cron_job(job, ":".join(["importance-audit", *versions]))
    folders = (job.folder, *job.folder.parents)
    top = next((folder for folder in folders if (folder / ".git").exists()), None)
    if top is None:
        raise AuditError(
            f"Audit {str(job.folder)!r} is not in a git repository, which --as {kind} "
            "needs. Make one with: git init"
        )
    is_checkout = Path(__file__).resolve().parents[2] == top
    tool = "." if is_checkout else "==".join(["importance-audit", *versions])
    asks_r = any(entry.engines for entry in config.importance)
    return workflow(kind, job, top, tool=tool, asks_r=asks_r)


def _startable(job: Job) -> None:
    """Raise if the program of a command of [schedule] is not found."""
    for hook in ("on_change", "on_failure", "on_success"):
        for program in getattr(job.section, hook)[:1]:
            is_path = "/" in program
            if shutil.which(str(job.folder / program) if is_path else program) is None:
                where = f"in {str(job.folder)!r}" if is_path else "on PATH"
                raise AuditError(
                    f"[schedule] {hook} cannot be started: {program!r} is no program "
                    f"{where}. A script of the audit's folder is started by "
                    f'["/bin/sh", {json.dumps(Path(program).name)}].'
                )


def job_of(config: AuditConfig, audit: Path) -> Job:
    """The job that runs `audit` with this Python, from any working folder."""
    folder = config.base.resolve()
    is_usual = audit.is_dir() or audit.name == FILE_NAME
    target = folder if is_usual else folder / audit.name
    python = os.path.abspath(sys.executable)
    # -P: do not import an importance_audit.py in the working folder.
    command = (python, "-P", "-m", "importance_audit", "run", "--unattended")
    return Job(
        audit=target,
        folder=folder,
        section=config.schedule,
        minutes=config.unattended_minutes,
        command=(*command, str(target)),
        environment=_environment(config),
    )


def utc_offset(file: Path = LOCALTIME) -> int:
    """The minutes by which cron's time zone is ahead of UTC now.

    Cron uses the time zone of the machine, not the user's TZ; UTC without that file.
    """
    if not file.exists():
        return 0
    with file.open("rb") as content:
        offset = datetime.now(ZoneInfo.from_file(content)).utcoffset()
    return int(offset.total_seconds()) // 60 if offset else 0


def cron_text(job: Job, offset: int) -> str:
    """The line of a crontab, after a comment on its time in UTC."""
    line, (minute, hour) = cron_line(job, offset), _cron_time(job.section, offset)[:2]
    sign, (hours, minutes) = "-+"[offset >= 0], divmod(abs(offset), 60)
    return (
        f"# {job.name}: {job.section.time} UTC is {hour:02}:{minute:02} at the offset "
        f"of this machine when this was printed, UTC{sign}{hours:02}:{minutes:02}.\n"
        "# If that offset changes, as with daylight saving time, print the line again."
        f"\n{line}\n"
    )


def cron_line(job: Job, offset: int = 0) -> str:
    """The line of a crontab.

    Parameters
    ----------
    job : Job
    offset : int
        The minutes by which cron's time zone is ahead of UTC; not every cron has a
        setting for the zone.

    Raises
    ------
    AuditError
        If a path cannot be written in a crontab, or the line is too long.
    """
    _writable(job)
    variables = [
        f"{name}={shlex.quote(text)}" for name, text in job.environment.items()
    ]
    ended: list[str] = []
    if timeout := shutil.which("timeout"):  # of GNU
        limit = f"--kill-after={job.grace}"
        ended = [timeout, "--preserve-status", limit, str(job.seconds)]
    words = [shlex.quote(word) for word in (*ended, *job.command)]
    log = shlex.quote(str(job.folder / LOG))
    command = " ".join([*variables, *words, f">>{log} 2>&1"])
    if re.search(r"\\[\\%]", command):
        raise AuditError(
            "A path in a crontab must have no backslash before another or before "
            f"'%'; {command!r} has. Rename the folder, or use --as systemd."
        )
    command = command.replace("%", r"\%")
    if (length := len(command.encode())) > LONGEST:
        raise AuditError(
            f"The command of a cron line must be at most {LONGEST} bytes long; this "
            f"one has {length}. Use --as systemd, or shorter paths."
        )
    return f"{_cron_fields(job.section, offset)} {command}"


def units(job: Job) -> dict[str, str]:
    """A service and a timer for systemd, by their file names.

    Raises
    ------
    AuditError
        If a path cannot be written in a unit.
    """
    variables = (f"{name}={text}" for name, text in job.environment.items())
    days = ",".join(day.title() for day in _days(job.section))
    facts = {
        "audit": job.folder.name.replace("%", "%%"),
        "environment": "\n".join(f"Environment={_unit_word(v)}" for v in variables),
        "command": " ".join(map(_unit_word, job.command)),
        "log": str(job.folder / LOG).replace("%", "%%"),
        "when": f"{days} *-*-* {job.section.time}:00 UTC".lstrip(),
    }
    return {
        f"{job.name}.{kind}": _fill_template(f"unit.{kind}", job, facts)
        for kind in ("service", "timer")
    }


def workflow(kind: str, job: Job, top: Path, *, tool: str, asks_r: bool) -> str:
    """A workflow for "github" or a job for "gitlab", as YAML.

    Parameters
    ----------
    kind : {"github", "gitlab"}
    job : Job
    top : Path
        The folder of the repository that contains the audit.
    tool : str
        The requirement that pip installs.
    asks_r : bool
        Whether to install R packages too.
    """
    file = job.audit if job.audit != job.folder else job.folder / "audit.toml"
    audit = f"./{file.relative_to(top).as_posix()}"
    facts = {
        "name": _job_name(job.audit.name, job.audit.relative_to(top).as_posix()),
        "audit": _yaml_word(audit, kind),
        "tool": _yaml_word(tool, kind),
        "minutes": str(ceil(job.seconds / 60)),
        "r_packages": "importance-audit install-r"
        if asks_r
        else ": # asks no R engine",
    }
    return _fill_template(f"{kind}.yml", job, facts)


def cron_job(job: Job, image: str) -> str:
    """A CronJob for Kubernetes, whose volume has the folder of the audit.

    Parameters
    ----------
    job : Job
    image : str
        The name and tag of the image built from the Containerfile.
    """
    inside = f"/audits/{job.audit.relative_to(job.folder.parent).as_posix()}"
    facts = {
        "name": job.name.lower(),
        "image": json.dumps(image),
        "audit": json.dumps(inside.replace("$(", "$$("), ensure_ascii=False),
    }
    return _fill_template("kubernetes.yml", job, facts)


def dag(job: Job) -> str:
    """A DAG for Airflow; its workers have the audit and this Python at these paths.

    Raises
    ------
    AuditError
        If Airflow would parse a path as a template.
    """
    for text in (*job.command, *job.environment.values()):
        if any(sign in text for sign in ("{{", "{%", "{#")):
            raise AuditError(
                "What Airflow runs must have no '{{', '{%' or '{#', which begin its "
                f"templates; {text!r} has. Rename the folder, or unset the variable."
            )
    facts = {
        "title": ascii(job.audit.name),
        "name": ascii(job.name),
        "cron": ascii(_cron_fields(job.section)),
        # The space: Airflow takes a command that ends with .sh for a template file.
        "command": ascii(f"{shlex.join(job.command)} "),
        "environment": ascii(dict(job.environment)),
    }
    return _fill_template("airflow.txt", job, facts)


def example(name: str) -> str:
    """An example script that sends notifications, "mail" or "webhook"."""
    return (templates() / "schedule" / f"{name}.sh").read_text(encoding="utf-8")


def _fill_template(file: str, job: Job, facts: Mapping[str, str]) -> str:
    """The text of a template, with each ``@name@`` replaced."""
    _writable(job)
    usual = {"cron": _cron_fields(job.section), "seconds": str(job.seconds)}
    words = {"name": job.name, "grace": str(job.grace), **usual, **facts}
    text = (templates() / "schedule" / file).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: words[match[1]], text)


def _writable(job: Job) -> None:
    """Raise if a path or variable has a character that a line cannot contain."""
    texts = {"the audit": str(job.audit), "the program": " ".join(job.command)}
    for what, text in {**texts, **job.environment}.items():
        odd = [c for c in text if not c.isprintable() and c not in _HARMLESS]
        if odd:
            raise AuditError(
                f"A schedule must be made of lines of UTF-8; {what} is {text!r}, "
                f"which has {odd[0]!r}. Rename it, or unset the variable."
            )


def _days(section: ScheduleSection) -> tuple[str, ...]:
    """The days in the order of the week; empty for every day."""
    days = tuple(day for day in DAYS if day in section.days)
    return days if days != DAYS else ()


def _cron_time(section: ScheduleSection, offset: int) -> tuple[int, int, int]:
    """Minute, hour and shift in days of the time at an offset from UTC in minutes."""
    hour, minute = map(int, section.time.split(":"))
    later, at = divmod(hour * 60 + minute + offset, DAY)
    return at % 60, at // 60, later


def _cron_fields(section: ScheduleSection, offset: int = 0) -> str:
    """The five fields of a cron line."""
    minute, hour, later = _cron_time(section, offset)
    days = sorted((DAYS.index(day) + 1 + later) % 7 for day in _days(section))
    return f"{minute} {hour} * * {','.join(map(str, days)) or '*'}"


def _unit_word(text: str) -> str:
    """A text as one word of a unit: quoted, with escapes and specifiers doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _yaml_word(text: str, kind: str) -> str:
    """A text for YAML, with the variable syntax of the CI escaped."""
    sign, escaped = {"github": ("${{", "${{ '${{' }}"), "gitlab": ("$", "$$")}[kind]
    return json.dumps(text.replace(sign, escaped), ensure_ascii=False)


def _job_name(name: str, path: str) -> str:
    """A name of a job: the name of an audit, and a digest of its path."""
    # The name of a CronJob of Kubernetes has at most 52 characters, so this has 26.
    word = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:26].rstrip("-")
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
    return "-".join(filter(None, ("importance-audit", word, digest[:8])))


def _environment(config: AuditConfig) -> dict[str, str]:
    """The environment of a job: as in cron, with paths to Python, R and commands."""
    schedule = config.schedule
    hooks = (schedule.on_change, schedule.on_failure, schedule.on_success)
    names = ("R", *(hook[0] for hook in hooks if hook))
    found = (shutil.which(name) for name in names)
    programs = [sys.executable, *(path for path in found if path)]
    folders = [os.path.dirname(os.path.abspath(path)) for path in programs]
    return {
        "HOME": str(Path.home()),
        "PATH": os.pathsep.join(dict.fromkeys((*folders, *PROGRAMS))),
        **{"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        **{n: _absolute(os.environ[n]) for n in KEPT if os.environ.get(n)},
    }


def _absolute(paths: str) -> str:
    """A list of paths without empty ones, made absolute if they exist."""
    return os.pathsep.join(
        os.path.abspath(path) if os.path.exists(path) else path
        for path in filter(None, paths.split(os.pathsep))
    )
