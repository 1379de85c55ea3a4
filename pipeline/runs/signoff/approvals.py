"""The sign-offs of an audit, and its approved baseline. Reads only.

A sign-off is a line of the audit log that binds a name to a run. Only a signature of
this line authenticates the person. Its facts: `run`, `list` and `content_digest`, the
signed run and its digests; `name`, `role`, `relation` (to the developer of the model),
`meaning` and `statement`, as printed; `method`, that established the identity;
`signer`, who must sign the line, by the name in allowed_signers, or "".

Not: the chain of the log (`audit_log`), or signing (`operate.sign`).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...records.errors import DataError
from ..audit_log import LOG, SEE_VERIFY, read_intact_log
from ..summary import Approved

RUNS = "runs"
PAGES = "signoffs"
"""The folder in that of the audit with the page of each sign-off, named by its line."""


MEANINGS = ("review", "approval", "responsibility", "authorship")
ROLES = ("author", "reviewer", "model_owner", "approver")
"""The lines for signatures in a report without sign-offs."""


def page_text(entry: Mapping[str, Any]) -> str:
    """Return the text of a line on its page: all facts but the digest of the page.

    It is in ASCII, so that no character can be hidden.
    """
    facts = {key: value for key, value in entry.items() if key != "page"}
    return json.dumps(facts, sort_keys=True)


def read_signoffs(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """Return the lines of the sign-offs of an audit, in their order.

    Raises
    ------
    DataError
        If the log cannot be read, or its chain is broken.
    """
    return read_intact_log(folder).of("signoff")


def signoffs_in(run: Path) -> tuple[Mapping[str, Any], ...] | None:
    """Return the sign-offs of a run, None if it is not in an audit whose log names it.

    Raises
    ------
    DataError
        If the log cannot be read, or its chain is broken.
    """
    run = run.resolve()
    if run.parent.name != RUNS:
        return None
    log = read_intact_log(run.parents[1])
    if run.name not in {entry["run"] for entry in log.of("run")}:
        return None
    return tuple(line for line in log.of("signoff") if line["run"] == run.name)


def baseline_of(folder: Path) -> Approved | None:
    """Return the last approved run, None if there is none.

    Raises
    ------
    DataError
        If the log cannot be read, its chain is broken, or it lacks a sign-off whose
        page exists: it was cut or replaced, and the baseline may be another.
    """
    signoffs = read_signoffs(folder)
    pages = {p.name for p in (folder / PAGES).glob("*.html") if p.stem.isdecimal()}
    for name in sorted(pages - {f"{line['n']}.html" for line in signoffs}):
        raise DataError(
            f"{folder / LOG} lacks the sign-off of {PAGES}/{name}. Put the log back as "
            f"it was, for example from version control. {SEE_VERIFY} {folder}"
        )
    approved = [line for line in signoffs if line["meaning"] == "approval"]
    if not approved:
        return None
    keys = ("run", "content_digest", "list", "name", "time")
    return Approved(*(approved[-1][key] for key in keys))
