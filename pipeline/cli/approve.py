"""approve: sign-off of a run, which binds a name to a digest."""

import sys
from pathlib import Path

import click

from .shared import FOLDER, QUIET, faults, say, stop

ASKED = {
    "name": "Printed name",
    "role": "Role",
    "relation": "Relation to the developer of the model",
    "meaning": "Meaning (review, approval, responsibility or authorship)",
    "statement": "Statement",
}
"""Prompts for options that were not given, in this order."""


@click.command()
@click.argument("run", type=FOLDER)
@click.option("--name", help="The name of the signer, as printed.")
@click.option("--role", help="For example reviewer, model owner, approver.")
@click.option(
    "--relation", help='Relation to the developer of the model; "none" is allowed.'
)
@click.option("--meaning", help="review, approval, responsibility or authorship.")
@click.option("--statement", help="What the signer states, in their own words.")
@click.option(
    "--signer",
    default="",
    help="Who will sign the line with ssh-keygen, as allowed_signers names them.",
)
@QUIET
def approve(run: Path, signer: str, quiet: bool, **answers: str | None) -> None:
    """Sign the run in folder RUN.

    A line is added to audit-log.jsonl of the audit, and its page to signoffs/; the run
    is not changed. With meaning approval it becomes the baseline. The line links a name
    to the digest of the run and authenticates nobody; with --signer, verify expects a
    signature of it, and the command to make one is printed. In a terminal, the command
    asks for options that are not given.
    """
    with faults():
        from ..operate.sign import GIVEN, TYPED, SignoffRequest, check_run, sign
        from ..records.as_json import content_digest
        from ..records.errors import printable
        from ..runs.load import load_whole_run

        missing = [name for name in ASKED if answers[name] is None]
        typing = bool(missing) and sys.stdin.isatty()
        if typing:  # show the person what is to be signed
            check_run(run)
            result = load_whole_run(run)
            what = f"Run {run.resolve().name} of {result.run.audit}: {result.verdict}."
            click.echo(printable(what))
            say(f"Content digest {content_digest(result)}")
            answers |= {name: click.prompt(ASKED[name]) for name in missing}
        elif missing:
            options = ", ".join(f"--{name}" for name in missing)
            are = "is" if len(missing) == 1 else "are"
            stop(
                2,
                f"approve needs to know who signs what: {options} {are} missing. Give "
                "them, or run the command in a terminal, which asks for them.",
            )
        words = {name: answers[name] or "" for name in ASKED}
        how = TYPED if typing else GIVEN
        page, notes = sign(run, SignoffRequest(**words, how=how, signer=signer))
        for line in notes:
            click.echo(printable(line), err=True)
        if not quiet:
            say(page)
