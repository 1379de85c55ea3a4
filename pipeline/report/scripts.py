"""The R scripts that fitted models, line by line."""

import json

from pipeline.report.blocks import Cell, Column, Row, Table
from pipeline.report.facts import Facts
from pipeline.report.wording import named, say, shown

INDENT = "\u00a0"
"""A space that HTML keeps."""


def scripts(facts: Facts) -> tuple[Table, ...]:
    """Return one table per model that an R script fitted, one row per line."""
    frame = facts.result.models
    texts = {
        str(row["model"]): json.loads(row["parameters"])["script"]
        for _, row in frame.iterrows()
        if row["source"] == "r_script"
    }
    return tuple(
        _script(f"tab-script-{place}", model, text)
        for place, (model, text) in enumerate(texts.items(), start=1)
    )


def _script(table_id: str, model: str, text: str) -> Table:
    return Table(
        id=table_id,
        caption=say("provenance.script_caption", model=named(model)),
        columns=(
            Column(say("provenance.line"), "header", 8),
            Column(say("provenance.script"), "code", 92),
        ),
        rows=tuple(
            Row((Cell((str(number),)), Cell((_line(line),))))
            for number, line in enumerate(text.rstrip().split("\n"), start=1)
        ),
    )


def _line(line: str) -> str:
    """Return a line with its indentation."""
    return shown(line.replace("\t", "    ").rstrip()).replace("  ", INDENT * 2)
