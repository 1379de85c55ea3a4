"""What the rankings say once all are there: of what was expected, losses, dependence.

Not: the judgement itself (`expected`, `loss_sensitivity`, `dependent_leaders`).
"""

from collections.abc import Sequence

from ...assess.associations import association_rows
from ...assess.dependent_leaders import dependent_leaders
from ...assess.expectations import judge
from ...assess.loss_sensitivity import compare_losses
from ...config.load import AuditConfig
from ...records.dataset_and_model import Dataset
from ...records.importance_record import Importance
from . import Results, StepResult


def compare_with_expectations(
    importances: Sequence[Importance],
    train: Dataset | None,
    test: Dataset,
    config: AuditConfig,
) -> Results[None]:
    """Yield the rows and findings of all, from what was measured until now."""
    limits = config.checks
    rows, findings = judge(config.expected, importances, resolution=limits.resolution)
    yield StepResult(rows={"expected": rows}, findings=tuple(findings))
    rows, findings = compare_losses(importances, top_k=limits.top_k)
    yield StepResult(rows={"losses": rows}, findings=tuple(findings))
    rows = association_rows(test, importances, threshold=limits.dependence)
    yield StepResult(rows={"associations": rows})
    jointly = any(entry.of == "groups" for entry in config.importance)
    leaders = dependent_leaders(
        importances,
        train,
        test,
        grouped=tuple(config.groups.values()) if jointly else (),
        threshold=limits.dependence,
        top_k=limits.top_k,
    )
    yield StepResult(findings=tuple(leaders))
