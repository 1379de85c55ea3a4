"""What the rankings say once all are there: of what was expected, losses, dependence.

Not: the judgement itself (`expected`, `loss_sensitivity`, `dependent_leaders`).
"""

from ...assess.associations import association_rows
from ...assess.dependent_leaders import dependent_leaders
from ...assess.expectations import judge
from ...assess.loss_sensitivity import compare_losses
from ...config.load import AuditConfig
from ...records.dataset_and_model import Dataset
from ..journal import Journal


def keep_readings(
    journal: Journal, train: Dataset | None, test: Dataset, config: AuditConfig
) -> None:
    """Keep the rows and findings of all, from what was measured until now."""
    measured, limits = journal.importances, config.checks
    rows, findings = judge(config.expected, measured, resolution=limits.resolution)
    journal.rows["expected"] += rows
    journal.findings += findings
    rows, findings = compare_losses(measured, top_k=limits.top_k)
    journal.rows["losses"] += rows
    journal.findings += findings
    journal.rows["associations"] += association_rows(
        test, measured, threshold=limits.dependence
    )
    jointly = any(entry.of == "groups" for entry in config.importance)
    journal.findings += dependent_leaders(
        measured,
        train,
        test,
        grouped=tuple(config.groups.values()) if jointly else (),
        threshold=limits.dependence,
        top_k=limits.top_k,
    )
