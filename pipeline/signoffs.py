"""What a person signs: a record that binds a name to a digest. Not: who that is."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

MEANINGS = ("review", "approval", "responsibility", "authorship")
ROLES = ("author", "reviewer", "model_owner", "approver")
"""The lines of a report that nobody has signed."""
_DIGESTS = ("content_digest", "manifest_sha256", "previous_sha256")


@dataclass(frozen=True, kw_only=True)
class Signoff:
    """One signature under a run. It authenticates nobody.

    Attributes
    ----------
    signoff_id, run_id : str
    content_digest : str
        What is signed: the content digest of the result, 64 hex digits.
    manifest_sha256 : str
        Digest of the manifest that lists the files as they were signed.
    printed_name, role, relation_to_developer : str
    signed_at : datetime
        In UTC.
    meaning : {"review", "approval", "responsibility", "authorship"}
    statement : str
        What was signed, in the signer's words.
    method : str
        How identity was established, as it follows "by".
    previous_sha256 : str
        Digest of the record before, empty for the first.

    Raises
    ------
    ValueError
        If a name is empty, a digest or a meaning is none, or the time is not in UTC.
    """

    signoff_id: str
    run_id: str
    content_digest: str
    manifest_sha256: str
    printed_name: str
    role: str
    relation_to_developer: str
    signed_at: datetime
    meaning: str
    statement: str
    method: str
    previous_sha256: str = ""

    def __post_init__(self) -> None:
        for field in ("printed_name", "role", "method"):
            if not getattr(self, field).strip():
                raise ValueError(f"{field} must not be empty, but it is.")
        if self.meaning not in MEANINGS:
            rule = f"must be one of {', '.join(MEANINGS)}"
            raise ValueError(f"meaning {rule}, but {self.meaning!r} was given.")
        if self.signed_at.utcoffset() != timedelta():
            given = self.signed_at.isoformat()
            raise ValueError(f"signed_at must be in UTC, but {given} was given.")
        for field in _DIGESTS:
            digest = getattr(self, field)
            is_first = field == "previous_sha256" and not digest
            if not is_first and not re.fullmatch("[0-9a-f]{64}", digest):
                rule = "must have 64 hex digits"
                raise ValueError(f"{field} {rule}, but {digest!r} was given.")
