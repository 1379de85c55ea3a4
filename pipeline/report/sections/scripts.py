"""The R scripts that made rows and fitted models, line by line."""

import json

from ..text.blocks import Cell, Column, Row, Table
from ..text.wording import named, say, shown
from .facts import Facts

INDENT = "\u00a0"
"""A space that HTML keeps."""


def made_by(facts: Facts) -> dict[tuple[str, str], str]:
    """Return the text of each script that made rows, by its name and its digest.

    A script that made both sides stands there once.
    """
    frame = facts.result.datasets
    return {
        (_name(str(row["source"])), str(row["script_sha256"])): str(row["script"])
        for _, row in frame.iterrows()
        if row.get("script")
    }


def scripts(facts: Facts) -> tuple[Table, ...]:
    """Return one table per R script, one row per line: of rows, then of models."""
    made = tuple(
        _script(
            f"tab-rows-script-{place}", "provenance.rows_script_caption", name, text
        )
        for place, ((name, _), text) in enumerate(made_by(facts).items(), start=1)
    )
    frame = facts.result.models
    texts = {
        str(row["model"]): json.loads(row["parameters"])["script"]
        for _, row in frame.iterrows()
        if row["source"] == "r_script"
    }
    fitted = tuple(
        _script(f"tab-script-{place}", "provenance.script_caption", model, text)
        for place, (model, text) in enumerate(texts.items(), start=1)
    )
    return made + fitted


def _name(source: str) -> str:
    """Return the file of a source, without what was taken of its rows."""
    return source.partition(", ")[0]


def _script(table_id: str, caption: str, name: str, text: str) -> Table:
    return Table(
        id=table_id,
        caption=say(caption, name=named(name)),
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
