"""The configured surfaces, for each model."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...config.questions import SurfaceSection
from ...methods.effects.surface import surface, within
from ...records.dataset_and_model import FittedModel
from ...records.errors import NotApplicable, quote
from ...records.importance_record import Importance
from ...records.ranking import OURS
from ...records.streams import seed_of
from ...records.surface_record import Surface
from . import Run


def add_surfaces(run: Run) -> None:
    """Add every configured surface; a missing one is a finding."""
    journal = run.journal
    for section in run.config.surfaces:
        for model in run.models:
            if section.models and model.name not in section.models:
                continue
            ask = partial(measured, run, model, section)
            surfaces, _ = journal.guarded(
                model.name, "the surface of two features", ask
            )
            journal.surfaces += surfaces or ()


def measured(
    run: Run, model: FittedModel, section: SurfaceSection
) -> tuple[Surface, ...]:
    """Return the surface of each output of a model.

    Raises
    ------
    NotApplicable
        There is no ranking of pairs to take the first pair from, or the model lacks the
        scale.
    """
    rows, engine = run.test, run.engines[OURS]
    seed = seed_of(run.config.seed, model.name, "surface", "pairs")
    features = section.features or _first_pair(model, run.journal.importances)
    options: dict[str, Any] = {
        "grid": "even",
        "n_grid": section.n_grid,
        "scale": section.scale,
    }
    first, second, values = surface(model, rows, features, seed=seed, **options)
    scale = model.scale if section.scale == "native" else section.scale
    return tuple(
        Surface(
            model=model.name,
            engine=engine.name,
            engine_version=engine.version,
            scale=scale,
            positive_class=output,
            split=rows.split,
            unit="y" if scale == "response" else scale,
            options=options,
            n_samples=rows.n_samples,
            seed=seed,
            features=(features[0], features[1]),
            kinds=(_kind(first), _kind(second)),
            first_grid=first,
            second_grid=second,
            values=values[:, :, k],
            within=within(rows, features, first, second),
        )
        for k, output in enumerate(model.outputs)
    )


def _kind(grid: npt.NDArray[Any]) -> Literal["number", "category"]:
    return "category" if grid.dtype == object else "number"


def _first_pair(
    model: FittedModel, importances: Iterable[Importance]
) -> tuple[str, ...]:
    """Return the single leading pair of our first ranking of pairs for a model."""
    for record in importances:
        is_ours = (record.engine, record.model) == ("python", model.name)
        if is_ours and record.of == "pairs" and (record.rank == 1).any():
            return record.columns[int(np.flatnonzero(record.rank == 1)[0])]
    raise NotApplicable(
        f"Model {quote(model.name)} has no ranking of pairs, so there is no leading "
        "pair to draw a surface for. Name two features."
    )
