"""What a person signs: a record that binds a name to a digest. Not: who that is."""

import json
import re
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta

from ...records.errors import quote

MEANINGS = ("review", "approval", "responsibility", "authorship")
ROLES = ("author", "reviewer", "model_owner", "approver")
"""The lines of a report that nobody has signed."""
DETACHED = re.compile(
    r"(detached signature file .+, SHA-256 )([0-9a-f]{64})", re.DOTALL
)
"""The method of a record that an outside tool signed."""
_DIGESTS = ("content_digest", "manifest_sha256", "previous_sha256")


@dataclass(frozen=True, kw_only=True)
class Signoff:
    """One signature under a run. It authenticates nobody.

    Attributes
    ----------
    signoff_id : str
        The run and the number of the sign-off under it: ``<run_id>/<n>``.
    run_id : str
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
        Digest of the line before in signoffs.jsonl, empty for the first.

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
                raise ValueError(f"{field} must not be empty.")
        if self.meaning not in MEANINGS:
            rule = f"must be one of {', '.join(MEANINGS)}"
            raise ValueError(f"meaning {rule}; {quote(self.meaning)} was given.")
        if self.signed_at.utcoffset() != timedelta():
            instant = self.signed_at.isoformat()
            raise ValueError(f"signed_at must be in UTC; {instant} was given.")
        for field in _DIGESTS:
            digest = getattr(self, field)
            is_first = field == "previous_sha256" and not digest
            if not is_first and not re.fullmatch("[0-9a-f]{64}", digest):
                rule = "must have 64 hex digits"
                raise ValueError(f"{field} {rule}; {digest!r} was given.")


def detached_method(name: str, sha256: str) -> str:
    """Return the method of a record with a signature that an outside tool made."""
    return f"detached signature file {name}, SHA-256 {sha256}"


def line_of(record: Signoff) -> bytes:
    """Return a record as its line in signoffs.jsonl, without the line's end.

    Canonical JSON: UTF-8, keys sorted by code point, no spare white space.
    """
    facts = {**asdict(record), "signed_at": record.signed_at.isoformat()}
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def record_of(line: bytes) -> Signoff:
    """Return the record that a line of signoffs.jsonl holds.

    Raises
    ------
    ValueError
        If it is not byte for byte what `line_of` writes of a record.
    """
    facts = json.loads(line)
    names = {item.name for item in fields(Signoff)}
    if not isinstance(facts, dict) or facts.keys() != names:
        raise ValueError("It must hold exactly the fields of a record.")
    if not all(isinstance(value, str) for value in facts.values()):
        raise ValueError("Every field of a record must be a text.")
    signed_at = datetime.fromisoformat(facts.pop("signed_at"))
    record = Signoff(signed_at=signed_at, **facts)
    if line_of(record) != line:
        raise ValueError("It must be canonical JSON.")
    return record


def place_of(record: Signoff) -> str:
    """Return the folder of a sign-off below that of its audit, "" if it names none."""
    run, _, number = record.signoff_id.rpartition("/")
    is_one = run == record.run_id and run not in {"", ".", ".."} and "/" not in run
    if not is_one or not re.fullmatch("[1-9][0-9]{0,8}", number):
        return ""
    return f"runs/{run}/signed/{number}"
