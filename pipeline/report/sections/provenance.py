"""Section M: what the numbers rest on."""

import json
from collections.abc import Mapping

from ...records.importance_record import Importance
from ...records.ranking import measure_of
from ..text.blocks import (
    Cells,
    KeyValues,
    Part,
    Section,
    Sentence,
    Table,
    Value,
)
from ..text.number_text import significant
from ..text.wording import full_name, joined, look_up, say, show_hidden, table_of, word
from .control import moment
from .facts import Facts, card_link, config_of, engine_name, repeats_of

DIGITS = 16
"""Of a SHA-256 in a table; the control block prints the content digest in full."""

UNSEEN = ("byte order", "Python implementation", "time zone", "threads")
"""What result.json says of the machine, and the page does not."""
INDENT = "\u00a0"
"""A space that HTML keeps."""


def provenance(facts: Facts) -> Section:
    """Return section M."""
    is_random = any(record.stream for record in facts.result.importances)
    parts = {
        "inputs": _inputs(facts),
        "scripts": scripts(facts),
        "seeds": (_seeds(facts),) if is_random else (),
        "versions": _versions(facts),
        "environment": _environment(facts),
    }
    return Section(
        "M", "provenance", word("sections.provenance"), say("provenance.lede"), parts
    )


def _inputs(facts: Facts) -> Table:
    run = facts.result.run
    digests: list[tuple[Sentence, str, str]] = [
        (
            (full_name(str(row["name"])),),
            word(f"provenance.rows.{row['split']}"),
            str(row["sha256"]),
        )
        for _, row in facts.result.datasets.iterrows()
    ]
    digests += [
        ((full_name(source),), word("provenance.rows_script"), digest)
        for source, digest in row_scripts(facts)
    ]
    digests += [
        (
            (full_name(str(row["model"])),),
            look_up("provenance.models")[row["source"]],
            str(row["sha256"]),
        )
        for _, row in facts.result.models.iterrows()
        if row["sha256"]
    ]
    digests += [
        (
            (full_name(str(row["model"])),),
            word("provenance.predictions"),
            str(row["predictions_sha256"]),
        )
        for _, row in facts.result.models.iterrows()
        if row.get("predictions_sha256")
    ]
    digests += _own_files(facts)
    digests += [
        ((full_name(entry["file"]),), word("provenance.supplied"), entry["sha256"])
        for entry in config_of(facts, "supplied")
    ]
    digests += [
        (say("provenance.all_rows"), word("provenance.data"), run.data_sha256),
        (say("provenance.settings"), word("provenance.config"), run.config_sha256),
        (say("provenance.result"), word("provenance.output"), facts.digest),
    ]
    return table_of(
        "inputs",
        "provenance",
        "what:header role sha256:code",
        [(what, role, _spaced(digest)) for what, role, digest in digests],
        caption=say("provenance.inputs_caption", digits=str(DIGITS)),
    )


def _own_files(facts: Facts) -> list[tuple[Sentence, str, str]]:
    """Return the files of own methods and losses, and those that the report shows."""
    files = {  # one file may hold several
        name: (entry["kind"] if name == entry["file"] else "import", digest)
        for entry in config_of(facts, "extensions")
        for name, digest in {
            **entry.get("imports", {}),
            entry["file"]: entry["sha256"],
        }.items()
    }
    digests: list[tuple[Sentence, str, str]] = [
        ((full_name(name),), word(f"provenance.own.{kind}"), digest)
        for name, (kind, digest) in files.items()
    ]
    digests += [
        ((full_name(name),), word("provenance.own.file"), file["sha256"])
        for name, file in dict(config_of(facts, "files")).items()
    ]
    return digests


def _spaced(digest: str) -> str:
    """Return the first digits of a digest in groups of four."""
    short = digest[:DIGITS]
    return " ".join(short[i : i + 4] for i in range(0, len(short), 4)) or "–"


def _seeds(facts: Facts) -> Table:
    """Return one row per model, measure, draw order and seed, with who used them."""
    used: dict[tuple[str, ...], list[int]] = {}
    records = facts.result.importances
    for place, record in enumerate(records):
        if record.stream:
            key = (record.model, _card(facts, record), record.stream, str(record.seed))
            used.setdefault((*key, repeats_of(record, "").text), []).append(place)
    return table_of(
        "seeds",
        "provenance",
        ("model_column:header measure engine stream seed:number repeats:number"),
        [_seed_row(facts, places) for places in used.values()],
        caption=say("provenance.seeds_caption"),
    )


def _seed_row(facts: Facts, places: list[int]) -> Cells:
    first = facts.result.importances[places[0]]
    path = f"importances[{places[0]}]"
    card = _card(facts, first)
    measure: Part = card_link(card) if card else "–"
    streams = look_up("provenance.streams")
    records = facts.result.importances
    engines: dict[str, None] = dict.fromkeys(records[place].engine for place in places)
    repeats = repeats_of(first, path)
    return (
        full_name(first.model or word("words.the_data")),
        measure,
        joined(engine_name(engine) for engine in engines),
        streams.get(first.stream, first.stream),
        Value(f"{path}.seed", first.seed, str(first.seed)),
        repeats,
    )


def _card(facts: Facts, record: Importance) -> str:
    """Return the card of a record, of ours or of another engine; empty if none."""
    own = facts.cards.get(measure_of(record), "")
    alike = (
        card
        for measure, card in facts.cards.items()
        if measure[:3] == (record.method, record.of, record.form)
    )
    return own or next(alike, "")


def _environment(facts: Facts) -> KeyValues:
    """Return when the run took place, how long it took, and on what machine."""
    run = facts.result.run
    rows: list[tuple[Sentence, Sentence]] = [
        (say(f"provenance.instant.{key}"), (moment(run.volatile[key]),))
        for key in ("started", "ended")
        if run.volatile.get(key)
    ]
    seconds = run.volatile.get("seconds")
    if isinstance(seconds, int | float):
        path = "run.volatile['seconds']"
        took = Value(
            path, float(seconds), significant(seconds, 2), word("words.seconds")
        )
        rows.append((say("provenance.took"), (took,)))
    status = look_up("provenance.statuses")[run.status]
    rows.append((say("provenance.status"), (status,)))
    rows += _key_rows({k: v for k, v in run.environment.items() if k not in UNSEEN})
    return KeyValues("kv-environment", say("provenance.environment"), tuple(rows))


def _versions(facts: Facts) -> KeyValues:
    rows = _key_rows(facts.result.run.versions)
    nothing = [(say("provenance.nothing"), ("–",))]
    return KeyValues("kv-versions", say("provenance.versions"), tuple(rows or nothing))


def _key_rows(facts: Mapping[str, str]) -> list[tuple[Sentence, Sentence]]:
    return [
        ((show_hidden(str(key)),), (show_hidden(str(text)),))
        for key, text in facts.items()
    ]


def row_scripts(facts: Facts) -> dict[tuple[str, str], str]:
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
    of_rows = tuple(
        _script(
            f"tab-rows-script-{place}", "provenance.rows_script_caption", name, text
        )
        for place, ((name, _), text) in enumerate(row_scripts(facts).items(), start=1)
    )
    frame = facts.result.models
    sections = facts.result.run.config.get("models", ())
    predicted_by_script = {entry["name"] for entry in sections if entry.get("predict")}
    of_models: list[tuple[str, str, str]] = []
    for _, row in frame.iterrows():
        parameters = json.loads(row["parameters"]) if row["parameters"] else {}
        if row["source"] == "r_script":
            caption = "provenance.script_caption"
            of_models.append((caption, str(row["model"]), parameters["script"]))
        if row["model"] in predicted_by_script:
            caption = "provenance.predict_caption"
            of_models.append((caption, str(row["model"]), parameters["predict"]))
    return of_rows + tuple(
        _script(f"tab-script-{place}", caption, model, text)
        for place, (caption, model, text) in enumerate(of_models, start=1)
    )


def _name(source: str) -> str:
    """Return the file of a source, without what was taken of its rows."""
    return source.partition(", ")[0]


def _script(table_id: str, caption: str, name: str, text: str) -> Table:
    return table_of(
        table_id.removeprefix("tab-"),
        "provenance",
        "line:header script:code",
        [
            (str(number), _line(line))
            for number, line in enumerate(text.rstrip().split("\n"), start=1)
        ],
        caption=say(caption, name=full_name(name)),
    )


def _line(line: str) -> str:
    """Return a line with its indentation."""
    return show_hidden(line.replace("\t", "    ").rstrip()).replace("  ", INDENT * 2)
