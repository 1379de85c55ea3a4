"""Checks that need configuration, rows and models together: counts and names."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ..assess.claims.section import ClaimSection
from ..assess.expectations import ExpectedSection
from ..config.load import AuditConfig, ImportanceSection
from ..methods.importance import METHODS
from ..records.dataset_and_model import Dataset, FittedModel
from ..records.errors import ConfigError, DataError, ModelError, hints, quote, several
from ..records.finding import Finding
from ..records.losses import NEEDS
from .steps.supplied_numbers import Numbers


def check_rows(config: AuditConfig, train: Dataset | None, test: Dataset) -> None:
    """Refuse a configuration that does not fit the rows, before any fit.

    Raises
    ------
    DataError
        If a target is constant, or a loss is not defined for it.
    ConfigError
        If the configuration needs rows or columns that are missing.
    """
    asked = {name for entry in config.importance for name in entry.losses}
    for rows in (train, test):
        if rows is None:
            continue
        if len(np.unique(rows.y)) < 2:
            raise DataError(
                f"{rows.name}: target {quote(rows.target)} holds only the value "
                f"{rows.y[0]:.15g}, and importances need one that varies. Name another "
                "target, or split the rows otherwise."
            )
        for loss in sorted(asked & NEEDS.keys()):
            needs, suits = NEEDS[loss]
            n_bad = int((~suits(rows.y) & (rows.weights > 0)).sum())
            if n_bad:
                raise DataError(
                    f"{rows.name}: loss {loss!r} needs a target {needs}, and "
                    f"{quote(rows.target)} is not in {several(n_bad, 'row')}. Leave "
                    "these rows out, or name another loss."
                )
    features = frozenset(test.features)
    problems = [
        f"[importance] {entry.method} n_rows must be at most the {test.n_samples} "
        f"rows of the test data; {entry.options['n_rows']} was given."
        for entry in config.importance
        if (entry.options.get("n_rows") or 0) > test.n_samples
        and not METHODS[entry.method].draws_rows
    ]
    for key in ("rationale", "always_show"):
        unknown = [name for name in getattr(config.report, key) if name not in features]
        problems += [
            f"[report] {key} must name features of the audit; {quote(name)} is "
            f"none.{hint}"
            for name, hint in zip(unknown, hints(unknown, test.features), strict=True)
        ]
    if problems:
        raise ConfigError(problems)


def check_supplied(
    config: AuditConfig, contents: Sequence[object], test: Dataset
) -> None:
    """Refuse differences of DALEX on drawn rows without the losses of their rounds.

    Raises
    ------
    ConfigError
        One line per file.
    """
    problems = [
        f"[supplied] {quote(entry.file)} lacks the loss of the full model in each "
        f"round: each drew {entry.options['n_rows']} of {test.n_samples} rows, and "
        "DALEX subtracts the mean over the rounds. Supply what write_importance "
        'writes in R, or losses: form = "raw", here and under [[importance]].'
        for entry, content in zip(config.supplied, contents, strict=True)
        if isinstance(content, Numbers) and not content.knows_full
        if (entry.package, entry.form) == ("DALEX", "difference")
        if (entry.options.get("n_rows") or test.n_samples) < test.n_samples
        if entry.options.get("n_repeats") != 1
    ]
    if problems:
        raise ConfigError(problems)


def features_not_asked(models: tuple[FittedModel, ...]) -> Iterator[Finding]:
    """Yield a finding per feature of a model that is the offset of another model.

    An offset is never permuted, in any model: all models get the same permutations.
    """
    owner = {column: model.name for model in models for column in model.held}
    for model in models:
        for column in model.features:
            if column in owner and column not in model.held:
                yield Finding(
                    check="offset_elsewhere",
                    severity="warning",
                    subject=f"{model.name}, {column}",
                    message=(
                        f"Model {quote(model.name)} reads {quote(column)} as a feature "
                        f"and has no importance of it: it is the offset of model "
                        f"{quote(owner[column])}, which stays with its rows."
                    ),
                    remedy="Audit the two models apart.",
                )


def check_names(
    config: AuditConfig, test: Dataset, models: tuple[FittedModel, ...]
) -> None:
    """Refuse unknown or conflicting names of models and of columns."""
    if not models:
        raise ModelError(
            "The audit has no model: none was configured or given. "
            "Add [[models]] to the configuration or pass models=."
        )
    names = [model.name for model in models]
    problems = [
        f"The names of the models must differ; {quote(name)} is given twice."
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    underived = [
        section.name
        for section in config.derived
        if section.name not in test.X
        or not (section.is_given or test.unread.get(section.name))
    ]
    problems += [
        f"[[derived]] {quote(name)} is no column of {test.name}. Add it: "
        "importance_audit.data.derived_columns.with_derived(rows, config.derived)"
        for name in underived
    ]
    models_named = {name for entry in config.importance for name in entry.models}
    models_named |= {name for entry in config.surfaces for name in entry.models}
    models_named |= {claim.model for claim in config.claims if claim.model}
    models_named |= {section.model for section in config.expected if section.model}
    models_named |= {entry.model for entry in config.supplied}
    uses = {
        "column of a group": {n for each in config.groups.values() for n in each},
        "feature of an entry": _features_in(config.importance),
        "feature of a claim": _features_in(config.claims),
        "feature that is expected": _features_in(config.expected),
        "feature of a surface": {n for each in config.surfaces for n in each.features},
    }
    held = {column: model.name for model in models for column in model.held}
    columns = dict.fromkeys((*test.features, *underived))  # reported above, not unknown
    features = [name for name in columns if name not in held]
    problems += [
        f"Column {quote(name)} is the offset of model {quote(held[name])}, which stays "
        "with its rows and is no feature. Leave it out of groups, entries, claims, "
        "expectations and surfaces."
        for name in sorted(set().union(*uses.values()) & set(held))
    ]
    everything = [("model", models_named, names)]
    everything += [(what, used - set(held), features) for what, used in uses.items()]
    for what, used, available in everything:
        unknown = sorted(used - set(available))
        problems += [
            f"A {what} must be one that the audit has; {quote(name)} is not.{hint}"
            for name, hint in zip(unknown, hints(unknown, available), strict=True)
        ]
    problems += _label_problems(config, [*columns], names, test.target)
    if problems:
        raise ConfigError(problems)


def _features_in(
    sections: Sequence[ImportanceSection | ClaimSection | ExpectedSection],
) -> set[str]:
    """Return the features in sections, except where the names are those of groups."""
    return {n for each in sections if each.of == "features" for n in each.features}


def _label_problems(
    config: AuditConfig, columns: list[str], models: list[str], target: str
) -> Iterator[str]:
    """Yield the problems of [labels]: unknown names, and duplicate labels."""
    known = [*columns, *config.groups, *models, target]
    unknown = [name for name in config.labels if name not in known]
    for name, hint in zip(unknown, hints(unknown, known), strict=True):
        yield (
            "[labels] must name features, groups or models of the audit; "
            f"{quote(name)} is none.{hint}"
        )
    labels = Counter(config.labels.get(name, name) for name in dict.fromkeys(known))
    for name, label in config.labels.items():
        if name in known and labels[label] > 1:
            yield (
                f"[labels] {quote(name)} must differ from every other name that the "
                f"report shows; {quote(label)} is another's too."
            )


def training_rows(config: AuditConfig, train: Dataset | None, test: Dataset) -> Dataset:
    """Return the training rows for the models of a configuration.

    Models from files are fitted already; any rows serve to check their columns.

    Raises
    ------
    DataError
        If there are none, and a model has to be fitted.
    """
    if train is None and any(not model.file for model in config.models):
        raise DataError(
            "The models of the configuration have no training rows to be fitted on. "
            "Name them as train under [data], or pass train=; or give fitted models "
            "only."
        )
    return test if train is None else train
