"""The [[models]] section of a configuration: one model, fitted or read from a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ..records.value_rules import NAME, SHA256, Pattern

IMPORT_PATH = Pattern(
    r"|[^\W\d]\w*(\.[^\W\d]\w*)+", "an import path such as 'package.module.Class'"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSection:
    """One model: fitted by the audit or by an R script, or read from a file.

    Attributes
    ----------
    name : str
        The name used in the report.
    estimator : str
        The import path of a class with the scikit-learn interface, fitted on the
        training rows; the module may be in the folder of audit.toml.
    parameters : mapping
        The arguments of the estimator.
    encoder : {"auto", "none", "ordinal", "one_hot", "one_hot_full"}
        How categories are encoded for the estimator. "auto" uses ordinal codes for
        trees, forests and boosting, and one-hot encoding for everything else. "one_hot"
        leaves out the first level, as R's contrasts do; "one_hot_full" has a column for
        each level, so that a tree can separate the first level from all others.
    standardise : bool
        Whether numeric features, and the target of a regression, are standardised to
        mean 0 and standard deviation 1 for the estimator (ddof 0; R's e1071 uses 1);
        predictions are converted back.
    file : str
        A fitted model instead of an estimator: .joblib, or .rds from R, which can run
        code when loaded; or a model that LightGBM saved as text (.txt).
    r_script : str
        An R script instead of an estimator. The training rows are available as `train`;
        its last value is the fitted model.
    predict : str
        An R script for a model of R of any class: its last value is a function of the
        model and a data frame. It returns a number per row, of two classes the
        probability of the second, or a matrix with a named column for each class.
    offset, exposure : str
        The columns that a fitted model of statsmodels or XGBoost (.joblib) adds to its
        linear predictor, exposure as its logarithm. They are never permuted and are not
        features.
    sha256 : str
        The SHA-256 of the model's file, which states that you trust it. Optional for a
        script or a text file; if given, it must match.
    version : str
        The version of the model in your inventory, printed in the report.
    """

    name: Annotated[str, NAME]
    estimator: Annotated[str, IMPORT_PATH] = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    encoder: Literal["auto", "none", "ordinal", "one_hot", "one_hot_full"] = "auto"
    standardise: bool = False
    file: str = ""
    r_script: str = ""
    predict: str = ""
    offset: str = ""
    exposure: str = ""
    sha256: Annotated[str, SHA256] = ""
    version: str = ""
