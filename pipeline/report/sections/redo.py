"""Section N: how to check this document, and how to have its numbers again."""

import hashlib

from ...records.as_json import dumps, utf8
from ...records.stacks import FLOOR, OTHER_STACK, SAME_STACK
from ..text.blocks import Section, Sentence, Styled
from ..text.wording import say
from .control import hash_text
from .facts import Facts, key_values, section


def redo(facts: Facts) -> Section:
    """Return section N: the commands, and what each outcome means."""
    run = f"runs/{facts.run_id}"
    is_called = facts.result.run.config.get("data", {}) is None  # in Python
    again = {
        "replay": _command("replay", f"verify --replay {run}"),
        "run": _command("run", "run ."),
    }
    rows = {
        "verify": _command("verify", f"verify {run}"),
        "pdf": _command("pdf", "verify report.pdf"),
        **({"called": say("redo.called_text")} if is_called else again),
        "render": _command("render", f"render {run}"),
        "tolerance": _tolerance(),
        "file": _digest_of_file(facts),
        "alone": say("redo.alone_text"),
    }
    table = key_values("kv-redo", say("redo.caption"), "redo", rows.items())
    return section("N", parts={"prose": say("redo.where"), "commands": table})


def _command(key: str, command: str) -> Sentence:
    """Return a command, and what its outcomes mean."""
    command_line = Styled("code", (f"importance-audit {command}",))
    return command_line, Styled("line", say(f"redo.{key}_outcome"))


def _tolerance() -> Sentence:
    """Return how much a number measured again may differ, on which machine."""
    numbers = {
        "same": SAME_STACK,
        "other": OTHER_STACK,
        "same_floor": SAME_STACK * FLOOR,
        "other_floor": OTHER_STACK * FLOOR,
    }
    # Powers of ten as a user types them.
    powers = {
        name: f"{size:.0e}".replace("e-0", "e-") for name, size in numbers.items()
    }
    return say("redo.tolerance_text", **powers)


def _digest_of_file(facts: Facts) -> Sentence:
    """Return the SHA-256 of result.json."""
    digest = facts.file_digest or hashlib.sha256(utf8(dumps(facts.result))).hexdigest()
    return hash_text(digest)
