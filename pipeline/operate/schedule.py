"""An audit that runs by itself: by cron, systemd, a CI, Kubernetes or Airflow.

All texts, and nothing that this machine is asked. Not: `install_schedule`.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Collection, Mapping
from math import ceil
from pathlib import Path
from typing import NamedTuple

from ..config.settings import DAYS, ScheduleSection
from ..records.errors import SPACES, AuditError
from ..records.template_folder import templates

EXAMPLES = ("mail", "webhook")
LOG = "schedule.log"
LONGEST = 998  # bytes of a command; Debian 12 refuses 999 as too long
SPARE_SECONDS = 600.0
GRACE_SECONDS = 300.0  # longer than an unattended run takes to end once asked to
LONGEST_OF_CLUSTER = 52  # characters of the name of a CronJob of Kubernetes
DAY = 24 * 60
_HARMLESS = SPACES + "\u200c\u200d"
"""Spaces and joiners of names; what else is not printable may be obeyed or unseen."""


class Job(NamedTuple):
    """What is to run, and when.

    Attributes
    ----------
    audit : Path
        What `run` is given, and the job is named after: the folder, or a file of
        another name than audit.toml.
    folder : Path
        The folder of the audit; in both every link was followed.
    section : ScheduleSection
    minutes : float
        The time limit of the run.
    command : tuple of str
        The program and its arguments; programs by their whole paths.
    environment : mapping of str to str
        The variables that it is given.
    timeout : str
        The whole path of GNU timeout, or "" where there is none.
    """

    audit: Path
    folder: Path
    section: ScheduleSection
    minutes: float
    command: tuple[str, ...]
    environment: Mapping[str, str]
    timeout: str = ""

    @property
    def name(self) -> str:
        """What its line, its units and its workflow are known by."""
        return name_of(self.audit)

    @property
    def seconds(self) -> int:
        """When it is ended from outside: later than the run ends itself."""
        commands = 2 * self.section.command_seconds
        return ceil(self.minutes * 60 + commands + SPARE_SECONDS)

    @property
    def grace(self) -> int:
        """How many seconds it then has to save what there is and tell people."""
        return ceil(GRACE_SECONDS + 2 * self.section.command_seconds)


def name_of(audit: Path) -> str:
    """Return the name of the job of an audit: the same for each path to it."""
    return _job_name(audit.resolve().name, str(audit.resolve()))


def marker(name: str) -> str:
    """Return the comment by which the line of a job is known in a crontab."""
    return f" # {name}"


def cron_line(job: Job, offsets: Collection[int] = (0,)) -> str:
    """Return a line of a crontab.

    Cron goes by the time zone of its machine, and not every cron can be told another.
    Where the offset from UTC is always the same, hour and days are moved by it. Where
    it changes, the line is tried at every hour that may be the right one, and asks
    `date` whether it is.

    Parameters
    ----------
    job : Job
    offsets : collection of int
        The minutes by which cron's zone is ahead of UTC, all that occur in a year.

    Raises
    ------
    AuditError
        If a path cannot stand in a crontab, or the line is too long for one.
    """
    _writable(job)
    variables = [
        f"{name}={shlex.quote(text)}" for name, text in job.environment.items()
    ]
    limit = ["--preserve-status", f"--kill-after={job.grace}", str(job.seconds)]
    ended = [job.timeout, *limit] if job.timeout else []
    words = [shlex.quote(word) for word in (*ended, *job.command)]
    log = shlex.quote(str(job.folder / LOG))
    command = " ".join([*variables, *words, f">>{log} 2>&1"])
    if re.search(r"\\[\\%]", command):
        raise AuditError(
            "A path in a crontab must have no backslash before another or before "
            f"'%'; {command!r} has. Rename the folder, or use --as systemd."
        )
    fields, only_then = _cron_time(job.section, sorted(set(offsets)))
    command = f"{only_then}{command}{marker(job.name)}".replace("%", r"\%")
    if (length := len(command.encode())) > LONGEST:
        raise AuditError(
            f"The command of a cron line must be at most {LONGEST} bytes long; this "
            f"one has {length}. Use --as systemd, or shorter paths."
        )
    return f"{fields} {command}"


def zone_note(zone: str, offsets: Collection[int], section: ScheduleSection) -> str:
    """Return what is to be known of cron's time zone, in one sentence or two."""
    reminder = "Install the line again if that time zone ever changes."
    at = _minute_of_day(section)
    local = " or ".join(_clock((at + offset) % DAY) for offset in sorted(set(offsets)))
    if set(offsets) == {0}:
        return f"Cron uses the time zone {zone} here, which is UTC. {reminder}"
    if len(set(offsets)) == 1:
        return (
            f"Cron uses the time zone {zone} here: {section.time} UTC is {local} "
            f"there. {reminder}"
        )
    return (
        f"Cron uses the time zone {zone} here, whose offset from UTC changes: "
        f"{section.time} UTC is {local} there. The line is tried at each and runs "
        f"when it is the time in UTC. {reminder}"
    )


def units(job: Job) -> dict[str, str]:
    """Return a service and a timer for systemd, by their file names.

    Raises
    ------
    AuditError
        If a path cannot stand in a unit.
    """
    _writable(job)
    variables = (f"{name}={text}" for name, text in job.environment.items())
    days = ",".join(day.title() for day in _days(job.section))
    facts = {
        "audit": job.folder.name.replace("%", "%%"),
        "environment": "\n".join(f"Environment={_unit_word(v)}" for v in variables),
        "command": " ".join(map(_unit_word, job.command)),
        "log": str(job.folder / LOG).replace("%", "%%"),
        "seconds": str(job.seconds),
        "grace": str(job.grace),
        "when": f"{days} *-*-* {job.section.time}:00 UTC".lstrip(),
    }
    return {
        f"{job.name}.{kind}": _fill_template(f"unit.{kind}", facts)
        for kind in ("service", "timer")
    }


def workflow(kind: str, job: Job, top: Path, *, tool: str, asks_r: bool) -> str:
    """Return a workflow for "github" or a job for "gitlab", as YAML.

    Parameters
    ----------
    kind : {"github", "gitlab"}
    job : Job
    top : Path
        The folder of the repository, in which the audit lies.
    tool : str
        What pip is to install.
    asks_r : bool
        Whether R packages are to be installed too.
    """
    _writable(job)
    file = job.audit if job.audit != job.folder else job.folder / "audit.toml"
    audit = f"./{file.relative_to(top).as_posix()}"
    facts = {
        "name": _job_name(job.audit.name, job.audit.relative_to(top).as_posix()),
        "cron": _cron_time(job.section, [0])[0],
        "audit": _yaml_word(audit, kind),
        "tool": _yaml_word(tool, kind),
        "minutes": str(ceil(job.seconds / 60)),
        "r_packages": "importance-audit install-r"
        if asks_r
        else ": # asks no R engine",
    }
    return _fill_template(f"{kind}.yml", facts)


def cron_job(job: Job, image: str) -> str:
    """Return a CronJob for Kubernetes, whose volume holds the folder of the audit.

    Parameters
    ----------
    job : Job
    image : str
        The name and tag of the image that the Containerfile makes.
    """
    _writable(job)
    inside = f"/audits/{job.audit.relative_to(job.folder.parent).as_posix()}"
    name = job.name.lower()
    if len(name) > LONGEST_OF_CLUSTER:
        digest = name[-9:]
        name = f"{name[: LONGEST_OF_CLUSTER - len(digest)].rstrip('-')}{digest}"
    facts = {
        "name": name,
        "cron": _cron_time(job.section, [0])[0],
        "image": json.dumps(image),
        "audit": json.dumps(inside.replace("$(", "$$("), ensure_ascii=False),
        "seconds": str(job.seconds),
        "grace": str(job.grace),
    }
    return _fill_template("kubernetes.yml", facts)


def dag(job: Job) -> str:
    """Return a DAG for Airflow, whose workers see the audit and this interpreter.

    Raises
    ------
    AuditError
        If Airflow would take a path for a template.
    """
    _writable(job)
    for text in (*job.command, *job.environment.values()):
        if any(sign in text for sign in ("{{", "{%", "{#")):
            raise AuditError(
                "What Airflow runs must have no '{{', '{%' or '{#', which begin its "
                f"templates; {text!r} has. Rename the folder, or unset the variable."
            )
    facts = {
        "title": ascii(job.audit.name),
        "name": ascii(job.name),
        "cron": ascii(_cron_time(job.section, [0])[0]),
        # The space: Airflow takes what ends with .sh for the name of a template.
        "command": ascii(f"{shlex.join(job.command)} "),
        "environment": ascii(dict(job.environment)),
        "seconds": str(job.seconds),
    }
    return _fill_template("airflow.txt", facts)


def example(name: str) -> str:
    """Return a script that tells people of a run, one of `EXAMPLES`."""
    return (templates() / "schedule" / f"{name}.sh").read_text(encoding="utf-8")


def _fill_template(name: str, facts: Mapping[str, str]) -> str:
    """Return a template with its words between two @ replaced, each once."""
    text = (templates() / "schedule" / name).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: facts[match[1]], text)


def _writable(job: Job) -> None:
    """Refuse what no line can hold."""
    texts = {"the audit": str(job.audit), "the program": " ".join(job.command)}
    for what, text in {**texts, **job.environment}.items():
        odd = [c for c in text if not c.isprintable() and c not in _HARMLESS]
        if odd:
            raise AuditError(
                f"A schedule must be made of lines of UTF-8; {what} is {text!r}, "
                f"which has {odd[0]!r}. Rename it, or unset the variable."
            )


def _minute_of_day(section: ScheduleSection) -> int:
    hour, minute = section.time.split(":")
    return int(hour) * 60 + int(minute)


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _days(section: ScheduleSection) -> tuple[str, ...]:
    """Return the days in the order of the week; none if it is every day."""
    days = tuple(day for day in DAYS if day in section.days)
    return days if days != DAYS else ()


def _cron_days(section: ScheduleSection, later: int) -> str:
    """Return the last field of a line, for days `later` than those asked."""
    numbers = sorted((DAYS.index(day) + 1 + later) % 7 for day in _days(section))
    return ",".join(map(str, numbers)) or "*"


def _cron_time(section: ScheduleSection, offsets: list[int]) -> tuple[str, str]:
    """Return the five fields of a line, and what its command is to ask first."""
    at = _minute_of_day(section)
    local = [divmod(at + offset, DAY) for offset in offsets]
    minutes = ",".join(map(str, sorted({minute % 60 for _, minute in local})))
    hours = ",".join(map(str, sorted({minute // 60 for _, minute in local})))
    if len(offsets) == 1:
        return f"{minutes} {hours} * * {_cron_days(section, local[0][0])}", ""
    days = "".join(str(DAYS.index(day) + 1) for day in _days(section) or DAYS)
    now = f"[{days}]{section.time.replace(':', '')}"
    return f"{minutes} {hours} * * *", f"date -u +%u%H%M | grep -qvx '{now}' || "


def _unit_word(text: str) -> str:
    """Return one word for a unit: quoted, without escapes or specifiers."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _yaml_word(text: str, kind: str) -> str:
    """Return a text for YAML; each CI finds signs of its own in what is quoted."""
    sign, escaped = {"github": ("${{", "${{ '${{' }}"), "gitlab": ("$", "$$")}[kind]
    return json.dumps(text.replace(sign, escaped), ensure_ascii=False)


def _job_name(name: str, path: str) -> str:
    """Return a name for a machine: that of an audit, and a digest of where it lies."""
    word = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
    return "-".join(filter(None, ("importance-audit", word, digest[:8])))
