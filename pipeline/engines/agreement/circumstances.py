"""Differences of two records in their runs: draws, repeats, predictions, known defects.

Not: differences of definition, which `reasons.differences` reads from their cards.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ...records.importance_record import UNKNOWN_SEED, Effect, Importance
from ...records.ranking import OURS
from ..known_defects import Defect
from .numbers import Gaps
from .reasons import Why, because

FEWEST_DRAWS = 5  # fewer estimate their spread too poorly
SAME_DATA = 1e-9  # with a larger difference of predictions, the data differ
NEWER = "NEWER_VERSION"
"""The effect of a package newer than any tested version: a note, not a defect."""
BROUGHT = ("TIE_MERGE", "TEXT_ROUNDING", "PRED_RNG")
"""Effects that are reasons themselves: no draw order of ours reproduces them."""
ON_ONE_SIDE = ("on one side", "not on the other")
NOT_REPLAYED = {
    *BROUGHT,
    *("PERM_SCHEME (equal in law)", "SHARED_SHUFFLE", "SUBSAMPLE (fresh)"),
}
"""Codes under which equal streams do not imply equal repeats."""


class Scheme(NamedTuple):
    """Properties of a scheme of draws besides the draws themselves."""

    permuted: str = "the columns asked"
    shuffles: str = "one column"
    baseline_rows: str = "the rows of the repeat"


SCHEMES = {
    "vip-0.4": Scheme(baseline_rows="all rows"),
    "iml": Scheme(permuted="the target and all other columns"),
    "scikit-learn": Scheme(shuffles="every column", baseline_rows="all rows"),
}
"""Streams that differ from ours; baselines differ only if n_rows is set."""


APART = {"xplainfi"}
"""Engines that permute the columns of a group one by one, in any stream."""


class Note(NamedTuple):
    """A circumstance of a pair that is not a defect.

    Attributes
    ----------
    id, text : str
        Its name, empty if it has none, and its text in the report.
    effect : str
        The resulting reason code.
    """

    id: str
    text: str
    effect: str


Touch: TypeAlias = Defect | Note
"""A circumstance of a pair: a known defect, or a note such as an untested version."""


def circumstances(
    a: Importance | Effect,
    b: Importance | Effect,
    prediction_gap: float,
    touches: Sequence[Touch],
) -> Why:
    """Return the reasons that come from the runs, not from the definitions."""
    why: Why = []
    for touch in touches:
        if touch.effect == NEWER:
            why.append(because(NEWER, touch.text))
        elif touch.id:
            why.append(because("UPSTREAM_DEFECT", touch.id, touch.text))
    effects = dict.fromkeys(touch.effect for touch in touches)
    why += [because(code, *ON_ONE_SIDE) for code in effects if code in BROUGHT]
    if prediction_gap != 0:
        why.append(because("PREDICTIONS", f"{prediction_gap:.1e}"))
    if OURS not in (a.engine, b.engine) and a.engine != b.engine:
        why.append(because("REFERENCES", a.engine, b.engine))
    streams = [draws(a), draws(b)]
    if streams[0] != streams[1]:
        descriptions = [f"{d[0]} with {d[1]}" if d else "none" for d in streams]
        one, other = streams
        if one and other and one[1] == other[1]:
            descriptions = [one[0], f"{other[0]}, both with {one[1]}"]
        why.append(because("STREAM", *descriptions))
    if isinstance(a, Importance) and isinstance(b, Importance):
        is_drawn = bool(a.stream and b.stream)
        repeats = [side.n_repeats for side in (a, b) if is_drawn]
        if len(set(repeats)) > 1:
            why.append(because("REPEATS", *repeats))
        why += _groups_differ(a, b)
        why += _schemes_differ(a, b) if is_drawn else []
    return why


def faults(touches: Sequence[Touch]) -> list[str]:
    """Return the names of the known defects among the circumstances of a pair."""
    return [touch.id for touch in touches if touch.id and touch.effect != NEWER]


def draws(record: Importance | Effect) -> tuple[str, str] | None:
    """Return the order of a record's draws and their seed, None if nothing is drawn.

    Draws with an unknown seed are equal to no other draws.
    """
    if record.stream == UNKNOWN_SEED:
        return record.engine, "an unknown seed"
    return (record.stream, f"seed {record.seed}") if record.stream else None


def draws_wanted(a: Importance, b: Importance, gaps: Gaps, resolution: float) -> Why:
    """Return the reason if the draws are too few for the verdict "equivalent"."""
    repeats = [side.n_repeats for side in (a, b)]
    drawn = [n for n, side in zip(repeats, (a, b), strict=True) if side.stream]
    if drawn and min(drawn) < FEWEST_DRAWS:
        return [because("REPEATS (few)", *repeats)]
    largest = max(np.abs(a.mean).max(), np.abs(b.mean).max())
    if gaps.inside.all() and gaps.band.max() > resolution * largest:
        return [because("REPEATS (wide)", _short(gaps.band.max()), _short(largest))]
    return []


def _short(value: float) -> str:
    """Return a number with two digits, with an exponent only if it is very short."""
    return f"{float(f'{value:.2g}'):g}"


def cause(
    shared: bool,
    redefined: Sequence[str],
    prediction_gap: float,
    touches: Sequence[Touch],
    *,
    stated: bool = False,
    drawn: bool = True,
) -> tuple[str, str]:
    """Return the cause of a difference that is not noise, and its evidence.

    `stated` draws depend on what the supplier of the numbers states, which may be
    wrong: the seed, if something is `drawn`.
    """
    if prediction_gap > SAME_DATA:
        return "data", f"predictions differ by {prediction_gap:.1e} relative"
    if redefined:
        return "definition", ", ".join(redefined)
    if faults(touches):
        return "known defect", ", ".join(faults(touches))
    newer = [touch.id for touch in touches if touch.effect == NEWER]
    if newer:
        return "newer version", ", ".join(newer)
    if shared and stated:
        how = "draws from the stated seed" if drawn else "nothing drawn"
        return "not explained", f"same definition, {how}"
    if shared:
        return "implementation", "same definition, same draws"
    return "not explained", "same definition, independent draws"


def _groups_differ(a: Importance, b: Importance) -> Why:
    """Return the reason if only one side permutes the columns of a group together."""
    is_of_columns = all(len(columns) == 1 for columns in (*a.columns, *b.columns))
    apart = [
        side.method == "permutation"
        and side.options.get("within", "none") == "none"
        and (side.supplied_by or side.engine) in APART
        for side in (a, b)
    ]
    if is_of_columns or apart[0] == apart[1]:
        return []
    sides = ("each by itself" if is_apart else "together" for is_apart in apart)
    return [because("GROUP_SEMANTICS (apart)", *sides)]


def _schemes_differ(a: Importance, b: Importance) -> Why:
    """Return the reasons from properties of the schemes other than the draws."""
    one, other = SCHEMES.get(a.stream, Scheme()), SCHEMES.get(b.stream, Scheme())
    why = []
    if one.permuted != other.permuted:
        sides = one.permuted, other.permuted
        why.append(because("PERM_SCHEME (equal in law)", *sides))
    if one.shuffles != other.shuffles:
        why.append(because("SHARED_SHUFFLE", one.shuffles, other.shuffles))
    subsampled = [side.options.get("n_rows") is not None for side in (a, b)]
    if one.baseline_rows != other.baseline_rows and any(subsampled):
        usual = Scheme().baseline_rows
        side = b if one.baseline_rows == usual else a
        why.append(because("BASELINE_ROWS", side.stream))
    return why
