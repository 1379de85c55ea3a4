"""Section N: how to check this document, and how to have its numbers again."""

import hashlib

from ...records.as_json import dumps, utf8
from ...records.stacks import FLOOR, OTHER_STACK, SAME_STACK
from ..text.blocks import KeyValues, Section, Sentence, Styled
from ..text.wording import say, word
from .control import hash_text
from .facts import Facts


def redo(facts: Facts) -> Section:
    """Return section N: the commands, and what each outcome means."""
    run = f"runs/{facts.run_id}"
    again = [_command("replay", f"verify --replay {run}"), _command("run", "run .")]
    if facts.result.run.config.get("data", {}) is None:  # called in Python
        again = [(say("redo.called"), say("redo.called_text"))]
    rows: tuple[tuple[Sentence, Sentence], ...] = (
        _command("verify", f"verify {run}"),
        _command("pdf", "verify report.pdf"),
        *again,
        _command("render", f"render {run}"),
        (say("redo.tolerance"), _tolerance()),
        (say("redo.expect"), say("redo.expect_text")),
        *_without_us(facts),
    )
    table = KeyValues("kv-redo", say("redo.caption"), rows)
    return Section(
        "N",
        "redo",
        word("sections.redo"),
        (),
        {"prose": say("redo.where"), "commands": table},
    )


def _command(key: str, command: str) -> tuple[Sentence, Sentence]:
    """Return what a command is for, the command, and what its outcomes mean."""
    command_line = Styled("code", (f"importance-audit {command}",))
    return say(f"redo.{key}"), (
        command_line,
        Styled("line", say(f"redo.{key}_outcome")),
    )


def _tolerance() -> Sentence:
    """Return how much a number measured again may differ, on which machine."""
    numbers = {
        "same": SAME_STACK,
        "other": OTHER_STACK,
        "same_floor": SAME_STACK * FLOOR,
        "other_floor": OTHER_STACK * FLOOR,
    }
    powers = {name: _power(number) for name, number in numbers.items()}
    return say("redo.tolerance_text", **powers)


def _power(number: float) -> str:
    """Return a power of ten as a user types it."""
    return f"{number:.0e}".replace("e-0", "e-")


def _without_us(facts: Facts) -> tuple[tuple[Sentence, Sentence], ...]:
    """Return the SHA-256 of result.json, and what else a digest can be taken of."""
    alone = (say("redo.alone"), say("redo.alone_text"))
    digest = facts.file_digest or hashlib.sha256(utf8(dumps(facts.result))).hexdigest()
    return ((say("redo.file"), hash_text(digest)), alone)
