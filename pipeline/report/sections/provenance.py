"""Section M: what the numbers rest on."""

from collections.abc import Mapping

from ...records.importance_record import Importance
from ...records.ranking import measure_of
from ..text.blocks import (
    Cell,
    Column,
    KeyValues,
    Part,
    Row,
    Section,
    Sentence,
    Table,
    Value,
)
from ..text.number_text import count, significant
from ..text.wording import joined, look_up, named, say, shown, word
from .avoided import avoided_table
from .control import moment
from .facts import Facts, card_link, config_of, engine_name
from .scripts import made_by, scripts

DIGITS = 16
"""Of a SHA-256 in a table; the control block prints the content digest in full."""
STEPS = 8
"""How many of the longest steps are told."""


def provenance(facts: Facts) -> Section:
    """Return section M."""
    drawn = any(record.stream for record in facts.result.importances)
    parts = {
        "inputs": _inputs(facts),
        "scripts": scripts(facts),
        "seeds": (*((_seeds(facts),) if drawn else ()), *avoided_table(facts)),
        "versions": _versions(facts),
        "environment": _environment(facts),
    }
    return Section(
        "M", "provenance", word("sections.provenance"), say("provenance.lede"), parts
    )


def _inputs(facts: Facts) -> Table:
    run = facts.result.run
    told: list[tuple[Sentence, str, str]] = [
        (
            (named(str(row["name"])),),
            word(f"provenance.rows.{row['split']}"),
            str(row["sha256"]),
        )
        for _, row in facts.result.datasets.iterrows()
    ]
    told += [
        ((named(source),), word("provenance.rows_script"), digest)
        for source, digest in made_by(facts)
    ]
    told += [
        (
            (named(str(row["model"])),),
            look_up("provenance.models")[row["source"]],
            str(row["sha256"]),
        )
        for _, row in facts.result.models.iterrows()
        if row["sha256"]
    ]
    told += [
        (
            (named(str(row["model"])),),
            word("provenance.predictions"),
            str(row["predictions_sha256"]),
        )
        for _, row in facts.result.models.iterrows()
        if row.get("predictions_sha256")
    ]
    told += [
        ((named(entry["file"]),), word("provenance.supplied"), entry["sha256"])
        for entry in config_of(facts, "supplied")
    ]
    told += [
        (say("provenance.all_rows"), word("provenance.data"), run.data_sha256),
        (say("provenance.settings"), word("provenance.config"), run.config_sha256),
        (say("provenance.result"), word("provenance.output"), facts.digest),
    ]
    return Table(
        id="tab-inputs",
        caption=say("provenance.inputs_caption", digits=str(DIGITS)),
        columns=(
            Column(say("provenance.what"), "header", 34),
            Column(say("provenance.role"), width=34),
            Column(say("provenance.sha256"), "code", 32),
        ),
        rows=tuple(
            Row((Cell(what), Cell((role,)), Cell((_spaced(digest),))))
            for what, role, digest in told
        ),
    )


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
            used.setdefault((*key, str(record.n_repeats)), []).append(place)
    return Table(
        id="tab-seeds",
        caption=say("provenance.seeds_caption"),
        columns=(
            Column(say("provenance.model_column"), "header", 22),
            Column(say("provenance.measure"), width=11),
            Column(say("provenance.engine"), width=18),
            Column(say("provenance.stream"), width=23),
            Column(say("provenance.seed"), "number", 15),
            Column(say("provenance.repeats"), "number", 11),
        ),
        rows=tuple(_seed_row(facts, places) for places in used.values()),
    )


def _seed_row(facts: Facts, places: list[int]) -> Row:
    first = facts.result.importances[places[0]]
    path = f"importances[{places[0]}]"
    card = _card(facts, first)
    measure: Part = card_link(card) if card else "–"
    streams = look_up("provenance.streams")
    records = facts.result.importances
    engines: dict[str, None] = dict.fromkeys(records[place].engine for place in places)
    repeats = Value(f"{path}.n_repeats", first.n_repeats, count(first.n_repeats))
    return Row(
        (
            Cell((named(first.model or word("words.the_data")),)),
            Cell((measure,)),
            Cell(joined(engine_name(engine) for engine in engines)),
            Cell((streams.get(first.stream, first.stream),)),
            Cell((Value(f"{path}.seed", first.seed, str(first.seed)),)),
            Cell((repeats,)),
        )
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
    rows += _longest(run.volatile.get("seconds_by_step", {}))
    status = look_up("provenance.statuses")[run.status]
    rows.append((say("provenance.status"), (status,)))
    rows += _shown(run.environment)
    return KeyValues("kv-environment", say("provenance.environment"), tuple(rows))


def _longest(steps: Mapping[str, float]) -> list[tuple[Sentence, Sentence]]:
    """Return how long the longest steps took, of those of a second or more."""
    order = sorted(steps, key=lambda step: -steps[step])
    rows = []
    for step in (step for step in order[:STEPS] if steps[step] >= 1):
        path = f"run.volatile['seconds_by_step'][{step!r}]"
        text = significant(steps[step], 2)
        took = Value(path, float(steps[step]), text, word("words.seconds"))
        told = say("provenance.step_took", seconds=took, step=shown(step))
        rows.append((say("provenance.step"), told))
    return rows


def _versions(facts: Facts) -> KeyValues:
    rows = _shown(facts.result.run.versions)
    nothing = [(say("provenance.nothing"), ("–",))]
    return KeyValues("kv-versions", say("provenance.versions"), tuple(rows or nothing))


def _shown(facts: Mapping[str, str]) -> list[tuple[Sentence, Sentence]]:
    return [((shown(str(key)),), (shown(str(text)),)) for key, text in facts.items()]
