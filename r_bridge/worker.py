"""The R side: a child process that starts R and serves requests one after another.

    python -m importance_audit.r_bridge.worker <line> <life> <memory> <home> <R files>

`line` and `life` are descriptors of sockets: `line` carries the requests; `life` is
closed when the parent ends, in whatever way, and then this process ends too. `memory`
and `home` are the private folders in shared memory and on disk.

In R, predict of the parent is a function that sends the rows to the parent, which
predicts and returns numbers or the reason for a failure. No exception is raised through
R, which would swallow it: R gets two texts instead, and `python_predict` of guard.R
turns them into an R error.
"""

import contextlib
import os
import resource
import shutil
import signal
import socket
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from rpy2 import rinterface
from rpy2.rinterface_lib import callbacks, openrlib

from . import r_values
from .errors import RBridgeError
from .probe import use_utf8
from .wire import Line, Message

_DEFAULT_STACK = 8 << 20


class Server:
    """Serves requests, one at a time.

    Parameters
    ----------
    line : Line
        The connection to the parent.
    files : sequence of str
        The R files with the functions that may be called.
    """

    def __init__(self, line: Line, files: list[str]) -> None:
        self._line = line
        self._is_evaluating = False
        self._start_r()
        guard = _functions_of([str(Path(__file__).with_name("guard.R"))])
        self._guard = guard["guard"]
        self._functions = guard["load_functions"](rinterface.StrSexpVector(files))
        self._names = frozenset(self._functions.keys())
        self._failures: list[str] = []
        # Functions that R may call must stay referenced, or R calls into freed memory.
        self._asked = rinterface.rternalize(self._answer, signature=False)
        self._predict = guard["python_predict"](self._asked)
        self._send("ready")

    def serve(self) -> None:
        """Serve requests until the parent sends "close"."""
        while True:
            message = self._line.receive()
            if message[0] == "close":
                return
            try:
                self._call(message)
            except RBridgeError as error:
                self._send("refused", str(error), {})
            except Exception:
                self._send("broken", traceback.format_exc(), {})

    def _send(self, *message: Any) -> None:
        self._line.send(message)

    def _start_r(self) -> None:
        # Printed output is discarded; warnings and messages are sent with the result.
        callbacks.consolewrite_print = lambda _text: None
        callbacks.consolewrite_warnerror = lambda _text: None
        callbacks.consoleread = lambda _prompt: ""
        callbacks.showmessage = lambda _text: None
        callbacks.showfiles = lambda *_: None
        stack, _ = resource.getrlimit(resource.RLIMIT_STACK)
        if stack == resource.RLIM_INFINITY:
            stack = _DEFAULT_STACK
        # With a limit, endless recursion is an R error and does not end the process.
        rinterface.initr(interactive=False, _c_stack_limit=int(0.9 * stack))
        signal.signal(signal.SIGINT, self._interrupted)
        kinds = ("Mersenne-Twister", "Inversion", "Rejection")
        rinterface.baseenv["RNGkind"](*map(_text, kinds))
        rinterface.baseenv["options"](warn=1, stringsAsFactors=False)

    def _interrupted(self, _signal: int, _frame: FrameType | None) -> None:
        """Interrupt R; outside an evaluation the flag would abort the process."""
        if self._is_evaluating:
            openrlib.rlib.R_interrupts_pending = 1

    def _call(self, message: Message) -> None:
        """Evaluate one call and send its outcome."""
        _, name, record, has_predict = message
        if name not in self._names:
            raise RBridgeError(f"R function {name!r} is none of the bridge's own.")
        arguments = [r_values.build(item) for item in record[2]]
        names = list(record[1])
        if has_predict:
            arguments, names = [*arguments, self._predict], [*names, "predict"]
        inputs = rinterface.ListSexpVector(arguments)
        inputs.do_slot_assign("names", rinterface.StrSexpVector(names))
        self._failures.clear()
        outcome = self._evaluate(name, inputs)
        fields = dict(zip(outcome.names, outcome, strict=True))
        output = {
            "warnings": list(fields["warnings"]),
            "n_warnings": fields["n_warnings"][0],
            "messages": list(fields["messages"]),
        }
        status = fields["status"][0]
        if self._failures:
            self._send("refused", self._failures[0], output)
        elif status == "value":
            value = r_values.read(fields["value"], subject=f"The result of {name!r}")
            self._send("value", value, output)
        elif status == "interrupt":
            self._send("interrupted", output)
        else:
            words = (fields["message"][0], fields["call"][0])
            self._send("error", *words, output)

    def _answer(self, newdata: Any) -> Any:
        """Return the predictions for a data.frame of R, or two texts after a failure.

        The parent raises the failure even if R reports success.
        """
        try:
            classes = newdata.rclass
            if "data.frame" not in classes:
                raise RBridgeError(
                    f"R called predict with a value of class {classes[0]}, not with a "
                    "data.frame."
                )
            self._send("predict", r_values.read_frame(newdata, subject="newdata"))
            word, content = self._line.receive()
            if word != "failed":
                return r_values.build(content)
            reason = content
        except BaseException as error:
            reason = str(error)
            self._failures.append(reason)
        return rinterface.StrSexpVector(["__python_error__", reason])

    def _evaluate(self, name: str, inputs: Any) -> Any:
        self._is_evaluating = True
        try:
            return self._guard(_text(name), inputs, self._functions)
        finally:
            self._is_evaluating = False
            openrlib.rlib.R_interrupts_pending = 0


def _functions_of(files: list[str]) -> dict[str, Any]:
    """Return the functions of R files by name."""
    env = rinterface.baseenv["new.env"]()
    for file in files:
        rinterface.baseenv["sys.source"](_text(file), env)
    names = list(env.keys())
    return {name: env[name] for name in names}


def _text(text: str) -> Any:
    return rinterface.StrSexpVector([text])


def _die_with_parent(life: int, folders: list[Path]) -> None:
    """Wait for the parent's end, then remove the folders and exit, busy or not."""
    parent = os.getppid()
    os.set_inheritable(life, False)
    with socket.socket(fileno=life) as line, contextlib.suppress(OSError):
        line.settimeout(1.0)
        while os.getppid() == parent:
            try:
                if not line.recv(1):
                    break
            except TimeoutError:
                continue
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def main(arguments: list[str]) -> None:
    """Serve until the parent closes the connection; exit without R's exit handlers."""
    line, life, memory, home, *files = arguments
    folders = [Path(memory), Path(home)]
    watch = threading.Thread(
        target=_die_with_parent, args=(int(life), folders), daemon=True
    )
    watch.start()
    use_utf8()
    os.set_inheritable(int(line), False)
    with contextlib.suppress(EOFError):
        paths = [folder / "of R" for folder in folders]
        Server(Line(Connection(int(line)), paths), files).serve()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
