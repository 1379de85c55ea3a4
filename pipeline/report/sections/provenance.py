"""Section M: inputs, scripts and environment of the numbers."""

import json

from ..text.blocks import KeyValues, Name, Section, Sentence, Table, Value
from ..text.number_text import significant
from ..text.wording import full_name, joined, look_up, say, show_hidden, table_of, word
from .facts import Facts, config_of, section

DIGITS = 16
"""Digits of a SHA-256 in a table; the control block has the full content digest."""

UNSEEN = "byte order", "Python implementation", "time zone", "threads", "R platform"
"""Fields of the environment in result.json that the page does not print."""
INDENT = "\u00a0"
"""A space that HTML does not collapse."""


def provenance(facts: Facts) -> Section:
    """Return section M."""
    parts = {
        "inputs": _inputs(facts),
        "scripts": scripts(facts),
        "environment": _environment(facts),
    }
    return section("M", say("provenance.lede"), parts)


def _inputs(facts: Facts) -> Table:
    """Return the table of input files and objects with their digests."""
    result = facts.result
    inputs: list[tuple[Sentence | Name, str, str]] = [
        (
            full_name(str(row["name"])),
            word(f"provenance.rows.{row['split']}"),
            row["sha256"],
        )
        for row in result.datasets.to_dict("records")
    ]
    inputs += [
        (full_name(source), word("provenance.rows_script"), digest)
        for source, digest in row_scripts(facts)
    ]
    models = result.models.to_dict("records")
    sources = look_up("provenance.models")
    inputs += [
        (full_name(str(row["model"])), sources[row["source"]], row["sha256"])
        for row in models
        if row["sha256"]
    ]
    inputs += [
        (full_name(str(row["model"])), word("provenance.predictions"), digest)
        for row in models
        if (digest := row["predictions_sha256"])
    ]
    files = {  # of user-defined methods and losses; one file may define several
        name: (entry["kind"] if name == entry["file"] else "import", digest)
        for entry in config_of(facts, "extensions")
        if entry["file"]
        for name, digest in {
            **entry.get("imports", {}),
            entry["file"]: entry["sha256"],
        }.items()
    }
    inputs += [
        (full_name(name), word(f"provenance.own.{kind}"), digest)
        for name, (kind, digest) in files.items()
    ]
    inputs += [
        (full_name(entry["name"]), word("provenance.own.session"), entry["sha256"])
        for entry in config_of(facts, "extensions")
        if not entry["file"]
    ]
    inputs += [
        (full_name(name), word("provenance.own.file"), file["sha256"])
        for name, file in dict(config_of(facts, "files")).items()
    ]
    inputs += [
        (full_name(entry["file"]), word("provenance.supplied"), entry["sha256"])
        for entry in config_of(facts, "supplied")
    ]
    inputs += [
        (say("provenance.all_rows"), word("provenance.data"), result.run.data_sha256),
        (
            say("provenance.settings"),
            word("provenance.config"),
            result.run.config_sha256,
        ),
    ]
    rows = []
    for what, role, digest in inputs:
        short = str(digest)[:DIGITS]
        fours = " ".join(short[i : i + 4] for i in range(0, len(short), 4))
        rows.append((what, role, fours or "–"))
    return table_of(
        "inputs",
        "provenance",
        "what:header role sha256:code",
        rows,
        caption=say("provenance.inputs_caption", digits=str(DIGITS)),
    )


def _environment(facts: Facts) -> KeyValues:
    """Return the versions, the duration and the machine of the run."""
    run = facts.result.run
    versions = (show_hidden(f"{name} {text}") for name, text in run.versions.items())
    rows: list[tuple[Sentence, Sentence]] = [
        (say("provenance.versions"), joined(versions) or ("–",))
    ]
    seconds = run.volatile.get("seconds")
    if isinstance(seconds, int | float):
        text, unit = significant(seconds, 2), word("words.seconds")
        took = Value("run.volatile['seconds']", float(seconds), text, unit)
        rows.append((say("provenance.took"), (took,)))
    machine = [
        show_hidden(f"{key} {text}")
        for key, text in run.environment.items()
        if key not in UNSEEN
    ]
    if machine:
        rows.append((say("provenance.machine"), joined(machine, "; ")))
    return KeyValues("kv-environment", say("provenance.environment"), tuple(rows))


def row_scripts(facts: Facts) -> dict[tuple[str, str], str]:
    """Return the text of each script that produced rows, by its file and digest.

    A script that produced several splits is listed once.
    """
    return {  # a source is the file and, after a comma, the selection of its rows
        (row["source"].partition(", ")[0], row["script_sha256"]): row["script"]
        for row in facts.result.datasets.to_dict("records")
        if row["script"]
    }


def scripts(facts: Facts) -> tuple[Table, ...]:
    """Return one table per R script, a row per line: of rows first, then of models."""
    every = [
        (f"rows-script-{place}", "rows_script_caption", name, text)
        for place, ((name, _), text) in enumerate(row_scripts(facts).items(), start=1)
    ]
    of_models: list[tuple[str, str, str]] = []
    for row in facts.result.models.to_dict("records"):
        model = row["model"]
        parameters = json.loads(row["parameters"] or "{}")
        if row["source"] == "r_script":
            of_models.append(("script_caption", model, parameters["script"]))
        if facts.entry_of(model).get("predict"):
            of_models.append(("predict_caption", model, parameters["predict"]))
    every += [
        (f"script-{place}", *script) for place, script in enumerate(of_models, start=1)
    ]
    tables = []
    for table_id, caption, name, text in every:
        lines = text.rstrip().replace("\t", "    ").split("\n")
        shown = (show_hidden(line.rstrip()).replace("  ", INDENT * 2) for line in lines)
        table = table_of(
            table_id,
            "provenance",
            "line:header script:code",
            [(str(number), line) for number, line in enumerate(shown, start=1)],
            caption=say(f"provenance.{caption}", name=full_name(name)),
        )
        tables.append(table)
    return tuple(tables)
