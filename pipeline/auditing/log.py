"""The log of an audit and its progress channel.

Not: findings (`journal`).
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from traceback import format_exception
from typing import Any, Literal, TypeAlias

Step = Callable[[int, int, str], None]
Level: TypeAlias = Literal["info", "warning", "error"]
PAUSE = 2.0
"""Seconds between two progress reports of a step."""


def silent(done: int, total: int, label: str) -> None:
    """Ignore the progress."""
    del done, total, label


@dataclass
class Log:
    """The lines of log.jsonl, and the current step.

    Attributes
    ----------
    on_step : callable
        The progress channel: ``on_step(done, total, label)``.
    lines : list of mapping
        In order of time.
    at : (int, int, str)
        The current step, as reported to the progress channel.
    reported : float
        Time of the last progress report, by `time.perf_counter`.
    """

    on_step: Step = silent
    lines: list[dict[str, Any]] = field(default_factory=list)
    at: tuple[int, int, str] = (0, 0, "")
    reported: float = 0.0

    def note(
        self, step: str, level: Level, message: str, seconds: float | None = None
    ) -> None:
        """Add a line with the current time."""
        self.lines.append(
            {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "step": step,
                "seconds": seconds,
                "level": level,
                "message": message,
            }
        )

    def note_traceback(self, step: str, error: BaseException) -> None:
        """Log the traceback of an exception, with its causes."""
        self.note(step, "error", "".join(format_exception(error)))

    @contextmanager
    def phase(self, label: str) -> Iterator[None]:
        """Report an activity outside of the steps; log its duration."""
        self.at = (0, 0, label)
        self.on_step(*self.at)
        with self.timed(label):
            yield

    @contextmanager
    def timed(self, label: str) -> Iterator[None]:
        """Log the duration of the block, if it finishes."""
        start = time.perf_counter()
        yield
        self.note(label, "info", "done", time.perf_counter() - start)

    @contextmanager
    def hearing(self, step: str) -> Iterator[None]:
        """Log every warning of a library, and show it as usual."""
        former = warnings.showwarning

        def show(
            message: Any, category: type[Warning], *where: Any, **more: Any
        ) -> None:
            self.note(step, "warning", f"{category.__name__}: {message}")
            former(message, category, *where, **more)

        warnings.showwarning = show
        try:
            yield
        finally:
            warnings.showwarning = former

    def tell(self, words: str) -> None:
        """Report the activity of the current step to the progress channel."""
        done, total, label = self.at
        self.on_step(done, total, f"{label}: {words}")

    def report_progress(self, words: str) -> None:
        """Report the progress of the step, unless it was reported just before."""
        now = time.perf_counter()
        if now - self.reported >= PAUSE:
            self.tell(words)
            self.reported = now

    def report_compilation(self, words: str) -> None:
        """Report to the progress channel and the log that loops are being compiled."""
        self.tell(words)
        self.note(self.at[2], "info", words)
