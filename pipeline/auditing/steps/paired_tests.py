"""p-values of rankings from losses with and without a feature, by rows or by refits.

Not: the tests (`assess.paired_tests`), or shuffled targets (`shuffled_targets`).
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
from ...records.errors import NotApplicable
from ...records.frames import Row
from ...records.importance_record import Importance
from ..journal import Journal


def select_test(entry: ImportanceSection, config: AuditConfig) -> str:
    """Return the configured test of the losses of an entry, empty if there is none."""
    method, options = entry.method, entry.options
    tests = config.significance.tests
    return next((test for test in tests if is_test_of(test, method, options)), "")


def row_tests_for(entry: ImportanceSection, config: AuditConfig) -> RowTests | None:
    """Return the test that an engine should run, None if ours does not use row losses.

    Its statistic is the configured one, by default the usual one of the test.
    """
    paired = PAIRED.get(select_test(entry, config))
    if paired is None:
        return None
    return RowTests(statistic=config.significance.statistic or paired.statistic)


def add_engine_tests(
    journal: Journal,
    answers: Sequence[tuple[int, Importance]],
    row_tests: RowTests,
    test: str,
    config: AuditConfig,
) -> None:
    """Add the p-values that an engine itself computed for its results.

    Each result comes with its index among all importances. If the engine has p-values
    but they do not match ours, the reason is recorded.
    """
    for record, importance in answers:
        if row_tests.reason:
            what = f"{importance.method} of {importance.of} by {importance.engine}"
            label = f"p-values of {what}"
            journal.add_reason(row_tests.reason, label, importance.model)
        elif (table := row_tests.tables.get(importance.loss)) is not None:
            journal.rows["significance"] += engine_rows(
                importance,
                table,
                test=test,
                statistic=row_tests.statistic,
                record=record,
                adjustment=config.significance.adjustment,
            )


def add_paired_tests(
    journal: Journal,
    answers: Sequence[tuple[int, Importance]],
    pairs: PairedLosses | None,
    test: str,
    config: AuditConfig,
) -> None:
    """Add the p-values of our results for one question.

    Each result comes with its index among all importances. If there are none, the
    reason is recorded.
    """
    for record, importance in answers:
        asked: dict[str, Any] = {
            "record": record,
            "adjustment": config.significance.adjustment,
        }
        ask = partial(refit_rows, importance, **asked)
        if test != NADEAU_BENGIO:
            asked |= {"test": test, "statistic": config.significance.statistic}
            ask = partial(_rows, importance, pairs, **asked)
        label = f"p-values of {importance.method} of {importance.of}"
        rows, _ = journal.guarded(importance.model, label, ask)
        journal.rows["significance"] += rows or ()


def _rows(
    importance: Importance, pairs: PairedLosses | None, **asked: Any
) -> list[Row]:
    """Return the rows of `paired_rows`, if the method kept the losses of rows."""
    if pairs is None:
        raise NotApplicable(
            "The mean over all permutations has no losses of single rows to test. Set "
            'draws = "sampled".'
        )
    return paired_rows(importance, pairs, **asked)
