"""Section N: how to check this document, and how to reproduce its numbers."""

import hashlib

from ...records.as_json import dumps, utf8
from ...records.stacks import FLOOR, OTHER_STACK, SAME_STACK
from ..text.blocks import Section, Sentence, Styled
from ..text.wording import say
from .control import hash_text
from .facts import Facts, key_values, section


def redo(facts: Facts) -> Section:
    """Return section N: the commands, and the meaning of each outcome."""
    run = f"runs/{facts.run_id}"
    is_called = facts.result.run.config.get("data", {}) is None  # in Python
    commands = {
        "verify": f"verify {run}",
        "pdf": f"verify {run}/report.pdf",
        "replay": f"verify --replay {run}",
        "run": "run .",
        "render": f"render {run}",
    }
    if not facts.has_pdf:
        del commands["pdf"]
    if not facts.came_to_end:
        del commands["replay"]
    rows: dict[str, Sentence] = {}
    for key, command in commands.items():
        if is_called and key in ("replay", "run"):
            rows["called"] = say("redo.called_text")
            continue
        if facts.has_folder:
            outcome = Styled("line", say(f"redo.{key}_outcome"))
            rows[key] = (Styled("code", (f"importance-audit {command}",)), outcome)
    tolerances = {
        "same": SAME_STACK,
        "other": OTHER_STACK,
        "same_floor": SAME_STACK * FLOOR,
        "other_floor": OTHER_STACK * FLOOR,
    }
    # Powers of ten as a user types them.
    powers = {k: f"{size:.0e}".replace("e-0", "e-") for k, size in tolerances.items()}
    rows["tolerance"] = say("redo.tolerance_text", **powers)
    if facts.has_folder:
        digest = (
            facts.file_digest or hashlib.sha256(utf8(dumps(facts.result))).hexdigest()
        )
        rows |= {"file": hash_text(digest), "alone": say("redo.alone_text")}
    caption, where = (
        ("caption", "where") if facts.has_folder else ("numbers", "no_folder")
    )
    table = key_values("kv-redo", say(f"redo.{caption}"), "redo", rows.items())
    return section("N", parts={"blocks": (say(f"redo.{where}"), table)})
