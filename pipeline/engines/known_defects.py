"""Faults of the R packages, what they touch, and what the report says about them.

Only those that can touch a number, or an answer, that the audit asks for. Each was
reproduced with the package; a fault that our arguments rule out (a default we always
override, an option we never set) is in docs/defects.md.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..records.dataset_and_model import Floats
from ..records.importance_record import Effect, Importance
from ..records.ranked_losses import ties

# Which engine each package works for.
ENGINES = {
    "vip": "vip",
    "DALEX": "DALEX",
    "ingredients": "DALEX",
    "iml": "iml",
    "pdp": "pdp",
    "xplainfi": "xplainfi",
}


class Question(NamedTuple):
    """What an engine is asked, as far as a fault may depend on it.

    Attributes
    ----------
    engine, method, loss : str
    n_features, n_columns : int
        How many are asked, and how many columns the rows have.
    n_repeats : int
    n_rows : int or None
        Rows drawn per repeat; None for all.
    n_samples : int
    n_neighbours : int or None
        How many rows a value may come from, where it comes from a near one.
    is_weighted : bool
    misses : bool
        Whether an answer lacks a number.
    ties_differ : bool
        Whether some predictions are tied in our AUC or in that of DALEX, not in both.
    """

    engine: str
    method: str
    loss: str = ""
    n_features: int = 2
    n_columns: int = 2
    n_repeats: int = 10
    n_rows: int | None = None
    n_samples: int = 2
    n_neighbours: int | None = None
    is_weighted: bool = False
    misses: bool = False
    ties_differ: bool = False


class Defect(NamedTuple):
    """One known fault.

    Attributes
    ----------
    id : str
        Its name in the report.
    package : str
    since, before : str
        The versions it is in: from `since`, and below `before`; empty is open.
    touches : callable
        ``touches(question) -> bool``.
    effect : str
        The reason code of the agreement, or "refused": nothing is asked.
    text : str
        What the report says, a whole sentence.
    """

    id: str
    package: str
    since: str
    before: str
    touches: Callable[[Question], bool]
    effect: str
    text: str


def _permutes(question: Question) -> bool:
    return question.method == "permutation"


DEFECTS: tuple[Defect, ...] = (
    Defect(
        id="VIP-SUBSAMPLE",
        package="vip",
        since="0.4.0",
        before="0.5",
        touches=lambda question: _permutes(question) and question.n_rows is not None,
        effect="BASELINE_ROWS",
        text=(
            "vip 0.4 draws one subsample, keeps it for all features and repeats, "
            "and compares it with the loss of all rows: every difference is off by "
            "the same amount, every ratio by the same factor. Stream 'vip-0.4' "
            "reproduces this in Python. Use all rows, or vip 0.5."
        ),
    ),
    Defect(
        id="VIP-ONEFEATURE",
        package="vip",
        since="",
        before="0.5",
        touches=lambda question: (
            _permutes(question) and question.n_features == 1 and question.n_repeats == 1
        ),
        effect="refused",
        text=(
            "vip before 0.5 cannot score a single feature in a single repeat. Use "
            "at least two repeats."
        ),
    ),
    Defect(
        id="VIP-ONECOLUMN",
        package="vip",
        since="",
        before="0.5",
        touches=lambda question: (
            _permutes(question)
            and question.n_columns == 1
            and question.n_rows is not None
        ),
        effect="refused",
        text=(
            "vip before 0.5 cannot draw rows of a single column. Leave n_rows out "
            "to use all rows."
        ),
    ),
    Defect(
        id="VIP-WEIGHTS",
        package="vip",
        since="",
        before="",
        touches=lambda question: question.is_weighted,
        effect="refused",
        text="vip does not support row weights, so it would measure something else.",
    ),
    Defect(
        id="DALEX-WEIGHTS",
        package="DALEX",
        since="",
        before="",
        touches=lambda question: question.is_weighted,
        effect="refused",
        text="DALEX ignores row weights, so it would measure something else.",
    ),
    Defect(
        id="IML-WEIGHTS",
        package="iml",
        since="",
        before="",
        touches=lambda question: question.is_weighted,
        effect="refused",
        text="iml does not support row weights, so it would measure something else.",
    ),
    Defect(
        id="PDP-WEIGHTS",
        package="pdp",
        since="",
        before="",
        touches=lambda question: question.is_weighted,
        effect="refused",
        text="pdp does not support row weights, so it would measure something else.",
    ),
    Defect(
        id="XPLAINFI-WEIGHTS",
        package="xplainfi",
        since="",
        before="",
        touches=lambda question: question.is_weighted,
        effect="refused",
        text=(
            "xplainfi does not support row weights, so it would measure something else."
        ),
    ),
    Defect(
        id="XPLAINFI-ONEROW",
        package="xplainfi",
        since="",
        before="",
        touches=lambda question: _permutes(question) and question.n_samples == 1,
        effect="refused",
        text="xplainfi cannot permute a single row. Give at least two rows.",
    ),
    Defect(
        id="XPLAINFI-ONENEIGHBOUR",
        package="xplainfi",
        since="",
        before="",
        touches=lambda question: question.n_neighbours == 1,
        effect="refused",
        text=(
            "xplainfi draws one of the rows 1 to i where row i has a single neighbour, "
            "which is itself. Set n_neighbours to 2 or more."
        ),
    ),
    Defect(
        id="DALEX-NAN",
        package="ingredients",
        since="",
        before="",
        touches=lambda question: (
            _permutes(question) and question.n_repeats == 1 and question.misses
        ),
        effect="NA_DROPPED",
        text=(
            "DALEX leaves features whose loss is not a number out of its summary, "
            "which is all it returns after a single repeat (DALEX issue 415)."
        ),
    ),
    Defect(
        id="DALEX-ONECOL",
        package="DALEX",
        since="",
        before="",
        touches=lambda question: (
            question.method.endswith("_profile")
            and question.n_columns == 1
            and question.n_rows is not None
        ),
        effect="refused",
        text=(
            "DALEX cannot draw rows of a single column for a profile. Leave n_rows out "
            "to use all rows."
        ),
    ),
    Defect(
        id="DALEX-TIE",
        package="DALEX",
        since="",
        before="",
        touches=lambda question: (
            question.loss == "one_minus_auc" and question.ties_differ
        ),
        effect="TIE_MERGE",
        text=(
            "DALEX ties predictions that are equal to 15 digits when it computes an "
            "AUC, Python those that differ by at most 1e-12 of the largest; some of "
            "this model's predictions are tied on one side only."
        ),
    ),
)


def defects_of(question: Question, versions: Mapping[str, str]) -> tuple[Defect, ...]:
    """Return the faults that touch a question.

    Parameters
    ----------
    question : Question
    versions : mapping of str to str
        Installed version of each R package.
    """
    return tuple(
        defect
        for defect in DEFECTS
        if ENGINES[defect.package] == question.engine
        and is_between(versions.get(defect.package, ""), defect.since, defect.before)
        and defect.touches(question)
    )


def defects_for(
    record: Importance | Effect,
    versions: Mapping[str, str],
    *,
    predictions: Floats | None = None,
) -> tuple[Defect, ...]:
    """Return the faults that touch an answer.

    Parameters
    ----------
    record : Importance or Effect
    versions : mapping of str to str
        Installed version of each R package.
    predictions : ndarray, optional
        What the model predicts for the rows of the record; without them nothing is
        said about ties.
    """
    options: Mapping[str, Any] = record.options
    elsewhere = record.supplied_by
    if elsewhere:  # what is installed here did not make it
        versions = {elsewhere: record.engine_version}
    numbers = [record.values]
    if isinstance(record, Importance):
        numbers = [part.raw for _, part in record.by_count()]
    question = Question(
        engine=elsewhere or record.engine,
        method=record.method,
        loss=getattr(record, "loss", ""),
        n_features=len(getattr(record, "features", ("",))),
        n_repeats=int(options.get("n_repeats", 1)),
        n_rows=options.get("n_rows"),
        misses=any(np.isnan(part).any() for part in numbers),
        ties_differ=predictions is not None and ties_differ(predictions),
    )
    return defects_of(question, versions)


def ties_differ(predictions: Floats) -> bool:
    """Return whether our AUC and that of DALEX tie different predictions.

    Ours ties what `ties` says, DALEX what is equal at 15 significant digits.
    """
    distinct = np.unique(predictions)
    digits = [f"{number:.15g}" for number in distinct]
    by_digits = [one == other for one, other in pairwise(digits)]
    return ties(distinct).tolist() != by_digits


def is_between(version: str, since: str, before: str) -> bool:
    """Return whether a version has a fault; an absent package has none.

    From `since`, and below `before`; empty is open.
    """
    if not version:
        return False
    numbers = version_numbers(version)
    below = not before or numbers < version_numbers(before)
    return below and numbers >= version_numbers(since)


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version of an R package, (0, 4, 6) for 0.4.6."""
    parts = version.replace("-", ".").split(".")
    return tuple(int(part) for part in parts if part.isdigit())
