"""Sign-off of a run: a line of the audit log that binds a name to it, and a page.

The run is verified first and not changed. The page is written under a hidden name, then
the line is appended, then the page is renamed. Not: authentication (by a signature of
the line), or the layout of the page (`report`).
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..records.as_json import content_digest
from ..records.errors import AuditError, ConfigError, DataError, quote
from ..report.pages.signoff_page import signoff_html
from ..runs.audit_log import LOG, SEE_VERIFY, now, open_log, read_intact_log
from ..runs.digests import LIST, Mismatch, read_regular, sha256
from ..runs.files import as_bytes
from ..runs.folder import recover, write_file
from ..runs.load import load_whole_run
from ..runs.locks import locked
from ..runs.signoff.approvals import MEANINGS, PAGES, RUNS
from ..runs.verify.audit import compare_signoffs
from ..runs.verify.run import compare_run
from ..runs.verify.signatures import NAMESPACE, SIGNATURES

LONGEST = {"name": 200, "role": 200, "relation": 200, "signer": 200, "statement": 2000}
"""Maximum number of characters, which fit on a page."""
TYPED = "a name typed at the terminal"
GIVEN = "a name given on the command line"


class SignoffRequest(NamedTuple):
    """The texts of a person who signs.

    Attributes
    ----------
    name, role, relation, meaning, statement : str
        `relation` is the relation to the developer of the model; `meaning` is one of
        `MEANINGS`.
    how : str
        The source of the texts, as printed after "Identity was established by".
    signer : str
        The name, in allowed_signers, of the person who will sign the line with
        ssh-keygen; empty if nobody will.
    """

    name: str
    role: str
    relation: str
    meaning: str
    statement: str
    how: str = TYPED
    signer: str = ""


def sign(run: Path, request: SignoffRequest) -> tuple[Path, tuple[str, ...]]:
    """Sign a run: append a line to the log of its audit, and write its page.

    Returns
    -------
    page : Path
    notes : tuple of str
        Messages to the signer.

    Raises
    ------
    ConfigError
        If the texts are not valid, with all problems.
    AuditError
        If the run is altered, if it is to be approved and is not complete, if the log
        is broken, or if a file cannot be written.
    """
    if problems := tuple(_problems(request)):
        raise ConfigError(problems)
    audit, run = audit_of(run), run.resolve()
    with locked(audit):
        notes = [*recover(audit)]
        check_run(run)
        result = load_whole_run(run)
        if request.meaning == "approval" and not result.is_complete:
            ends = (one.message for one in result.findings if one.ends_run)
            why = next(ends, f"Its status is {result.run.status}.")
            others = ", ".join(word for word in MEANINGS if word != "approval")
            raise AuditError(
                f"{run} must be complete to be approved. {why} It can be signed with "
                f"another meaning: {others}."
            )
        with open_log(audit) as log:
            before = log.read()
            facts = {
                "n": before.head["n"] + 1,
                "time": now(),
                "kind": "signoff",
                "previous": before.head["sha256"],
                **{k: v for k, v in request._asdict().items() if k != "how"},
                "method": request.how,
                "run": run.name,
                "list": sha256(read_regular(run / LIST)),
                "content_digest": content_digest(result),
            }
            page = as_bytes(signoff_html(result, facts))
            facts["page"] = sha256(page)
            place = audit / PAGES / f"{facts['n']}.html"
            facts_of_line = {k: facts[k] for k in facts.keys() - {"n", "previous"}}
            write_file(place, page, lambda: log.append(**facts_of_line))
    if request.signer:
        signature = audit / SIGNATURES / f"{facts['n']}.{request.signer}.sig"
        notes.append(
            f"Its line awaits the signature of {request.signer}: mkdir -p "
            f"{shlex.quote(str(signature.parent))}; sed -n {facts['n']}p "
            f"{shlex.quote(str(audit / LOG))} | ssh-keygen -Y sign "
            f"-n {NAMESPACE} -f KEY > {shlex.quote(str(signature))}"
        )
    return place, tuple(notes)


def audit_of(run: Path) -> Path:
    """Return the folder of the audit that a run belongs to.

    Raises
    ------
    DataError
        If it is not a run folder in runs/ of an audit.
    """
    folder = run.resolve()
    if folder.parent.name != RUNS or not (folder / LIST).is_file():
        raise DataError(
            f"{run} is not a run folder below runs/ of its audit. Name one."
        )
    return folder.parents[1]


def check_run(run: Path) -> None:
    """Raise if a run, or the log of its audit, is altered.

    Raises
    ------
    AuditError
        With the first mismatch that `verify` finds, and the number of all.
    """
    audit = audit_of(run)
    log = read_intact_log(audit)
    entry = {e["run"]: e for e in log.of("run")}.get(run.resolve().name)
    if entry is None:
        raise AuditError(f"{run} is no run that {LOG} names. {SEE_VERIFY} {audit}")
    found = (*compare_run(run, entry=entry).mismatches, *compare_signoffs(audit, log))
    mismatches = [item for item in found if isinstance(item, Mismatch)]
    if mismatches:
        more = f"; {len(mismatches)} mismatches in all" if len(mismatches) > 1 else ""
        raise AuditError(
            f"{run} is not as it was written and cannot be signed: "
            f"{mismatches[0]}{more}. {SEE_VERIFY} {run}"
        )


def _problems(request: SignoffRequest) -> Iterator[str]:
    """Yield the problems of the given texts, one sentence each."""
    for name in ("name", "role", "relation", "meaning", "statement", "signer"):
        text = getattr(request, name)
        rule = f"--{name} must"
        if not text.strip() and name != "signer":
            yield f"{rule} not be empty."
        elif text != text.encode("utf-8", "replace").decode():
            yield f"{rule} be UTF-8 text; {quote(text)} was given."
        elif len(text) > LONGEST.get(name, len(text)):
            most = f"have at most {LONGEST[name]} characters"
            yield f"{rule} {most}; {len(text)} were given."
        elif name == "meaning" and text not in MEANINGS:
            meanings = ", ".join(MEANINGS)
            yield f"{rule} be one of {meanings}; {quote(text)} was given."
        elif name == "signer" and ({*text} & {*"/ \t\n\r\0"} or text.startswith("-")):
            yield (
                f"{rule} be a name as in allowed_signers, without blanks and '/'; "
                f"{quote(text)} was given."
            )
