"""One entry of the configuration for one model: the results of every engine it names.

Not: the order of the entries (`audit`), or the computation of one engine (`measure`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..assess import checks
from ..assess.segments import importance_rows
from ..config.load import ImportanceSection
from ..config.questions import seed_for
from ..engines import ENGINES, REFUSED_LOSSES, agreement
from ..methods.importance import METHODS
from ..methods.importance.method_result import Kept, MethodResult
from ..methods.trees.routes import reporting_routes
from ..records.dataset_and_model import FittedModel
from ..records.extensions import is_in_force
from ..records.importance_record import Effect, Importance
from ..records.ranking import OURS, is_marginal
from . import measure
from .journal import Journal
from .limits import describe_repeats
from .measure import Question
from .steps import Run
from .steps.convergence import add_convergence
from .steps.curves import curves_of, is_handed_curves
from .steps.first_pairs import select_pairs
from .steps.paired_tests import (
    add_engine_tests,
    add_paired_tests,
    row_tests_for,
    select_test,
)
from .steps.permuted_targets import with_target
from .steps.resampled_rows import add_row_intervals, add_stability
from .steps.shuffled_targets import add_significance

NOT_IN_R = {
    "class": "class that predict names",
    "score": "decision function of the model",
}
"""By scale, the quantity that a loss measures and that engines do not support."""


def answer_entry(
    run: Run, entry: ImportanceSection, model: FittedModel | None, share: float
) -> None:
    """Compute one entry for one model with every engine, ours first.

    For an R engine that draws, ours is also computed in its draw order. Under a time
    limit, permutation may use this share of the remaining time, and keeps its completed
    repeats. Other methods have no partial results, and run to their end.
    """
    journal, config = run.journal, run.config
    rows = measure.rows_for(entry, run.train, run.test, groups=config.groups)
    name = model.name if model is not None else ""
    seed = seed_for(entry, config.seed, name)
    choose = partial(select_pairs, model, rows, entry, seed=seed)
    choice, _ = journal.guarded(name, "the choice of pairs", choose)
    if choice is None:
        return
    rows, left_out = choice
    journal.findings += left_out
    question = Question(model, rows, entry, run.engines[OURS])
    primary, test = measure.primary_stream(entry), select_test(entry, config)
    keep: list[Kept] = []
    if config.stability.row_resamples:
        keep.append("row_terms")
    if test:
        keep.append("paired_losses")
    segments = [each for each in run.segments if each.is_judged]
    if rows.split != run.test.split or not is_marginal(entry):
        segments = []
    is_cut = entry.method == "permutation" and entry.options.get("draws") != "exact"
    ours, _, result = _compute(
        journal,
        question,
        share if is_cut else 1.0,
        seed=seed,
        stream=primary,
        keep=keep,
        segments=[segment.rows for segment in segments],
    )
    numbered = _numbered(journal, ours)
    cut = describe_repeats(numbered[0][1]) if numbered else None
    if cut:
        journal.findings.append(cut)
    for _, answer in numbered:
        if is_marginal(answer):
            journal.check(
                "leak",
                checks.importances.question(answer),
                run.limits("leak_sign"),
                importance=answer,
                constant=journal.of_loss(answer, "constant"),
            )
    if result is not None and result.segment_losses is not None:
        for record, answer in numbered:
            journal.rows["segment_importances"] += importance_rows(
                answer, result.segment_losses, segments, record=record
            )
    if result is not None:
        add_convergence(journal, numbered, question)
    if numbered and result is not None:
        if result.row_terms is not None:
            add_row_intervals(journal, numbered, result.row_terms, config)
        if config.stability.resamples:
            add_stability(journal, numbered, question, config)
        if test:
            add_paired_tests(journal, numbered, result.paired_losses, test, config)
        elif config.significance.shuffles:
            add_significance(journal, numbered, question, config)
    if cut:
        options = {**entry.options, "n_repeats": numbered[0][1].n_repeats}
        question = replace(question, section=replace(question.section, options=options))
    for name in entry.engines:
        info = run.engines[name]
        of_engine, refused = _with_losses_of_engine(replace(question, engine=info))
        unknown = [a for _, a in numbered if a.loss in refused]
        missing = [agreement.not_compared(a, name, refused[a.loss]) for a in unknown]
        asked = [a for a in ours if a not in unknown]
        answers: tuple[Importance | Effect, ...] = ()
        row_tests = row_tests_for(entry, config)
        reason = info.reason
        is_left = of_engine.model is None or not refused or of_engine.model.losses
        if info.available and is_left:
            order = measure.stream_of(entry, info)
            answers, reason, _ = _compute(
                journal, of_engine, seed=seed, stream=order, row_tests=row_tests
            )
        if not answers:
            missing += [agreement.not_compared(a, name, reason) for a in asked]
        journal.rows["agreement"] += missing
        if not answers:
            continue
        if row_tests is not None:
            of_answers = _numbered(journal, answers)
            add_engine_tests(journal, of_answers, row_tests, test, config)
        if measure.wants_run_beside(entry, rows, info, primary):
            beside = replace(of_engine, engine=question.engine)
            is_tested = row_tests is not None and row_tests.tables
            keep = ["paired_losses"] if is_tested else []
            answers, _, result = _compute(
                journal, beside, seed=seed, stream=info.stream, keep=keep
            )
            if is_tested:
                of_answers = _numbered(journal, answers)
                pairs = result.paired_losses if result else None
                add_paired_tests(journal, of_answers, pairs, test, config)


def _numbered(
    journal: Journal, answers: Sequence[Importance | Effect]
) -> list[tuple[int, Importance]]:
    """Return the last results that are importances, with their index among all."""
    importances = [answer for answer in answers if isinstance(answer, Importance)]
    first = len(journal.importances) - len(importances)
    return [*enumerate(importances, start=first)]


def _with_losses_of_engine(question: Question) -> tuple[Question, dict[str, str]]:
    """Return a question restricted to the losses of its engine; refusals with reasons.

    R supports neither user-defined losses nor losses that do not use probabilities. If
    an engine supports none of the losses, they are kept, and the engine refuses them
    itself.
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


def _compute(
    journal: Journal,
    question: Question,
    share: float = 1.0,
    *,
    seed: int,
    stream: str,
    **supplied: Any,
) -> tuple[tuple[Importance | Effect, ...], str, MethodResult | None]:
    """Compute one question with its engine; return results, or a reason, and extras.

    The method may use this share of the remaining time. Curves are computed first if
    the importance is derived from them; some engines have the curves only. `supplied`
    is passed to the method, whose full return value is the third value.
    """
    model, rows, entry = question.model, question.rows, question.section
    engine = question.engine.name
    table = ENGINES[engine]
    method = entry.method.replace("_", " ")
    if is_in_force("method", entry.method):
        method = f"the method {entry.method!r}"
    label = f"{method} of {entry.of} by {'Python' if engine == OURS else engine}"
    curves: tuple[Effect, ...] = ()
    leaves: checks.Leaves = {}
    with reporting_routes(partial(journal.add_route, entry)):
        if measure.curve_of(entry) in table["effects"]:
            curves, reason = curves_of(journal, question, label, seed=seed)
            lacks = not curves and is_handed_curves(entry)
            if lacks or entry.method not in table["importance"]:
                return curves, reason, None
        call = partial(
            measure.answered,
            question,
            seed=seed,
            stream=stream,
            curves=measure.as_curves(curves),
            on_curve=partial(journal.add_leaves, leaves),
            **supplied,
        )
        with journal.clock.within(share):
            answered, reason = journal.guarded(question.subject, label, call, engine)
        answer, result = answered or ((), None)
        if answer and model is not None and stream == measure.primary_stream(entry):
            answer = with_target(journal, answer, model, rows)
    journal.add_importances(answer)
    for importance in answer:
        subject = checks.importances.question_and_engine(importance)
        error = journal.of_loss(importance, "std_error")
        of_importance = checks.run(
            "importance", subject, importance=importance, data=rows, error=error
        )
        because = measure.because_of_levels(of_importance, importance, curves)
        journal.add_checks(because)
        if model is not None and engine == OURS:
            # All classes share one ensemble.
            of_all = checks.importances.question(replace(importance, positive_class=""))
            journal.check(
                "ensemble", of_all, importance=importance, model=model, data=rows
            )
        journal.check("leaves", subject, importance=importance, leaves=leaves)
    return answer, reason, result
