"""The steps of an audit, each of which returns rows and findings."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from ...assess.segments import Segment
from ...config.load import AuditConfig
from ...engines import EngineInfo
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.finding import Finding
from ...records.frames import Row
from ...records.importance_record import Effect, Importance
from ...records.surface_record import Surface

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """What a step found, or one part of a long step.

    Attributes
    ----------
    rows : mapping of str to sequence of mapping
        By the name of a frame in `FRAMES`, its rows.
    importances, effects, surfaces, findings : tuple
    digests : mapping of str to str
        By model, the digest of what it predicts for the audited rows.
    """

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    importances: tuple[Importance, ...] = ()
    effects: tuple[Effect, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    findings: tuple[Finding, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What an audit is made of, once its models are fitted.

    Attributes
    ----------
    config : AuditConfig
    train : Dataset or None
        None where the rows that the models were fitted to are not known.
    test : Dataset
    models : tuple of FittedModel
    engines : mapping of str to EngineInfo
        By name, available or not; "python" is ours.
    segments : tuple of Segment
        The parts of the test rows that are judged apart.
    """

    config: AuditConfig
    train: Dataset | None
    test: Dataset
    models: tuple[FittedModel, ...]
    engines: Mapping[str, EngineInfo]
    segments: tuple[Segment, ...] = ()


Results: TypeAlias = Generator[StepResult, None, T]
"""A long step yields its parts, so that an interruption loses the last alone, and
returns what the next step needs of it."""


class Guard(Protocol):
    """Asks a question that may fail: the answer, or None and why there is none."""

    def __call__(
        self, model: str, question: str, ask: Callable[[], T], engine: str = ...
    ) -> tuple[T | None, str]:
        """Return the answer to `ask`; its failure is a finding."""
