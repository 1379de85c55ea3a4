"""diff: comparison of two stored runs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .shared import FOLDER, JSON, faults, print_json, say

if TYPE_CHECKING:
    from ..records.result import AuditResult

FORMAT = "importance-audit-diff/1"


@click.command()
@click.argument("baseline", type=FOLDER)
@click.argument("run", type=FOLDER)
@JSON
def diff(baseline: Path, run: Path, as_json: bool) -> None:
    """Show how two stored runs differ."""
    from ..report.pages.html import section_html
    from ..report.pages.plain_text import to_text
    from ..report.sections.change import section_of
    from ..report.text.blocks import Figure
    from ..runs.load import load_whole_run

    with faults():
        runs = load_whole_run(run), load_whole_run(baseline)
        if as_json:
            print_json(_facts(*runs))
        else:
            section = section_of(*runs)
            assert not callable(section.parts)  # only the glossary is made on demand
            blocks = [b for b in section.parts["blocks"] if not isinstance(b, Figure)]
            section = replace(section, parts={"blocks": blocks})
            say(to_text(section_html(section)), nl=False)


def _facts(result: "AuditResult", baseline: "AuditResult") -> dict[str, object]:
    """Return the differences as --json prints them, questions by model, method, …."""
    from ..report.sections.facts import facts_of
    from ..runs.summary import to_plain

    change = to_plain(facts_of(result, "", baseline=baseline).change)
    names = ("model", "method", "of", "loss", "positive_class")
    for question in change["questions"]:
        record = result.importances[question["new"]]
        question |= {name: getattr(record, name) for name in names}
        del question["old"], question["new"]
    places = zip((baseline, result), change.pop("unmatched"), strict=True)
    for key, (run, records) in zip(("gone", "new"), places, strict=True):
        of_run = [run.importances[n] for n in records]
        change[key] = [{name: getattr(r, name) for name in names} for r in of_run]
    runs = {"baseline": baseline, "run": result}
    ids = {key: run.run.volatile["run_id"] for key, run in runs.items()}
    return {"format": FORMAT, **ids, **change}
