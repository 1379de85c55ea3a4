"""All sections of a configuration, with the rules and defaults of their keys.

Each field is a key; its annotation is the rule (`value_rules`), its default the default
of the key, its text under Attributes the description in the published schema. `load`
reads the file, `cross_checks` checks keys against each other.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from ..assess.claims.section import ClaimSection
from ..assess.expectations import ExpectedSection
from ..data.derived_columns import DerivedSection
from ..data.section import DataSection, Names
from ..methods.importance import METHODS, options_of
from ..models.section import ModelSection
from ..records.value_rules import NAME, OneOf, Range, Rule, rule_of
from .extensions import Extension
from .questions import (
    R_ENGINES,
    ImportanceSection,
    SelectionSection,
    SignificanceSection,
    StabilitySection,
    SuppliedSection,
    SurfaceSection,
    TopKSection,
)
from .settings import (
    ChecksSection,
    ExecutionSection,
    LimitsSection,
    ReportSection,
    RSection,
    ScheduleSection,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditConfig:
    """The settings of an audit: all that can influence its numbers or pages.

    Attributes
    ----------
    audit : str
        The name of the audit, which is the name of the folder of its file.
    base : Path
        The folder that relative files start from.
    text : str
        The text of the file, empty for a mapping.
    seed : int
        Seed of every random stream, here and in R.
    require : tuple of str
        Engines that must be available; otherwise the audit does not start.
    fail_on : {"failure", "warning"}
        The lowest severity of a finding that leads to "not confirmed".
    data : DataSection or None
    derived : tuple of DerivedSection
    groups : mapping of str to tuple of str
        Groups of columns that are measured together.
    labels : mapping of str to str
        Display names of features, groups, models and the target, by raw name: report
        pages and figures show them; CSV files and JSON keep the raw names.
    models : tuple of ModelSection
    importance : tuple of ImportanceSection
    surfaces : tuple of SurfaceSection
    claims : tuple of ClaimSection
    expected : tuple of ExpectedSection
    supplied : tuple of SuppliedSection
    checks : ChecksSection
    stability : StabilitySection
    significance : SignificanceSection
    top_k : TopKSection
    selection : SelectionSection
    report : ReportSection
    schedule : ScheduleSection
    r : RSection
    limits : LimitsSection
    execution : ExecutionSection
    extensions : tuple of Extension
        Methods, losses and engines that the user wrote and the entries use. This is not
        a key of the file.
    files : mapping of str to mapping
        The content of the files that the report shows, by name. This is not a key
        either.
    """

    audit: str
    base: Path = field(default_factory=Path)
    text: str = ""
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] = 1
    require: tuple[Annotated[str, OneOf(R_ENGINES)], ...] = ()
    fail_on: Literal["failure", "warning"] = "failure"
    data: DataSection | None = None
    derived: tuple[DerivedSection, ...] = ()
    groups: Mapping[str, Names] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[str, Annotated[str, NAME]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    models: tuple[ModelSection, ...] = ()
    importance: tuple[ImportanceSection, ...] = ()
    surfaces: tuple[SurfaceSection, ...] = ()
    claims: tuple[ClaimSection, ...] = ()
    expected: tuple[ExpectedSection, ...] = ()
    supplied: tuple[SuppliedSection, ...] = ()
    checks: ChecksSection = field(default_factory=ChecksSection)
    stability: StabilitySection = field(default_factory=StabilitySection)
    significance: SignificanceSection = field(default_factory=SignificanceSection)
    top_k: TopKSection = field(default_factory=TopKSection)
    selection: SelectionSection = field(default_factory=SelectionSection)
    report: ReportSection = field(default_factory=ReportSection)
    schedule: ScheduleSection = field(default_factory=ScheduleSection)
    r: RSection = field(default_factory=RSection)
    limits: LimitsSection = field(default_factory=LimitsSection)
    execution: ExecutionSection = field(default_factory=ExecutionSection)
    extensions: tuple[Extension, ...] = ()
    files: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def data_arguments(self) -> dict[str, Any]:
        """The arguments of `data.datasets.read_datasets`."""
        return {
            "section": self.data,
            "groups": self.groups,
            "derived": self.derived,
            "seed": self.seed,
            "base": self.base,
        }

    @property
    def unattended_minutes(self) -> float:
        """The time limit of an unattended run."""
        return self.limits.minutes or self.schedule.minutes

    @property
    def title(self) -> str:
        """The title of the report: as configured, or the name of the audit."""
        return self.report.title or self.audit

    def resolved(self) -> dict[str, Any]:
        """Return the configuration with its defaults, as `parse_config` takes it.

        It includes the facts of extensions and the files of the report, if there are
        any; these are not part of the file.
        """
        settings = {name: _plain(getattr(self, name)) for name in KEYS}
        own = [_plain(item.facts) for item in self.extensions]
        settings |= {"extensions": own} if own else {}
        return settings | ({"files": _plain(self.files)} if self.files else {})

    @property
    def sha256(self) -> str:
        """Digest of `resolved` as UTF-8 JSON without spaces.

        Sections and keys have a fixed order. Groups and levels keep the order of the
        user, which determines the order of the draws.
        """
        text = json.dumps(self.resolved(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


SCALARS = ("seed", "require", "fail_on")
_HINTS = get_type_hints(AuditConfig)
TABLES: dict[str, type] = {
    key: kind
    for key, hint in _HINTS.items()
    for kind in (hint, *get_args(hint))
    if is_dataclass(kind) and get_origin(hint) is not tuple
}
"""The sections that can occur once, by their keys."""
LISTS: dict[str, type] = {
    key: get_args(hint)[0]
    for key, hint in _HINTS.items()
    if get_origin(hint) is tuple and is_dataclass(get_args(hint)[0])
}
"""The sections that can occur several times, by their keys."""
QUESTIONS = ("data", "derived", "groups", "models", *tuple(LISTS)[2:])
KEYS = (*SCALARS, *QUESTIONS, *tuple(TABLES)[1:], "labels")


@cache
def rules_of(section: type) -> dict[str, Rule]:
    """Return the rule of each key of a section, in order.

    For `AuditConfig` these are the top-level keys and `groups` and `labels`.
    """
    hints = get_type_hints(section, include_extras=True)
    names = [item.name for item in fields(section) if item.name != "options"]
    if section is AuditConfig:
        names = [*SCALARS, "groups", "labels"]
    return {name: rule_of(hints[name]) for name in names}


def required_of(section: type) -> tuple[str, ...]:
    """Return the keys of a section that have no default."""
    return tuple(
        item.name
        for item in fields(section)
        if item.default is MISSING and item.default_factory is MISSING
    )


def option_rules(method: str) -> dict[str, Rule]:
    """Return the rule of each option of a method, read from its signature."""
    function = METHODS[method].function
    hints = get_type_hints(function, include_extras=True)
    return {name: rule_of(hints[name]) for name in options_of(function)}


def _plain(value: Any) -> Any:
    """Return a section as plain values, the options of an entry among its keys."""
    if is_dataclass(value):
        plain = {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
        options = plain.pop("options", {})
        return {**plain, **options}
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
