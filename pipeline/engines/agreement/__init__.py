"""The agreement of two records: verdict, reasons, numbers. Not: calling an engine.

A verdict is the highest level that every reason allows and the numbers reach: replayed,
equivalent, comparable; "disagrees" if the numbers differ by more than the definitions
allow, "not compared" if there is nothing to compare.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ...methods.importance.permutation_draws import REPEAT_BY_REPEAT
from ...records.dataset_and_model import Floats
from ...records.extensions import is_in_force
from ...records.finding import Finding
from ...records.frames import FRAMES
from ...records.importance_record import Effect, Importance
from ...records.ranking import OURS, distinguishing_options, options_text
from . import numbers
from .circumstances import (
    NOT_REPLAYED,
    Touch,
    cause,
    circumstances,
    draws,
    draws_wanted,
)
from .reasons import (
    REDEFINING,
    Why,
    because,
    best,
    codes_of,
    count_outside,
    gravest_first,
    text,
)
from .sides import side_by_side

Row: TypeAlias = dict[str, Any]
Record = TypeVar("Record", Importance, Effect)

NAN = float("nan")

AGREEMENT = FRAMES["agreement"].columns
DISAGREEMENTS = FRAMES["disagreements"].columns
WITHOUT_REPLAY = {"iml"}  # streams that cannot be replayed
EXPLAINED = {"data", "known defect"}
SYSTEMATIC = {*EXPLAINED, "definition"}
REMEDIES = {
    "data": "Compare what both sides received: types, levels and column order.",
    "known defect": "Use a version without the defect.",
    "newer version": "Use a tested version, or check the new one against the "
    "definition first.",
    "implementation": "Report it, with this run, to the maintainers of both "
    "implementations.",
    "not explained": "Run it again with four times the repeats.",
}
ASK_AGAIN = (
    "Ask whoever supplied the numbers for the seed set immediately before the call, "
    "the rows and the options. Leave out a seed that is not known."
)

ASK_ABOUT_ROWS = (
    "Ask whoever supplied the numbers for the rows and the options. "
    "DALEX::model_profile averages over 100 rows drawn at random unless N = NULL; "
    "supply a profile of all rows."
)


@np.errstate(invalid="ignore")  # infinite losses: inf - inf is NaN, not measured
def compare(
    a: Record,
    b: Record,
    *,
    resolution: float,
    max_rank_shift: float,
    top_k: int,
    prediction_gap: float = 0.0,
    largest_prediction: float = 0.0,
    touches: Sequence[Touch] = (),
    first_repeats: bool = False,
) -> tuple[Row, list[Row]]:
    r"""Compare two importances, or two curves, of the same question.

    With equal definitions and equal draws, every repeat must satisfy
    :math:`|a - b| \le 10^{-9} \max(|a|, |b|, |L_0|)`, where :math:`L_0` is the
    baseline of either side; without baselines, as for curves, it is the largest value,
    or 1e-4 of the largest prediction if that is larger.
    With independent draws the means of *m* features must lie within

    .. math:: t_{1 - 0.005/m,\,\nu} \sqrt{s_a^2/B_a + s_b^2/B_b},

    :math:`\nu` by Welch. With different definitions only ranks are compared.

    Parameters
    ----------
    a, b : Importance or Effect
        Two records of one kind. If their forms differ, the side with known losses is
        converted to the form of the other.
    resolution : float
        Widest band of an equivalent pair, as a share of the largest |mean|.
    max_rank_shift : float
        Features that move further in rank get a row of their own.
    top_k : int
        Number of leading features for `top_k_overlap`.
    prediction_gap : float, default 0
        Largest relative difference between the predictions of the two sides.
    largest_prediction : float, default 0
        The size of the numbers that a curve averages; 0 if it is not known.
    touches : sequence of Touch
        Known defects that affect this pair, packages newer than any tested version, and
        whether `predict` draws random numbers.
    first_repeats : bool, default False
        Whether a side with fewer repeats has the first ones of the same draws and is
        compared with these: an audit short of time calls engines for fewer repeats.

    Returns
    -------
    row : dict
        The columns of AGREEMENT, NaN for meaningless numbers, and `supplied_by`, the
        packages of sides with supplied numbers.
    disagreements : list of dict
        The columns of DISAGREEMENTS, one row per feature outside its band or moved
        further than `max_rank_shift`; of a curve, its worst point.

    Raises
    ------
    TypeError
        If one is an importance and the other a curve.

    Warnings
    --------
    The band covers the draws only, not other rows or a refitted model. An error in the
    rows, the model or predict, which both sides share, cannot show.
    """
    left, right, why = side_by_side(a, b)
    why += circumstances(a, b, prediction_gap, touches)
    row = _identity(a, b) | {"rank_shift_limit": max_rank_shift}
    if best(why) == "not compared" or not left.features:
        return row | {"verdict": best(why), "reasons": text(why)}, []
    replayed = NOT_REPLAYED.isdisjoint(code for code, _ in why)
    same_draws = replayed and draws(a) == draws(b)
    if first_repeats and same_draws and a.stream in REPEAT_BY_REPEAT:
        left, right, why = _with_common_repeats(left, right, why)
    shared = same_draws and left.n_repeats == right.n_repeats
    redefined = [code for code, _ in why if code in REDEFINING]
    terms = largest_prediction if isinstance(a, Effect) else 0.0
    if redefined:
        gaps = numbers.unjudged(left)
    elif shared:
        gaps = numbers.repeat_gaps(left, right, terms)
    else:
        gaps = numbers.mean_gaps(left, right, terms)
        why += draws_wanted(left, right, gaps, resolution)
    ranks = numbers.ranks(left, right, gaps)
    stated = a.is_supplied or b.is_supplied
    explanation = cause(
        *(shared, redefined, prediction_gap, touches),
        stated=stated,
        drawn=bool(a.stream or b.stream),
    )
    row |= _judged(why, gaps, explanation[0]) | numbers.association(*ranks)
    if isinstance(a, Importance):
        row["top_k_overlap"] = numbers.top_k_overlap(*ranks, top_k)
        row["max_rank_shift"] = float(np.abs(ranks[1] - ranks[0]).max())
    return row, _points_outside(row, (left, right), gaps, ranks, explanation)


def not_compared(record: Importance | Effect, engine: str, reason: str) -> Row:
    """Return the row for a pair without numbers of an engine.

    Parameters
    ----------
    record : Importance or Effect
        Our record.
    engine : str
        The engine without numbers.
    reason : str
        A clause that completes "not compared, because …".
    """
    return _identity(record, record) | {"engine_b": engine, "reasons": reason}


def pairs(records: Iterable[Record]) -> list[tuple[Record, Record]]:
    """Return the pairs to compare: ours with each engine, then engines with each other.

    Our record is the one with the draws of the engine, otherwise one with its draw
    order; for supplied numbers, and if the order cannot be replayed, otherwise our
    first. If several entries ask the same question with different options, records with
    equal options are paired.
    """
    questions: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        identity = _identity(record, record)
        shared = tuple(identity[name] for name in AGREEMENT[:7])
        questions.setdefault(shared, []).append(record)
    comparisons = []
    for answers in questions.values():
        ours = [record for record in answers if record.engine == OURS]
        references = [record for record in answers if record.engine != OURS]
        for n, b in enumerate(references):
            same_order = [a for a in ours if a.stream == b.stream]
            same = [a for a in same_order if a.seed == b.seed or not b.stream]
            own = _with_options_of(b, same or same_order)
            is_replayed = not (
                b.is_supplied
                or b.stream in WITHOUT_REPLAY
                or is_in_force("engine", b.engine)
            )
            if not own and not is_replayed:
                own = _with_options_of(b, ours)[:1]
            others = [
                a
                for a in references[:n]
                if a.engine != b.engine
                # The packages may have measured different entries.
                and (a.is_supplied or b.is_supplied or _has_same_options(a, b))
            ]
            comparisons += [(a, b) for a in own + _with_options_of(b, others)]
    return sorted(comparisons, key=lambda pair: pair[0].engine != OURS)


def findings_of(rows: Iterable[Row]) -> tuple[Finding, ...]:
    """Return the findings about rows: disagreements and rank shifts."""
    findings = []
    for row in rows:
        if row["verdict"] == "disagrees":
            findings.append(_disagreement(row))
        if row["max_rank_shift"] > row["rank_shift_limit"]:
            findings.append(_rank_shift(row))
    return tuple(findings)


def _with_options_of(b: Record, candidates: list[Record]) -> list[Record]:
    """Return the candidates with the options of `b`, or all if none has them."""
    return [a for a in candidates if _has_same_options(a, b)] or candidates


def _has_same_options(a: Record, b: Record) -> bool:
    return bool(distinguishing_options(a) == distinguishing_options(b))


def _identity(a: Importance | Effect, b: Importance | Effect) -> Row:
    """Return a row that identifies a pair, with the verdict "not compared".

    `supplied_by`, of both sides, is for findings; the frame leaves it out.
    """
    streams = dict.fromkeys((a.stream, b.stream))
    return {
        "kind": "effect" if isinstance(a, Effect) else "importance",
        "model": a.model,
        "method": a.method,
        "of": getattr(a, "of", ""),
        "loss": getattr(a, "loss", ""),
        "positive_class": a.positive_class,
        "feature": getattr(a, "feature", ""),
        "engine_a": a.engine,
        "engine_b": b.engine,
        "stream": " / ".join(s or "none" for s in streams) if any(streams) else "",
        "verdict": "not compared",
        "reasons": "",
        **dict.fromkeys(AGREEMENT[12:17], NAN),
        "n_features": 0,
        "n_outside": 0,
        "cause": "",
        "rank_shift_limit": NAN,
        "options": options_text(a),
        "supplied_by": (a.supplied_by, b.supplied_by),
    }


def _with_common_repeats(
    a: Importance, b: Importance, why: Why
) -> tuple[Importance, Importance, Why]:
    """Return two sides of the same draws, cut to the repeats that both have."""
    fewest, most = sorted([a.n_repeats, b.n_repeats])
    if fewest == most:
        return a, b, why
    other = [reason for reason in why if reason[0] != "REPEATS"]
    first = because("REPEATS (first)", fewest, most)
    return a.first(fewest), b.first(fewest), [*other, first]


def _judged(why: Why, gaps: numbers.Gaps, cause: str) -> Row:
    """Return the verdict, its reasons and the largest difference."""
    outside = int((~gaps.inside).sum())
    why = gravest_first(why)
    verdict, reasons = str(best(why)), text(why)
    disagrees = outside > 0 and verdict != "comparable"
    if disagrees:
        count = count_outside(outside, len(gaps.inside), cause)
        verdict, reasons = "disagrees", text([count, *why])
    return {
        "verdict": verdict,
        "reasons": reasons,
        "max_relative_difference": float(gaps.relative.max()),
        "n_features": len(gaps.inside),
        "n_outside": outside,
        "cause": cause if disagrees else "",
    }


def _points_outside(
    row: Row,
    sides: tuple[Importance, Importance],
    gaps: numbers.Gaps,
    ranks: tuple[Floats, Floats],
    cause: tuple[str, str],
) -> list[Row]:
    """Return DISAGREEMENTS: features outside or moved; of a curve, its worst point."""
    shift = ranks[1] - ranks[0]
    places = np.flatnonzero(~gaps.inside | (np.abs(shift) > row["rank_shift_limit"]))
    is_curve = row["kind"] == "effect"
    if is_curve:
        outside = np.flatnonzero(~gaps.inside)
        places = outside[np.argsort(-gaps.relative[outside])][:1]
    rows = []
    for n in places.tolist():
        noise = gaps.inside[n] and cause[0] not in SYSTEMATIC
        kind, evidence = ("noise", "inside the band") if noise else cause
        point = sides[0].features[n]
        rows.append(
            {name: row[name] for name in DISAGREEMENTS[:7]}
            | {
                "feature": row["feature"] if is_curve else point,
                "value_a": float(sides[0].mean[n]),
                "value_b": float(sides[1].mean[n]),
                "difference": float(gaps.difference[n]),
                "band": float(gaps.band[n]),
                "inside": bool(gaps.inside[n]),
                "rank_a": NAN if is_curve else float(ranks[0][n]),
                "rank_b": NAN if is_curve else float(ranks[1][n]),
                "shift": NAN if is_curve else float(shift[n]),
                "cause": kind,
                "evidence": f"{evidence}, at {point}" if is_curve else evidence,
            }
        )
    return rows


def subject_of(row: Row) -> str:
    """Return the subject of a row: question, then engines."""
    question = [row[name] for name in AGREEMENT[1:7] if row[name]]
    return f"{', '.join(question)}: {row['engine_a']} and {row['engine_b']}"


def _options_of(row: Row) -> str:
    """Return the options of both sides without the number of repeats."""
    options = str(row["options"]).split(", ")
    return ", ".join(text for text in options if not text.startswith("n_repeats"))


def _engines_of(row: Row) -> tuple[str, ...]:
    """Return the packages of both sides, without ours."""
    sides = zip((row["engine_a"], row["engine_b"]), row["supplied_by"], strict=True)
    return tuple(package or engine for engine, package in sides if engine != OURS)


def _disagreement(row: Row) -> Finding:
    """Return the finding about a pair outside the limit of its definitions."""
    explained = row["cause"] in EXPLAINED
    numbers_of = ("n_features", "n_outside", "max_relative_difference")
    asks = row["cause"] == "not explained" and any(row["supplied_by"])
    ask = ASK_ABOUT_ROWS if row["kind"] == "effect" else ASK_AGAIN
    return Finding(
        check="disagreement",
        severity="warning" if explained else "failure",
        subject=subject_of(row),
        measure=_options_of(row),
        message=(
            f"{row['engine_a']} and {row['engine_b']} disagree: {row['n_outside']} of "
            f"{row['n_features']} values lie outside the limit (cause: "
            f"{row['cause']})."
        ),
        remedy=ask if asks else REMEDIES[row["cause"]],
        cause=row["cause"],
        engines=_engines_of(row),
        evidence={name: float(row[name]) for name in numbers_of},
    )


def _rank_shift(row: Row) -> Finding:
    """Return the finding about a feature with different ranks on the two sides."""
    shift, limit = row["max_rank_shift"], row["rank_shift_limit"]
    message = (
        f"A feature moves {shift:g} {'place' if shift == 1 else 'places'} between "
        f"{row['engine_a']} and {row['engine_b']}; the limit is {limit:g}."
    )
    remedy = "Read the two rankings side by side before acting on either."
    is_judged = not np.isnan(row["max_relative_difference"])
    is_drawn = "STREAM" in codes_of(row.get("reasons", ""))
    if is_judged and is_drawn and row["n_outside"] == 0:
        message += (
            " The draws are independent, and every difference lies inside its band: "
            "noise alone can explain the move."
        )
        remedy = "Read no order among these features, or raise n_repeats."
    return Finding(
        check="rank_shift",
        # An equivalent pair differs by its draws only, and so do its ranks.
        severity="info" if row["verdict"] == "equivalent" else "warning",
        subject=subject_of(row),
        measure=_options_of(row),
        message=message,
        remedy=remedy,
        evidence={"max_rank_shift": float(shift), "limit": float(limit)},
        engines=_engines_of(row),
    )
