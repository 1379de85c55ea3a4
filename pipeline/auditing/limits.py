"""The limits on rows and repeats under [limits]. Not: the time limit (`clock`)."""

from dataclasses import replace

from ..config.load import AuditConfig
from ..data.datasets import draw_rows
from ..records.dataset_and_model import Dataset
from ..records.errors import several
from ..records.finding import Finding
from ..records.importance_record import Importance
from .clock import REMEDY


def limited(
    config: AuditConfig, test: Dataset
) -> tuple[AuditConfig, Dataset, list[Finding]]:
    """Return configuration and rows within [limits], and findings about the cuts."""
    limits, cuts = config.limits, []
    if limits.max_repeats is not None:
        entries = []
        for entry in config.importance:
            n_repeats = entry.options.get("n_repeats", 0)
            if n_repeats > limits.max_repeats:
                options = {**entry.options, "n_repeats": limits.max_repeats}
                name = f"{entry.method} of {entry.of}"
                cuts.append(f"{entry.name or name} {n_repeats}")
                entry = replace(entry, options=options)
            entries.append(entry)
        config = replace(config, importance=tuple(entries))
    findings = []
    if cuts:
        message = (
            f"max_repeats = {limits.max_repeats} limits n_repeats: {'; '.join(cuts)}."
        )
        findings.append(_cut("max_repeats", "n_repeats", message))
    n_all = test.n_samples
    if limits.max_rows is not None and n_all > limits.max_rows:
        test = draw_rows(test, limits.max_rows, config.seed)
        message = (
            f"{test.n_samples} of the {n_all} test rows were drawn and audited, "
            f"because max_rows = {limits.max_rows}."
        )
        findings.append(_cut("max_rows", test.name, message))
    return config, test, findings


def _cut(limit: str, subject: str, message: str) -> Finding:
    remedy = f"Raise {limit} under [limits] for narrower intervals."
    return Finding(
        check=limit, severity="info", subject=subject, message=message, remedy=remedy
    )


def describe_repeats(importance: Importance) -> Finding | None:
    """Return the finding that time ended a permutation early, None if it did not."""
    made, asked = importance.n_repeats, importance.options.get("n_repeats", 0)
    is_drawn = importance.method == "permutation" and importance.stream
    if not is_drawn or made >= asked:
        return None
    question = f"permutation of {importance.of}"
    message = (
        f"Because of the time limit, {question} of model {importance.model} was "
        f"repeated {several(made, 'time')} instead of {asked}."
    )
    return Finding(
        check="time_limit",
        severity="warning",
        subject=f"{importance.model}, {question}",
        message=message,
        remedy=REMEDY,
        measure=question,
    )
