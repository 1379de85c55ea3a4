"""Section A: the document control, and the audited models and data."""

from datetime import datetime

from ..text.blocks import KeyValues, Part, Section, Sentence, Styled
from ..text.wording import (
    NO_BREAK,
    SECTIONS,
    display_name,
    full_name,
    full_value,
    joined,
    look_up,
    say,
    say_count,
    series,
    short_name,
    show_hidden,
    shown_value,
    word,
)
from .facts import (
    PROFILES,
    Facts,
    engine_name,
    first_few,
    key_values,
    section,
    tallied,
    whole,
)

MODELS_IN_TITLE, MODELS_SHOWN = 3, 6
TITLE = 60


def control(facts: Facts) -> Section:
    """Return section A."""
    parts = {"document": _document(facts), "audited": _audited(facts)}
    return section("A", parts=parts)


def title(facts: Facts) -> Sentence:
    """Return the title of the report: as configured, or made from models or target."""
    own = (display_name(facts.note("title")),) if facts.note("title") else ()
    if not (facts.came_to_end and facts.rankings):
        return joined(filter(None, [say("title.not_completed"), own]), ": ")
    if own:
        return own
    if facts.is_of_data:
        return say("title.data_alone", target=full_name(facts.target))
    models = facts.models
    if len(models) > MODELS_IN_TITLE or sum(map(len, models)) > TITLE:
        return say("title.many_models", models=tallied("models", len(models)))
    names = (Styled("em", (full_name(model),)) for model in models)
    return say(
        f"title.model_{'one' if len(models) == 1 else 'several'}", models=series(names)
    )


def subtitle(facts: Facts) -> Sentence:
    """Return the target, the date of the run, and the number of rows."""
    parts: list[Sentence] = []
    # The data of a run from Python is None.
    is_named = facts.result.run.config.get("data", {}) is not None
    is_titled = facts.note("title") or not (facts.came_to_end and facts.rankings)
    if is_named and is_titled:
        parts.append(say("title.audit", audit=full_value(facts.result.run.audit)))
    if facts.target:
        unit = facts.target_unit
        key = "title.predicts_unit" if unit else "title.predicts"
        parts.append(say(key, target=full_name(facts.target), unit=show_hidden(unit)))
    date = day_of(str(facts.result.run.volatile["started"]))
    if facts.is_of_data and (rows := facts.rows("train")):
        parts.append(say("title.run", date=date, rows=say_count(rows, "train_row")))
    elif facts.rankings and (rows := facts.rows("test")):
        counted = say_count(rows, f"{facts.evaluated_on}_row")
        parts.append(say("title.run", date=date, rows=counted))
    else:
        parts.append(say("title.run_only", date=date))
    return joined(parts, " ")


def day_of(instant: str) -> str:
    """Return the date of an instant, with the month in words."""
    date = datetime.fromisoformat(instant)
    month = look_up("months")[date.month - 1]
    return NO_BREAK.join((str(date.day), month, str(date.year)))


def moment(text: object) -> str:
    """Return an instant to the second, in UTC."""
    return f"{datetime.fromisoformat(str(text)):%Y-%m-%d %H:%M:%S} UTC"


def document_id(facts: Facts) -> str:
    """Return the id of the document: the names of the audit and the run."""
    audit = shown_value(facts.result.run.audit)
    return f"{audit}/{facts.run_id}" if facts.run_id else audit


def _document(facts: Facts) -> KeyValues:
    run = facts.result.run
    generator = f"importance-audit {run.versions.get('importance-audit', '')}".rstrip()
    letters = PROFILES.get(facts.profile, "")
    titles = series(word(f"sections.{SECTIONS[letter]}") for letter in letters)
    shows = say("profiles.shows", profile=facts.profile, sections=titles)
    rows: list[tuple[str, Sentence]] = [
        ("document", (document_id(facts),)),
        ("started", (moment(run.volatile["started"]),)),
        ("version", _version(facts)),
        *(
            (f"control.noted.{key}", (show_hidden(facts.note(key)),))
            for key in ("classification", "owner", "tier")
        ),
        ("generator", (generator,)),
        ("digest", hash_text(facts.digest)),
        ("profiles.label", shows if letters else ()),
    ]
    return key_values("kv-document", say("control.this_document"), "control", rows)


def version_line(facts: Facts) -> Sentence:
    """Return the version of the document, as a sentence."""
    key = "unsigned_line" if facts.signoffs == () else "version_line"
    return say(f"control.{key}", version=_version(facts))


def _version(facts: Facts) -> Sentence:
    """Return the version: 0 if unsigned, n after the n-th sign-off, or unknown."""
    if facts.signoffs is None:
        return say("control.unknown")
    if not facts.signoffs:
        return say("control.unsigned")
    return say("control.signed", n=str(len(facts.signoffs)))


def hash_text(digest: str) -> Sentence:
    """Return a digest in two halves; a line may break between them."""
    half = len(digest) // 2
    return (Styled("hash", (digest[:half],)), Styled("hash", (digest[half:],)))


def _audited(facts: Facts) -> KeyValues:
    """Return the models, the target, the rows, the engines and the seed."""
    names = (model_name(facts, name) for name in facts.models)
    target: list[Part] = [short_name(facts.target)]
    if facts.target_unit:
        target.append(show_hidden(facts.target_unit))
    target.append(look_up("tasks").get(facts.task, ""))
    engines: list[Part | Sentence] = [engine_name("python")]
    for engine in dict.fromkeys((*facts.configured_engines, *facts.answered)):
        has_answered = engine in facts.answered
        engines.append(engine if has_answered else (engine, *say("control.no_answer")))
    rows: list[tuple[str, Sentence]] = [
        ("models", joined(first_few(names, MODELS_SHOWN, "models"))),
        ("predicts", joined(target) if facts.target else ()),
    ]
    for place, row in enumerate(facts.result.datasets.to_dict("records")):
        n = say_count(whole(f"datasets[{place}].rows", int(row["rows"])), "row")
        name = full_name(str(row["name"]))
        rows.append((f"rows_{row['split']}", (*n, ", ", name)))
    rows.append(("engines", joined(engines)))
    if (seed := facts.result.run.config.get("seed")) is not None:
        rows.append(("seed", (str(int(seed)),)))
    return key_values("kv-audited", say("control.the_audited"), "control", rows)


def model_name(facts: Facts, name: str) -> Sentence:
    """Return a model with the version that the configuration gives it, if any."""
    version = str(facts.entry_of(name).get("version", ""))
    if not version:
        return (short_name(name),)
    short = short_name(version)
    return say("control.model_version", model=short_name(name), version=short)
