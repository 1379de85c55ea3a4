"""Section E: one estimand card per measure; numbers refer to it by its id, as E1."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...assess.paired_tests import PAIRED
from ...methods.importance import METHODS, options_of
from ...records.importance_record import Importance, supplied_engine
from ...records.losses import LOSSES
from ...records.ranking import LEVEL, Measure, measure_of
from ..text.blocks import Card, Part, Section, Sentence, Styled, Value, plain
from ..text.labels import with_labels
from ..text.number_text import loss_label, percent
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
    key_values,
    repeats_of,
    section,
    setting,
    tallied,
    whole,
)
from .rankings import Ranking, is_pooled, rows_drawn
from .significance import BY_RANK, tested

Fact = tuple[str, Sentence]
"""A row of a card: the key of its label, and its text; omitted if that is empty."""
DIGITS = 12
"""Digits of a SHA-256 that a card shows."""
SAME = 3
"""Number of equal rows from which on a card refers to an earlier one for them."""
ROWS_OF_ALL_REPEATS = {
    "hstats": "drawn_once",
    "vip-0.4": "drawn_once_except_baseline",
}
"""Streams that draw the rows once, not for each repeat, and the key of their text."""
DRAW_ROWS = ("permutation", "shapley", "sage", "h_statistic", "pd_importance", "vint")
"""Methods with the option `n_rows`: all but sage draw the rows for each repeat."""


def method(facts: Facts) -> Section:
    """Return section E: the cards, in the order of their ids.

    A card refers to the first card of its method for the rows they have in common.
    """
    if not facts.cards:
        return section("E", say("method.none"), {"prose": (), "cards": ()})
    cards: list[Card] = []
    whole_cards: dict[str, Card] = {}
    for measure in facts.cards:
        card = _card(facts, measure)
        first = whole_cards.setdefault(measure[0], card)
        cards.append(card if card is first else _as_in(first, card))
    number = tallied("importances", len(cards))
    lede = say("method.lede", measures=say_count(number, "measure"))
    parts = {"prose": say("method.prose"), "cards": tuple(cards)}
    return section("E", lede, parts)


def _as_in(first: Card, card: Card) -> Card:
    """Return a card with one reference in place of the rows it shares with the first.

    One or two shared rows are repeated: reading them is quicker than looking them up.
    """
    first_rows = {(plain(label), plain(text)) for label, text in first.facts.rows}
    own: list[tuple[Sentence, Sentence]] = []
    same: list[str] = []
    for label, text in card.facts.rows:
        name = plain(label)
        if (name, plain(text)) in first_rows:
            same.append(name[:1].lower() + name[1:])
        else:
            own.append((label, text))
    if len(same) < SAME:
        return card
    as_in = say("cards.as_in", card=card_link(first.id))
    return replace(card, facts=replace(card.facts, rows=(*own, (as_in, series(same)))))


def title_of(facts: Facts, record: Importance) -> Sentence:
    """Return the title of a measure, with the options that distinguish it."""
    apart = facts.apart(record)
    title = look_up(f"cards.{record.method}.title.{record.of}")
    return (title, f" ({apart})") if apart else (title,)


def _card(facts: Facts, measure: Measure) -> Card:
    ranked = facts.of_measure(measure)
    record = ranked[0].record
    card = facts.cards[measure]
    rows: list[Fact] = [
        *_definition(facts, ranked),
        *SPECIFIC.get(record.method, _options)(facts, record),
        ("spread", _spread(record)),
        ("test", _test(facts, record, ranked)),
        ("engines", _engines(facts, record, ranked)),
        *_own_engines(facts, ranked),
        ("limits", _limits(ranked)),
        ("reference", say(f"cards.{record.method}.reference")),
    ]
    made: list[Fact] = [
        ("answered_by", _answered_by(facts, ranked)),
        ("supplied", _supplied(facts, ranked)),
    ]
    if record.stream:
        stream = look_up("cards.stream").get(record.stream, record.stream)
        if record.stream == "numpy":
            stream = look_up("cards.stream_of").get(record.method, stream)
        made.append(("stream", (stream, *say("cards.seeds"))))
    id_, caption = f"card-{card.lower()}-facts", say("cards.caption", card=card)
    return Card(
        id=card,
        title=title_of(facts, record),
        facts=key_values(id_, caption, "cards.label", rows),
        on_screen=key_values("", (), "cards.label", made).rows,
    )


def _definition(facts: Facts, ranked: list[Ranking]) -> Iterator[Fact]:
    """Yield the definition: question, reason, formula, models, loss, form, rows."""
    record = ranked[0].record
    name = record.method
    yield "question", say(f"cards.{name}.question.{record.of}")
    yield "why", say(f"cards.{name}.why")
    # Both formulas if some ratios are pooled and others are not.
    forms = dict.fromkeys(
        "pooled" if is_pooled(r.record) else r.record.form for r in ranked
    )
    symbols = "symbols"
    if name == "permutation" and rows_drawn(record):
        is_once = record.stream in ROWS_OF_ALL_REPEATS
        symbols = "symbols_drawn_once" if is_once else "symbols_drawn"
    formulas = [say(f"cards.{name}.formula.{form}") for form in forms]
    formulas.append(say(f"cards.{name}.{symbols}"))
    yield "formula", joined(formulas, "; ")
    models = dict.fromkeys(r.subject for r in ranked)
    text = say("cards.models", models=series(map(full_name, models)))
    if record.scale:
        scale = record.scale.replace("_", " ")
        text += ("; ", look_up("cards.scale").get(record.scale, scale))
    classes = dict.fromkeys(r.record.positive_class for r in ranked)
    if names := [full_value(cls) for cls in classes if cls]:
        text += say("cards.of_class", classes=joined(names))
    yield "models", text
    losses = dict.fromkeys(r.record.loss for r in ranked if r.record.loss)
    if losses:
        texts = (f"{loss_label(loss)} = {LOSSES[loss].formula}" for loss in losses)
        yield "loss", say("cards.loss", losses=joined(texts, "; "))
    yield "form", _form(facts, ranked)
    yield "data", _data(facts, record)


def _form(facts: Facts, ranked: list[Ranking]) -> Sentence:
    """Return the form of the values, such as a ratio, and the unit of each loss."""
    record = ranked[0].record
    is_plain = record.form == "difference" and not record.loss
    form = look_up("cards.form")["plain" if is_plain else record.form]
    target = facts.target_unit or plain(
        say("cards.unit_of_target", target=short_name(facts.target))
    )
    losses: dict[str, dict[str, None]] = {}
    for ranking in ranked:
        own = ranking.record
        label = loss_label(own.loss) if own.loss else ""
        unit = "" if own.form == "ratio" else facts.unit_of(own.unit, target)
        losses.setdefault(unit or word("words.no_unit"), {})[label] = None
    if len(losses) == 1:
        return (form, "; ", next(iter(losses)))
    units = (
        say("cards.unit_for", unit=unit, losses=series(labels))
        for unit, labels in losses.items()
    )
    return (form, "; ", *joined(units))


def _data(facts: Facts, record: Importance) -> Sentence:
    """Return the number of rows, their split, and whether they have weights."""
    own = look_up("cards.own_data")
    if record.method in own:
        return (own[record.method],)
    frame = facts.result.datasets
    rows = frame[frame["split"] == record.split]
    weighted = bool(len(rows)) and bool(rows["weighted"].iloc[0])
    path = f"importances[{facts.index(record)}].n_samples"
    n_rows = say_count(whole(path, record.n_samples), "row")
    drawn = rows_drawn(record) if record.method in DRAW_ROWS else 0
    if drawn:
        is_once = record.method == "sage" or record.stream in ROWS_OF_ALL_REPEATS
        key = "once" if is_once else "each_repeat"
        n_rows = say(
            f"cards.rows_drawn.{key if record.n_repeats > 1 else 'of_one_repeat'}",
            drawn=whole(f"importances[{facts.index(record)}].options['n_rows']", drawn),
            rows=n_rows,
        )
    fields: dict[str, Any] = {
        "rows": n_rows,
        "split": look_up("splits")[facts.named(record.split)],
        "weights": look_up("cards.weights")["yes" if weighted else "no"],
    }
    if record.split == "reference":
        name = full_name(str(rows["name"].iloc[0]))
        return say("cards.data_reference", name=name, **fields)
    return say("cards.data", **fields)


def _permutation(facts: Facts, record: Importance) -> Iterator[Fact]:
    """Yield the rows on permutation, repeats, and intervals over other rows."""
    place = facts.index(record)
    path = f"importances[{place}]"
    yield "shuffled", _shuffled(path, record)
    rows = rows_drawn(record)
    key = ROWS_OF_ALL_REPEATS.get(record.stream, "drawn") if rows else "whole"
    if record.options.get("draws") == "exact":
        key = "exact"
    yield (
        "repeats",
        say(
            f"cards.permutation.repeats.{key}",
            repeats=repeats_of(record, path),
            rows=whole(f"{path}.options['n_rows']", rows),
        ),
    )
    if place in set(facts.result.row_intervals["record"]):
        yield "other_rows", say("cards.permutation.other_rows", level=percent(LEVEL))


def _shuffled(path: str, record: Importance) -> Sentence:
    """Return the permuted unit, the rows among which, and the kind of perturbation."""
    within = record.options.get("within", "none")
    convention = record.options.get("convention", "standard")
    least = record.options.get("min_samples_leaf", 0)
    near: Value | str  # the default is not in the record
    if "n_neighbours" in record.options:
        number = record.options["n_neighbours"]
        near = whole(f"{path}.options['n_neighbours']", number)
    else:
        near = str(options_of(METHODS[record.method].function)["n_neighbours"])
    among = say(
        f"cards.permutation.within.{within}",
        least=whole(f"{path}.options['min_samples_leaf']", least),
        near=near,
        itself=say(f"cards.permutation.itself.{convention}"),
    )
    how = record.options.get("perturbation", "permute")
    is_moved = within in ("none", "leaves")
    what = say(f"cards.permutation.{'shuffled' if is_moved else 'drawn'}.{record.of}")
    return (*what, "; ", *among, *say(f"cards.permutation.perturbation.{how}"))


def _sage(facts: Facts, record: Importance) -> list[Fact]:
    """Return the number of orders drawn for each model, and the options."""
    options = record.options
    by_model: dict[str, Sentence] = {}
    is_drawn = False
    for ranking in facts.of_measure(measure_of(record)):
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
    return [("orders", joined(texts, "; ")), *_options(facts, record)]


def _options(facts: Facts, record: Importance) -> Iterator[Fact]:
    """Yield the file of a user-defined method, and the options."""
    for entry in config_of(facts, "extensions"):
        if (entry["kind"], entry["name"]) == ("method", record.method):
            yield "code", say("cards.own_code", **_file_of(entry))
    settings = (
        Styled("code", (setting(name, value),))
        for name, value in sorted(record.options.items())
    )
    yield "options", joined(settings)


def _own_engines(facts: Facts, ranked: list[Ranking]) -> Iterator[Fact]:
    """Yield the file and docstring of each user-defined engine with results."""
    engines = {record.engine for r in ranked for _, record in r.others}
    for entry in config_of(facts, "extensions"):
        if entry["kind"] == "engine" and entry["name"] in engines:
            stated = AsWritten(show_hidden(" ".join(entry["text"].split())))
            text = stated or word("own.not_stated")
            yield "own_engine", say("cards.own_engine", text=text, **_file_of(entry))


def _file_of(entry: Mapping[str, str]) -> dict[str, Part | Sentence]:
    """Return the name and origin of user-defined code, as fields of a text."""
    digest = Styled("code", (entry["sha256"],))
    if entry["file"]:
        origin = say("cards.in_file", file=full_value(entry["file"]), digest=digest)
    elif entry["sha256"]:
        origin = say("cards.in_session", digest=digest)
    else:
        origin = say("cards.in_session_without_source")
    return {"name": Styled("code", (full_value(entry["name"]),)), "origin": origin}


SPECIFIC: dict[str, Callable[[Facts, Importance], Iterable[Fact]]] = {
    "permutation": _permutation,
    "sage": _sage,
}
"""Rows that the card of a method has in place of its options."""


def _is_sampled(record: Importance) -> bool:
    """Return whether Shapley values are of sampled orders, as those of R always are."""
    return record.options.get("algorithm", "sampling") == "sampling"


def _spread(record: Importance) -> Sentence:
    if not record.stream:
        return say("cards.spread.none")
    if record.n_repeats < 2:
        return say("cards.spread.single")
    key = "spread.pooled" if is_pooled(record) else "spread.monte_carlo"
    if record.method in look_up("cards.spread_of"):
        key = f"spread_of.{record.method}"
    if record.method == "shapley" and _is_sampled(record):
        key = "spread.sampled_shapley"
    if record.options.get("held_out"):
        key = "spread_of.held_out"
    return say(f"cards.{key}", level=percent(LEVEL))


def _limits(ranked: list[Ranking]) -> Sentence:
    """Return the limits of a method, and those of its losses."""
    losses = dict.fromkeys(ranking.record.loss for ranking in ranked)
    own = look_up("cards.loss_limits")
    texts = [say(f"cards.{ranked[0].record.method}.limits")]
    texts += [say(f"cards.loss_limits.{loss}") for loss in losses if loss in own]
    return joined(texts, " ")


def _test(facts: Facts, record: Importance, ranked: list[Ranking]) -> Sentence:
    """Return the hypothesis and assumptions of the p-values, empty without any."""
    each = (tested(facts, ranking.index) for ranking in ranked)
    first = next(filter(None, each), None)
    if first is None:
        return ()
    key = first.test
    if key == "cpi" and record.options.get("within", "none") == "none":
        key = "marginal"
    text = say(f"cards.test.{key}")
    if first.test in PAIRED:
        text += (" ", *say(f"cards.test_statistic.{first.statistic}"))
    is_by_rank = first.statistic in BY_RANK
    if first.test == "cpi" and is_by_rank and record.n_repeats > 1:
        text += say("cards.skewed_repeats")
    return text


def _engines(facts: Facts, record: Importance, ranked: list[Ranking]) -> Sentence:
    functions = look_up("cards.functions").get(record.method, {})
    functions = {**functions, "xplainfi": _function_of_xplainfi(record)}
    versions = {record.engine: record.engine_version}
    for ranking in ranked:
        versions |= {other.engine: other.engine_version for _, other in ranking.others}
    names: list[Sentence] = []
    for engine, version in versions.items():
        if engine in facts.supplied_engines:
            names.append((engine,))  # its name contains the version
            continue
        name: Sentence = (f"{engine_name(engine)} {version}".rstrip(),)
        if function := functions.get(engine):
            name = (*name, ", ", Styled("code", (function,)))
        names.append(name)
    text = joined(names, "; ")
    r_version = facts.result.run.versions.get("R", "")
    if len(names) > 1 and r_version:
        return (*text, *say("cards.through_r", version=r_version))
    return text


def _function_of_xplainfi(record: Importance) -> str:
    """Return the class of xplainfi for the method and options of a record."""
    is_marginal = record.options.get("within", "none") == "none"
    is_joined = any(len(columns) > 1 for columns in record.columns)
    is_normal = record.options.get("background") == "gaussian"
    return {
        "permutation": "PFI" if is_marginal else "CFI",
        "drop_column": "WVIM" if is_joined else "LOCO",
        "sage": "ConditionalSAGE" if is_normal else "MarginalSAGE",
    }.get(record.method, "")


def _answered_by(facts: Facts, ranked: list[Ranking]) -> Sentence:
    """Return whether predictions of Python are from trees or predict, if recorded."""
    entries = {
        (r.record.model, r.record.method, r.record.of, r.record.entry) for r in ranked
    }
    models: dict[tuple[str, str, Value | str], dict[str, None]] = {}
    for place, row in enumerate(facts.result.run.volatile.get("answered_by", ())):
        if (row["model"], row["method"], row["of"], row["entry"]) in entries:
            n: Value | str = ""
            if "n_predictions" in row:
                path = f"run.volatile['answered_by'][{place}]['n_predictions']"
                n = whole(path, row["n_predictions"])
            route = row["basis"], row["reason"], n
            models.setdefault(route, {})[row["model"]] = None
    sentences = look_up("cards.answered_by")
    texts = (
        say(
            f"cards.answered_by.{basis}",
            models=series(map(full_name, names)),
            reason=show_hidden(with_labels(reason)).rstrip("."),
            n=n,
        )
        for (basis, reason, n), names in models.items()
        if basis in sentences  # runs of later versions may have others
    )
    return joined(texts, "; ")


def _supplied(facts: Facts, ranked: list[Ranking]) -> Sentence:
    """Return the supplied numbers of a measure: by whom, files, predictions."""
    measures = {(r.record.model, r.record.method, r.record.of) for r in ranked}
    by_supplier: dict[tuple[str, Any], list[Styled]] = {}
    for entry in config_of(facts, "supplied"):
        engine = supplied_engine(entry["package"], entry["version"])
        measure = entry["model"], entry["method"], entry["of"]
        if measure not in measures or engine not in facts.answered:
            continue
        text = say(
            "cards.supplied",
            engine=f"{entry['package']} {entry['version']}",
            model=full_name(entry["model"]),
            file=Styled("code", (short_name(entry["file"]),)),
            predictions=Styled("code", (entry["predictions_sha256"][:DIGITS],)),
        )
        supplier = entry["by"], entry["date"]
        by_supplier.setdefault(supplier, []).append(Styled("entry", text))
    texts = (
        (*say("cards.supplied_by", by=short_name(by), date=date), *files)
        for (by, date), files in by_supplier.items()
    )
    return joined(texts, " ")
