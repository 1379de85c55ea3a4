"""What happens in an audit, as it happens: its log, and the progress channel.

Not: what was found (`journal`).
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
"""Seconds before a step says again how far it is."""


def silent(done: int, total: int, label: str) -> None:
    """Tell nobody how far an audit is."""
    del done, total, label


@dataclass
class Log:
    """The lines of log.jsonl, and the step that is under way.

    Attributes
    ----------
    on_step : callable
        The progress channel: ``on_step(done, total, label)``.
    lines : list of mapping
        In the order of their times.
    at : (int, int, str)
        The step under way, as the progress channel was told of it.
    reported : float
        When that was, or something since, by `time.perf_counter`.
    """

    on_step: Step = silent
    lines: list[dict[str, Any]] = field(default_factory=list)
    at: tuple[int, int, str] = (0, 0, "")
    reported: float = 0.0

    def note(
        self, step: str, level: Level, message: str, seconds: float | None = None
    ) -> None:
        """Log what happens now."""
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
        """Log where an exception was raised, and what caused it."""
        self.note(step, "error", "".join(format_exception(error)))

    @contextmanager
    def phase(self, label: str) -> Iterator[None]:
        """Announce what is under way outside of the steps; log how long it took."""
        self.at = (0, 0, label)
        self.on_step(*self.at)
        with self.timed(label):
            yield

    @contextmanager
    def timed(self, label: str) -> Iterator[None]:
        """Log how long something took, if it comes to its end."""
        start = time.perf_counter()
        yield
        self.note(label, "info", "done", time.perf_counter() - start)

    @contextmanager
    def hearing(self, step: str) -> Iterator[None]:
        """Log every warning of a library, which is printed as before."""
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
        """Tell the progress channel what the step under way is doing."""
        done, total, label = self.at
        self.on_step(done, total, f"{label}: {words}")

    def report_progress(self, words: str) -> None:
        """Tell the progress channel how far the step is, unless it just heard of it."""
        now = time.perf_counter()
        if now - self.reported >= PAUSE:
            self.tell(words)
            self.reported = now

    def report_compilation(self, words: str) -> None:
        """Tell the progress channel and the log that loops are being compiled."""
        self.tell(words)
        self.note(self.at[2], "info", words)
