"""p-values of rankings from losses with and without a feature, by rows or by refits.

Not: the tests (`assess.paired_tests`), or shuffled targets (`shuffled_targets`).
"""

from collections.abc import Sequence
from functools import partial

from ...assess.paired_tests import (
    NADEAU_BENGIO,
    PAIRED,
    engine_columns,
    is_test_of,
    paired_columns,
    refit_columns,
)
from ...assess.significance import Columns, rows_of_test
from ...config.load import AuditConfig, ImportanceSection
from ...engines.xplainfi import RowTests
from ...methods.importance.paired_losses import PairedLosses
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
            columns = engine_columns(importance, table, row_tests.statistic)
            _add(journal, importance, columns, test, record, config)


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
        ask = partial(refit_columns, importance)
        if test != NADEAU_BENGIO:
            statistic = config.significance.statistic
            ask = partial(paired_columns, importance, pairs, test, statistic)
        label = f"p-values of {importance.method} of {importance.of}"
        columns, _ = journal.guarded(importance.model, label, ask)
        if columns is not None:
            _add(journal, importance, columns, test, record, config)


def _add(
    journal: Journal,
    importance: Importance,
    columns: Columns,
    test: str,
    record: int,
    config: AuditConfig,
) -> None:
    """Add the rows of a test of one ranking."""
    adjustment = config.significance.adjustment
    journal.rows["significance"] += rows_of_test(
        importance, columns, test=test, record=record, adjustment=adjustment
    )
