"""schedule: printing the scheduler file of an audit."""

from pathlib import Path

import click

from .shared import FOLDER, faults, say

KINDS = ("cron", "systemd", "github", "gitlab", "kubernetes", "airflow")
SCRIPTS = ("mail", "webhook")


@click.command()
@click.argument("audit", type=FOLDER, required=False)
@click.option(
    "--as", "kind", type=click.Choice(KINDS), default="cron", show_default=True
)
@click.option(
    "--example",
    type=click.Choice(SCRIPTS),
    help="Print an example script that sends notifications.",
)
def schedule(audit: Path | None, kind: str, example: str | None) -> None:
    """Print a scheduler file for AUDIT from its [schedule].

    Nothing is installed. Add a cron line with crontab -e; save systemd units under the
    paths in their first lines, and start the timer with systemctl --user enable --now.
    """
    if (audit is None) == (example is None):
        raise click.UsageError("Either AUDIT or --example must be given.")
    with faults():
        from ..config.load import load_config
        from ..operate.schedule import example as script
        from ..operate.schedule import schedule_text
        from ..operate.schedule_section import has_schedule

        if audit is None:
            text = script(str(example))
        else:
            config = load_config(audit)
            text = schedule_text(kind, config, audit)
            if not has_schedule(config.text):
                note = "[schedule] is missing, so these are its defaults: every day at "
                say(f"{note}{config.schedule.time} UTC.", err=True)
        click.echo(text, nl=False)  # the text has no control characters
