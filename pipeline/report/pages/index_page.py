"""The page that leads to one report per model, and compares the models.

Not: what is said of a single model, which its own report holds.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ..sections.claims import claims
from ..sections.facts import Facts, facts_of, tallied
from ..sections.history_figure import over_runs
from ..sections.models_figure import models_figure
from ..sections.performance import against_constant
from ..sections.rankings import Ranking
from ..sections.results import leader_of
from ..sections.thresholds import VERDICTS
from ..sections.top_k import top_k_figures
from ..sections.verdicts import badge
from ..text.blocks import (
    Badge,
    Cells,
    Column,
    FileLink,
    Group,
    Section,
    Sentence,
    Table,
)
from ..text.wording import (
    display_name,
    key_of,
    look_up,
    say,
    say_count,
    short_name,
    table_of,
    word,
)
from .by_model import ModelPart

COLUMNS = 6
"""Models beside each other in one table of verdicts."""
SHAPES = {
    "pass": "●",
    "note": "◆",
    "warn": "▲",
    "fail": "■",
    "error": "■",
    "not run": "○",
}
CLASSES = {"pass": "pass", "note": "pass", "fail": "disagrees", "error": "disagrees"}


def file_of(model: str) -> str:
    """Return the path of a model's report in the run folder, without its ending."""
    return f"models/{key_of(model)}"


def overview(facts: Facts, parts: Sequence[ModelPart]) -> Section:
    """Return the section in the place of the executive page: model by model."""
    lede = say(
        "index.lede", models=say_count(tallied("models", len(parts)), "model_asked")
    )
    blocks = (_models(facts, parts), *_matrices(parts), *over_runs(facts))
    return Section("B", "overview", word("sections.overview"), lede, {"blocks": blocks})


def between(facts: Facts) -> Section:
    """Return what can only be seen of all models together."""
    figures = [
        figure
        for same in _by_loss(facts.leads)
        if (figure := models_figure(facts, same)) is not None
    ]
    frames: dict[str, Sequence[Any]] = {
        "models": figures,
        "top_k": top_k_figures(facts),
    }
    groups = [
        Group(f"between-{name}", say(f"index.{name}"), tuple(blocks))
        for name, blocks in frames.items()
        if blocks
    ]
    groups += claims(facts)
    lede = say("index.between" if groups else "index.nothing_between")
    return Section(
        "F", "results", word("sections.between"), lede, {"groups": tuple(groups)}
    )


def _by_loss(ranked: Iterable[Ranking]) -> list[list[Ranking]]:
    groups: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in ranked:
        key = (ranking.record.loss, ranking.record.positive_class)
        groups.setdefault(key, []).append(ranking)
    return list(groups.values())


def _models(facts: Facts, parts: Sequence[ModelPart]) -> Table:
    """Return a row per model: where its report is, how good it is, what leads."""
    return table_of(
        "models-index",
        "index",
        "model:header loss leader verdict",
        [_model(facts, part) for part in parts],
        caption=say("index.models_caption"),
        shape="wide",
    )


def _model(facts: Facts, part: ModelPart) -> Cells:
    own = facts_of(part.result, facts.digest)
    link = FileLink(f"{file_of(part.model)}.html", display_name(part.model))
    leader = leader_of(own.leads[0]) if own.leads else ""
    text: Sentence = ("–",)
    if leader:
        text = (short_name(leader),)
    return (
        link,
        against_constant(facts, part.model) or ("–",),
        text,
        badge(part.result.verdict),
    )


def _matrices(parts: Sequence[ModelPart]) -> tuple[Table, ...]:
    """Return the worst verdict of each check for each model, some models at a time."""
    checks = dict.fromkeys(
        name for part in parts for name in part.result.checks["check"]
    )
    if not checks:
        return ()
    tables = []
    for start in range(0, len(parts), COLUMNS):
        here = parts[start : start + COLUMNS]
        tables.append(
            table_of(
                "verdicts" + (f"-{start // COLUMNS + 1}" if start else ""),
                "thresholds",
                [
                    "check:header",
                    *(Column((short_name(p.model),)) for p in here),
                ],
                [_check(name, here) for name in checks],
                caption=say("index.matrix_caption"),
                shape="wide",
            )
        )
    return tuple(tables)


def _check(name: str, parts: Sequence[ModelPart]) -> Cells:
    label = look_up("checks").get(name, name.replace("_", " "))
    return (label, *(_worst(name, part) for part in parts))


def _worst(name: str, part: ModelPart) -> Sentence:
    """Return the worst verdict of a check for a model, with its shape."""
    names, verdicts_of_part = part.result.checks["check"], part.result.check_verdicts
    verdicts = {v for n, v in zip(names, verdicts_of_part, strict=True) if n == name}
    worst = next((verdict for verdict in VERDICTS if verdict in verdicts), None)
    if worst is None:
        return ("–",)
    label = str(look_up("check_words")[worst])
    return (Badge(CLASSES.get(worst, "warned"), label, SHAPES[worst]),)
