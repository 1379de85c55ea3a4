"""Top-k error curves: how well models predict from the first k features of a ranking.

Rankings are compared by models fitted to their first features. A protocol determines
the rows for ranking, fitting and evaluation: see `top_k_protocols`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...config.load import ImportanceSection
from ...config.questions import in_its_order, seed_for
from ...engines import EngineInfo
from ...records.dataset_and_model import FittedModel
from ...records.execution import each
from ...records.importance_record import Importance
from ...records.losses import default_losses, evaluate
from ...records.ranking import OURS
from .. import measure
from . import Run
from .top_k_protocols import PROTOCOLS, Protocol, Round

FeaturesOfRound: TypeAlias = tuple[int, frozenset[str]]
Fits: TypeAlias = dict[tuple[str, int, frozenset[str]], float]


class Ranker(NamedTuple):
    """A source of rankings: an entry of the configuration with a model or the data."""

    entry: int
    section: ImportanceSection
    model: FittedModel | None


class Ranking(NamedTuple):
    """One ranking, computed in each round.

    Attributes
    ----------
    identity : mapping
        entry, method, model, ranked_by and positive_class of the frame.
    records : tuple of Importance
        The result of each round.
    """

    identity: Mapping[str, Any]
    records: tuple[Importance, ...]

    @property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """For each round the ranked features, first to last."""
        return tuple(map(ordered, self.records))


def add_top_k_curves(run: Run) -> None:
    """Add the curves of every ranking of features, by every protocol and model."""
    config, journal = run.config, run.journal
    for name in config.top_k.protocols:
        part = partial(PROTOCOLS[name], run.train, run.test, config)
        protocol, _ = journal.guarded("audit", f"the {name} of the top-k curves", part)
        if protocol is None:
            continue
        fits: Fits = {}
        for ranking in rankings_by_all(run, protocol):
            for judge in run.models:
                k = config.top_k.k
                ask = partial(curve, ranking, judge, protocol, k=k, fits=fits)
                rows, _ = journal.guarded(judge.name, "the top-k curves", ask)
                journal.rows["top_k"] += rows or []


def rankings_by_all(run: Run, protocol: Protocol) -> Iterator[Ranking]:
    """Yield every ranking of features in a protocol; record why others are missing."""
    engine, config = run.engines[OURS], run.config
    rankers = (
        Ranker(number, section, model)
        for number, section in enumerate(config.importance)
        if section.of == "features"
        for model in measure.models_of(section, run.models, config)
    )
    for ranker in rankers:
        name = getattr(ranker.model, "name", "the data")
        ask = partial(rankings, ranker, protocol, engine, seed=config.seed)
        question = f"the ranking by {ranker.section.method} in {protocol.name}"
        of_ranker, _ = run.journal.guarded(name, question, ask)
        yield from of_ranker or ()


def rankings(
    ranker: Ranker, protocol: Protocol, engine: EngineInfo, *, seed: int
) -> tuple[Ranking, ...]:
    """Return the rankings of a ranker on the rows it sees, one per loss or class.

    A model is refitted, and then evaluated, on the rows of `Protocol.seen`.

    Raises
    ------
    NotApplicable
        The method or the model does not support it.
    """
    section, model = ranker.section, ranker.model
    name = "" if model is None else model.name
    own = seed_for(section, seed, name)
    learner = ranker._replace(model=model and model.unfitted())
    answers = each(
        partial(_ranked_in_round, learner, protocol, engine, own), protocol.rounds
    )
    found = []
    for scores in zip(*answers, strict=True):
        identity = {
            "entry": ranker.entry,
            "method": scores[0].method,
            "model": scores[0].model,
            "ranked_by": scores[0].loss,
            "positive_class": scores[0].positive_class,
        }
        found.append(Ranking(identity, scores))
    return tuple(found)


def _ranked_in_round(
    ranker: Ranker, protocol: Protocol, engine: EngineInfo, seed: int, part: Round
) -> tuple[Importance, ...]:
    """Return the results of a ranker in one round."""
    section, model, rows = ranker.section, ranker.model, protocol.rows
    name = "" if model is None else model.name
    learnt, places = protocol.seen(section.method, name, part)
    rows_asked = in_its_order(section, rows.part(rows.features, places))
    rows_asked = rows_asked.without_asking(rows.unread)  # refits do not use them
    fitted = model and replace(model, train=rows).refit(model.features, learnt)
    question = measure.Question(fitted, rows_asked, section, engine)
    return measure.importances(question, seed=seed, stream="numpy")


def ordered(record: Importance) -> tuple[str, ...]:
    """Return the features with a rank, first to last; ties in their own order."""
    rank = record.rank
    order = np.argsort(rank, kind="stable")
    return tuple(record.features[row] for row in order if np.isfinite(rank[row]))


def curve(
    ranking: Ranking,
    judge: FittedModel,
    protocol: Protocol,
    *,
    k: int,
    fits: Fits,
) -> list[dict[str, Any]]:
    """Return the rows of the frame `top_k` of one ranking and one judging model.

    Parameters
    ----------
    ranking : Ranking
    judge : FittedModel
        Refitted on the first features, in the order of the columns, so that equal sets
        give equal numbers.
    protocol : Protocol
    k : int
        The largest number of features; a ranking of fewer features ends earlier.
    fits : dict
        Cache of losses by model, round and features; new losses are added.

    Raises
    ------
    NotApplicable
        The model was not fitted by the audit.
    """
    loss = "mae" if judge.task == "regression" else default_losses(judge.task)[0]
    loss = judge.losses[0] if judge.scale == "class" else loss
    own = {"protocol": protocol.name, "judge": judge.name, "loss": loss}
    places = [
        (number, order[:n])
        for number, order in enumerate(ranking.orders)
        for n in range(1, min(k, len(order)) + 1)
    ]
    sets = dict.fromkeys((number, frozenset(first)) for number, first in places)
    sets_to_fit = [each_set for each_set in sets if (judge.name, *each_set) not in fits]
    (by_loss,) = judge.asked_for((loss,))
    for each_set, value in losses_of(by_loss, protocol, sets_to_fit):
        fits[judge.name, *each_set] = value
    return [
        {
            **ranking.identity,
            **own,
            "k": len(first),
            "fold": number + 1,
            "feature": first[-1],
            "value": fits[judge.name, number, frozenset(first)],
        }
        for number, first in places
    ]


def losses_of(
    judge: FittedModel, protocol: Protocol, sets: Sequence[FeaturesOfRound]
) -> Iterator[tuple[FeaturesOfRound, float]]:
    """Yield each set of features, with the index of its round, and its loss."""
    losses = each(partial(_loss_of, judge.unfitted(), protocol), sets)
    yield from zip(sets, losses, strict=True)


def _loss_of(judge: FittedModel, protocol: Protocol, asked: FeaturesOfRound) -> float:
    """Return the loss on the rows that were left out of the fit."""
    rows, (number, features) = protocol.rows, asked
    part = protocol.rounds[number]
    columns = [name for name in rows.features if name in features]
    fitted = replace(judge, train=rows).refit(columns, part.kept)
    out = rows.part(columns, part.out)
    losses = evaluate(fitted.losses, out.y, fitted.predict(out.X), out.weights)
    return float(losses[0])
