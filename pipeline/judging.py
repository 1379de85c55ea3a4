"""Rankings judged by models of what they put first: curves, and selected sets."""

from collections.abc import Callable, Sequence
from functools import partial

from pipeline.config import AuditConfig
from pipeline.journal import Journal
from pipeline.records import Dataset, FittedModel
from pipeline.references import EngineInfo
from pipeline.selection import keep_selection
from pipeline.top_k import keep_curves


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
