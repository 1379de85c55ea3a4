"""Comparison of the engines: every pair of results for the same question.

Not: the comparison of two results, which is `agreement`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...config.settings import ChecksSection
from ...engines import agreement
from ...engines.agreement.circumstances import NEWER, Note
from ...engines.known_defects import Defect, defects_for, ties_differ
from ...methods.importance.permutation_draws import BASELINE, DRAWS
from ...methods.importance.permuted_predictions import answers
from ...models.r_models import draws_numbers
from ...records.check_answers import VERDICTS
from ...records.dataset_and_model import Floats
from ...records.frames import Row
from . import Run
from .repeat_run import SecondRun, settle

DRAWS_IN_PREDICT = Note("", "", "PRED_RNG")
JUDGED = ("replayed", "equivalent", "disagrees")
"""Verdicts of pairs whose differences were all compared with a band."""


class PredictionFacts(NamedTuple):
    """Facts about the predictions behind both sides of a comparison.

    Attributes
    ----------
    gap : float
        Relative difference of the predictions between two calls or between Python and
        R; 0 if unknown.
    in_r : ndarray or None
        The predictions that R receives.
    draws : int
        Number of random numbers that `predict` takes from R's stream.
    """

    gap: float = 0.0
    in_r: Floats | None = None
    draws: int = 0


def compare_all(
    run: Run,
    *,
    predictions: Mapping[str, PredictionFacts],
    versions: Mapping[str, str],
) -> None:
    """Add a verdict for each pair, and a finding for verdicts that need one.

    The frame `agreement` already has rows for results without a counterpart. If noise
    may explain a difference, both sides are computed a second time.

    Parameters
    ----------
    run : Run
        Its configuration has the limits for resolution, rank shift and top_k.
    predictions : mapping of str to PredictionFacts
        By model.
    versions : mapping of str to str
        Versions of the R packages, for their known defects.
    """
    journal, limits, second = run.journal, run.config.checks, SecondRun(run=run)
    judge = partial(
        agreement.compare,
        resolution=limits.resolution,
        max_rank_shift=limits.max_rank_shift,
        top_k=limits.top_k,
    )
    both: list[tuple[Any, Any]] = [
        *agreement.pairs(journal.importances),
        *agreement.pairs(journal.effects),
    ]
    verdicts = []
    for a, b in both:
        facts = predictions.get(a.model, PredictionFacts())
        both_engines = dict.fromkeys((a.engine, b.engine))
        infos = [run.engines[name] for name in both_engines if name in run.engines]
        notes = tuple(  # on versions newer than any tested one
            Note(f"{info.name} {info.version}", info.reason, NEWER)
            for info in infos
            if info.available and info.reason
        )
        if facts.draws:
            notes += (DRAWS_IN_PREDICT,)
        asked_here = not (a.is_supplied or b.is_supplied)
        of_pair = {"prediction_gap": facts.gap, "first_repeats": asked_here}
        if facts.in_r is not None:
            finite = facts.in_r[np.isfinite(facts.in_r)]
            of_pair["largest_prediction"] = float(np.abs(finite).max(initial=0.0))
        touches = (*_faults((a, b), versions, facts.in_r), *notes)
        verdict = judge(a, b, touches=touches, **of_pair)
        is_unexplained = verdict[0]["cause"] == "not explained"
        if not asked_here and is_unexplained and _draws(run, (a, b)):
            # With R's own predict, DALEX and vip draw different numbers after it.
            notes += (DRAWS_IN_PREDICT,)
            touches += (DRAWS_IN_PREDICT,)
            verdict = judge(a, b, touches=touches, **of_pair)
        tied = next(_tied_when_permuted(run, (a, b), *verdict), None)
        if tied is not None:
            touches = (*_faults((a, b), versions, tied), *notes)
            verdict = judge(a, b, touches=touches, **of_pair)
        verdicts.append(verdict)
    try:
        for place, (row, differences) in enumerate(verdicts):
            if second.wants(row):
                verdicts[place] = settle(second, both[place], row, differences)
    finally:  # the first verdicts are kept even after an interruption
        every = journal.rows["agreement"]
        every += [row for row, _ in verdicts]
        journal.rows["disagreements"] += [row for _, own in verdicts for row in own]
        journal.rows["checks"] += pair_rows(every, limits)
        journal.findings += agreement.findings_of(every)


def _faults(
    pair: tuple[Any, Any], versions: Mapping[str, str], predictions: Floats | None
) -> list[Defect]:
    """Return the known defects that affect either side of a pair."""
    defects = partial(defects_for, versions=versions, predictions=predictions)
    return [defect for record in pair for defect in defects(record)]


def _draws(run: Run, pair: tuple[Any, Any]) -> bool:
    """Return whether a pair is of drawn numbers, and predict in R draws in between."""
    if not all(record.stream for record in pair):
        return False
    models = (model for model in run.models if model.name == pair[0].model)
    return any(draws_numbers(model, run.test) for model in models)


def _tied_when_permuted(
    run: Run, pair: tuple[Any, Any], row: Row, outside: Sequence[Row]
) -> Iterator[Floats]:
    """Yield predictions of permuted rows whose ties differ between DALEX and our AUC.

    Only features that differ are examined, in the draws of DALEX: a tie that arises in
    one permutation changes an AUC by half a pair, and is an error of neither side.
    """
    if (row["method"], row["loss"]) != ("permutation", "one_minus_auc"):
        return
    features = {one["feature"] for one in outside if not one["inside"]}
    models = [model for model in run.models if model.name == row["model"]]
    for record in pair:
        is_of_dalex = "DALEX" in (record.engine, record.supplied_by)
        if not (features and models and is_of_dalex and record.stream == "DALEX"):
            continue
        names, n_rows = record.features, record.options.get("n_rows")
        rows = run.test.with_groups(dict(zip(names, record.columns, strict=True)))
        drawn = DRAWS["DALEX"](
            record.seed, names, rows.n_samples, record.n_repeats, n_rows
        )
        asked = (
            draw
            for draw in drawn
            if draw.what == BASELINE
            or (draw.what >= 0 and names[draw.what] in features)
        )
        for *_, prediction in answers(models[0], rows, asked):
            if ties_differ(prediction):
                yield prediction


def pair_rows(
    pairs: Iterable[dict[str, Any]], limits: ChecksSection
) -> Iterator[dict[str, Any]]:
    """Yield the checks of each pair, as rows of ``AuditResult.checks``.

    Parameters
    ----------
    pairs : iterable of dict
        Rows of ``AuditResult.agreement``.
    limits : ChecksSection
        States whether the limit of a rank shift is the default.

    Yields
    ------
    dict
        "disagreement": number of values outside the band, with limit 0; "not run" if no
        difference was judged. "rank_shift": the largest shift, for pairs with ranks.
    """
    is_default = limits.max_rank_shift == ChecksSection().max_rank_shift
    set_by = "default" if is_default else "[checks] max_rank_shift"
    for row in pairs:
        verdicts = {f.check: VERDICTS[f.severity] for f in agreement.findings_of([row])}
        is_judged = row["verdict"] in JUDGED
        yield {
            "check": "disagreement",
            "subject": agreement.subject_of(row),
            "observed": float(row["n_outside"]) if is_judged else row["verdict"],
            "threshold": 0.0,
            "set_by": "definition",
            "verdict": verdicts.get("disagreement", "pass") if is_judged else "not run",
        }
        if not math.isnan(row["max_rank_shift"]):
            yield {
                "check": "rank_shift",
                "subject": agreement.subject_of(row),
                "observed": float(row["max_rank_shift"]),
                "threshold": float(row["rank_shift_limit"]),
                "set_by": set_by,
                "verdict": verdicts.get("rank_shift", "pass"),
            }
