"""The result of an audit that stopped before it could measure anything."""

from datetime import UTC, datetime

from importance_audit.r_bridge.errors import RUnavailable

from ..config.load import AuditConfig
from ..records.dataset_and_model import Dataset
from ..records.result import AuditResult
from .journal import Journal


def not_begun(
    config: AuditConfig,
    error: BaseException,
    step: str,
    rows: tuple[Dataset | None, Dataset] | None = None,
    *,
    started: datetime | None = None,
) -> AuditResult:
    """Return the result of an audit that stopped before it could measure anything.

    Parameters
    ----------
    config : AuditConfig
    error : BaseException
        What stopped it.
    step : str
        What was under way, in words.
    rows : (Dataset or None, Dataset), optional
        Training and test rows, if they were read.
    started : datetime, optional
        When the run began, by default now.
    """
    begun = started or datetime.now(UTC)
    journal = Journal(on_step=lambda *_: None, started=begun)
    journal.stop(step, error)
    train, test = rows or (None, None)
    asked_r = isinstance(error, RUnavailable)
    return journal.result(train, test, config, (), asked_r=asked_r)
