"""The commands and their exit codes. Not: what a command does (`operate`).

Exit codes: 0 confirmed (also with exceptions), 1 not confirmed, 2 usage,
configuration or data, 3 R required but unavailable, 4 a method or a step failed (the
report is still written) or there is no report (the numbers are still written), 5
another process is at work on the audit, 130 interrupted, by Ctrl-C, SIGTERM, a closed
terminal or the time limit. 2 and 5 leave no run folder, nor does an unattended run that
was killed, with 4.
"""

import io
import sys

import click

from .approve import approve
from .diff import diff
from .doctor import doctor
from .handoff import handoff
from .history import history
from .init import init
from .install_r import install_r
from .render import render
from .run import run
from .schedule import schedule
from .verify import verify

COMMANDS = (
    *(init, run, render, diff, history, approve, schedule),
    *(verify, handoff, doctor, install_r),
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="importance-audit")
def main() -> None:
    """Audit the variable importances of fitted models, in Python and in R."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every terminal has every letter
            stream.reconfigure(errors="backslashreplace")


for command in COMMANDS:
    main.add_command(command)
