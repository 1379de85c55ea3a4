"""One R process, from its start to its end: environment, folders, log, signals.

Not: the messages; see `host`.
"""

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from .errors import RDied
from .wire import Line, Message

_SHARED_MEMORY = Path("/dev/shm")
_PREFIX = "importance-audit-r-"
_LOG_LINES = 60
_LOG_BYTES = 1 << 14
_LOOK_SECONDS = 0.5
_END_SECONDS = 2.0
_STALL_SECONDS = 60


def environment(
    *,
    library: Path | None = None,
    home: Path | None = None,
    memory_gb: float | None = None,
) -> dict[str, str]:
    """Return the environment of a process that runs R, the same on every machine.

    Parameters
    ----------
    library : Path, optional
        A folder of R packages, searched before R's own.
    home : Path, optional
        The folder for temporary files of the process.
    memory_gb : float, optional
        Limit of R's vector memory, in 2**30 bytes; exceeding it is an R error.

    Notes
    -----
    Collation, time zone, language and threads affect level orders, dates, messages and
    the last digits of sums; a user's profile may change the random generator.
    """
    fixed = {
        "LANGUAGE": "en",
        "LC_COLLATE": "C",
        "LC_CTYPE": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONFAULTHANDLER": "1",
        "R_ENVIRON_USER": "",
        "R_PROFILE_USER": "",
        "TZ": "UTC",
    }
    inherited = {name: os.environ[name] for name in os.environ if name != "LC_ALL"}
    paths = inherited.get("PYTHONPATH", "").split(os.pathsep)
    fixed["PYTHONPATH"] = os.pathsep.join(str(Path(p).absolute()) for p in paths if p)
    if library is not None:
        others = inherited.get("R_LIBS", "").split(os.pathsep)
        fixed["R_LIBS"] = os.pathsep.join([str(library), *filter(None, others)])
    if home is not None:
        fixed["TMPDIR"] = str(home)
    if memory_gb is not None:
        fixed["R_MAX_VSIZE"] = f"{round(memory_gb * 1024)}M"
    return inherited | fixed


class ProcessEnded(Exception):  # noqa: N818 (an event)
    """The process closed the connection or is gone."""


class Process:
    """A child process that runs R.

    Parameters
    ----------
    files : sequence of Path
        The R files with the functions that may be called.
    library : Path, optional
        A folder of R packages, searched before R's own.
    memory_gb : float, optional
        As in `environment`.
    """

    def __init__(
        self,
        files: Sequence[Path],
        *,
        library: Path | None,
        memory_gb: float | None = None,
    ) -> None:
        sweep()
        self._status: int | None = None
        with contextlib.ExitStack() as cleanup:
            self._home = _private_folder(Path(tempfile.gettempdir()), cleanup)
            self._folders = [self._home]
            if os.access(_SHARED_MEMORY, os.W_OK):
                self._folders.insert(0, _private_folder(_SHARED_MEMORY, cleanup))
            connection, their_line = Pipe()
            limit_stalls(connection, _STALL_SECONDS)
            self._ours = Line(connection, [f / "for R" for f in self._folders])
            cleanup.callback(self._ours.close)
            life, their_life = socket.socketpair()
            cleanup.enter_context(life)
            variables = environment(
                library=library, home=self._home, memory_gb=memory_gb
            )
            with their_line, their_life:
                descriptors = (their_line.fileno(), their_life.fileno())
                self._popen = self._start(descriptors, files, variables)
            self._cleanup = cleanup.pop_all()

    def _start(
        self,
        descriptors: tuple[int, int],
        files: Sequence[Path],
        variables: dict[str, str],
    ) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-P", "-m", "importance_audit.r_bridge.worker"]
        folders = (self._folders[0], self._home)
        command += map(str, (*descriptors, *folders, *files))
        with self._log().open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # In the folder of the audit, Python would import a numpy.py, and R
                # would load an .RData.
                cwd=self._home,
                env=variables,
                pass_fds=descriptors,
                start_new_session=True,
            )

    @property
    def is_alive(self) -> bool:
        """Whether the process runs and was not ended."""
        return self._status is None and self._popen.poll() is None

    @property
    def is_known_to_have_ended(self) -> bool:
        """Whether its end has been noticed."""
        return self._status is not None

    @property
    def pid(self) -> int:
        """The process id, also the id of its process group."""
        return self._popen.pid

    def send(self, message: Message) -> None:
        """Send a message; ProcessEnded if the process is gone."""
        with self._line():
            self._ours.send(message)

    def wait(self, seconds: float) -> bool:
        """Return whether a message arrived in time; ProcessEnded if none can arrive."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            with self._line():
                if self._ours.poll(min(left, _LOOK_SECONDS)):
                    return True
            if self._popen.poll() is not None:
                raise ProcessEnded  # even if a grandchild keeps the connection open
        return False

    def receive(self) -> Message:
        """Return the message that arrived; ProcessEnded if it is incomplete."""
        with self._line():
            try:
                return self._ours.receive()
            except KeyboardInterrupt:  # the rest of the message would be lost
                self.end()
                raise

    @contextlib.contextmanager
    def _line(self) -> Iterator[None]:
        """Turn the errors of a closed connection into ProcessEnded; raise others."""
        try:
            yield
        except (EOFError, OSError) as error:
            raise ProcessEnded from error
        except (TypeError, ValueError) as error:
            if self.is_known_to_have_ended:  # closed by another thread meanwhile
                raise ProcessEnded from error
            raise

    def interrupt(self) -> None:
        """Interrupt R."""
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGINT)

    def end(self, *, politely: bool = False) -> int:
        """End the process and its children, remove its folders; return its status."""
        if self._status is None:
            if politely:
                with contextlib.suppress(ProcessEnded, OSError):
                    self.send(("close",))
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_END_SECONDS if politely else 0)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            self._status = self._popen.wait()
            self._cleanup.close()
        return self._status

    def died(self, doing: str) -> RDied:
        """Return the error for a process that ended while it was `doing` something."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_SECONDS)
        log = self._last_lines()
        status = self.end()
        fatal = [line for line in log if line.startswith("Fatal ")]
        last = f" It last wrote: {' | '.join(fatal or log[-3:])}" if log else ""
        text = f"R ended during {doing}, with {_ending(status)}.{last}"
        return RDied(text)

    def _log(self) -> Path:
        return self._home / "log"

    def _last_lines(self) -> tuple[str, ...]:
        text = ""
        with contextlib.suppress(OSError), self._log().open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - _LOG_BYTES))
            text = log.read().decode(errors="replace")
        return tuple(line for line in text.splitlines() if line.strip())[-_LOG_LINES:]


def limit_stalls(connection: Connection, seconds: int) -> None:
    """Make a message that stalls for `seconds` on either side an OSError."""
    with socket.socket(fileno=os.dup(connection.fileno())) as line:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            limit = struct.pack("ll", seconds, 0)
            line.setsockopt(socket.SOL_SOCKET, option, limit)


def _ending(status: int) -> str:
    """Return the exit status or the signal of a process, in words."""
    if status >= 0:
        return f"exit status {status}"
    name = signal.Signals(-status).name
    return f"signal {name}" + (" (out of memory?)" if name == "SIGKILL" else "")


def _private_folder(place: Path, cleanup: contextlib.ExitStack) -> Path:
    """Create a folder with the owning process in its name."""
    owner = f"{_namespace()}-{os.getpid()}-{_start_time(os.getpid())}-"
    folder = tempfile.mkdtemp(prefix=_PREFIX + owner, dir=place)
    cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Create a private folder that is removed at the end of the block."""
    with contextlib.ExitStack() as cleanup:
        yield _private_folder(Path(tempfile.gettempdir()), cleanup)


def sweep() -> None:
    """Remove the folders of ended processes, in this pid namespace only."""
    for place in {Path(tempfile.gettempdir()), _SHARED_MEMORY}:
        for folder in place.glob(f"{_PREFIX}{_namespace()}-*-*-*"):
            pid, start = folder.name.removeprefix(_PREFIX).split("-")[1:3]
            if pid.isdigit() and _start_time(int(pid)) != start:
                shutil.rmtree(folder, ignore_errors=True)


def _start_time(pid: int) -> str:
    """Return the start time of a process in clock ticks, "" if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _namespace() -> int:
    """Return the pid namespace: containers may share /tmp and have equal pids."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0
