"""The [data] section of a configuration: sources of the rows, roles of the columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from ..records.dataset_and_model import Task
from ..records.value_rules import NAME, SHA256, Pattern, Range, Tables

Names: TypeAlias = Annotated[tuple[str, ...], Range(least=1)]
EXACT = Range(least=-(2**53), most=2**53)
"""The integers that float64 represents exactly; Parquet and R may store float64."""
SIGN = Pattern(r'[^\r\n"]', "one character")
BESIDE = Pattern(
    r"[^\s\d.,+()-]+", "a sign beside numbers, such as '%'", "signs such as '%'"
)
FILE = {
    "file": Annotated[str, NAME],
    "separator": NotRequired[Annotated[str, SIGN]],
    "decimal": NotRequired[Literal[".", ","]],
    "thousands": NotRequired[Literal[".", ",", " ", "'"]],
    "strip": NotRequired[tuple[Annotated[str, BESIDE], ...]],
    "negative": NotRequired[Literal["-1", "1-", "(1)"]],
    "encoding": NotRequired[Annotated[str, NAME]],
    "sheet": NotRequired[str | Annotated[int, Range(least=1)]],
    "sql": NotRequired[Annotated[str, NAME]],
    "table": NotRequired[Annotated[str, NAME]],
    "index_column": NotRequired[str],
}
DATABASE = {
    "sql": Annotated[str, NAME],
    "url_env": Annotated[
        str, Pattern(r"[A-Za-z_]\w*", "the name of an environment variable")
    ],
    "index_column": NotRequired[str],
}
SOURCES: tuple[dict[str, Any], ...] = (
    FILE,
    DATABASE,
    {"r": Annotated[str, Pattern(r"[\w.]+::[\w.]+", "an R data set 'package::name'")]},
    {
        "sklearn": Annotated[
            str,
            Pattern(r"load_\w+", "a loader of sklearn.datasets such as 'load_iris'"),
        ]
    },
    {
        "rds": Annotated[str, NAME],
        "sha256": Annotated[str, Pattern(r"[0-9a-f]{64}", SHA256.words)],
    },
    {"r_script": Annotated[str, NAME]},
)
SPLITS: tuple[dict[str, Any], ...] = (
    {"fraction": Annotated[float, Range(above=0, below=1)]},
    {"column": Annotated[str, NAME], "value": str | float | bool},
)


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, eq=False)
class DataSection:
    """Where the rows come from and what their columns mean.

    Attributes
    ----------
    train : table
        The rows that models are fitted on; {} if all models come from files and the
        rows that they were fitted on are not known. The source can be a file: .csv and
        .tsv, also .gz, with separator, encoding and the format of numbers (decimal,
        thousands, strip, negative); .xlsx with sheet; .parquet, .feather; .sqlite and
        .db with sql or table; .rds with its sha256, because reading it may run code. It
        can be the result of sql in the database whose address is in the environment
        variable url_env, an R data set, or one of scikit-learn's. It can also be the
        result of an R script: a data frame, or a list with elements named train, test
        or reference_rows; if the script returns only one table, `test` defines the rows
        to hold out. index_column of a file or database is a column that only identifies
        rows; "" means a column without a name.
    test : table
        The rows on which importances are measured: a source like `train`, a fraction of
        its rows drawn with the seed, or the rows with a given value in a column.
    reference_rows : table
        Rows, with or without a target, that FIRM and the gradients use instead of the
        test rows; a source like `train`.
    target : str
        The column to be predicted.
    task : {"regression", "binary", "multiclass"}
        The type of prediction task; never inferred.
    positive_class : str, int or bool
        The class whose probability is predicted. Required for a binary target of texts;
        otherwise 1 or true.
    weights : str
        A column of row weights; empty if all rows have equal weight. Rows of weight 0
        are left out.
    features : tuple of str
        The audited columns that models are given; all other columns by default.
    exclude : tuple of str
        Columns that are no features; the report lists them.
    held_out_columns : tuple of str
        Columns that are audited but given to no model.
    segments : tuple of str
        Columns that divide the evaluation rows into segments. For each segment, the
        report shows how good each model is, whether its predictions are too high or too
        low, and which features it relies on. These columns may be features or not
        (`exclude`).
    categories : mapping of str to tuple of str
        Categorical columns, with their levels in order; by default text columns are
        categorical, with sorted levels.
    missing_values : tuple of str
        Texts that mean "missing", in addition to the empty cell.
    drop_missing_target : bool
        Whether rows without a target are left out and counted in a finding; otherwise
        they are an error.
    unseen : {"error", "missing"}
        How to treat a level that no training row has: as an error, or as missing in the
        rows that have it, with a finding per column.
    """

    train: Annotated[Mapping[str, Any], Tables((*SOURCES, {}))]
    test: Annotated[Mapping[str, Any], Tables((*SOURCES, *SPLITS))]
    target: Annotated[str, NAME]
    task: Task
    positive_class: str | Annotated[int, EXACT] | bool | None = None
    weights: str = ""
    features: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    held_out_columns: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    categories: Mapping[str, Names] = field(default_factory=_empty)
    missing_values: tuple[str, ...] = ()
    drop_missing_target: bool = False
    unseen: Literal["error", "missing"] = "error"
    reference_rows: Annotated[Mapping[str, Any], Tables((*SOURCES, {}))] = field(
        default_factory=_empty
    )
