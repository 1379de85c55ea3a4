"""What a method is not defined for, so that a feature without a number is no surprise.

Not: a feature that could have been measured (`importances.unmeasured`).
"""

from collections.abc import Iterator

from ...methods.importance.data_only import is_number
from ...records.dataset_and_model import Dataset
from ...records.errors import listed
from ...records.importance_record import Importance

SINGLE = ("lowess_r2", "anova", "auc", "spearman", "pca", "mrmr", "relieff")
"""Methods of single columns; StratImpact and the like refuse groups themselves."""
NUMBERS = ("lowess_r2", "auc", "spearman", "pca")
"""Methods of numbers."""


def undefined(importance: Importance, data: Dataset) -> dict[str, tuple[str, ...]]:
    """Return the features that a method is not defined for, by what it is defined for.

    A category in `spearman`, say, or a group of several columns.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, columns in zip(importance.features, importance.columns, strict=True):
        rule = next(_rules_broken(importance.method, data, columns), "")
        if rule:
            found[rule] = (*found.get(rule, ()), name)
    return found


def told(method: str, broken: dict[str, tuple[str, ...]]) -> str:
    """Return a sentence for each rule that some features do not keep."""
    return " ".join(
        f"{method!r} is defined for {rule} only, not for {listed(names)}."
        for rule, names in broken.items()
    )


def _rules_broken(
    method: str, data: Dataset, columns: tuple[str, ...]
) -> Iterator[str]:
    """Yield what a method is defined for and these columns are not."""
    if method in SINGLE and len(columns) > 1:
        yield "single columns"
    number = is_number(data.X[columns[0]])
    if method in NUMBERS and not number:
        yield "numbers"
    if method == "anova" and number == (data.task == "regression"):
        yield "categories under a numeric target" if number else "numbers under classes"
