"""verify: verification of a run, a PDF report or an audit."""

import re
import sys
from pathlib import Path

import click

from .shared import FOLDER, JSON, QUIET, faults, print_json, progress


@click.command()
@click.argument("path", type=FOLDER)
@click.option("--replay", is_flag=True, help="Recompute, and compare every number.")
@click.option(
    "--head",
    default="",
    metavar="DIGEST",
    help="The SHA-256 that verify printed earlier: the log must still hold that line.",
)
@click.option("--only", default="", metavar="RUN", help="Check one run and the log.")
@click.option(
    "--signers",
    type=FOLDER,
    help="Folder with ssh's allowed_signers (and revoked), kept outside the audit.",
)
@QUIET
@JSON
def verify(
    path: Path,
    replay: bool,
    head: str,
    only: str,
    signers: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Check a run, a PDF report or a whole audit.

    Every file is compared with its digest, and the runs, sign-offs and signatures of an
    audit with its log. The last line says what was not checked.

    Exit codes: 0 match, 1 mismatch, 2 unreadable, 3 R is required to recompute but is
    unavailable. Nothing is written.
    """
    from ..operate.replay import Replay
    from ..operate.replay import replay as replayed
    from ..records.errors import printable
    from ..runs.summary import to_plain
    from ..runs.verify import verify as verified
    from ..runs.verify.verification import Verification

    head = head.lower()
    if head and not re.fullmatch("[0-9a-f]{64}", head):
        raise click.BadParameter(
            f"must be 64 hexadecimal digits, all that verify printed; {head!r} was "
            "given.",
            param_hint="--head",
        )
    with faults():
        outcome: Verification | Replay = (
            replayed(path, progress(quiet))
            if replay
            else verified(path, signers=signers, head=head, only=only)
        )
    if as_json:
        print_json({"is_mismatch": outcome.is_mismatch, **to_plain(outcome)})
    for line in () if as_json else (*outcome.lines(), outcome.unchecked):
        if outcome.is_mismatch or not quiet:
            click.echo(printable(line), err=quiet)
    sys.exit(int(outcome.is_mismatch))
