"""What a model measures that knows nothing: our losses with the target permuted."""

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
    """Return an answer with the losses of the target permuted, drawn in its place.

    What is not a permutation importance of ours comes back as it is, and so does what
    cannot be asked this, which is a finding. The losses are a fact about the model
    too, which the journal keeps once.

    Parameters
    ----------
    journal : Journal
    answer : tuple of Importance
        One per loss of `model`.
    model, rows
        What was asked, of which rows.
    """
    first = answer[0]
    if (first.method, first.engine) != ("permutation", OURS):
        return answer
    asked = partial(
        permuted_target,
        model,
        rows,
        seed=first.seed,
        stream=cast(Stream, first.stream),
        n_repeats=first.n_repeats,
        n_rows=first.options["n_rows"],
    )
    losses, _ = journal.guarded(model.name, "the loss with y permuted", asked)
    if losses is None:
        return answer
    journal.add_target_losses(losses, model, first.of)
    return tuple(
        replace(record, y_permuted=losses[:, k]) for k, record in enumerate(answer)
    )
