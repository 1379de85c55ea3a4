"""Section P: who signed this document, and which digest; or lines to sign on."""

from ...runs.signoff.record import DETACHED, ROLES, Signoff
from ..text.blocks import Cell, Column, Row, Section, Sentence, Styled, Table
from ..text.wording import display_name, look_up, say, show_hidden, word
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
        Row(
            (
                Cell((look_up("signoff.roles")[role],)),
                Cell(),
                Cell((look_up("signoff.meanings")[role],)),
                Cell(),
                Cell((short,)),
                Cell(),
            )
        )
        for role in ROLES
    )
    return Table(
        id="tab-signoff",
        caption=say("signoff.lines"),
        columns=(
            Column(say("signoff.role"), "header", 13),
            Column(say("signoff.name"), width=22),
            Column(say("signoff.meaning"), width=14),
            Column(say("signoff.time"), width=16),
            Column(say("signoff.covers_short"), width=15),
            Column(say("signoff.signature"), width=20),
        ),
        rows=rows,
        notes=(say("signoff.by_hand"),),
        shape="wide",
    )


def _signatures(facts: Facts) -> Table:
    """Return the records of signatures, in the order in which they were made."""
    others = [r for r in facts.signoffs if r.content_digest != facts.digest]
    all_others = len(others) == len(facts.signoffs)
    return Table(
        # Section O takes "tab-signatures" for evidence that this result is signed.
        id="tab-other-signatures" if all_others else "tab-signatures",
        caption=say("signoff.records"),
        columns=(
            Column(say("signoff.name"), "header", 20),
            Column(say("signoff.role"), width=14),
            Column(say("signoff.time"), width=17),
            Column(say("signoff.meaning"), width=15),
            Column(say("signoff.covers"), "code", 34),
        ),
        rows=tuple(_signature(record) for record in facts.signoffs),
        notes=(say("signoff.other_digest"),) if others else (),
        shape="wide",
    )


def _signature(record: Signoff) -> Row:
    texts = (
        display_name(record.printed_name),
        show_hidden(record.role),
        moment(record.signed_at.isoformat()),
        record.meaning,
    )
    digest = Cell(hash_text(record.content_digest))
    return Row((*(Cell((text,)) for text in texts), digest))


def _statements(facts: Facts) -> Table:
    """Return what was signed in the words of each signer, and how we know of whom."""
    notes = [say("signoff.binds")]
    if any(DETACHED.fullmatch(record.method) for record in facts.signoffs):
        notes.append(say("signoff.not_checked"))
    rows = enumerate(facts.signoffs, start=1)
    return Table(
        id="tab-statements",
        caption=say("signoff.statements"),
        columns=(
            Column(say("signoff.signed_version"), "header", 9),
            Column(say("signoff.name"), width=16),
            Column(say("signoff.relation"), width=16),
            Column(say("signoff.statement"), width=26),
            Column(say("signoff.method"), width=33),
        ),
        rows=tuple(_statement(number, record) for number, record in rows),
        notes=tuple(notes),
        shape="wide",
    )


def _statement(number: int, record: Signoff) -> Row:
    texts = (
        str(number),
        display_name(record.printed_name),
        show_hidden(record.relation_to_developer),
        show_hidden(record.statement),
    )
    return Row((*(Cell((text,)) for text in texts), Cell(_method(record))))


def _method(record: Signoff) -> Sentence:
    """Return how identity was established, with a digest that may break in two."""
    match = DETACHED.fullmatch(record.method)
    if not match:
        return (show_hidden(record.method),)
    return (show_hidden(match[1]), *hash_text(match[2]))
