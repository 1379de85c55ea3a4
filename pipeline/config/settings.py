"""Sections that ask for no number: [checks], [report], [schedule], [r], [limits].

As in `sections`: what each key means, its type and its range.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

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


def _empty() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, eq=False)
class ChecksSection:
    """Limits of the checks.

    Attributes
    ----------
    resolution : float
        Two engines are "equivalent" if their difference is known to this share of the
        largest importance.
    max_rank_shift : int
        A larger shift of a feature's rank between engines is a warning.
    top_k : int
        How many leading features the overlap of two rankings counts.
    dependence : float
        Features with at least this association are told to depend on each other.
    repeat_run : {"disagreement", "unresolved", "never"}
        Which pairs with independent draws are asked again, once, with four times the
        repeats: those that disagree, also those whose band is wider than `resolution`,
        or none.
    minimum_change : float
        The least difference from the approved baseline that counts as a movement, as a
        share of the baseline's largest importance.
    shift : float
        The population stability index (PSI) of a column against the approved baseline
        above which its distribution is a warning, if chance alone does not explain it.
    train_test_gap : float, optional
        How much larger than on its training rows the loss of a model may be, as a share
        of the constant predictor's loss on the evaluation rows; a larger gap that
        chance does not explain is a warning. By default every such gap is a note.
    """

    resolution: Annotated[float, Range(above=0)] = 0.1
    max_rank_shift: Annotated[int, Range(least=0)] = 2
    top_k: int = 3
    dependence: Annotated[float, Range(above=0, most=1)] = 0.8
    repeat_run: Annotated[str, OneOf(REPEAT_RUNS)] = "disagreement"
    minimum_change: Annotated[float, Range(least=0)] = 0.0
    shift: Annotated[float, Range(above=0)] = 0.2
    train_test_gap: Annotated[float, Range(least=0)] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportSection:
    """What the report says that no number can.

    Attributes
    ----------
    title : str
        By default the name of the audit.
    owner : str
        Who answers for the model.
    purpose : str
        Why this audit is run, in words.
    goal : str
        Which of the four uses of importance it serves, if one: "simplification" (leave
        features out), "exploration" (compare models), "domain validation" (hold
        `expected` against what was found), "discovery" (find what matters).
    intended_use : str
        What the model is for.
    classification : str
        A marking for every page, such as "internal".
    unit : str
        The unit of the target.
    decision : str
        What the reader is asked to decide.
    limits : tuple of str
        Limits and conditions of use, one sentence each.
    tier : str
        The risk tier of the model in your inventory.
    people : tuple of table
        Who took part: role, name, and relation to the developer of the model.
    rationale : mapping of str to str
        Why a feature is in the model, and where it comes from, by feature.
    always_show : tuple of str
        Features that every table and figure shows, wherever they rank.
    frameworks : tuple of str
        Frameworks whose clauses section O holds against the report, by their ids.
    profile : {"technical", "executive", "bundle"}
        All sections, those of one page and its control, or the files alone.
    fonts : tuple of str
        Font files beside the audit, for characters of names that DejaVu lacks.
    """

    title: str = ""
    owner: str = ""
    purpose: str = ""
    goal: Annotated[str, OneOf(("", *GOALS))] = ""
    intended_use: str = ""
    classification: str = ""
    unit: str = ""
    decision: str = "Accept, accept with conditions, or reject this evidence."
    limits: tuple[str, ...] = ()
    tier: str = ""
    people: tuple[Person, ...] = ()
    rationale: Mapping[str, Annotated[str, NAME]] = field(default_factory=_empty)
    always_show: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    profile: Annotated[str, OneOf(PROFILES)] = "technical"
    fonts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class ScheduleSection:
    """When the audit runs unattended, and who is told.

    Attributes
    ----------
    time : str
        The time of day in UTC, as "06:00".
    days : tuple of str
        Days of the week, "mon" to "sun"; by default every day.
    minutes : float
        The time limit of an unattended run, all its tries together, where neither
        `--minutes` nor ``[limits] minutes`` is given; it ends the run as they do.
    retries : int
        How often a run that R failed is tried again.
    keep : int
        Unsigned runs that are kept; 0 keeps all. Signed runs, the approved baseline,
        the newest run and the last complete one are never removed.
    on_change, on_failure, on_success : tuple of str
        A command and its arguments: run when something is not as in the run before,
        when the exit code is not 0, when it is.
    command_seconds : float
        A command that takes longer is ended; how it went stands in events.jsonl.
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
        A call of R that takes longer is stopped.
    memory_gb : float, optional
        How much R may hold in vectors, in 2**30 bytes; a call that needs more fails.
        As much as there is by default. R ignores a limit below 64 MB.
    """

    seconds: Annotated[float, Range(above=0)] = 600.0
    memory_gb: Annotated[float, Range(least=0.0625)] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitsSection:
    """What a run may take at most; what a limit cuts is a finding of its report.

    Attributes
    ----------
    minutes : float, optional
        After so many minutes the run ends with its report, for which time is kept: the
        call of predict or fit under way ends, and what is not measured is named.
        `--minutes` of `run` takes its place. By default no limit, and of an unattended
        run that of `[schedule]`.
    max_rows : int, optional
        At most so many rows are audited, drawn from the test rows by the seed of the
        audit, each class in its share. All by default.
    max_repeats : int, optional
        The most `n_repeats` that an entry of `[[importance]]` gets. As many as each
        entry asks by default.
    """

    minutes: Annotated[float, Range(above=0)] | None = None
    max_rows: Annotated[int, Range(least=2)] | None = None
    max_repeats: Annotated[int, Range(least=1)] | None = None
