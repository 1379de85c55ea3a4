"""Sections that ask for no number: [checks], [report], [schedule], [r], and others.

As in `sections`: what each key means, its type and its range.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

from ..records.execution import BACKENDS, Backend
from ..records.shift import LIMIT
from ..records.value_rules import NAME, OneOf, Pattern, Range, Repeated, Tables

GOALS = ("simplification", "exploration", "domain validation", "discovery")
"""What importance is used for: Biecek and Burzykowski (2021), section 16.1."""
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
        A larger difference in the rank of a feature between engines is a warning; a
        note if the engines are equivalent, so that their draws explain it.
    top_k : int
        How many leading features are used for the overlap of two rankings.
    dependence : float
        The association from which two features are reported as dependent, and measured
        together beside the first permutation ranking of each model.
    repeat_run : {"disagreement", "unresolved", "never"}
        Which pairs of results with independent draws are measured once more, with four
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
        The share of all positive permutation importance from which one feature is
        reported if the mean squared error of the model, or another loss, is below 5 %
        of the constant predictor's: it may be known only with the target.
    train_test_gap : float, optional
        How far the loss of a model on the evaluation rows may exceed that on its
        training rows, as a share of the constant predictor's loss on the evaluation
        rows. A larger gap that chance does not explain is a warning. By default every
        such gap is a note.
    calibration : float
        Predictions are grouped by deciles, and the mean prediction of each is compared
        with the 95 % interval of what was observed. The check fails if a model whose
        predictions are right has as many deciles outside with at most this
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
        A marking on every page, such as "internal".
    unit : str
        The unit of the target.
    decision : str
        What the reader is asked to decide, in words of your own, below page one.
    limits : tuple of str
        Limits and conditions of use, one sentence each.
    tier : str
        The risk tier of the model in your inventory.
    people : tuple of table
        Who took part: role, name, and relation to the developer of the model.
    rationale : mapping of str to str
        For each feature, why it is in the model and where it comes from.
    always_show : tuple of str
        Features that every table and figure shows, whatever their rank.
    frameworks : tuple of str
        Ids of the frameworks whose clauses are mapped to the report.
    profile : {"technical", "executive", "bundle"}
        "technical" has all sections, "executive" is one page with its document control,
        "bundle" writes the data files without a report.
    fonts : tuple of str
        Font files in the folder of the audit, for characters that DejaVu lacks.
    reference : str
        A Word file in the folder of the audit, such as "house.docx", whose styles, page
        size, headers and footers `render --as docx` uses.
    organisation : str
        Who issues the report: at the top of every page, beside `classification`.
    logo : str
        A PNG, JPEG or SVG file of at most 2 MB, shown on the first page.
    accent : str
        The colour of links and letters in the report, such as "#0b4f79", which can be
        read on white.
    language : str
        Of the words of the report: "de" takes those of strings.de.toml in the folder of
        the audit; texts that it lacks stay in English.
    section : tuple of table
        Sections of your own after the limitations: a title and a file in a subset of
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
    """When the audit runs unattended, and whom it notifies.

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
        How often a run that failed because of R is repeated.
    keep : int
        Number of unsigned runs to keep; 0 keeps all. Signed runs, the approved
        baseline, the newest run and the last complete one are never removed.
    on_change, on_failure, on_success : tuple of str
        A command and its arguments. on_change runs if something differs from the
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
        Memory limit for vectors in R, in units of 2**30 bytes; a call that needs more
        fails. No limit by default. R ignores a limit below 64 MB.
    """

    seconds: Annotated[float, Range(above=0)] = 600.0
    memory_gb: Annotated[float, Range(least=0.0625)] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitsSection:
    """Limits of a run; what a limit cuts is a finding in the report.

    Attributes
    ----------
    minutes : float, optional
        Time limit of the run, report included. Permutation is repeated less often if
        it does not fit into its share of it. At the limit, the predict or fit call in
        progress is ended. The report names each cut and what was not measured.
        `--minutes` of `run` overrides it. By default there is no limit, and for
        unattended runs that of `[schedule]`.
    max_rows : int, optional
        The largest number of audited rows, sampled from the test rows with the seed of
        the audit and stratified by class. All rows by default.
    max_repeats : int, optional
        The largest `n_repeats` of an entry of `[[importance]]`. No limit by default.
    """

    minutes: Annotated[float, Range(above=0)] | None = None
    max_rows: Annotated[int, Range(least=2)] | None = None
    max_repeats: Annotated[int, Range(least=1)] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ExecutionSection:
    """Who computes refits, permutations and other work of independent parts.

    No number depends on it.

    Attributes
    ----------
    n_jobs : int
        Number of processes or threads. With "dask" the cluster has its own number, and
        this is how many processes take over if it cannot be used.
    backend : {"loky", "threads", "dask"}
        "loky" starts processes on this machine, each with its own copy of the rows.
        "threads" need no copy, but only models that release Python's lock gain from
        them. "dask" uses a cluster.
    scheduler : str
        The address of the Dask scheduler, such as "tcp://10.0.0.5:8786".
    """

    n_jobs: Annotated[int, Range(least=1)] = 1
    backend: Annotated[Backend, OneOf(BACKENDS)] = "loky"
    scheduler: Annotated[
        str, Pattern(r"(\w+://.+)?", "an address such as 'tcp://10.0.0.5:8786'")
    ] = ""
