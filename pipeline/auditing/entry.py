"""One entry of the configuration put to one model: every engine it names answers.

Not: the order of the entries (`audit`), nor what one engine computes (`measure`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..assess import checks
from ..assess.segments import importance_rows
from ..config.load import AuditConfig, ImportanceSection
from ..config.questions import seed_for
from ..engines import ENGINES, REFUSED_LOSSES, agreement
from ..engines.xplainfi import RowTests
from ..methods.importance import METHODS
from ..methods.importance.paired_losses import PairedLosses
from ..methods.importance.row_terms import RowTerms
from ..methods.importance.segment_losses import SegmentLosses
from ..methods.trees.routes import reporting_routes
from ..records.dataset_and_model import FittedModel
from ..records.extensions import is_in_force
from ..records.importance_record import Effect, Importance
from ..records.ranking import OURS
from . import measure
from .journal import Journal
from .limits import describe_repeats
from .measure import Question
from .steps import Inputs, Results, StepResult
from .steps.convergence import convergence
from .steps.curves import curves_of, is_handed_curves
from .steps.first_pairs import select_pairs
from .steps.paired_tests import (
    engine_tests_of,
    paired_tests_of,
    row_tests_for,
    select_test,
)
from .steps.permuted_targets import with_target
from .steps.resampled_rows import row_intervals_of, stability_of
from .steps.shuffled_targets import significance_of

NOT_IN_R = {
    "class": "class that predict names",
    "score": "decision function of the model",
}
"""By scale, what a loss is measured by that engines are not asked about."""


def answer_entry(
    journal: Journal,
    inputs: Inputs,
    entry: ImportanceSection,
    model: FittedModel | None,
    share: float,
) -> None:
    """Ask every engine of one entry about one model, our own first.

    An R engine that draws gets a run of ours beside it in its own draw order. Under a
    time limit permutation has this share of what is left, and keeps the repeats that it
    completes; other methods have no part of an answer to keep, and go on to the end.
    """
    config, groups = inputs.config, inputs.config.groups
    rows = measure.rows_for(entry, inputs.train, inputs.test, groups=groups)
    name = model.name if model is not None else ""
    seed = seed_for(entry, config.seed, name)
    choose = partial(select_pairs, model, rows, entry, seed=seed)
    choice, _ = journal.guarded(name, "the choice of pairs", choose)
    if choice is None:
        return
    rows, left_out = choice
    journal.add(StepResult(findings=left_out))
    question = Question(model, rows, entry, inputs.engines[OURS])
    primary = measure.primary_stream(entry)
    terms: list[RowTerms] = []
    row_losses: list[PairedLosses] = []
    hooks: dict[str, Any] = {}
    if config.stability.row_resamples:
        hooks["on_row_terms"] = terms.append
    if select_test(entry, config):
        hooks["on_paired_losses"] = row_losses.append
    segments = [each for each in inputs.segments if each.is_judged]
    of_segments: list[SegmentLosses] = []
    if segments and rows.split == inputs.test.split and measure.is_marginal(entry):
        hooks["segments"] = [segment.rows for segment in segments]
        hooks["on_segment_losses"] = of_segments.append
    is_cut = entry.method == "permutation" and entry.options.get("draws") != "exact"
    share = share if is_cut else 1.0
    ours, _ = _ask(journal, question, share, seed=seed, stream=primary, **hooks)
    importances = [a for a in ours if isinstance(a, Importance)]
    cut = describe_repeats(importances[0]) if importances else None
    journal.add(StepResult(findings=(cut,) if cut else ()))
    first = len(journal.importances) - len(importances)
    for of_rows in of_segments if importances else ():
        for k, answer in enumerate(importances):
            parts = importance_rows(answer, of_rows, segments, record=first + k)
            journal.add(StepResult(rows={"segment_importances": parts}))
    _judge_chance(journal, config, importances, question, terms, row_losses)
    if cut:
        question = _as_often(question, importances[0].n_repeats)
    for name in entry.engines:
        info = inputs.engines[name]
        of_engine, refused = _with_losses_of_engine(replace(question, engine=info))
        unknown = [a for a in ours if isinstance(a, Importance) and a.loss in refused]
        missing = [agreement.not_compared(a, name, refused[a.loss]) for a in unknown]
        asked = [a for a in ours if a not in unknown]
        answers: tuple[Importance | Effect, ...] = ()
        row_tests = row_tests_for(entry, config)
        reason = info.reason
        is_left = of_engine.model is None or not refused or of_engine.model.losses
        if info.available and is_left:
            order = measure.stream_of(entry, info)
            answers, reason = _ask(
                journal, of_engine, seed=seed, stream=order, row_tests=row_tests
            )
        if not answers:
            missing += [agreement.not_compared(a, name, reason) for a in asked]
        journal.add(StepResult(rows={"agreement": missing}))
        if not answers:
            continue
        if row_tests is not None:
            _add_tests(journal, config, entry, answers, engine_tests_of, row_tests)
        if measure.wants_run_beside(entry, rows, info, primary):
            beside = replace(of_engine, engine=question.engine)
            pairs: list[PairedLosses] = []
            is_tested = row_tests is not None and row_tests.tables
            hook: dict[str, Any] = (
                {"on_paired_losses": pairs.append} if is_tested else {}
            )
            answers, _ = _ask(journal, beside, seed=seed, stream=info.stream, **hook)
            if is_tested:
                _add_tests(journal, config, entry, answers, paired_tests_of, pairs)


def _add_tests(
    journal: Journal,
    config: AuditConfig,
    entry: ImportanceSection,
    answers: Sequence[Importance | Effect],
    tests_of: Callable[..., Results[None]],
    of_rows: RowTests | Sequence[PairedLosses],
) -> None:
    """Keep the p-values of the last answers to an entry, taken from `of_rows`."""
    importances = [a for a in answers if isinstance(a, Importance)]
    first = len(journal.importances) - len(importances)
    test = select_test(entry, config)
    p_values = tests_of(
        journal.guarded, importances, of_rows, test, config, first_record=first
    )
    journal.add_all(p_values)


def _with_losses_of_engine(question: Question) -> tuple[Question, dict[str, str]]:
    """Return a question with the losses that its engine has, and why it lacks others.

    R has none of those that are a user's own, and is not asked for losses that are not
    of probabilities. An engine that refuses all that are left is asked for them, and
    says so itself.
    """
    model, engine = question.model, question.engine.name
    is_of_losses = METHODS[question.section.method].unit == "loss"
    if model is None or not is_of_losses or is_in_force("engine", engine):
        return question, {}
    why = f"{engine} does not know this loss, which is a function of the audit's own."
    refused = {name: why for name in model.losses if is_in_force("loss", name)}
    if model.scale in NOT_IN_R:
        measured = f"this loss is measured by the {NOT_IN_R[model.scale]}"
        why = f"{engine} is given probabilities, and {measured}."
        refused = dict.fromkeys(model.losses, why)
    others = [name for name in model.losses if name not in refused]
    of_package = REFUSED_LOSSES[engine](others) if engine in REFUSED_LOSSES else {}
    if len(of_package) < len(others):
        refused |= of_package
    if not refused:
        return question, {}
    known = tuple(name for name in model.losses if name not in refused)
    return replace(question, model=model.with_losses(known)), refused


def _as_often(question: Question, n_repeats: int) -> Question:
    """Return the question with so many repeats."""
    section = question.section
    options = {**section.options, "n_repeats": n_repeats}
    return replace(question, section=replace(section, options=options))


def _judge_chance(
    journal: Journal,
    config: AuditConfig,
    answers: list[Importance],
    question: Question,
    terms: list[RowTerms],
    row_losses: list[PairedLosses],
) -> None:
    """Say how far our answers to one question, the last, rest on chance.

    `terms` holds what each row adds to them, and `row_losses` its losses without and
    with each feature, if the method can tell and they are needed.
    """
    first = len(journal.importances) - len(answers)
    by_repeats = convergence(answers, question.model, question.rows, first_record=first)
    journal.add_all(by_repeats)
    for of_rows in terms if answers else ():
        over_rows = row_intervals_of(
            journal.guarded,
            journal.add_checks,
            answers,
            of_rows,
            config,
            first_record=first,
        )
        journal.add_all(over_rows)
    if answers and config.stability.resamples:
        stability = stability_of(
            journal.guarded, answers, question, config, first_record=first
        )
        journal.add_all(stability)
    section = question.section
    if answers and select_test(section, config):
        _add_tests(journal, config, section, answers, paired_tests_of, row_losses)
    elif answers and config.significance.shuffles:
        p_values = significance_of(
            journal.guarded,
            answers,
            question,
            config,
            first_record=first,
            report_progress=journal.report_progress,
        )
        journal.add_all(p_values)


def _ask(
    journal: Journal,
    question: Question,
    share: float = 1.0,
    *,
    seed: int,
    stream: str,
    **hooks: Any,
) -> tuple[tuple[Importance | Effect, ...], str]:
    """Ask one question of its engine, keep the answer, or say why there is none.

    The method may take this share of the time that is left. The curves come first where
    the importance is taken from them; an engine that has the curves alone has answered.
    `hooks` are handed to the method.
    """
    with reporting_routes(partial(journal.add_route, question.section)):
        return _answers(journal, question, share, seed=seed, stream=stream, **hooks)


def _answers(
    journal: Journal,
    question: Question,
    share: float,
    *,
    seed: int,
    stream: str,
    **hooks: Any,
) -> tuple[tuple[Importance | Effect, ...], str]:
    """Do what `_ask` does."""
    model, rows, entry = question.model, question.rows, question.section
    engine = question.engine.name
    table = ENGINES[engine]
    method = entry.method.replace("_", " ")
    if is_in_force("method", entry.method):
        method = f"the method {entry.method!r}"
    label = f"{method} of {entry.of} by {engine}"
    curves: tuple[Effect, ...] = ()
    if measure.curve_of(entry) in table["effects"]:
        curves, reason = journal.add_all(
            curves_of(
                journal.guarded,
                question,
                label,
                seed=seed,
                effects=journal.effects,
                mean_rows=journal.rows["mean_predictions"],
                add_reason=journal.add_reason,
            )
        )
        lacks = not curves and is_handed_curves(entry)
        if lacks or entry.method not in table["importance"]:
            return curves, reason
    leaves: checks.Leaves = {}
    call = partial(
        measure.importances,
        question,
        seed=seed,
        stream=stream,
        curves=measure.as_curves(curves),
        on_curve=partial(journal.add_leaves, leaves),
        **hooks,
    )
    with journal.within(share):
        answer, reason = journal.guarded(question.subject, label, call, engine)
    if answer and model is not None and stream == measure.primary_stream(entry):
        target_rows = journal.rows["y_permuted"]
        permuted = with_target(
            journal.guarded, answer, model, rows, target_rows=target_rows
        )
        answer = journal.add_all(permuted)
    journal.add(StepResult(importances=answer or ()))
    for importance in answer or ():
        of_importance = checks.of_importance(importance, rows)
        because = measure.because_of_levels(of_importance, importance, curves)
        journal.add_checks(because)
        journal.add_checks(checks.of_ensemble(importance, model, rows))
        journal.add_checks(checks.of_leaves(importance, leaves))
    return answer or (), reason
