"""Sections that request no results: [checks], [report], [schedule], [r], and others.

As in `sections`, each field is a key, with its type, range and meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

from ..records.execution import BACKENDS, Backend
from ..records.shift import LIMIT
from ..records.value_rules import NAME, OneOf, Pattern, Range, Repeated, Tables

GOALS = ("simplification", "exploration", "domain validation", "discovery")
"""Uses of importance: Biecek and Burzykowski (2021), section 16.1."""
REPEAT_RUNS = ("disagreement", "unresolved", "never")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PROFILES = ("technical", "executive", "bundle")
_PERSON = {"role": Annotated[str, NAME], "name": Annotated[str, NAME]}
Person: TypeAlias = Annotated[
    Mapping[str, Any], Tables((_PERSON, {**_PERSON, "relation": Annotated[str, NAME]}))
]

_SECTION = {"title": Annotated[str, NAME], "file": Annotated[str, NAME]}
OwnSection: TypeAlias = Annotated[Mapping[str, Any], Tables((_SECTION,))]
LANGUAGE = r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"
IMAGE = "a .png, .jpg or .svg file"


@dataclass(frozen=True, kw_only=True, eq=False)
class ChecksSection:
    """Thresholds of the checks.

    Attributes
    ----------
    resolution : float
        Two engines are "equivalent" only if their difference is known to within this
        share of the largest importance.
    max_rank_shift : int
        A larger difference in the rank of a feature between engines is a warning; if
        the engines are equivalent, their draws explain it and it is a note.
    top_k : int
        Number of leading features used for the overlap of two rankings.
    dependence : float
        Two features with at least this association are reported as dependent, and their
        joint importance is measured with the first permutation ranking of each model.
    repeat_run : {"disagreement", "unresolved", "never"}
        The pairs of results with independent draws that are measured again with four
        times the repeats: those that disagree; also those whose band is wider than
        `resolution`; or none.
    minimum_change : float
        The smallest difference from the approved baseline that counts as a change, as a
        share of the baseline's largest importance.
    shift : float
        The population stability index (PSI) of a column against the approved baseline
        above which a changed distribution is a warning, if chance alone does not
        explain it.
    split_shift : float
        The population stability index (PSI) of a column between training and evaluation
        rows above which it is reported, if chance alone does not explain it.
    leak_sign : float
        A feature is reported if it has at least this share of all positive permutation
        importance, and the mean squared error of the model, or another loss, is below
        5 % of the constant predictor's: its value may be known only with the target.
    train_test_gap : float, optional
        The largest gap between the loss of a model on the evaluation rows and on its
        training rows, as a share of the constant predictor's loss on the evaluation
        rows. A larger gap that chance does not explain is a warning. By default every
        gap that chance does not explain is a note.
    calibration : float
        Predictions are grouped by deciles, and the mean prediction of each is compared
        with the 95 % interval of the observed mean. The check fails if a calibrated
        model would have so many deciles outside their intervals with at most this
        probability: at 0.05, three of ten.
    """

    resolution: Annotated[float, Range(above=0)] = 0.1
    max_rank_shift: Annotated[int, Range(least=0)] = 2
    top_k: int = 3
    dependence: Annotated[float, Range(above=0, most=1)] = 0.8
    repeat_run: Annotated[str, OneOf(REPEAT_RUNS)] = "disagreement"
    minimum_change: Annotated[float, Range(least=0)] = 0.0
    shift: Annotated[float, Range(above=0)] = LIMIT
    split_shift: Annotated[float, Range(above=0)] = 0.25
    leak_sign: Annotated[float, Range(above=0, most=1)] = 0.8
    train_test_gap: Annotated[float, Range(least=0)] | None = None
    calibration: Annotated[float, Range(above=0, most=1)] = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportSection:
    """Information for the report that cannot be measured.

    Attributes
    ----------
    title : str
        The title; by default the name of the audit.
    owner : str
        Who is accountable for the model.
    purpose : str
        Why the audit is run.
    goal : str
        The main use of the importances, if there is one: "simplification" (leave
        features out), "exploration" (compare models), "domain validation" (compare with
        `expected`), "discovery" (find what matters).
    intended_use : str
        What the model is for.
    classification : str
        The classification of the report, such as "internal", shown on every page.
    unit : str
        The unit of the target.
    decision : str
        The decision that the reader is asked to make; shown below page one.
    limits : tuple of str
        Limits and conditions of use, one sentence each.
    tier : str
        The risk tier of the model in your inventory.
    people : tuple of table
        The participants: role, name, and relation to the developer of the model.
    rationale : mapping of str to str
        For each feature, the reason why it is in the model, and its source.
    always_show : tuple of str
        Features that every table and figure shows, independently of their rank.
    frameworks : tuple of str
        Ids of the frameworks whose clauses are mapped to the report.
    profile : {"technical", "executive", "bundle"}
        "technical" has all sections, "executive" is one page with its document control,
        "bundle" writes the data files without a report.
    fonts : tuple of str
        Font files in the folder of the audit, for characters that DejaVu does not have.
    reference : str
        A Word file in the folder of the audit, such as "house.docx", whose styles, page
        size, headers and footers `render --as docx` uses.
    organisation : str
        The issuer of the report, shown at the top of every page with `classification`.
    logo : str
        A PNG, JPEG or SVG file of at most 2 MB, shown on the first page.
    accent : str
        The colour of links and letters in the report, such as "#0b4f79"; it must be
        readable on white.
    language : str
        The language of the report: "de" uses the texts of strings.de.toml in the folder
        of the audit; missing texts stay in English.
    section : tuple of table
        Additional sections after the limitations: a title and a file in a subset of
        Markdown (docs/extending.md).
    """

    title: str = ""
    owner: str = ""
    purpose: str = ""
    goal: Annotated[str, OneOf(("", *GOALS))] = ""
    intended_use: str = ""
    classification: str = ""
    unit: str = ""
    decision: str = ""
    limits: tuple[str, ...] = ()
    tier: str = ""
    people: tuple[Person, ...] = ()
    rationale: Mapping[str, Annotated[str, NAME]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    always_show: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    profile: Annotated[str, OneOf(PROFILES)] = "technical"
    fonts: tuple[str, ...] = ()
    reference: Annotated[str, Pattern(r"(.+\.docx)?", "a .docx file")] = ""
    organisation: str = ""
    logo: Annotated[
        str, Pattern(r"(.+\.([pP][nN][gG]|[jJ][pP][eE]?[gG]|[sS][vV][gG]))?", IMAGE)
    ] = ""
    accent: Annotated[
        str, Pattern(r"(#[0-9a-fA-F]{6})?", "a colour such as '#0b4f79'")
    ] = ""
    language: Annotated[str, Pattern(f"({LANGUAGE})?", "a language such as 'de'")] = ""
    section: tuple[OwnSection, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class ScheduleSection:
    """The schedule of unattended runs, and their notifications.

    Attributes
    ----------
    time : str
        The time of day in UTC, such as "06:00".
    days : tuple of str
        Days of the week, "mon" to "sun"; every day by default.
    minutes : float
        The time limit for all attempts of an unattended run together, unless
        `--minutes` or ``[limits] minutes`` is given.
    retries : int
        Maximum number of repetitions of a run that failed because of R.
    keep : int
        Number of unsigned runs to keep; 0 keeps all. Signed runs, the approved
        baseline, the newest run and the last complete one are never removed.
    on_change, on_failure, on_success : tuple of str
        A command and its arguments. on_change runs if the result differs from the
        previous run, on_failure if the exit code is not 0, on_success if it is 0.
    command_seconds : float
        Time limit of a command; the outcome is recorded in the audit log.
    """

    time: Annotated[
        str, Pattern(r"([01]\d|2[0-3]):[0-5]\d", "a time such as '06:00'")
    ] = "06:00"
    days: tuple[Annotated[str, OneOf(DAYS)], ...] = ()
    minutes: Annotated[float, Range(above=0)] = 120.0
    retries: Annotated[int, Range(least=0)] = 1
    keep: Annotated[int, Range(least=0)] = 0
    on_change: Annotated[tuple[str, ...], Repeated()] = ()
    on_failure: Annotated[tuple[str, ...], Repeated()] = ()
    on_success: Annotated[tuple[str, ...], Repeated()] = ()
    command_seconds: Annotated[float, Range(above=0)] = 60.0


@dataclass(frozen=True, kw_only=True, eq=False)
class RSection:
    """The R process.

    Attributes
    ----------
    seconds : float
        Time limit of a call of R.
    memory_gb : float, optional
        Memory limit for vectors in R, in units of 2**30 bytes; a call that exceeds it
        fails. No limit by default. R ignores a limit below 64 MB.
    """

    seconds: Annotated[float, Range(above=0)] = 600.0
    memory_gb: Annotated[float, Range(least=0.0625)] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitsSection:
    """Limits of a run; a finding in the report states the effect of each limit.

    Attributes
    ----------
    minutes : float, optional
        Time limit of the run, including the report. Permutations have fewer repeats if
        they would exceed their share of it. At the limit, the predict or fit call in
        progress is ended. The report lists each reduction and all that was not
        measured. `--minutes` of `run` overrides the limit. By default there is none,
        and for unattended runs that of `[schedule]`.
    max_rows : int, optional
        The largest number of audited rows. They are sampled from the test rows with the
        seed of the audit and stratified by class. All rows by default.
    max_repeats : int, optional
        The largest `n_repeats` of an entry of `[[importance]]`. No limit by default.
    """

    minutes: Annotated[float, Range(above=0)] | None = None
    max_rows: Annotated[int, Range(least=2)] | None = None
    max_repeats: Annotated[int, Range(least=1)] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ExecutionSection:
    """The executor of refits, permutations and other parallel work.

    The numbers do not depend on it.

    Attributes
    ----------
    n_jobs : int
        Number of processes or threads. With "dask" the cluster has its own number; this
        is the number of local processes used if the cluster is not available.
    backend : {"loky", "threads", "dask"}
        "loky" starts processes on this machine, each with its own copy of the rows.
        "threads" need no copy, but are faster only for models that release the global
        interpreter lock of Python. "dask" uses a cluster.
    scheduler : str
        The address of the Dask scheduler, such as "tcp://10.0.0.5:8786".
    """

    n_jobs: Annotated[int, Range(least=1)] = 1
    backend: Annotated[Backend, OneOf(BACKENDS)] = "loky"
    scheduler: Annotated[
        str, Pattern(r"(\w+://.+)?", "an address such as 'tcp://10.0.0.5:8786'")
    ] = ""
