"""The sign-offs of an audit, and its approved baseline. Reads only.

A sign-off is a line of the audit log that binds a name to a run.

Not: the chain of the log (`audit_log`), or signing (`operate.sign`).
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ...records.errors import DataError
from ..audit_log import LOG, SEE_VERIFY, read_intact_log
from ..summary import Approved

RUNS = "runs"
PAGES = "signoffs"
"""The folder in that of the audit with the page of each sign-off, named by its line."""


MEANINGS = ("review", "approval", "responsibility", "authorship")
ROLES = ("author", "reviewer", "model_owner", "approver")
"""The lines for signatures in a report without sign-offs."""


class Signoff(NamedTuple):
    """One sign-off of a run. Only a signature of its line authenticates the person.

    Attributes
    ----------
    line : int
        The number of its line in the audit log.
    run_id : str
    content_digest : str
        The content digest of the signed result, 64 hex digits.
    list_sha256 : str
        The SHA-256 of the SHA256SUMS of the run.
    name, role, relation : str
        As printed; `relation` is the relation to the developer of the model.
    signed_at : datetime
        In UTC.
    meaning : {"review", "approval", "responsibility", "authorship"}
    statement : str
        The signed statement, in the signer's words.
    method : str
        The method that established the identity, as printed after "by".
    signer : str
        The name, in allowed_signers, of the person who must sign the line; empty if no
        signature was announced.
    """

    line: int
    run_id: str
    content_digest: str
    list_sha256: str
    name: str
    role: str
    relation: str
    signed_at: datetime
    meaning: str
    statement: str
    method: str
    signer: str = ""


def signoff_of(entry: Mapping[str, Any]) -> Signoff:
    """Return the sign-off in a line of the audit log."""
    words = ("content_digest", "name", "role", "relation", "meaning", "statement")
    return Signoff(
        line=entry["n"],
        run_id=entry["run"],
        list_sha256=entry["list"],
        signed_at=datetime.fromisoformat(entry["time"]).astimezone(UTC),
        method=entry["method"],
        signer=entry["signer"],
        **{name: entry[name] for name in words},
    )


def page_text(entry: Mapping[str, Any]) -> str:
    """Return the text of a line on its page: all facts but the digest of the page.

    It is in ASCII, so that no character can be hidden.
    """
    facts = {key: value for key, value in entry.items() if key != "page"}
    return json.dumps(facts, sort_keys=True)


def read_signoffs(folder: Path) -> tuple[Signoff, ...]:
    """Return the sign-offs of an audit, in their order.

    Raises
    ------
    DataError
        If the log cannot be read, or its chain is broken.
    """
    return tuple(map(signoff_of, read_intact_log(folder).of("signoff")))


def signoffs_in(run: Path) -> tuple[Signoff, ...] | None:
    """Return the sign-offs of a run, None if it is not in an audit whose log names it.

    Raises
    ------
    DataError
        If the log cannot be read, or its chain is broken.
    """
    run = run.resolve()
    if run.parent.name != RUNS:
        return None
    log = read_intact_log(run.parents[1])
    if run.name not in {entry["run"] for entry in log.of("run")}:
        return None
    return tuple(r for r in map(signoff_of, log.of("signoff")) if r.run_id == run.name)


def baseline_of(folder: Path) -> Approved | None:
    """Return the last approved run, None if there is none.

    Raises
    ------
    DataError
        If the log cannot be read, its chain is broken, or it lacks a sign-off whose
        page exists: it was cut or replaced, and the baseline may be another.
    """
    signoffs = read_signoffs(folder)
    pages = {path.name for path in (folder / PAGES).glob("[1-9]*.html")}
    for name in sorted(pages - {f"{record.line}.html" for record in signoffs}):
        raise DataError(
            f"{folder / LOG} lacks the sign-off of {PAGES}/{name}. Put the log back as "
            f"it was, for example from version control. {SEE_VERIFY} {folder}"
        )
    approved = [record for record in signoffs if record.meaning == "approval"]
    if not approved:
        return None
    last = approved[-1]
    return Approved(
        run_id=last.run_id,
        content_digest=last.content_digest,
        list_sha256=last.list_sha256,
        printed_name=last.name,
        signed_at=last.signed_at.isoformat(),
    )
