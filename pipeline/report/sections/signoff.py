"""Section P: who signed this document, and which digest; or lines to sign on."""

from ...runs.signoff.record import DETACHED, ROLES
from ..text.blocks import Section, Sentence, Styled, Table
from ..text.wording import display_name, look_up, say, show_hidden, table_of
from .control import hash_text, moment
from .facts import Facts, section


def signoff(facts: Facts) -> Section:
    """Return section P."""
    key = "signed" if facts.signoffs else "none"
    digest = say("signoff.digest", digest=hash_text(facts.digest))
    tables = _signed(facts) if facts.signoffs else (_lines(facts),)
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


def _signed(facts: Facts) -> tuple[Table, Table]:
    """Return the records of signatures in their order, then what each signer said."""
    is_other = [r.content_digest != facts.digest for r in facts.signoffs]
    signatures = table_of(
        "other-signatures" if all(is_other) else "signatures",
        "signoff",
        "name:header role time meaning covers:code",
        [
            (
                display_name(record.printed_name),
                show_hidden(record.role),
                moment(record.signed_at.isoformat()),
                record.meaning,
                hash_text(record.content_digest),
            )
            for record in facts.signoffs
        ],
        caption=say("signoff.records"),
        notes=(say("signoff.other_digest"),) if any(is_other) else (),
        shape="wide",
    )
    notes = [say("signoff.binds")]
    if any(DETACHED.fullmatch(record.method) for record in facts.signoffs):
        notes.append(say("signoff.not_checked"))
    statements = table_of(
        "statements",
        "signoff",
        "signed_version:header name relation statement method",
        [
            (
                str(number),
                display_name(record.printed_name),
                show_hidden(record.relation_to_developer),
                show_hidden(record.statement),
                _method(record.method),
            )
            for number, record in enumerate(facts.signoffs, start=1)
        ],
        caption=say("signoff.statements"),
        notes=tuple(notes),
        shape="wide",
    )
    return signatures, statements


def _method(method: str) -> Sentence:
    """Return how identity was established, with a digest that may break in two."""
    match = DETACHED.fullmatch(method)
    if not match:
        return (show_hidden(method),)
    return (show_hidden(match[1]), *hash_text(match[2]))
