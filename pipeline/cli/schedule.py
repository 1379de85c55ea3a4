"""schedule: an audit that runs by itself, printed or installed."""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..records.errors import AuditError
from .shared import FOLDER, faults, say, stop

if TYPE_CHECKING:
    from ..operate.install_schedule import Plan
    from ..operate.schedule import Job

KINDS = ("cron", "systemd", "github", "gitlab", "kubernetes", "airflow")
INSTALLED = ("cron", "systemd")
SCRIPTS = ("mail", "webhook")
LINGER = (
    "The units of a user run only while that user is logged in. To run them at "
    "other times too, once: loginctl enable-linger"
)


@click.command()
@click.argument("audit", type=FOLDER, required=False)
@click.option(
    "--as", "kind", type=click.Choice(KINDS), default="cron", show_default=True
)
@click.option(
    "--install",
    "what",
    flag_value="install",
    help="Install the schedule, after asking.",
)
@click.option(
    "--remove", "what", flag_value="remove", help="Remove the installed schedule."
)
@click.option("--yes", is_flag=True, help="Make the change without asking.")
@click.option(
    "--example",
    type=click.Choice(SCRIPTS),
    help="Print an example script that sends notifications.",
)
def schedule(
    audit: Path | None, kind: str, what: str | None, yes: bool, example: str | None
) -> None:
    """Print what runs AUDIT automatically, at the time set in its [schedule].

    With --install, a line is added to your crontab, or a timer to your systemd units.
    A file for GitHub, GitLab, Kubernetes or Airflow is only printed.
    """
    if (audit is None) == (example is None):
        raise click.UsageError("Either AUDIT or --example must be given.")
    if what and kind not in INSTALLED:
        raise click.UsageError(f"--{what} works with --as cron and --as systemd only.")
    with faults():
        if audit is None:
            from ..operate.schedule import example as script

            click.echo(script(str(example)), nl=False)
        elif what == "remove":
            _change(_removal(audit, kind), yes, "Removed.", "Nothing is installed.")
        else:
            _show_or_install(audit, kind, install=what == "install", yes=yes)


def _show_or_install(audit: Path, kind: str, *, install: bool, yes: bool) -> None:
    from ..config.load import load_config
    from ..operate.install_schedule import job_of

    config = load_config(audit)
    job = job_of(config, audit)
    if kind not in INSTALLED:
        asks_r = any(entry.engines for entry in config.importance)
        click.echo(_file_for(kind, job, asks_r=asks_r), nl=False)
        return
    text, note, plan = {"cron": _as_line, "systemd": _as_units}[kind](job)
    if install:
        _change(
            plan(), yes, f"Installed. {note}", "The same schedule is already installed."
        )
        return
    click.echo(text, nl=False)  # whole: the lines are made of what may be printed
    say(note, err=True)
    with suppress(AuditError):
        change = plan()
        if change.is_there and change.words:
            say("A different schedule is installed; --install replaces it.", err=True)


def _as_line(job: "Job") -> tuple[str, str, Callable[[], "Plan"]]:
    """Return a cron line, what is to be known of it, and how it is installed."""
    from ..operate.install_schedule import cron_zone, crontab_plan
    from ..operate.schedule import cron_line, zone_note

    zone = cron_zone()
    line, note = cron_line(job, zone.offsets), zone_note(*zone, job.section)
    return f"{line}\n", note, partial(crontab_plan, job.name, line)


def _as_units(job: "Job") -> tuple[str, str, Callable[[], "Plan"]]:
    """Return units, what is to be known of them, and how they are installed."""
    from ..operate.install_schedule import units_plan
    from ..operate.schedule import units

    files = units(job)
    contents = "\n".join(f"# {name}\n{text}" for name, text in files.items())
    return contents, LINGER, partial(units_plan, job.name, files)


def _file_for(kind: str, job: "Job", *, asks_r: bool) -> str:
    """Return the file of a CI, of Kubernetes or of Airflow."""
    from importlib.metadata import distributions

    from ..operate.schedule import cron_job, dag, workflow

    versions = [d.version for d in distributions(name="importance-audit")][:1]
    if kind == "kubernetes":
        return cron_job(job, ":".join(["importance-audit", *versions]))
    if kind == "airflow":
        return dag(job)
    top = _repository_of(job, kind)
    is_checkout = Path(__file__).resolve().parents[2] == top
    tool = "." if is_checkout else "==".join(["importance-audit", *versions])
    return workflow(kind, job, top, tool=tool, asks_r=asks_r)


def _repository_of(job: "Job", kind: str) -> Path:
    """Return the folder of the repository that the audit lies in."""
    above = (job.folder, *job.folder.parents)
    inside = [folder for folder in above if (folder / ".git").exists()]
    if not inside:
        stop(
            2,
            f"Audit {str(job.folder)!r} is not in a git repository, which --as "
            f"{kind} needs. Make one with: git init",
        )
    return inside[0]


def _removal(audit: Path, kind: str) -> "Plan":
    """Return how a job leaves, also that of an audit that is not there any more."""
    from ..operate.install_schedule import crontab_plan, named_job, units_plan

    name = named_job(audit)
    return crontab_plan(name, None) if kind == "cron" else units_plan(name, None)


def _change(plan: "Plan", yes: bool, done: str, same: str) -> None:
    """Show a change, ask, and make it."""
    if not plan.words:
        say(f"{same} Nothing was changed.")
        return
    say(plan.words)
    if not yes:
        if not sys.stdin.isatty():
            stop(
                2,
                "The change was not confirmed: there is no terminal on which to "
                "ask. Nothing was changed. Add --yes to confirm.",
            )
        if not click.confirm("Go on?"):
            stop(2, "The change was not confirmed. Nothing was changed.")
    plan.apply()
    say(done)
