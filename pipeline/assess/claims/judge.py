"""Verdicts on the claims of a paper, by the numbers of the audit: rows and findings.

A claim that does not reproduce is reported; no importance is measured again for it.
Not: the kinds of claims (`claims`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from ...methods.importance import METHODS
from ...models.performance import Judged
from ...records.dataset_and_model import FittedModel
from ...records.errors import AuditError, NotApplicable, in_short, listed, quote
from ...records.finding import Finding
from ...records.importance_record import Effect, Importance
from ...records.losses import LOSSES
from ...records.ranking import options_text
from .. import held_out_loss
from . import CLAIMS
from .curves import Curves
from .section import ClaimSection

WHO = ["entry", "method", "model", "ranked_by", "positive_class"]
REPRODUCED, NOT_REPRODUCED, NOT_COMPARABLE = VERDICTS = (
    *("reproduced", "not reproduced", "not comparable"),
)
Row = dict[str, Any]
T = TypeVar("T", Importance, Effect)


class Measured(NamedTuple):
    """The numbers that claims are compared with.

    Attributes
    ----------
    importances, effects, performance, top_k
        All that the audit measured.
    models : sequence of FittedModel
        For losses that only claims need: out of bag and in folds.
    seed : int
        Of the audit, for the folds.
    """

    importances: Sequence[Importance]
    effects: Sequence[Effect]
    performance: Sequence[Mapping[str, Any]]
    top_k: Sequence[Mapping[str, Any]]
    models: Sequence[FittedModel]
    seed: int


def judge(
    claims: Iterable[ClaimSection], measured: Measured
) -> tuple[list[Row], list[Finding]]:
    """Return one row per claim, and a finding for each that does not reproduce.

    Parameters
    ----------
    claims : iterable of ClaimSection
    measured : Measured

    Returns
    -------
    rows : list of dict
        Of frame `claims`; of a printed table, one per number and engine. ``paper`` is
        NaN if the paper prints no number, ``ours`` if there is none, ``decimals`` as in
        `_decimals`; ``loss`` is the measured one if a claim names none; ``reason`` is
        why a claim is not comparable.
    findings : list of Finding
        Without claims that are declared not comparable.
    """
    rows: list[Row] = []
    findings: list[Finding] = []
    for claim in chain.from_iterable(map(_each, claims)):
        answer, loss, reason = None, claim.loss or "", claim.not_comparable
        kind = CLAIMS[claim.kind]
        try:
            record = _RECORDS[kind.asks](claim, measured)
            answer = kind.function(record, claim.features, **claim.options)
            records = record if type(record) in (list, tuple) else (record,)
            losses = {getattr(each, "loss", "") for each in records}
            loss = loss or (losses.pop() if len(losses) == 1 else "")
        except AuditError as error:
            reason = reason or str(error)
        holds = answer is not None and answer.holds
        verdict = REPRODUCED if holds else NOT_REPRODUCED
        row = {
            "claim": claim.text,
            "source": claim.source,
            "kind": claim.kind,
            "method": claim.method or "",
            "model": claim.model,
            "of": claim.of,
            "loss": loss,
            "engine": claim.engine,
            "asked": answer.quantity if answer else "",
            "must": answer.requirement if answer else "",
            "paper": float("nan") if claim.paper is None else claim.paper,
            "ours": answer.ours if answer else float("nan"),
            "decimals": _decimals(claim),
            "verdict": NOT_COMPARABLE if reason else verdict,
            "reason": reason,
        }
        rows.append(row)
        findings += _findings(claim, row)
    return rows, findings


def _each(claim: ClaimSection) -> Iterator[ClaimSection]:
    """Yield a claim, or one for each number of a printed table and each engine."""
    if claim.kind != "printed":
        yield claim
        return
    for engine in claim.options["engines"]:
        for name, number in claim.options["numbers"].items():
            options = {**claim.options, "numbers": {name: number}}
            each = replace(claim, text=f"{claim.text}: {name}", options=options)
            yield replace(each, engine=engine, paper=number)


def _importance(claim: ClaimSection, measured: Measured) -> Importance:
    return _the_one(claim, _importances(claim, measured.importances))


def _of_each_model(claim: ClaimSection, measured: Measured) -> list[Importance]:
    by_model: dict[str, list[Importance]] = {}
    for record in _importances(claim, measured.importances):
        by_model.setdefault(record.model, []).append(record)
    of_all = [_the_one(claim, records) for records in by_model.values()]
    return of_all or [_the_one(claim, ())]


def _effect(claim: ClaimSection, measured: Measured) -> Effect:
    curve = METHODS[claim.method].curve if claim.method else ""
    return _the_one(
        claim,
        (
            record
            for record in measured.effects
            if (record.method, record.feature) == (curve, *claim.features)
            and _is_about(claim, record)
        ),
    )


def _importances(
    claim: ClaimSection, records: Iterable[Importance]
) -> Iterator[Importance]:
    for record in records:
        same = (record.method, record.of) == (claim.method, claim.of)
        loss = claim.loss in (None, record.loss)
        same_entry = claim.entry in ("", record.entry)
        if same and loss and same_entry and _is_about(claim, record):
            yield record


def _is_about(claim: ClaimSection, record: Importance | Effect) -> bool:
    return (
        record.engine == claim.engine
        and claim.model in ("", record.model)
        and claim.output in ("", record.positive_class)
    )


def _the_one(claim: ClaimSection, candidates: Iterable[T]) -> T:
    """Return the first record of one question; further ones are replays of it.

    Raises
    ------
    NotApplicable
        There is no record, or there are records of several questions.
    """
    records = list(candidates)
    if not records:
        raise NotApplicable(f"{claim.method!r} by {claim.engine} gave no number.")
    for name, key in (
        ("model", "model"),
        ("loss", "loss"),
        ("positive_class", "output"),
    ):
        names = list(dict.fromkeys(getattr(record, name, "") for record in records))
        if len(names) > 1:
            raise NotApplicable(
                f"The claim names no {key}, and there are {listed(names)}."
            )
    options = {options_text(record, with_repeats=False) for record in records}
    if len(options) > 1:
        raise NotApplicable(
            f"{claim.method!r} is measured with {len(options)} sets of options, so the "
            "claim is ambiguous. Name the entry."
        )
    return records[0]


def _performance(claim: ClaimSection, measured: Measured) -> Judged:
    if claim.options["split"] == "out_of_bag":
        model = _model(claim, measured.models)
        return held_out_loss.out_of_bag(model, _loss(claim, model, measured))
    rows = [
        row
        for row in measured.performance
        if row["split"] == claim.options["split"]
        and claim.model in ("", row["model"])
        and claim.loss in (None, row["loss"])
    ]
    if len(rows) != 1:
        raise NotApplicable(
            "The claim must be about one model and loss; "
            f"{len(rows)} were measured on the {claim.options['split']} rows."
        )
    (row,) = rows
    return Judged(float(row["value"]), float(row["constant"]), row["loss"])


def _in_folds(claim: ClaimSection, measured: Measured) -> Judged:
    model = _model(claim, measured.models)
    cuts = {name: claim.options[name] for name in ("folds", "repeats")}
    loss = _loss(claim, model, measured)
    return held_out_loss.in_folds(model, loss, seed=measured.seed, **cuts)


def _model(claim: ClaimSection, models: Sequence[FittedModel]) -> FittedModel:
    """Return the model of a claim, which names it unless there is only one."""
    candidates = [model for model in models if claim.model in ("", model.name)]
    if len(candidates) != 1:
        names = listed(model.name for model in models)
        raise NotApplicable(f"The claim names no model, and there are {names}.")
    return candidates[0]


def _loss(claim: ClaimSection, model: FittedModel, measured: Measured) -> str:
    """Return the loss of a claim, by default that of the model in the audit.

    Raises
    ------
    NotApplicable
        The model has several losses, or the loss is not one for its task.
    """
    rows = (row for row in measured.performance if row["model"] == model.name)
    candidates = [row["loss"] for row in rows] or model.losses
    losses = tuple(dict.fromkeys([claim.loss] if claim.loss else candidates))
    if len(losses) > 1:
        raise NotApplicable(f"The claim names no loss, and there are {listed(losses)}.")
    if model.task not in LOSSES[losses[0]].tasks:
        raise NotApplicable(
            f"{quote(losses[0])} is not a loss for task {model.task!r}."
        )
    return losses[0]


def _two(claim: ClaimSection, measured: Measured) -> tuple[Importance, Importance]:
    """Return both importances; the loss is not required of another method."""
    method = claim.options["other_method"] or claim.method
    is_of_data = method is not None and METHODS[method].asks == "data"
    model = "" if is_of_data else claim.options["other"] or claim.model
    loss = claim.loss if method == claim.method else None
    entry = claim.entry if method == claim.method else ""
    other = replace(claim, method=method, model=model, loss=loss, entry=entry)
    return _importance(claim, measured), _importance(other, measured)


def _curves(claim: ClaimSection, measured: Measured) -> Curves:
    """Return the error curve of the ranking of a claim, and the best of all."""
    columns = [*WHO, "judge", "protocol", "k", "fold", "value"]
    rows = pd.DataFrame(list(measured.top_k), columns=columns)
    for key in ("judge", "protocol"):
        rows = rows[rows[key] == claim.options[key]]
    own = rows[rows["method"] == claim.method]
    for key, name in (("model", claim.model), ("positive_class", claim.output)):
        own = own[own[key] == name] if name else own
    own = own[own["ranked_by"] == claim.loss] if claim.loss else own
    who = own[WHO].drop_duplicates()
    if len(who) != 1:
        raise NotApplicable(
            "The claim must be about one ranking; [top_k] has "
            f"{len(who)} for {quote(claim.options['judge'])} under "
            f"{quote(claim.options['protocol'])}."
        )
    best = rows.groupby([*WHO, "k"])["value"].mean().groupby("k").min()
    means = own.groupby("k")["value"].mean()
    tables = (
        part.pivot_table("value", index="fold", columns="k", aggfunc="min").to_numpy()
        for part in (own, rows)
    )
    of_rounds, best_of_rounds = (table[:, : len(means)] for table in tables)
    best_means = best.to_numpy()[: len(means)]
    return Curves(means.to_numpy(), best_means, of_rounds, best_of_rounds)


_RECORDS: dict[str, Callable[[ClaimSection, Measured], Any]] = {
    "importance": _importance,
    "importances": _of_each_model,
    "two": _two,
    "effect": _effect,
    "performance": _performance,
    "folds": _in_folds,
    "top_k": _curves,
}


def _decimals(claim: ClaimSection) -> float:
    """Return the number of decimals to show, NaN if four significant digits suffice.

    It is an option of the claim, or the largest number of decimals whose last unit is
    at least the tolerance.
    """
    decimals = claim.options.get("decimals")
    tolerance = claim.options.get("tolerance")
    if decimals is None and tolerance and claim.paper:
        certain = math.floor(-math.log10(tolerance))
        default_decimals = 3 - math.floor(math.log10(abs(claim.paper)))
        decimals = certain if certain > default_decimals else None
    return float("nan" if decimals is None else decimals)


def _findings(claim: ClaimSection, row: Row) -> Iterator[Finding]:
    """Yield the finding of a claim that does not reproduce."""
    if row["verdict"] == REPRODUCED or claim.not_comparable:
        return
    source = f" ({in_short(claim.source)})" if claim.source else ""
    text = f"{in_short(claim.text).rstrip('.')}{source}."
    if row["verdict"] == NOT_COMPARABLE:
        check, message = "claim_unanswered", f"{text} {row['reason']}"
    else:
        check, found = "claim_not_reproduced", f"{row['asked']} is {row['ours']:.4g}"
        message = f"{text} Found: {found}; claimed: {row['must']}."
    numbers = {name: row[name] for name in ("ours", "paper")}
    # Several claims may have one text: the measure tells them apart.
    keys = (claim.method, claim.of, claim.entry, claim.loss, claim.engine, claim.output)
    options = (f"{key} = {value!r}" for key, value in sorted(claim.options.items()))
    parts = (claim.text, claim.kind, *keys, *claim.features, *options)
    yield Finding(
        check=check,
        severity=claim.severity,
        subject=claim.model or "the data",
        message=message,
        evidence={name: n for name, n in numbers.items() if n == n},
        measure=", ".join(str(part) for part in parts if part),
    )
