"""The steps of an audit; each adds its results to the journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ...assess import checks
from ...assess.segments import Segment, segments_of
from ...config.load import AuditConfig
from ...engines import EngineInfo
from ...records.dataset_and_model import Dataset, FittedModel
from ..journal import Journal


@dataclass(kw_only=True)
class Run:
    """A running audit: its inputs, and the journal of its results.

    Attributes
    ----------
    config : AuditConfig
    train : Dataset or None
        None if the training rows of the models are unknown.
    test : Dataset
    journal : Journal
    models : tuple of FittedModel
    engines : mapping of str to EngineInfo
        By name, available or not; "python" is our own.
    """

    config: AuditConfig
    train: Dataset | None
    test: Dataset
    journal: Journal
    models: tuple[FittedModel, ...] = ()
    engines: Mapping[str, EngineInfo] = field(default_factory=dict)

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The parts of the test rows that are evaluated separately."""
        return segments_of(self.test)

    def limits(self, *names: str) -> dict[str, checks.Limit]:
        """Return the limits of the checks, including changes in `[checks]`."""
        limits = dict(checks.DEFAULTS)
        for name in names:
            limit = getattr(self.config.checks, name)
            if limit is not None and limits.get(name) != checks.Limit(limit):
                limits[name] = checks.Limit(limit, f"[checks] {name}")
        return limits
