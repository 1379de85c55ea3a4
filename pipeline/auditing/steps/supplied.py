"""Numbers that were computed elsewhere, added to the audit as one more engine.

They are marked as supplied, and compared with ours only if they are based on our
predictions. Not: the content of a file (`supplied_numbers`), or the comparison.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

import numpy as np

from ...config.load import AuditConfig
from ...config.questions import SuppliedSection
from ...engines import agreement, stream_of
from ...records.dataset_and_model import Form
from ...records.errors import DataError, listed, quote
from ...records.finding import Finding, cause_of
from ...records.importance_record import UNKNOWN_SEED, Effect, Importance
from ...records.ranking import OURS, measure_of, question_of
from .. import measure
from . import Run
from .supplied_numbers import Curves, Numbers, numbers_of

FileContent = Numbers | Curves
LOSSES_SHOW = ("difference", "ratio", "raw")
"""The forms that follow from losses: supplied losses are shown in the form of ours."""


def read_files(config: AuditConfig) -> tuple[FileContent, ...]:
    """Return the content of each file, in the order of the entries.

    Raises
    ------
    DataError
        All problems at once: files with another digest than stated, or with another
        content.
    """
    contents: list[FileContent] = []
    problems: list[str] = []
    for entry in config.supplied:
        try:
            _require_digest(entry, config.base)
            contents.append(numbers_of(entry, config.base))
        except DataError as error:
            problems.append(str(error))
    if problems:
        raise DataError("\n".join(problems))
    return tuple(contents)


def add_supplied(run: Run, entry: SuppliedSection, content: FileContent) -> None:
    """Add the numbers of one file to compare with ours, or the reason why not.

    If their draws can be replayed, ours are also computed in these.

    Parameters
    ----------
    run : Run
    entry : SuppliedSection
    content : Numbers or mapping
        The content of the file.
    """
    journal = run.journal
    measured = _importances(journal.importances, entry)
    curves = [
        effect
        for effect in journal.effects
        if effect.engine == OURS
        and (effect.model, effect.method) == (entry.model, entry.method)
        and effect.positive_class == entry.positive_class
    ]
    ours: list[Importance | Effect] = [*measured, *curves]
    if not ours:  # the reason was recorded where ours failed
        return
    digest = journal.digests.get(entry.model, "")
    reason = _other_points(content, curves)
    if digest != entry.predictions_sha256:
        reason = (
            "the predictions differ: the supplied ones have the digest "
            f"{entry.predictions_sha256[:16]}, ours {digest[:16] or 'none'}"
        )
    if reason:
        rows = [agreement.not_compared(a, entry.engine, reason) for a in ours]
        journal.rows["agreement"] += rows
        journal.findings.append(
            Finding(
                check="supplied_refused",
                severity="warning",
                subject=entry.model,
                message=f"The numbers in {quote(entry.file)} are not compared, because "
                f"{reason}.",
                remedy=REMEDY,
                measure=entry.file,
            )
        )
    elif isinstance(content, Numbers):
        for record in measured:
            theirs = _as_importance(entry, content, record)
            journal.add_importances([theirs])
            journal.add_importances(_in_their_draws(run, theirs))
    else:
        journal.effects += _as_effects(entry, content, curves)
    before = takewhile(lambda one: one is not entry, run.config.supplied)
    twin = next((one for one in before if one.sha256 == entry.sha256), None)
    if twin is not None and not reason:
        journal.findings.append(
            Finding(
                check="supplied_twice",
                severity="info",
                subject=entry.model,
                message=f"The files of {twin.engine} and {entry.engine}, "
                f"{quote(twin.file)} and {quote(entry.file)}, are equal byte for byte: "
                "they may be one measurement, not two.",
                remedy="Ask whoever supplied them whether each was measured by itself. "
                "If not, leave one of them out of [[supplied]].",
                measure=entry.file,
                cause=cause_of("supplied_twice", twin.engine, entry.engine),
            )
        )


REMEDY = (
    "Recompute on this run's predictions, whose digest importance-audit handoff "
    "states, or leave the entry out of [[supplied]]."
)


def _require_digest(entry: SuppliedSection, base: Path) -> None:
    """Refuse a file that is missing or has another digest than stated."""
    subject = f"[[supplied]] {quote(entry.file)}"
    try:
        digest = hashlib.sha256((base / entry.file).read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{subject} cannot be read: {error.strerror}.") from error
    if digest != entry.sha256:
        raise DataError(
            f"{subject} has the SHA-256 {digest}; the entry says {entry.sha256}. Ask "
            "whoever supplied the file, and correct one of the two."
        )


def _other_points(content: FileContent, ours: Sequence[Effect]) -> str:
    """Return why curves are refused whose points are text where ours are numbers."""
    if isinstance(content, Numbers):
        return ""
    words = []
    for effect in ours:
        if effect.kind == "number" and effect.feature in content:
            try:
                np.array(content[effect.feature][0], dtype=float)
            except ValueError:
                words.append(effect.feature)
    return f"the points of {listed(words)} are words, ours numbers" if words else ""


def _importances(
    importances: Sequence[Importance], entry: SuppliedSection
) -> list[Importance]:
    """Return our result for the question, preferably with its options and seed."""
    names = ("model", "method", "of", "loss", "positive_class")
    own = [
        record
        for record in importances
        if record.engine == OURS
        and all(getattr(record, name) == getattr(entry, name) for name in names)
    ]

    def others(record: Importance) -> tuple[bool, bool]:
        return dict(record.options) != dict(entry.options), record.seed != entry.seed

    return sorted(own, key=others)[:1]


def _as_importance(
    entry: SuppliedSection, numbers: Numbers, ours: Importance
) -> Importance:
    """Return supplied numbers as a result for the question of `ours`."""
    columns = dict(zip(ours.features, ours.columns, strict=True))
    has_seed = entry.seed is not None
    order = stream_of(entry.package, entry.version) if has_seed else UNKNOWN_SEED
    is_free = numbers.has_losses and ours.form in LOSSES_SHOW
    form: Form = ours.form if is_free else entry.form or ours.form
    return replace(
        ours,
        engine=entry.engine,
        engine_version=entry.version,
        form=form,
        aggregator=numbers.aggregator,
        options=entry.options,
        stream=order if ours.stream else "",
        seed=entry.seed if has_seed else 0,
        features=numbers.features,
        columns=tuple(columns.get(name, (name,)) for name in numbers.features),
        raw=numbers.raw,
        baseline=numbers.baseline,
        y_permuted=np.empty(0),  # ours are of different draws
        supplied_by=entry.package,
    )


def _as_effects(
    entry: SuppliedSection, curves: Curves, ours: Sequence[Effect]
) -> Iterator[Effect]:
    """Yield supplied curves, each in the place of ours for its feature."""
    for effect in ours:
        if effect.feature in curves:
            grid, values = curves[effect.feature]
            options = {name: entry.options[name] for name in effect.options}
            kind = float if effect.kind == "number" else object
            yield replace(
                effect,
                engine=entry.engine,
                engine_version=entry.version,
                options=options,
                seed=entry.seed or 0,
                grid=np.array(grid, dtype=kind),
                values=values,
                band_low=np.empty(0),
                band_high=np.empty(0),
                supplied_by=entry.package,
            )


def _in_their_draws(run: Run, theirs: Importance) -> tuple[Importance, ...]:
    """Return our result in the draws of supplied numbers, if not yet measured."""
    own = [r for r in run.journal.importances if r.engine == OURS]
    same_question = [
        r
        for r in own
        if (question_of(r), measure_of(r)) == (question_of(theirs), measure_of(theirs))
    ]
    draws = (theirs.stream, theirs.seed)
    done = any((record.stream, record.seed) == draws for record in same_question)
    if not same_question or done or theirs.stream in ("", UNKNOWN_SEED):
        return ()
    config = run.config
    (model,) = (model for model in run.models if model.name == theirs.model)
    about = (theirs.method, theirs.of, theirs.entry)
    section = next(s for s in config.importance if (s.method, s.of, s.name) == about)
    section = replace(section, form=theirs.form, options=theirs.options)
    (asked,) = model.asked_for((theirs.loss,)) if theirs.loss else (model,)
    question = measure.Question(
        asked,
        measure.rows_for(section, run.train, run.test, groups=config.groups),
        section,
        run.engines[OURS],
    )
    ask = partial(measure.importances, question, seed=theirs.seed, stream=theirs.stream)
    label = f"{theirs.method} in the draws of {theirs.engine}"
    answer, _ = run.journal.guarded(model.name, label, ask)
    return tuple(r for r in answer or () if r.positive_class == theirs.positive_class)
