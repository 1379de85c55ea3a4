"""The [[models]] section of a configuration: one model, fitted or read from a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ..records.value_rules import NAME, SHA256, Pattern

IMPORT_PATH = Pattern(
    r"|[^\W\d]\w*(\.[^\W\d]\w*)+", "an import path such as 'package.module.Class'"
)


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSection:
    """One model: fitted by the audit, by a script of R, or read from a file.

    Attributes
    ----------
    name : str
        How the report names it.
    estimator : str
        The import path of a scikit-learn style class, fitted on the training rows; the
        module may lie beside audit.toml.
    parameters : mapping
        What the estimator is made with.
    encoder : {"auto", "none", "ordinal", "one_hot", "one_hot_full"}
        How categories reach the estimator; "auto" is ordinal codes for trees, forests
        and boosting, one-hot for everything else. "one_hot" leaves the first level
        out, as R's contrasts do; "one_hot_full" has a column for each, so that a tree
        can tell the first from all others.
    standardise : bool
        Whether the estimator sees numbers, and the target of a regression, with mean
        0 and standard deviation 1 (ddof 0; R's e1071 has 1); predictions keep their
        unit.
    file : str
        A fitted model instead of an estimator: .joblib or, of R, .rds, whose loading
        runs its code; or the text (.txt) that LightGBM writes of a model.
    r_script : str
        An R script instead of an estimator. It finds the training rows as `train`; its
        value is the fitted model.
    sha256 : str
        The SHA-256 of that file, by which you say that you trust it; of a script or
        a text, if given, it must be met.
    version : str
        The version of the model in your inventory, as the report prints it.
    """

    name: Annotated[str, NAME]
    estimator: Annotated[str, IMPORT_PATH] = ""
    parameters: Mapping[str, Any] = field(default_factory=_empty)
    encoder: Literal["auto", "none", "ordinal", "one_hot", "one_hot_full"] = "auto"
    standardise: bool = False
    file: str = ""
    r_script: str = ""
    sha256: Annotated[str, SHA256] = ""
    version: str = ""
