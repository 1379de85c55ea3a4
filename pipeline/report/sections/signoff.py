"""Section P: who signed this document, and which digest; or lines to sign on."""

from ...runs.signoff.record import DETACHED, ROLES, Signoff
from ..text.blocks import Cell, Cells, Section, Sentence, Styled, Table
from ..text.wording import display_name, look_up, say, show_hidden, table_of, word
from .control import hash_text, moment
from .facts import Facts


def signoff(facts: Facts) -> Section:
    """Return section P."""
    key = "signed" if facts.signoffs else "none"
    digest = say("signoff.digest", digest=hash_text(facts.digest))
    signed = (_signatures(facts), _statements(facts)) if facts.signoffs else ()
    return Section(
        "P",
        "signoff",
        word("sections.signoff"),
        say(f"signoff.{key}"),
        {"blocks": (digest, *(signed or (_lines(facts),)))},
    )


def _lines(facts: Facts) -> Table:
    """Return one line for each role, with the digest that a signature would cover."""
    short = Styled("code", (facts.digest[:12],))
    rows = tuple(
        (
            look_up("signoff.roles")[role],
            "",
            look_up("signoff.meanings")[role],
            "",
            short,
            "",
        )
        for role in ROLES
    )
    return table_of(
        "signoff",
        "signoff",
        "role:header name meaning time covers_short signature",
        rows,
        caption=say("signoff.lines"),
        notes=(say("signoff.by_hand"),),
        shape="wide",
    )


def _signatures(facts: Facts) -> Table:
    """Return the records of signatures, in the order in which they were made."""
    others = [r for r in facts.signoffs if r.content_digest != facts.digest]
    all_others = len(others) == len(facts.signoffs)
    return table_of(
        "other-signatures" if all_others else "signatures",
        "signoff",
        "name:header role time meaning covers:code",
        [_signature(record) for record in facts.signoffs],
        caption=say("signoff.records"),
        notes=(say("signoff.other_digest"),) if others else (),
        shape="wide",
    )


def _signature(record: Signoff) -> Cells:
    texts = (
        display_name(record.printed_name),
        show_hidden(record.role),
        moment(record.signed_at.isoformat()),
        record.meaning,
    )
    digest = Cell(hash_text(record.content_digest))
    return (*texts, digest)


def _statements(facts: Facts) -> Table:
    """Return what was signed in the words of each signer, and how we know of whom."""
    notes = [say("signoff.binds")]
    if any(DETACHED.fullmatch(record.method) for record in facts.signoffs):
        notes.append(say("signoff.not_checked"))
    rows = enumerate(facts.signoffs, start=1)
    return table_of(
        "statements",
        "signoff",
        "signed_version:header name relation statement method",
        [_statement(number, record) for number, record in rows],
        caption=say("signoff.statements"),
        notes=tuple(notes),
        shape="wide",
    )


def _statement(number: int, record: Signoff) -> Cells:
    texts = (
        str(number),
        display_name(record.printed_name),
        show_hidden(record.relation_to_developer),
        show_hidden(record.statement),
    )
    return (*texts, _method(record))


def _method(record: Signoff) -> Sentence:
    """Return how identity was established, with a digest that may break in two."""
    match = DETACHED.fullmatch(record.method)
    if not match:
        return (show_hidden(record.method),)
    return (show_hidden(match[1]), *hash_text(match[2]))
