"""What the page says of twelve results, stored as text: every change is read.

    pytest tests/report/test_golden.py --rewrite-golden

stores the texts anew. The diff is then reviewed line by line: nothing but what was
meant to change may have changed.
"""

import re
from hashlib import sha256
from pathlib import Path

import pytest
from tests.report.made_variants import RESULTS, result_of, view_of

from importance_audit.records.as_json import dumps
from importance_audit.report.pages.html import print_html, to_html
from importance_audit.report.pages.plain_text import page_lines

STORED = Path(__file__).with_name("golden")
PAPER = "on paper"
NAMES = (*RESULTS, PAPER)
LARGEST = 200_000
NUMBERED = re.compile(r"\b([Tt]able|[Ff]igure)\s\d+")


def path_of(name):
    return STORED / f"{name.replace(' ', '-')}.txt"


def lines(name):
    """Return the lines of the page, without digests and numbers of tables and figures.

    The last digits of a computed number differ between processors and versions of
    numpy, so a digest of such numbers may not be stored; one table more would change
    the numbers of all that follow.
    """
    of = NAMES[0] if name == PAPER else name
    view = view_of(of)
    page = print_html(view, conformity="") if name == PAPER else to_html(view)
    text = "\n".join(page_lines(page))
    text = text.replace(digest_of_file(of), "(digest of result.json)")
    digest = view.digest
    spaced = " ".join(digest[i : i + 4] for i in range(0, 16, 4))
    for part in (digest, digest[:32], digest[32:], spaced, digest[:12]):
        text = text.replace(part, "(digest)")
    return NUMBERED.sub(r"\1 #", text).splitlines()


def digest_of_file(name):
    """Return the SHA-256 of the result.json that a run of the result would write."""
    return sha256(dumps(result_of(name)).encode()).hexdigest()


def lines_to_store(name):
    """Return the lines to store: of all views but the first, what that does not say."""
    first = set(lines(NAMES[0])) if name != NAMES[0] else set()
    return [line for line in lines(name) if line not in first]


@pytest.mark.parametrize("name", NAMES)
def test_the_report_says_what_was_reviewed(name, request):
    if request.config.getoption("--rewrite-golden"):
        STORED.mkdir(exist_ok=True)
        path_of(name).write_text(
            "\n".join(lines_to_store(name)) + "\n", encoding="utf-8"
        )
    golden = path_of(name).read_text(encoding="utf-8")
    assert lines_to_store(name) == golden.splitlines()


def test_the_stored_texts_are_small_and_of_results_that_exist():
    files = sorted(STORED.iterdir())
    assert files == sorted(map(path_of, NAMES))
    assert sum(len(file.read_bytes()) for file in files) < LARGEST
