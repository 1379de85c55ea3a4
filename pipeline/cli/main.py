"""The commands and their exit codes. Not: the work of a command (`operate`).

Exit codes:

- 0 confirmed, also with exceptions
- 1 not confirmed
- 2 usage, configuration or data, or output that cannot be written
- 3 R required but unavailable
- 4 a method or a step failed, the time limit left a question open or nothing was
  measured (the report is still written), or there is no report (the numbers are still
  written)
- 5 another process is running the audit
- 130 interrupted, by Ctrl-C, SIGTERM or a closed terminal

2 and 5 leave no run folder, nor does an unattended run that was killed, with 4.
"""

import warnings
from itertools import chain
from typing import Any

import click

from .approve import approve
from .compile import compile_
from .diff import diff
from .doctor import doctor
from .handoff import handoff
from .history import history
from .init import init
from .install_r import install_r
from .r_package import r_package
from .render import render
from .run import run
from .schedule import schedule
from .streams import outlets
from .verify import verify

GROUPS = {
    "Everyday": (init, run, render, diff, history),
    "Evidence": (verify, approve, handoff),
    "Set-up": (doctor, install_r, r_package, compile_, schedule),
}
COMMANDS = tuple(chain(*GROUPS.values()))


class _Commands(click.Group):
    """The commands, listed by groups; closed or full output streams raise no error."""

    def format_commands(
        self, context: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the short help of each command, group by group."""
        del context
        width = max(len(str(command.name)) for command in COMMANDS)
        most = formatter.width - width - 6
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (str(each.name).ljust(width), each.get_short_help_str(most))
                        for each in commands
                    ]
                )

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command that the arguments name."""
        with outlets():
            return super().main(*args, **options)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="importance-audit")
def main() -> None:
    """Audit the variable importances of fitted models, in Python and in R."""
    # Numbers that are infinite or undefined become findings and marks in the report.
    kind = RuntimeWarning
    warnings.filterwarnings("ignore", category=kind, module="importance_audit")


for command in COMMANDS:
    main.add_command(command)
