"""Verification of ssh signatures over lines of the audit log, by ssh-keygen.

``signatures/<n>.<who>.sig`` signs the bytes of line n with its line feed. A line has
the digest of the line before, so the signature covers all lines up to n and the files
of their runs; later lines cannot make it invalid. The signer makes it without this
software:

    sed -n 8p audit-log.jsonl \\
        | ssh-keygen -Y sign -n importance-audit -f KEY > signatures/8.WHO.sig

The permitted signers are in a folder that the user of `verify` trusts: in
`allowed_signers` and, if it exists, `revoked`, both in the formats of ssh-keygen.
Signatures of other tools are listed and not checked.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..audit_log import LOG, Log
from ..digests import Mismatch, read_regular, sha256, why

SIGNATURES = "signatures"
NAMESPACE = "importance-audit"
NAME = re.compile(r"([1-9][0-9]*)\.(.+)\.(sig|minisig|asc)", re.DOTALL)
LARGEST = 1_000_000
MINUTE = 60.0


class Checked(NamedTuple):
    """The outcome of ssh-keygen for a signature; `valid` is None if it did not run."""

    valid: bool | None
    words: str


def verify_signatures(
    folder: Path, log: Log, signers: Path | None
) -> Iterator[Mismatch | str]:
    """Yield the mismatches of the signatures of an audit, and a note on each signature.

    Parameters
    ----------
    folder : Path
        The folder of the audit.
    log : Log
        The log of the audit.
    signers : Path, optional
        The folder with allowed_signers. Without it signatures are listed and not
        checked; with it every sign-off must have a valid signature of its signer.
    """
    if signers and signers.resolve().is_relative_to(folder.resolve()):
        yield (
            "the signers lie in the folder that they vouch for: whoever can write "
            "there can add one"
        )
    signed: set[int] = set()
    places = sorted((folder / SIGNATURES).glob("*"))
    for path in places:
        where, match = f"{SIGNATURES}/{path.name}", NAME.fullmatch(path.name)
        number = int(match[1]) if match else 0
        if not match or not 0 < number <= len(log.lines):
            found = f"none such; the log has {len(log.lines)} lines"
            yield Mismatch(where, "<line>.<who>.sig of a line of the log", found)
            continue
        try:
            signature = read_regular(path, LARGEST)
        except OSError as error:
            yield Mismatch(where, "a signature", why(error))
            continue
        checked = Checked(None, "not checked: only signatures of ssh are")
        if match[3] == "sig":
            checked = check_signature(signature, log, number, match[2], signers)
        if checked.valid is False:
            expected = f"a valid signature of line {number} by {match[2]}"
            yield Mismatch(where, expected, checked.words)
            continue
        entry = log.entries[number - 1] or {}
        is_own = entry.get("signer", match[2]) == match[2]
        if is_own and (checked.valid or signers is None):
            signed.add(number)
        whose = "" if is_own else " (not its signer)"
        yield f"{where}, {_covered(log, number)}{whose}: {checked.words}"
    for entry in log.of("signoff"):
        if entry["n"] not in signed and (signers or entry["signer"]):
            who = entry["signer"] or "a signer, whom the line does not name"
            where = f"{LOG}: line {entry['n']}"
            yield Mismatch(where, f"a valid signature by {who}", "none")


def _covered(log: Log, number: int) -> str:
    """Return the lines that a signature covers, in words."""
    for n in range(number, 1, -1):
        entry = log.entries[n - 1]
        if entry is None or entry["previous"] != sha256(log.lines[n - 2]):
            return f"line {number} back to line {n}, not what is before that now"
    return f"line {number} and all before it"


def check_signature(
    signature: bytes, log: Log, number: int, who: str, signers: Path | None
) -> Checked:
    """Return the outcome of ssh-keygen for a signature over a line.

    The key must have been valid at the latest time in this line and those before it,
    because a line cannot be older than an earlier one.
    """
    if signers is None:
        return Checked(None, "not checked: no signers were given (--signers FOLDER)")
    times = [entry["time"] for entry in log.entries[:number] if entry]
    if not times:
        return Checked(None, "not checked: no line up to it can be read")
    latest = max(map(datetime.fromisoformat, times)).astimezone(UTC)
    when = ("-O", f"verify-time={latest:%Y%m%d%H%M%SZ}")
    line, revoked = log.lines[number - 1], signers / "revoked"
    about = ("-n", NAMESPACE, "-I", who)
    unless = ("-r", revoked) if revoked.exists() else ()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "signature"
        file.write_bytes(signature)
        of = ("-f", signers / "allowed_signers", "-s", file, *when)
        try:
            code, words = _ssh_keygen("verify", *about, *unless, *of, data=line)
            if code == 0:
                good = (w for w in words.splitlines() if w.startswith("Good"))
                return Checked(True, next(good, words))
            if unless and _ssh_keygen("verify", *about, *of, data=line)[0] == 0:
                # ssh-keygen prints the same message for both.
                why_not = f"revoked in {revoked}, or ssh-keygen cannot read that file"
                return Checked(False, f"its key is {why_not}")
            found, others = _ssh_keygen("find-principals", *of)
        except FileNotFoundError:
            return Checked(None, "not checked: there is no ssh-keygen")
        except subprocess.TimeoutExpired:
            return Checked(False, "no answer of ssh-keygen within a minute")
    if re.search("unknown option|invalid option|illegal option", words, re.IGNORECASE):
        return Checked(None, "not checked: this ssh-keygen is too old (-Y verify)")
    reason = (words.splitlines() or ["not valid"])[0]
    names = ", ".join(others.splitlines())
    whose = f"that of {names}" if found == 0 else "none of the signers at that time"
    return Checked(False, f"{reason}; its key is {whose}")


def _ssh_keygen(action: str, *options: object, data: bytes = b"") -> tuple[int, str]:
    """Return the exit code of ``ssh-keygen -Y`` and its output."""
    command = ["ssh-keygen", "-Y", action, *map(str, options)]
    done = subprocess.run(
        command, input=data, capture_output=True, timeout=MINUTE, check=False
    )
    return done.returncode, (done.stderr + done.stdout).decode(
        "utf-8", "replace"
    ).strip()
