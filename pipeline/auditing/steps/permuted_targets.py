"""Losses with the target permuted: the performance of an uninformative model."""

from dataclasses import replace
from functools import partial
from typing import cast

from ...methods.importance.permutation import Stream, permuted_target
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.importance_record import Importance
from ...records.ranking import OURS
from ..journal import Journal


def with_target(
    journal: Journal,
    answer: tuple[Importance, ...],
    model: FittedModel,
    rows: Dataset,
) -> tuple[Importance, ...]:
    """Return importances with the losses for a permuted target, which are also added.

    Other results than our permutation importances are returned unchanged; if the losses
    cannot be computed, so are these, with a finding. The losses depend on the model
    only: of several entries, the first to permute the target adds them for all.

    Parameters
    ----------
    journal : Journal
    answer : tuple of Importance
        One per loss of `model`.
    model, rows
        The model and the rows of the question.
    """
    first = answer[0]
    if (first.method, first.engine) != ("permutation", OURS):
        return answer
    ask = partial(
        permuted_target,
        model,
        rows,
        seed=first.seed,
        stream=cast(Stream, first.stream),
        n_repeats=first.n_repeats,
        n_rows=first.options["n_rows"],
    )
    losses, _ = journal.guarded(model.name, "the loss with y permuted", ask)
    if losses is None:
        return answer
    known = journal.rows["y_permuted"]
    before = {(row["model"], row["of"], row["loss"]) for row in known}
    known += [
        {
            **{"model": model.name, "of": first.of, "loss": loss},
            **{"repeat": repeat, "value": float(value)},
        }
        for k, loss in enumerate(model.losses)
        if (model.name, first.of, loss) not in before
        for repeat, value in enumerate(losses[:, k], start=1)
    ]
    return tuple(
        replace(record, y_permuted=losses[:, k]) for k, record in enumerate(answer)
    )
