"""Section P: the signatures on this document and its digest, or lines to sign on."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...runs.signoff.approvals import ROLES
from ..text.blocks import Section, Styled, Table
from ..text.wording import display_name, look_up, say, show_hidden, table_of
from .control import hash_text, moment
from .facts import Facts, section


def signoff(facts: Facts) -> Section:
    """Return section P."""
    digest = say("signoff.digest", digest=hash_text(facts.digest))
    key = "unknown" if facts.signoffs is None else "none"
    tables: tuple[Table, ...] = (_lines(facts),)
    if facts.signoffs:
        key, tables = "signed", signed_tables(facts.signoffs, facts.digest)
    return section("P", say(f"signoff.{key}"), {"blocks": (digest, *tables)})


def _lines(facts: Facts) -> Table:
    """Return one line for each role, with the digest that a signature would cover."""
    short = Styled("code", (facts.digest[:12],))
    roles, meanings = look_up("signoff.roles"), look_up("signoff.meanings")
    return table_of(
        "signoff",
        "signoff",
        "role:header name meaning time covers_short signature",
        [(roles[role], "", meanings[role], "", short, "") for role in ROLES],
        caption=say("signoff.lines"),
        shape="wide",
    )


def signed_tables(
    signoffs: Sequence[Mapping[str, Any]], digest: str
) -> tuple[Table, Table]:
    """Return the table of signatures, in their order, and the table of statements.

    `digest` is the content digest of the document that prints them.
    """
    is_other = [record["content_digest"] != digest for record in signoffs]
    signatures = table_of(
        "other-signatures" if is_other and all(is_other) else "signatures",
        "signoff",
        "name:header role time meaning covers:code",
        [
            (
                display_name(record["name"]),
                show_hidden(record["role"]),
                moment(record["time"]),
                record["meaning"],
                hash_text(record["content_digest"]),
            )
            for record in signoffs
        ],
        caption=say("signoff.records"),
        notes=(say("signoff.other_digest"),) if any(is_other) else (),
        shape="wide",
    )
    notes = [say("signoff.binds")]
    if any(record["signer"] for record in signoffs):
        notes.append(say("signoff.not_checked"))
    statements = table_of(
        "statements",
        "signoff",
        "log_line:header name relation statement method signer",
        [
            (
                str(record["n"]),
                display_name(record["name"]),
                show_hidden(record["relation"]),
                show_hidden(record["statement"]),
                show_hidden(record["method"]),
                show_hidden(record["signer"]) or "–",
            )
            for record in signoffs
        ],
        caption=say("signoff.statements"),
        notes=tuple(notes),
        shape="wide",
    )
    return signatures, statements
