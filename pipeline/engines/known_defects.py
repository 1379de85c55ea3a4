"""Known defects of R packages: the results they affect, and their text in the report.

They are entries of known_defects.toml.
"""

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..records.dataset_and_model import Floats
from ..records.importance_record import Effect, Importance
from ..records.ranked_losses import ties

ENGINES = {"ingredients": "DALEX"}
"""The engine that uses a package, if it has another name."""


class Question(NamedTuple):
    """The properties of a request to an engine that a defect may depend on.

    Attributes
    ----------
    engine, method, loss : str
    n_features, n_columns : int
        Number of requested features, and of columns of the rows.
    n_repeats : int
    n_rows : int or None
        Rows drawn per repeat; None for all.
    n_samples : int
    n_neighbours : int or None
        Number of near rows that a value may come from, if it comes from near rows.
    is_weighted : bool
    misses : bool
        Whether a result is missing.
    ties_differ : bool
        Whether the ties of predictions differ between our AUC and that of DALEX.
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

    @property
    def draws_rows(self) -> bool:
        """Whether a subset of the rows is drawn."""
        return self.n_rows is not None


class Defect(NamedTuple):
    """One known defect.

    Attributes
    ----------
    id : str
        Its name in the report.
    package : str
    when : mapping of str to value
        Required attributes of a question; in a text, ``*`` matches anything.
    effect : str
        The reason code in the agreement, or "refused": the engine is not called.
    text : str
        Its description in the report, in whole sentences.
    since, before : str
        The affected versions: from `since`, and below `before`; empty if unlimited.
    """

    id: str
    package: str
    when: Mapping[str, Any]
    effect: str
    text: str
    since: str = ""
    before: str = ""

    def touches(self, question: Question) -> bool:
        """Return whether the defect affects a question."""
        return all(
            fnmatchcase(getattr(question, name), needed)
            if isinstance(needed, str)
            else getattr(question, name) == needed
            for name, needed in self.when.items()
        )


_ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DEFECTS = tuple(Defect(**row) for row in _ROWS["defect"])


def defects_of(question: Question, versions: Mapping[str, str]) -> tuple[Defect, ...]:
    """Return the defects that affect a question.

    Parameters
    ----------
    question : Question
    versions : mapping of str to str
        Installed version of each R package.
    """
    return tuple(
        defect
        for defect in DEFECTS
        if ENGINES.get(defect.package, defect.package) == question.engine
        and is_between(versions.get(defect.package, ""), defect.since, defect.before)
        and defect.touches(question)
    )


def defects_for(
    record: Importance | Effect,
    versions: Mapping[str, str],
    *,
    predictions: Floats | None = None,
) -> tuple[Defect, ...]:
    """Return the defects that affect a result.

    Parameters
    ----------
    record : Importance or Effect
    versions : mapping of str to str
        Installed version of each R package.
    predictions : ndarray, optional
        Predictions of the model for the rows of the record; without them, ties are not
        examined.
    """
    options: Mapping[str, Any] = record.options
    elsewhere = record.supplied_by
    if elsewhere:  # not computed by the installed version
        versions = {elsewhere: record.engine_version}
    numbers = record.raw if isinstance(record, Importance) else record.values
    question = Question(
        engine=elsewhere or record.engine,
        method=record.method,
        loss=getattr(record, "loss", ""),
        n_features=len(getattr(record, "features", ("",))),
        n_repeats=int(options.get("n_repeats", 1)),
        n_rows=options.get("n_rows"),
        misses=bool(np.isnan(numbers).any()),
        ties_differ=predictions is not None and ties_differ(predictions),
    )
    return defects_of(question, versions)


def ties_differ(predictions: Floats) -> bool:
    """Return whether different predictions are tied in our AUC and that of DALEX.

    Ours are tied by `ties`; those of DALEX if equal to 15 significant digits.
    """
    distinct = np.unique(predictions)
    digits = [f"{number:.15g}" for number in distinct]
    by_digits = [one == other for one, other in pairwise(digits)]
    return ties(distinct).tolist() != by_digits


def is_between(version: str, since: str, before: str) -> bool:
    """Return whether a version is from `since` on and below `before`; empty: unlimited.

    False for the empty version of a missing package.
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
