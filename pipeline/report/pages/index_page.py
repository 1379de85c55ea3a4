"""The index page of a report on many models: links to their pages, and comparisons.

Not: the details of a single model, which are on its own page.
"""

from collections.abc import Sequence

import pandas as pd

from ..sections.claims import claims
from ..sections.facts import Facts, facts_of, group, tallied
from ..sections.history_figure import over_runs
from ..sections.model_quality import measured, quality_name
from ..sections.models_figure import models_figure
from ..sections.rankings import Ranking
from ..sections.results import leader_of
from ..sections.thresholds import VERDICTS
from ..sections.top_k import top_k_figures
from ..sections.verdicts import badge
from ..text.blocks import Column, FileLink, Section, Table
from ..text.wording import (
    display_name,
    joined,
    key_of,
    look_up,
    name_of_check,
    say,
    say_count,
    series,
    short_name,
    table_of,
    word,
)
from .by_model import ModelPart


def file_of(model: str) -> str:
    """Return the path of a model's report in the run folder, without its ending."""
    return f"models/{key_of(model)}"


def overview(facts: Facts, parts: Sequence[ModelPart]) -> Section:
    """Return the section after page one: the table of models, checks by model."""
    lede = say("index.lede", models=say_count(tallied("models", len(parts)), "model"))
    blocks = (_models(facts, parts), _checks(parts), *over_runs(facts))
    return Section("R", "overview", word("sections.overview"), lede, {"blocks": blocks})


def between(facts: Facts) -> Section:
    """Return the section of comparisons between models: figures, curves, claims."""
    by_loss: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in facts.leads:
        key = (ranking.record.loss, ranking.record.positive_class)
        by_loss.setdefault(key, []).append(ranking)
    figures = (models_figure(facts, same) for same in by_loss.values())
    groups = (
        *group("between-models", say("index.models"), filter(None, figures)),
        *group("between-top_k", say("index.top_k"), top_k_figures(facts)),
        *claims(facts),
    )
    lede = say("index.between" if groups else "index.nothing_between")
    title = word("sections.between")
    return Section("F", "results", title, lede, {"groups": groups})


def _models(facts: Facts, parts: Sequence[ModelPart]) -> Table:
    """Return one row per model: link, loss, leading feature, verdict."""
    rows = []
    for part in parts:
        leads = facts_of(part.result, facts.digest).leads
        key, leader = leader_of(leads[0]) if leads else ("not_ranked", "")
        rows.append(
            (
                FileLink(f"{file_of(part.model)}.html", display_name(part.model)),
                measured(facts, part.model, "test") or "–",
                short_name(leader) if leader else word(f"index.{key}"),
                badge(part.result.verdict),
            )
        )
    return table_of(
        "models-index",
        "index",
        [
            "model:header",
            Column((quality_name(facts),), "number"),
            "leader",
            "verdict",
        ],
        rows,
        caption=say("index.models_caption"),
        shape="wide",
    )


def _checks(parts: Sequence[ModelPart]) -> Table:
    """Return the checks that did not pass for some model, with the models by verdict.

    A model has its worst verdict. Checks that passed wherever they were made are
    counted.
    """
    words = look_up("check_words")
    frame = pd.concat([p.result.checks.assign(model=p.model) for p in parts])
    rows = []
    for check, own in frame.groupby("check", sort=False):
        models: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
        for model, verdicts in own.groupby("model", sort=False)["verdict"]:
            models[min(verdicts, key=VERDICTS.index)].append(model)
        if set(own["verdict"]) != {"pass"}:
            some = ((v, names) for v, names in models.items() if names and v != "pass")
            texts = ((f"{words[v]}: ", *series(map(short_name, n))) for v, n in some)
            rows.append((name_of_check(check), joined(texts, "; ")))
    passed = tallied("checks", frame["check"].nunique() - len(rows))
    return table_of(
        "verdicts",
        "thresholds",
        "check:header verdict",
        rows,
        caption=say(
            "index.matrix_caption",
            passed=say("index.passed", n=passed) if passed.raw else "",
        ),
    )
