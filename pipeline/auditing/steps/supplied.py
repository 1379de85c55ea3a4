"""Numbers that somebody measured elsewhere, read into the audit as one more engine.

They are labelled as supplied, and held against ours only if they were made on our
predictions. Not: what a file holds (`supplied_numbers`), or comparing.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RUnavailable

from ...config.load import AuditConfig
from ...config.section_supplied import SuppliedSection
from ...engines import EngineInfo, agreement, stream_of
from ...models.prediction_digest import predictions_sha256
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.errors import DataError, listed
from ...records.importance_record import Effect, Importance
from ...records.ranking import OURS, measure_of, question_of
from .. import measure
from ..journal import Journal
from .supplied_numbers import Curves, Numbers, numbers_of

Steps = list[tuple[str, Callable[[], None]]]
Read = Numbers | Curves | str
"""What a file holds, or why it cannot be read here."""
UNKNOWN = "unknown"
"""The draw order of numbers whose seed is not known."""


def read_files(config: AuditConfig) -> tuple[Read, ...]:
    """Return what each file holds, in the order of the entries.

    Files of R are read where it is there; else the reason stands in their place.

    Raises
    ------
    DataError
        Files that are not those whose digests were given, or that hold something else
        than is said of them, all at once.
    """
    found: list[Read] = []
    problems: list[str] = []
    for entry in config.supplied:
        try:
            _require_digest(entry, config.base)
            found.append(_read(entry, config.base))
        except DataError as error:
            problems.append(str(error))
    if problems:
        raise DataError("\n".join(problems))
    return tuple(found)


def supplied_steps(
    journal: Journal,
    models: Sequence[FittedModel],
    train: Dataset | None,
    test: Dataset,
    us: EngineInfo,
    config: AuditConfig,
    found: Sequence[Read],
) -> Steps:
    """Return the steps that say what models predict, and keep what was supplied."""
    steps: Steps = [
        ("digests of the predictions", partial(keep_digests, journal, models, test))
    ]
    for entry, held in zip(config.supplied, found, strict=True):
        (model,) = (model for model in models if model.name == entry.model)
        twin = partial(_twin, journal, model, train, test, us, config)
        keep = partial(keep_supplied, journal, entry, held, twin)
        steps.append((f"supplied {entry.method}, {entry.model}", keep))
    return steps


def keep_digests(
    journal: Journal, models: Sequence[FittedModel], test: Dataset
) -> None:
    """Keep which predictions each model makes for the audited rows.

    A model whose quality could not be measured has no predictions to speak of, and a
    finding of its own.
    """
    judged = {row["model"] for row in journal.rows["performance"]}
    for model in models:
        if model.name in judged:
            ask = partial(model.predict, test.X)
            found, _ = journal.guarded(model.name, "the predictions", ask)
            if found is not None:
                journal.digests[model.name] = predictions_sha256(found)


def keep_supplied(
    journal: Journal,
    entry: SuppliedSection,
    found: Read,
    twin: Callable[[Importance], None],
) -> None:
    """Put the numbers of one file beside ours, or say why they are not.

    Parameters
    ----------
    journal : Journal
        Holds our answers, and keeps theirs.
    entry : SuppliedSection
    found : Numbers, mapping or str
        What the file holds, or why it could not be read.
    twin : callable
        Asks us for the same draws as those of a record, if we know how.
    """
    ours: list[Importance | Effect] = []
    ours += [*_importances(journal, entry), *_effects(journal, entry)]
    if not ours:  # why we have no answer is told where we were asked
        return
    effects = _effects(journal, entry)
    found = _other_predictions(journal, entry) or _other_points(found, effects) or found
    if isinstance(found, str):
        journal.rows["agreement"] += [
            agreement.not_compared(a, entry.engine, found) for a in ours
        ]
        message = f"The numbers in {entry.file!r} are not compared, because {found}."
        who, file = entry.model, entry.file
        journal.add_finding(
            "supplied_refused", "warning", who, message, REMEDY, measure=file
        )
    elif isinstance(found, Numbers):
        for record in _importances(journal, entry)[:1]:
            theirs = _as_importance(entry, found, record)
            journal.importances.append(theirs)
            twin(theirs)
    else:
        journal.effects += _as_effects(entry, found, effects)


REMEDY = (
    "Measure again on this run's predictions: importance-audit handoff states their "
    "digest. Or leave the entry out of [[supplied]]."
)


def _require_digest(entry: SuppliedSection, base: Path) -> None:
    """Refuse a file that is not there, or not the one whose digest was given."""
    subject = f"[[supplied]] {entry.file!r}"
    try:
        digest = hashlib.sha256((base / entry.file).read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(
            f"{subject} must be readable, but the system says: {error.strerror}."
        ) from error
    if digest != entry.sha256:
        raise DataError(
            f"{subject} must have the SHA-256 {entry.sha256}, but it has {digest}. Ask "
            "who supplied it, and correct one of them."
        )


def _read(entry: SuppliedSection, base: Path) -> Read:
    """Return what a file holds, or why R, which has to read it, is not there."""
    needs_r = not entry.file.endswith(".csv")
    reason = str(host.installed()["reason"]) if needs_r else ""
    try:
        return reason.removesuffix(".") or numbers_of(entry, base)
    except RUnavailable as error:
        return str(error).removesuffix(".")


def _other_predictions(journal: Journal, entry: SuppliedSection) -> str:
    """Return why numbers of other predictions are refused; nothing for the same."""
    here = journal.digests.get(entry.model, "")
    if here == entry.predictions_sha256:
        return ""
    return (
        f"the predictions differ: theirs have the digest "
        f"{entry.predictions_sha256[:16]}, ours {here[:16] or 'none'}"
    )


def _other_points(found: Read, ours: Sequence[Effect]) -> str:
    """Return why curves with words for points are refused where ours have numbers."""
    if isinstance(found, str | Numbers):
        return ""
    words = [
        effect.feature
        for effect in ours
        if effect.kind == "number" and effect.feature in found
        if found[effect.feature][0].dtype.kind not in "iuf"
    ]
    return f"the points of {listed(words)} are words, ours numbers" if words else ""


def _importances(journal: Journal, entry: SuppliedSection) -> list[Importance]:
    """Return our answers to the question, the one with the same options first."""
    asked = ("model", "method", "of", "loss", "positive_class")
    own = [
        record
        for record in journal.importances
        if record.engine == OURS
        and all(getattr(record, name) == getattr(entry, name) for name in asked)
    ]
    return sorted(own, key=lambda r: dict(r.options) != dict(entry.options))[:1]


def _effects(journal: Journal, entry: SuppliedSection) -> list[Effect]:
    return [
        effect
        for effect in journal.effects
        if effect.engine == OURS
        and (effect.model, effect.method) == (entry.model, entry.method)
        and effect.positive_class == entry.positive_class
    ]


def _as_importance(
    entry: SuppliedSection, found: Numbers, ours: Importance
) -> Importance:
    """Return supplied numbers as an answer to the question that ours answers."""
    columns = dict(zip(ours.features, ours.columns, strict=True))
    known = entry.seed is not None
    order = stream_of(entry.package, entry.version) if known else UNKNOWN
    return replace(
        ours,
        engine=entry.engine,
        engine_version=entry.version,
        form=entry.form,
        aggregator=found.aggregator,
        options=entry.options,
        stream=order if ours.stream else "",
        seed=entry.seed if known else 0,
        features=found.features,
        columns=tuple(columns.get(name, (name,)) for name in found.features),
        raw=found.raw,
        baseline=found.baseline,
        y_permuted=np.empty(0),  # ours was drawn otherwise
        supplied_by=entry.package,
    )


def _as_effects(
    entry: SuppliedSection, found: Curves, ours: Sequence[Effect]
) -> Iterator[Effect]:
    """Yield supplied curves, each as an answer to what ours of its feature answers."""
    for effect in ours:
        if effect.feature in found:
            grid, values = found[effect.feature]
            options = {name: entry.options[name] for name in effect.options}
            kind = float if effect.kind == "number" else object
            yield replace(
                effect,
                engine=entry.engine,
                engine_version=entry.version,
                options=options,
                seed=entry.seed or 0,
                grid=grid.astype(kind),
                values=values,
                supplied_by=entry.package,
            )


def _twin(
    journal: Journal,
    model: FittedModel,
    train: Dataset | None,
    test: Dataset,
    us: EngineInfo,
    config: AuditConfig,
    theirs: Importance,
) -> None:
    """Measure what was supplied once more in its draws, where we have not yet."""
    own = [r for r in journal.importances if r.engine == OURS]
    alike = [
        r
        for r in own
        if (question_of(r), measure_of(r)) == (question_of(theirs), measure_of(theirs))
    ]
    draws = (theirs.stream, theirs.seed)
    done = any((record.stream, record.seed) == draws for record in alike)
    if not alike or done or theirs.stream in ("", UNKNOWN):
        return
    section = next(
        s for s in config.importance if (s.method, s.of) == (theirs.method, theirs.of)
    )
    section = replace(section, form=theirs.form, options=theirs.options)
    groups: Any = config.groups
    ask = partial(
        measure.importances,
        model.judged_by((theirs.loss,) if theirs.loss else model.losses),
        measure.rows_for(section, train, test, groups=groups),
        section,
        us,
        seed=theirs.seed,
        stream=theirs.stream,
    )
    question = f"{theirs.method} in the draws of {theirs.engine}"
    answer, _ = journal.guarded(model.name, question, ask)
    journal.importances += [
        r for r in answer or () if r.positive_class == theirs.positive_class
    ]
