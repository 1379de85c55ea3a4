"""Section E: one estimand card per measure, which every number refers to by its id."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...assess.paired_tests import PAIRED
from ...methods.importance import METHODS, options_of
from ...records.importance_record import Importance, supplied_engine
from ...records.losses import LOSSES
from ...records.ranking import LEVEL, Measure, measure_of
from ..text.blocks import Card, KeyValues, Part, Section, Sentence, Styled, Value, plain
from ..text.labels import with_labels
from ..text.number_text import loss_label, percent, unit_text
from ..text.wording import (
    AsWritten,
    full_name,
    full_value,
    joined,
    look_up,
    say,
    say_count,
    series,
    short_name,
    show_hidden,
    word,
)
from .facts import (
    Facts,
    card_link,
    config_of,
    engine_name,
    repeats_of,
    setting,
    tallied,
    whole,
)
from .rankings import Ranking, is_pooled, rows_drawn
from .significance import BY_RANK, tested

Fact = tuple[Sentence, Sentence]
DIGITS = 12
"""Of a SHA-256 on a card."""
SAME = 3
"""Rows that two cards share at least, for the later one to cite them."""
ROWS_OF_ALL_REPEATS = {
    "hstats": "drawn_once",
    "vip-0.4": "drawn_once_except_baseline",
}
"""Draw orders that draw the rows once, and what the card says of them."""


def method(facts: Facts) -> Section:
    """Return section E: the cards, in the order of their ids."""
    title = word("sections.method")
    if not facts.cards:
        nothing = {"prose": (), "cards": ()}
        return Section("E", "method", title, say("method.none"), nothing)
    cards = _without_repeats(facts)
    number = tallied("importances", len(cards))
    lede = say("method.lede", measures=say_count(number, "measure"))
    parts = {"prose": say("method.prose"), "cards": cards}
    return Section("E", "method", title, lede, parts)


def _without_repeats(facts: Facts) -> tuple[Card, ...]:
    """Return the cards; what an earlier one of the same method says, later ones cite.

    A row or two are said again: to look them up would take longer than to read them.
    """
    cards: list[Card] = []
    whole_cards: dict[str, Card] = {}
    for measure in facts.cards:
        card = _card(facts, measure)
        first = whole_cards.setdefault(measure[0], card)
        cards.append(card if card is first else _as_in(first, card))
    return tuple(cards)


def _as_in(first: Card, card: Card) -> Card:
    """Return a card whose rows that an earlier one has are one row that names them."""
    there = {(plain(label), plain(text)) for label, text in first.facts.rows}
    same = [plain(row[0]) for row in card.facts.rows if _plain(row) in there]
    if len(same) < SAME:
        return card
    own = tuple(row for row in card.facts.rows if _plain(row) not in there)
    texts = series(label[:1].lower() + label[1:] for label in same)
    as_in = say("cards.as_in", card=card_link(first.id))
    return replace(card, facts=replace(card.facts, rows=(*own, (as_in, texts))))


def _plain(fact: Fact) -> tuple[str, str]:
    return plain(fact[0]), plain(fact[1])


def title_of(facts: Facts, record: Importance) -> Sentence:
    """Return the name of a measure, with what sets it apart from others."""
    apart = facts.apart(record)
    title = look_up(f"cards.{record.method}.title.{record.of}")
    return (title, f" ({apart})") if apart else (title,)


def _card(facts: Facts, measure: Measure) -> Card:
    ranked = [r for r in facts.rankings if measure_of(r.record) == measure]
    record = ranked[0].record
    card = facts.cards[measure]
    rows = (
        *_definition(facts, ranked),
        *{"permutation": _permutation, "sage": _sage}.get(record.method, _own)(
            facts, record
        ),
        (say("cards.label.spread"), _spread(record)),
        *_test(facts, record, ranked),
        (say("cards.label.engines"), _engines(facts, record, ranked)),
        *_own_engines(facts, ranked),
        (say("cards.label.limits"), say(f"cards.{record.method}.limits")),
        (say("cards.label.reference"), say(f"cards.{record.method}.reference")),
    )
    return Card(
        id=card,
        title=title_of(facts, record),
        facts=KeyValues(
            f"card-{card.lower()}-facts", say("cards.caption", card=card), rows
        ),
        on_screen=(
            *_answered_by(facts, ranked),
            *_supplied(facts, ranked),
            *_stream(record),
        ),
    )


def _definition(facts: Facts, ranked: list[Ranking]) -> list[Fact]:
    """Return what defines the quantity: question, formula, models, loss, rows."""
    record = ranked[0].record
    name, of = record.method, record.of
    rows = [
        (say("cards.label.question"), say(f"cards.{name}.question.{of}")),
        (say("cards.label.why"), say(f"cards.{name}.why")),
        (
            say("cards.label.formula"),
            (*_formula(ranked), "; ", *_symbols(record)),
        ),
        (say("cards.label.models"), _models(facts, ranked)),
    ]
    losses = dict.fromkeys(r.record.loss for r in ranked if r.record.loss)
    if losses:
        rows.append((say("cards.label.loss"), _losses(list(losses))))
    rows.append((say("cards.label.form"), _form(facts, ranked)))
    rows.append((say("cards.label.data"), _data(facts, record)))
    return rows


def _formula(ranked: list[Ranking]) -> Sentence:
    """Return what was computed; both, where some ratios are pooled and some not."""
    name = ranked[0].record.method
    forms = dict.fromkeys(
        "pooled" if is_pooled(r.record) else r.record.form for r in ranked
    )
    return joined((say(f"cards.{name}.formula.{form}") for form in forms), "; ")


def _symbols(record: Importance) -> Sentence:
    key = "symbols"
    if record.method == "permutation" and rows_drawn(record):
        is_once = record.stream in ROWS_OF_ALL_REPEATS
        key = "symbols_drawn_once" if is_once else "symbols_drawn"
    return say(f"cards.{record.method}.{key}")


def _models(facts: Facts, ranked: list[Ranking]) -> Sentence:
    models = dict.fromkeys(r.subject for r in ranked)
    classes = dict.fromkeys(r.record.positive_class for r in ranked)
    scale = ranked[0].record.scale
    text = say("cards.models", models=series(full_name(model) for model in models))
    if scale:
        scales = look_up("cards.scale")
        text += ("; ", scales.get(scale, scale.replace("_", " ")))
    class_names = [full_value(name) for name in classes if name]
    if class_names:
        text += say("cards.of_class", classes=joined(class_names))
    del facts
    return text


def _losses(losses: list[str]) -> Sentence:
    each = joined(
        (f"{loss_label(loss)} = {LOSSES[loss].formula}" for loss in losses), "; "
    )
    return say("cards.loss", losses=each)


def _form(facts: Facts, ranked: list[Ranking]) -> Sentence:
    """Return how the values follow from what was measured, and in which unit."""
    record = ranked[0].record
    is_plain = record.form == "difference" and not record.loss
    form = look_up("cards.form")["plain" if is_plain else record.form]
    losses: dict[str, dict[str, None]] = {}
    for ranking in ranked:
        label = loss_label(ranking.record.loss) if ranking.record.loss else ""
        losses.setdefault(_unit(facts, ranking.record), {})[label] = None
    if len(losses) == 1:
        return (form, "; ", next(iter(losses)))
    units = (
        say("cards.unit_for", unit=unit, losses=series(labels))
        for unit, labels in losses.items()
    )
    return (form, "; ", *joined(units))


def _unit(facts: Facts, record: Importance) -> str:
    """Return the unit of the values in words, also where none was configured."""
    if record.form == "ratio":
        return word("words.no_unit")
    target = facts.target_unit or plain(
        say("cards.unit_of_target", target=short_name(facts.target))
    )
    return unit_text(record.unit, target) or word("words.no_unit")


def _data(facts: Facts, record: Importance) -> Sentence:
    own = look_up("cards.own_data")
    if record.method in own:
        return (own[record.method],)
    frame = facts.result.datasets
    rows = frame[frame["split"] == record.split]
    is_reference = record.split == "reference"
    weighted = bool(len(rows)) and bool(rows["weighted"].iloc[0])
    return say(
        "cards.data_reference" if is_reference else "cards.data",
        **({"name": full_name(str(rows["name"].iloc[0]))} if is_reference else {}),
        rows=say_count(
            whole(f"importances[{facts.index(record)}].n_samples", record.n_samples),
            "row",
        ),
        split=look_up("splits")[record.split],
        weights=look_up("cards.weights")["yes" if weighted else "no"],
    )


def _permutation(facts: Facts, record: Importance) -> list[Fact]:
    path = f"importances[{facts.index(record)}]"
    rows = rows_drawn(record)
    key = ROWS_OF_ALL_REPEATS.get(record.stream, "drawn") if rows else "whole"
    if record.options.get("draws") == "exact":
        key = "exact"
    return [
        (say("cards.label.shuffled"), _shuffled(path, record)),
        (
            say("cards.label.repeats"),
            say(
                f"cards.permutation.repeats.{key}",
                repeats=repeats_of(record, path),
                rows=whole(f"{path}.options['n_rows']", rows),
            ),
        ),
        *_other_rows(facts, record),
    ]


def _other_rows(facts: Facts, record: Importance) -> list[Fact]:
    """Return what the intervals over other rows are, if there are any."""
    records = facts.result.row_intervals["record"]
    if facts.index(record) not in set(records):
        return []
    text = say("cards.permutation.other_rows", level=percent(LEVEL))
    return [(say("cards.label.other_rows"), text)]


def _shuffled(path: str, record: Importance) -> Sentence:
    """Return what is moved, among which rows, and whether drawn with replacement."""
    within = record.options.get("within", "none")
    convention = record.options.get("convention", "standard")
    least = record.options.get("min_samples_leaf", 0)
    among = say(
        f"cards.permutation.within.{within}",
        least=whole(f"{path}.options['min_samples_leaf']", least),
        near=_near(path, record),
        itself=say(f"cards.permutation.itself.{convention}"),
    )
    how = record.options.get("perturbation", "permute")
    is_moved = within in ("none", "leaves")
    what = say(f"cards.permutation.{'shuffled' if is_moved else 'drawn'}.{record.of}")
    return (*what, "; ", *among, *say(f"cards.permutation.perturbation.{how}"))


def _near(path: str, record: Importance) -> Value | str:
    """Return how many neighbours a row has; a record holds it unless it is usual."""
    if "n_neighbours" in record.options:
        near = record.options["n_neighbours"]
        return whole(f"{path}.options['n_neighbours']", near)
    return str(options_of(METHODS[record.method].function)["n_neighbours"])


def _sage(facts: Facts, record: Importance) -> list[Fact]:
    """Return how many orders were drawn for each model, and the options."""
    options = record.options
    by_model: dict[str, Sentence] = {}
    is_drawn = False
    for ranking in facts.rankings:
        if measure_of(ranking.record) != measure_of(record):
            continue
        n = ranking.record.n_repeats
        is_whole = options["algorithm"] == "exact" or n == 1 < options["n_repeats"]
        is_drawn = is_drawn or not is_whole
        text = say(
            f"cards.sage.{'all' if is_whole else 'drawn'}",
            model=full_name(ranking.subject),
            n=whole(f"importances[{ranking.index}].n_repeats", n),
        )
        by_model.setdefault(ranking.subject, text)
    texts = [*by_model.values()]
    if is_drawn:
        path = f"importances[{facts.index(record)}].options['n_repeats']"
        most = whole(path, options["n_repeats"])
        tolerance = f"{options['tolerance']:.6g}"
        texts.append(say("cards.sage.rule", most=most, tolerance=tolerance))
    orders = (say("cards.label.orders"), joined(texts, "; "))
    return [orders, *_options(facts, record)]


def _options(facts: Facts, record: Importance) -> list[Fact]:
    del facts
    if not record.options:
        return []
    settings = (
        Styled("code", (setting(name, value),))
        for name, value in sorted(record.options.items())
    )
    return [(say("cards.label.options"), joined(settings))]


def _own(facts: Facts, record: Importance) -> list[Fact]:
    """Return the file of a method of the user's own, beside its options."""
    entries = (e for e in config_of(facts, "extensions") if e["name"] == record.method)
    rows = [
        (
            say("cards.label.code"),
            say(
                "cards.own_code",
                name=Styled("code", (full_value(entry["name"]),)),
                file=full_value(entry["file"]),
                digest=Styled("code", (entry["sha256"],)),
            ),
        )
        for entry in entries
    ]
    return [*rows, *_options(facts, record)]


def _own_engines(facts: Facts, ranked: list[Ranking]) -> list[Fact]:
    """Return the file and docstring of each engine of the user's own that answered."""
    engines = {record.engine for r in ranked for _, record in r.others}
    return [
        (
            say("cards.label.own_engine"),
            say(
                "cards.own_engine",
                name=Styled("code", (full_value(entry["name"]),)),
                file=full_value(entry["file"]),
                digest=Styled("code", (entry["sha256"],)),
                text=AsWritten(show_hidden(" ".join(entry["text"].split())))
                or word("own.not_stated"),
            ),
        )
        for entry in config_of(facts, "extensions")
        if entry["kind"] == "engine" and entry["name"] in engines
    ]


def _spread(record: Importance) -> Sentence:
    if not record.stream:
        return say("cards.spread.none")
    if record.n_repeats < 2:
        return say("cards.spread.single")
    key = "spread.pooled" if is_pooled(record) else "spread.monte_carlo"
    if record.method in look_up("cards.spread_of"):
        key = f"spread_of.{record.method}"
    if record.options.get("held_out"):
        key = "spread_of.held_out"
    return say(f"cards.{key}", level=percent(LEVEL))


def _test(facts: Facts, record: Importance, ranked: list[Ranking]) -> list[Fact]:
    """Return what the p-values test and assume, if there are any."""
    each = (tested(facts, ranking.index) for ranking in ranked)
    first = next(filter(None, each), None)
    if first is None:
        return []
    key = first.test
    if key == "cpi" and record.options.get("within", "none") == "none":
        key = "marginal"
    text = say(f"cards.test.{key}")
    if first.test in PAIRED:
        text += (" ", *say(f"cards.test_statistic.{first.statistic}"))
    is_by_rank = first.statistic in BY_RANK
    if first.test == "cpi" and is_by_rank and record.n_repeats > 1:
        text += say("cards.skewed_repeats")
    return [(say("cards.label.test"), text)]


def _engines(facts: Facts, record: Importance, ranked: list[Ranking]) -> Sentence:
    functions = look_up("cards.functions").get(record.method, {})
    functions = {**functions, "xplainfi": _function_of_xplainfi(record)}
    versions = {record.engine: record.engine_version}
    for ranking in ranked:
        versions |= {other.engine: other.engine_version for _, other in ranking.others}
    names = [
        (engine,)  # it has its version in its name
        if engine in facts.supplied_engines
        else joined(_describe_engine(engine, version, functions.get(engine, "")))
        for engine, version in versions.items()
    ]
    r_version = facts.result.run.versions.get("R", "")
    if len(names) > 1 and r_version:
        return (*joined(names, "; "), *say("cards.through_r", version=r_version))
    return joined(names, "; ")


def _function_of_xplainfi(record: Importance) -> str:
    """Return what xplainfi calls the method of a record with its options."""
    is_marginal = record.options.get("within", "none") == "none"
    is_joined = any(len(columns) > 1 for columns in record.columns)
    is_normal = record.options.get("background") == "gaussian"
    return {
        "permutation": "PFI" if is_marginal else "CFI",
        "drop_column": "WVIM" if is_joined else "LOCO",
        "sage": "ConditionalSAGE" if is_normal else "MarginalSAGE",
    }.get(record.method, "")


def _answered_by(facts: Facts, ranked: list[Ranking]) -> list[Fact]:
    """Return whether trees or predict gave the predictions of Python, if recorded."""
    asked = {
        (r.record.model, r.record.method, r.record.of, r.record.entry) for r in ranked
    }
    models: dict[tuple[str, str, Value | str], dict[str, None]] = {}
    for place, row in enumerate(facts.result.run.volatile.get("answered_by", ())):
        if (row["model"], row["method"], row["of"], row["entry"]) in asked:
            n: Value | str = ""
            if "n_predictions" in row:
                path = f"run.volatile['answered_by'][{place}]['n_predictions']"
                n = whole(path, row["n_predictions"])
            route = row["basis"], row["reason"], n
            models.setdefault(route, {})[row["model"]] = None
    sentences = look_up("cards.answered_by")
    if not models:
        return []
    texts = (
        say(
            f"cards.answered_by.{basis}",
            models=series(map(full_name, names)),
            reason=show_hidden(with_labels(reason)).rstrip("."),
            n=n,
        )
        for (basis, reason, n), names in models.items()
        if basis in sentences  # a later version may know more
    )
    return [(say("cards.label.answered_by"), joined(texts, "; "))]


def _supplied(facts: Facts, ranked: list[Ranking]) -> list[Fact]:
    """Return who supplied which numbers of a measure, and on which predictions."""
    measures = {(r.record.model, r.record.method, r.record.of) for r in ranked}
    entries = [
        entry
        for entry in config_of(facts, "supplied")
        if (entry["model"], entry["method"], entry["of"]) in measures
        and supplied_engine(entry["package"], entry["version"]) in facts.answered
    ]
    by_whom: dict[tuple[str, Any], list[Sentence]] = {}
    for entry in entries:
        by_whom.setdefault((entry["by"], entry["date"]), []).append(_supply(entry))
    texts = (
        (*say("cards.supplied_by", by=short_name(by), date=date), *joined(files, ""))
        for (by, date), files in by_whom.items()
    )
    return [(say("cards.label.supplied"), joined(texts, " "))] if entries else []


def _supply(entry: Mapping[str, Any]) -> Sentence:
    text = say(
        "cards.supplied",
        engine=f"{entry['package']} {entry['version']}",
        model=full_name(entry["model"]),
        file=Styled("code", (short_name(entry["file"]),)),
        predictions=Styled("code", (entry["predictions_sha256"][:DIGITS],)),
    )
    return (Styled("entry", text),)


def _describe_engine(engine: str, version: str, function: str) -> list[Part]:
    """Return an engine with its version and the function that was called."""
    name = f"{engine_name(engine)} {version}".rstrip()
    return [name, Styled("code", (function,))] if function else [name]


def _stream(record: Importance) -> list[Fact]:
    """Return whose draw order it was; nothing if nothing is drawn."""
    if not record.stream:
        return []
    streams = look_up("cards.stream")
    text = streams.get(record.stream, record.stream)
    if record.stream == "numpy":
        text = look_up("cards.stream_of").get(record.method, text)
    return [(say("cards.label.stream"), (text, *say("cards.seeds")))]
