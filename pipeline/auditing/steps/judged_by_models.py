"""Rankings judged by models of what they put first: curves, and selected sets."""

from collections.abc import Callable, Sequence
from functools import partial

from ...config.load import AuditConfig
from ...engines import EngineInfo
from ...records.dataset_and_model import Dataset, FittedModel
from ..journal import Journal
from .selected_sets import keep_selection
from .top_k import keep_curves


def judging_steps(
    journal: Journal,
    models: Sequence[FittedModel],
    train: Dataset | None,
    test: Dataset,
    engine: EngineInfo,
    config: AuditConfig,
) -> list[tuple[str, Callable[[], None]]]:
    """Return the steps that are asked for, each with the words that announce it."""
    steps: list[tuple[str, Callable[[], None]]] = []
    if config.top_k.k:
        curves = partial(keep_curves, journal, models, train, test, engine, config)
        steps.append(("top-k error curves", curves))
    if config.selection.splits:
        sets = partial(keep_selection, journal, models, train, engine, config)
        steps.append(("test error of selected sets", sets))
    return steps
