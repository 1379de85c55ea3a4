"""What a configuration says of numbers that were measured elsewhere. Rules: `rules`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ..methods.importance import METHODS
from ..records.dataset_and_model import Form
from ..records.importance_record import supplied_engine
from ..records.losses import LOSSES
from ..records.value_rules import NAME, OneOf, Pattern, Range

MEASURED = tuple(name for name, method in METHODS.items() if method.asks == "predict")
"""Methods whose numbers follow from the predictions, which a digest stands for."""


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, eq=False)
class SuppliedSection:
    """Numbers of vip or DALEX that somebody measured elsewhere, as one more engine.

    Attributes
    ----------
    file : str
        An object of vip (`vi`) or DALEX (an importance or a profile) saved in R as
        .rds, or a .csv with the columns `feature` and `value`, and `repeat` if there
        are several.
    sha256 : str
        The SHA-256 of that file.
    package : {"vip", "DALEX"}
        Whose functions measured it.
    version : str
        Of the package.
    by : str
        Who measured it, or where.
    date : str
        When, as year-month-day.
    model : str
        The model it is about.
    predictions_sha256 : str
        The digest of the predictions it was measured on, as the report and the
        hand-off state it. Where this run's differ the numbers are not compared.
    method : str
        What was measured: a method that `[[importance]]` asks of the model.
    of : {"features", "groups", "pairs"}
        Of each feature alone, or of the columns of each group together.
    loss : str
        By which loss, for a method that measures one.
    positive_class : str
        Of which class, where a model has several outputs.
    form : {"difference", "ratio", "raw", "absolute"}
        How it is shown; by default as the method says.
    seed : int
        The argument of `set.seed` right before the call; left out where it is not
        known or the draws were not in one sequence, so that no draw is repeated.
    options : mapping
        The method's own options, defaults included; in the file, keys of the entry.
    """

    file: Annotated[str, Pattern(r".+\.(rds|csv)", "an .rds or a .csv file")]
    sha256: Annotated[str, Pattern(r"[0-9a-f]{64}", "64 hexadecimal digits")]
    package: Literal["vip", "DALEX"]
    version: Annotated[str, Pattern(r"\d+\.\d+([.-]\d+)*", "a version such as '0.4.5'")]
    by: Annotated[str, NAME]
    date: Annotated[str, Pattern(r"\d{4}-\d\d-\d\d", "a date such as '2026-11-21'")]
    model: Annotated[str, NAME]
    predictions_sha256: Annotated[
        str, Pattern(r"[0-9a-f]{64}", "64 hexadecimal digits")
    ]
    method: Annotated[str, OneOf(MEASURED)]
    of: Literal["features", "groups", "pairs"] = "features"
    loss: Annotated[str, OneOf(("", *LOSSES))] = ""
    positive_class: str = ""
    form: Form | None = None
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] | None = None
    options: Mapping[str, Any] = field(default_factory=_empty)

    @property
    def engine(self) -> str:
        """How the audit calls it: never as an engine that was asked here."""
        return supplied_engine(self.package, self.version)
