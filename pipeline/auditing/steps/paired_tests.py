"""p-values of rankings from losses without and with a feature: of rows, or of refits.

Not: the tests (`assess.paired_tests`), nor shuffled targets (`shuffled_targets`).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...assess.paired_tests import (
    NADEAU_BENGIO,
    PAIRED,
    engine_rows,
    is_test_of,
    paired_rows,
    refit_rows,
)
from ...config.load import AuditConfig, ImportanceSection
from ...engines.xplainfi import RowTests
from ...methods.importance.paired_losses import PairedLosses
from ...records.dataset_and_model import Floats
from ...records.errors import NotApplicable
from ...records.frames import Row
from ...records.importance_record import Importance
from . import Guard, Results, StepResult


def select_test(entry: ImportanceSection, config: AuditConfig) -> str:
    """Return the test that is asked of the losses of an entry, empty if none is."""
    method, options = entry.method, entry.options
    tests = config.significance.tests
    return next((test for test in tests if is_test_of(test, method, options)), "")


def row_tests_for(entry: ImportanceSection, config: AuditConfig) -> RowTests | None:
    """Return which test an engine is asked for beside ours, None if ours is of no rows.

    By its usual statistic, unless the audit names another.
    """
    paired = PAIRED.get(select_test(entry, config))
    if paired is None:
        return None
    return RowTests(statistic=config.significance.statistic or paired.statistic)


def engine_tests_of(
    guard: Guard,
    answers: Sequence[Importance],
    row_tests: RowTests,
    test: str,
    config: AuditConfig,
    *,
    first_record: int,
) -> Results[None]:
    """Yield the p-values that an engine itself tells of its answers to one question.

    The first of them is at `first_record` among all importances. Where it could tell
    some and was not asked, the reason is kept.
    """
    for k, importance in enumerate(answers):
        what = f"{importance.method} of {importance.of} by {importance.engine}"
        ask = partial(_table, row_tests, importance.loss)
        table, _ = guard(importance.model, f"p-values of {what}", ask)
        if table is not None:
            rows = engine_rows(
                importance,
                table,
                test=test,
                statistic=row_tests.statistic,
                record=first_record + k,
                adjustment=config.significance.adjustment,
            )
            yield StepResult(rows={"significance": rows})


def _table(row_tests: RowTests, loss: str) -> Floats | None:
    """Return what an engine told of a loss, None if nothing; raise if for a reason."""
    if row_tests.reason:
        raise NotApplicable(row_tests.reason)
    return row_tests.tables.get(loss)


def paired_tests_of(
    guard: Guard,
    answers: Sequence[Importance],
    pairs: PairedLosses | None,
    test: str,
    config: AuditConfig,
    *,
    first_record: int,
) -> Results[None]:
    """Yield the p-values of our answers to one question.

    The first of them is at `first_record` among all importances. Where there are none
    the reason is kept.
    """
    for k, importance in enumerate(answers):
        asked: dict[str, Any] = {
            "record": first_record + k,
            "adjustment": config.significance.adjustment,
        }
        ask = partial(refit_rows, importance, **asked)
        if test != NADEAU_BENGIO:
            asked |= {"test": test, "statistic": config.significance.statistic}
            ask = partial(_rows, importance, pairs, **asked)
        label = f"p-values of {importance.method} of {importance.of}"
        rows, _ = guard(importance.model, label, ask)
        yield StepResult(rows={"significance": rows or ()})


def _rows(
    importance: Importance, pairs: PairedLosses | None, **asked: Any
) -> list[Row]:
    """Return what `paired_rows` says, if the method kept the losses of rows."""
    if pairs is None:
        raise NotApplicable(
            "The mean over all permutations has no losses of single rows to test. Set "
            'draws = "sampled".'
        )
    return paired_rows(importance, pairs, **asked)
