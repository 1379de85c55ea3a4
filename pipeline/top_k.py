"""Top-k error curves: how well models predict from the first k features of a ranking.

Rankings are judged against each other by models fitted to their first features. All of
it is done on the training rows: in each fold a ranking sees the other folds only, the
models are fitted to these, and the loss is that of the rows left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline import measure
from pipeline.config import AuditConfig, ImportanceSection
from pipeline.importance import METHODS
from pipeline.journal import Journal
from pipeline.losses import default_losses, evaluate
from pipeline.records import Dataset, FittedModel, Importance
from pipeline.references import EngineInfo
from pipeline.splits import folds_of
from pipeline.streams import seed_of

Rows: TypeAlias = npt.NDArray[np.int64]
Fits: TypeAlias = dict[tuple[str, int, frozenset[str]], float]


class Ranker(NamedTuple):
    """Who ranks: an entry of the configuration, asked of a model or of the data."""

    entry: int
    section: ImportanceSection
    model: FittedModel | None


class Ranking(NamedTuple):
    """One ranking, made anew in each fold.

    Attributes
    ----------
    told : mapping
        entry, method, model, ranked_by and positive_class of the frame.
    orders : tuple of tuple of str
        For each fold the ranked features, first to last.
    """

    told: Mapping[str, Any]
    orders: tuple[tuple[str, ...], ...]


def keep_curves(
    journal: Journal,
    models: Sequence[FittedModel],
    train: Dataset | None,
    engine: EngineInfo,
    config: AuditConfig,
) -> None:
    """Keep the curves of every ranking of features, judged by every model."""
    made, _ = journal.guarded(
        "audit",
        "the folds of the top-k curves",
        partial(folds_of, train, config.top_k.folds, seed=config.seed),
    )
    if made is None or train is None:
        return
    fits: Fits = {}
    for ranker in rankers(config, models):
        section, name = ranker.section, getattr(ranker.model, "name", "the data")
        ranked = partial(rankings, ranker, train, made, engine, seed=config.seed)
        found, _ = journal.guarded(
            name, f"the ranking by {section.method} in folds", ranked
        )
        for ranking in found or ():
            for judge in models:
                asked = partial(
                    curve, ranking, judge, train, made, k=config.top_k.k, fits=fits
                )
                rows, _ = journal.guarded(judge.name, "the top-k curves", asked)
                journal.top_k += rows or []


def rankers(config: AuditConfig, models: Sequence[FittedModel]) -> Iterator[Ranker]:
    """Yield every entry about features, with each model it asks."""
    for number, section in enumerate(config.importance):
        if section.of != "features":
            continue
        if METHODS[section.method].asks == "data":
            yield Ranker(number, section, None)
            continue
        for model in models:
            if not section.models or model.name in section.models:
                losses = section.losses_for(model.task) or model.losses
                yield Ranker(number, section, model.judged_by(losses))


def rankings(
    ranker: Ranker, train: Dataset, fold_of: Rows, engine: EngineInfo, *, seed: int
) -> tuple[Ranking, ...]:
    """Return what a ranker says of the rows outside each fold, one per loss or class.

    A model is fitted to these rows first, and asked about them.

    Raises
    ------
    NotApplicable
        The method or the model cannot be asked.
    """
    section, model = ranker.section, ranker.model
    name = "" if model is None else model.name
    own = seed_of(seed, name, section.method, section.of)
    found: list[tuple[Importance, ...]] = []
    for fold in range(int(fold_of.max()) + 1):
        rows = np.flatnonzero(fold_of != fold)
        part = train.part(train.features, rows)
        fitted = None if model is None else model.refit(model.features, rows)
        found.append(
            measure.importances(fitted, part, section, engine, seed=own, stream="numpy")
        )
    return tuple(
        Ranking(_told(ranker.entry, scores[0]), tuple(map(ordered, scores)))
        for scores in zip(*found, strict=True)
    )


def _told(entry: int, record: Importance) -> dict[str, Any]:
    """Return whose ranking it is, as the frame says it."""
    return {
        "entry": entry,
        "method": record.method,
        "model": record.model,
        "ranked_by": record.loss,
        "positive_class": record.positive_class,
    }


def ordered(record: Importance) -> tuple[str, ...]:
    """Return the features that have a rank, first to last; ties in their own order."""
    rank = record.rank
    order = np.argsort(rank, kind="stable")
    return tuple(record.features[row] for row in order if np.isfinite(rank[row]))


def curve(
    ranking: Ranking,
    judge: FittedModel,
    train: Dataset,
    fold_of: Rows,
    *,
    k: int,
    fits: Fits,
) -> list[dict[str, Any]]:
    """Return the rows of the frame `top_k` of one ranking and one judging model.

    Parameters
    ----------
    ranking : Ranking
    judge : FittedModel
        Fitted anew to the first features, in the order of the columns, so that equal
        sets give equal numbers.
    train : Dataset
    fold_of : ndarray of shape (n_samples,)
    k : int
        The longest beginning; a ranking of fewer features ends earlier.
    fits : dict
        Losses by model, fold and features: looked up, and filled.

    Raises
    ------
    NotApplicable
        The model was not fitted by the audit.
    """
    loss = "mae" if judge.task == "regression" else default_losses(judge.task)[0]
    rows = []
    for fold, order in enumerate(ranking.orders):
        for n in range(1, min(k, len(order)) + 1):
            key = (judge.name, fold, frozenset(order[:n]))
            if key not in fits:
                fits[key] = _loss(
                    judge.judged_by((loss,)), train, key[2], fold_of == fold
                )
            told = {"judge": judge.name, "loss": loss, "k": n, "fold": fold + 1}
            told |= {"feature": order[n - 1], "value": fits[key]}
            rows.append({**ranking.told, **told})
    return rows


def _loss(
    judge: FittedModel,
    train: Dataset,
    features: frozenset[str],
    is_out: npt.NDArray[np.bool_],
) -> float:
    """Return the loss on the rows left out of a model fitted to the others."""
    columns = [name for name in train.features if name in features]
    fitted = judge.refit(columns, np.flatnonzero(~is_out))
    out = train.part(columns, np.flatnonzero(is_out))
    losses = evaluate(fitted.losses, out.y, fitted.predict(out.X), out.weights)
    return float(losses[0])
