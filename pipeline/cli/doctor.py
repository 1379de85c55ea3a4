"""doctor: the requirements that this machine has or lacks."""

import sys

import click

from .shared import faults, print_json, say


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Report what is missing, with remedies."""
    from ..operate.doctor import examine

    with faults():
        rows = examine()
    if as_json:
        print_json({"checks": [row._asdict() for row in rows]})
    else:
        width = max(len(row.what) for row in rows)
        for row in rows:
            say(f"{row.verdict:8} {row.what:{width}}  {row.state}")
            if row.remedy:
                say(f"{'':8} {'':{width}}  → {row.remedy}")
    sys.exit(1 if any(row.verdict == "missing" for row in rows) else 0)
