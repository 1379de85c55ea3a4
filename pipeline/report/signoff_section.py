"""Section P: who signed this document, and which digest; or lines to sign on."""

from pipeline.report.blocks import (
    Cell,
    Column,
    Row,
    Section,
    Sentence,
    Styled,
    Table,
)
from pipeline.report.control import hash_text, moment
from pipeline.report.facts import Facts
from pipeline.report.wording import display_name, look_up, say, shown, word
from pipeline.signoffs import ROLES, Signoff


def signoff(facts: Facts) -> Section:
    """Return section P."""
    key = "signed" if facts.signoffs else "none"
    digest = say("signoff.digest", digest=hash_text(facts.digest))
    table = _signatures(facts) if facts.signoffs else _lines(facts)
    return Section(
        "P",
        "signoff",
        word("sections.signoff"),
        say(f"signoff.{key}"),
        {"blocks": (digest, table)},
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
    """Return the records of signatures, in the order in which they were signed."""
    signed = sorted(facts.signoffs, key=lambda record: record.signed_at)
    others = [r for r in signed if r.content_digest != facts.digest]
    notes: list[Sentence] = [say("signoff.binds")]
    if others:
        notes.append(say("signoff.other_digest"))
    return Table(
        # Section O takes "tab-signatures" for evidence that this result is signed.
        id="tab-other-signatures" if len(others) == len(signed) else "tab-signatures",
        caption=say("signoff.records"),
        columns=(
            Column(say("signoff.name"), "header", 16),
            Column(say("signoff.role"), width=12),
            Column(say("signoff.time"), width=14),
            Column(say("signoff.meaning"), width=12),
            Column(say("signoff.covers"), "code", 28),
            Column(say("signoff.method"), width=18),
        ),
        rows=tuple(_row(record) for record in signed),
        notes=tuple(notes),
        shape="wide",
    )


def _row(record: Signoff) -> Row:
    texts = (
        display_name(record.printed_name),
        shown(record.role),
        moment(record.signed_at.isoformat()),
        record.meaning,
    )
    return Row(
        (
            *(Cell((text,)) for text in texts),
            Cell(hash_text(record.content_digest)),
            Cell((shown(record.method),)),
        )
    )
