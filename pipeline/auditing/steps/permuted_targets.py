"""What a model measures that knows nothing: our losses with the target permuted."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from ...methods.importance.permutation import Stream, permuted_target
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.frames import Row
from ...records.importance_record import Importance
from ...records.ranking import OURS
from . import Guard, Results, StepResult


def with_target(
    guard: Guard,
    answer: tuple[Importance, ...],
    model: FittedModel,
    rows: Dataset,
    *,
    target_rows: Sequence[Row],
) -> Results[tuple[Importance, ...]]:
    """Yield the losses of the target permuted; return an answer that has them too.

    What is not a permutation importance of ours comes back as it is, and so does what
    cannot be asked this, which is a finding.

    Parameters
    ----------
    guard : Guard
    answer : tuple of Importance
        One per loss of `model`.
    model, rows
        What was asked, of which rows.
    target_rows : sequence of mapping
        The rows of the frame `y_permuted` until now. The losses are a fact about the
        model: of measures with other options, the first to permute the target tells
        it for all.
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
    losses, _ = guard(model.name, "the loss with y permuted", ask)
    if losses is None:
        return answer
    new = _new_rows(losses, model, first.of, target_rows)
    yield StepResult(rows={"y_permuted": new})
    return tuple(
        replace(record, y_permuted=losses[:, k]) for k, record in enumerate(answer)
    )


def _new_rows(
    losses: Floats, model: FittedModel, of: str, target_rows: Sequence[Row]
) -> list[Row]:
    """Return the rows of losses, (n_repeats, n_losses), that are not there yet."""
    before = {(row["model"], row["of"], row["loss"]) for row in target_rows}
    return [
        {
            **{"model": model.name, "of": of, "loss": loss},
            **{"repeat": repeat, "value": float(value)},
        }
        for k, loss in enumerate(model.losses)
        if (model.name, of, loss) not in before
        for repeat, value in enumerate(losses[:, k], start=1)
    ]
