"""20 000 runs: the last of them, every one of them, and the end of their chain.

Run from the project's root: ``python3 -m tests.benchmarks.history``.
"""

import json
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from importance_audit.runs.audit_log import LOG, to_line
from importance_audit.runs.chain import read_chain
from importance_audit.runs.digests import LIST, sha256, write_list
from importance_audit.runs.summary import Leader, RunSummary, to_plain

RUNS, FEATURES, FILES, ROUNDS = 20_000, 20, 40, 3
FIRST = datetime(2000, 1, 1, tzinfo=UTC)
LIMITS = {"history": 10.0, "history --last 0": 60.0}
"""Seconds that a command may take, its start included."""


def run_id(n):
    return f"{FIRST + timedelta(days=n):%Y%m%dT%H%M%SZ}-3f9a1c2b"


def leaders(n):
    means = [(FEATURES - i + (n % 7) / 7) / 3 for i in range(FEATURES)]
    rows = (
        Leader(f"feature_{i}", m, m - 0.1, m + 0.1, 1.0 + i)
        for i, m in enumerate(means)
    )
    return tuple(rows)


def past_run(n):
    digests = ("d" * 64, "e" * 64)
    severities = {"f" * 60 + f"{k:04}": "warning" for k in range(n % 4)}
    start = (FIRST + timedelta(days=n)).isoformat()
    words = ("complete", "confirmed with exceptions", 0)
    measure = "forest, permutation of features, rmse (estimand 3f9a1c2b)"
    short = (
        run_id(n),
        start,
        *words,
        *digests,
        measure,
        leaders(n),
        severities,
    )
    return RunSummary(*short, f"{n // 30:064}")


@cache
def history_text(n):
    return json.dumps(to_plain(past_run(n)))


def history_of(n):
    """Return history.json as a run writes it that follows 30 others."""
    run = past_run(n)
    findings = [
        {"key": key, "check": "weak_model", "subject": "forest", "severity": "warning"}
        for key in run.findings
    ]
    own = {**to_plain(run), "findings": findings}
    before = ", ".join(map(history_text, range(max(0, n - 30), n)))
    past_runs = f'{{"baseline": null, "runs": [{before}], "n_runs": {n}, '
    past_runs += '"findings": [], "gaps": []}'
    kind = '"format": "importance-audit-history/3"'
    return f'{{\n{kind},\n"run": {json.dumps(own)},\n"past": {past_runs}\n}}\n'


def make(audit):
    """Write the folders and the log of all runs; of each what `history` reads."""
    others = {f"{k}.csv": "c" * 64 for k in range(FILES)}
    lines = []
    for n in range(RUNS):
        folder = audit / "runs" / run_id(n)
        folder.mkdir(parents=True)
        history = history_of(n).encode()
        listed = write_list({**others, "history.json": sha256(history)})
        (folder / "history.json").write_bytes(history)
        (folder / LIST).write_bytes(listed)
        began = {"kind": "began", "pid": n, "host": "h", "unattended": True}
        facts = {"kind": "run", "run": folder.name, "list": sha256(listed), "bytes": 0}
        facts |= {"content_digest": "d" * 64, "exit_code": 0, "message": ""}
        facts |= {"verdict": "confirmed with exceptions", "r_failed": False}
        for line in (began, facts):
            previous = sha256(lines[-1]) if lines else ""
            time_ = (FIRST + timedelta(days=n)).isoformat()
            tied = {"n": len(lines) + 1, "time": time_, "previous": previous}
            lines.append(to_line(tied | line))
    (audit / LOG).write_bytes(b"".join(lines))


def seconds(audit, *options):
    start = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "importance_audit",
        "history",
        str(audit),
        *options,
    ]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main():
    print(f"{RUNS} runs of {FEATURES} features")
    print(f"{'task':26}{'seconds':>9}{'limit':>8}")
    with TemporaryDirectory() as place:
        audit = Path(place, "reports", "audit")
        make(audit)
        took = {}
        for name, options in (("history", ()), ("history --last 0", ("--last", "0"))):
            rounds = [seconds(audit, *options) for _ in range(ROUNDS)]
            took[name] = statistics.median(rounds)
        start = time.perf_counter()
        assert read_chain(audit).order[-1].run_id == run_id(RUNS - 1)
        took["end of the chain"] = time.perf_counter() - start
    for name, value in took.items():
        limit = f"{LIMITS[name]:.0f} s" if name in LIMITS else ""
        print(f"{name:26}{value:9.2f}{limit:>8}")


if __name__ == "__main__":
    main()
