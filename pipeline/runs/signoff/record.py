"""What a person signs: a line of the audit log that binds a name to a run."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

MEANINGS = ("review", "approval", "responsibility", "authorship")
ROLES = ("author", "reviewer", "model_owner", "approver")
"""The lines of a report that nobody has signed."""


class Signoff(NamedTuple):
    """One sign-off of a run. Only a signature of its line authenticates anybody.

    Attributes
    ----------
    line : int
        Its number in the audit log.
    run_id : str
    content_digest : str
        What is signed: the content digest of the result, 64 hex digits.
    list_sha256 : str
        The SHA-256 of the SHA256SUMS of the run.
    name, role, relation : str
        As printed; relation is that to the developer of the model.
    signed_at : datetime
        In UTC.
    meaning : {"review", "approval", "responsibility", "authorship"}
    statement : str
        What was signed, in the signer's words.
    method : str
        How identity was established, as it follows "by".
    signer : str
        Who has promised a signature of the line, as allowed_signers names them; empty
        if nobody has.
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
    """Return what the page of a sign-off prints of its line: all but its own digest.

    In ASCII, so that no character can be hidden.
    """
    facts = {key: value for key, value in entry.items() if key != "page"}
    return json.dumps(facts, sort_keys=True)
