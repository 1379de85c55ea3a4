"""The pages as a browser, its reader and a checker of HTML find them."""

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.report.made_variants import plain_result, result_of
from tests.report.pages.test_history_page import KILLED, MADE, row
from tests.report.pages.test_history_page import page as page_of
from tests.report.reading import page_files

from importance_audit.report.pages.history_page import AuditRow, index_html

HERE = Path(__file__).parent
PAGES = ("disagreeing", "hostile", "wide", "interrupted", "multiclass", "long names")
"""Between them every template, with much, little and nothing in it."""
LOOSE = ("history", "audits")
"""Pages that are no report on one result."""
WHOLE = ("disagreeing",)
"""The page with most kinds of tables, figures, verdicts and findings."""
MARKED, SCRIPTLESS, RENAMED = "marked", "scriptless", "renamed"
"""Copies of a page: with values of marks in its figures, without our script, and
of one with intervals, its models with long names."""
LONG = (
    *("months_since_most_recent_delinquency_any_trade", "bureau.score.v3"),
    *("totalDebtToIncomeRatioAfterDisbursementPercent", "dealer.code"),
    *("revolving.utilisation.percent.of.limit", "monthly-instalment-to-net-income"),
    *("number_of_bureau_enquiries_last_6_months", "bureau.score.v2"),
)
COPIES = (MARKED, SCRIPTLESS, RENAMED)
KNOWN_MISTAKE = "Resource violates Content Security Policy"
"""Nu says that data: images are blocked where the policy allows them."""


MARKS = "".join(
    f'<rect id="estimate-{n}" x="{40 * n}" y="9" width="9" height="9">'
    f"<title>mark {n}</title></rect>"
    for n in range(2)
)


def with_titles(page):
    """Return a page whose figures name the values of their marks."""

    def titled(match):
        svg = base64.b64decode(match[1]).decode().replace("</svg>", f"{MARKS}</svg>")
        return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"

    return re.sub(r"data:image/svg\+xml;base64,([\w+/=]+)", titled, page)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with one file per page."""
    pages = {}
    for name in PAGES:
        result = plain_result(LONG) if name == "long names" else result_of(name)
        pages[name] = page_files(result, pdf=False)["report.html"]
    whole = pages[WHOLE[0]]
    pages[MARKED] = with_titles(whole)
    pages[SCRIPTLESS] = re.sub("<script>.*</script>", "", whole, flags=re.DOTALL)
    long = 'data-l="boosting, challenger 2024-02"'
    pages[RENAMED] = re.sub('data-l="[^"]+"', long, pages["multiclass"])
    audits = [AuditRow("apartments", 0, "confirmed", MADE, "run-1", "a/report.html")]
    pages["audits"] = index_html(audits, folder="reports", date=MADE, exit_code=0)
    runs = [row(day, changes=("one", "two")) for day in range(50)]
    reports = {each.run.run_id: "runs/x/report.html" for each in runs}
    facts = {"reports": reports, "gaps": ("A run is gone.",)}
    pages["history"] = page_of(*runs, KILLED, **facts)
    path = tmp_path_factory.mktemp("pages")
    for name, page in pages.items():
        path.joinpath(f"{name}.html").write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def observations(folder):
    """Return what one Chromium found on all of them."""
    job = {
        "chromium": shutil.which("chromium"),
        "pages": {
            name: str(folder / f"{name}.html") for name in (*PAGES, *LOOSE, *COPIES)
        },
        "whole": (*WHOLE, SCRIPTLESS),
    }
    run = subprocess.run(
        ["node", HERE / "look.mjs"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
    )
    assert not run.returncode, run.stderr
    return json.loads(run.stdout)


def on_pages(*names):
    """Let a test take in turn what Chromium found on each of these pages."""

    def over_all(test):
        return pytest.mark.needs_chromium(pytest.mark.parametrize("name", names)(test))

    return over_all


@pytest.fixture
def found(observations, name):
    return observations[name]


FAULTS = {
    "requests": "asks a network",
    "requestsWithoutPolicy": "asks a network even without the policy",
    "covering": "on a phone, its names of rows leave no room for what they name",
    "cut": "on a phone, some data of a figure cannot be seen",
    "smallTargets": "has a link too small for a finger",
    "copied": "gives a copied row another sign than one tab between its cells",
}


@pytest.mark.parametrize("fault", FAULTS)
@on_pages(*PAGES, *LOOSE)
def test_no_page_has_a_fault_that_a_browser_sees(found, name, fault):
    assert found[fault] == [], f"{name} {FAULTS[fault]}"


@on_pages(*PAGES, *LOOSE, *COPIES)
def test_no_rule_of_accessibility_is_broken(found, name):
    is_whole = name in (*WHOLE, SCRIPTLESS)
    modes = ("light", "dark", "narrow") if is_whole else ("light", "narrow")
    assert found["axe"] == {mode: [] for mode in modes}


@on_pages(*PAGES, *LOOSE)
def test_a_narrow_window_scrolls_in_one_direction(found):
    assert all(by <= 0 for by in found["overflow"].values())


@on_pages(*PAGES, *LOOSE, RENAMED)
def test_words_of_neighbouring_columns_never_touch(found):
    assert found["touching"] == {"320": [], "390": [], "1280": []}


@on_pages("disagreeing", "wide", "multiclass", "long names")
def test_the_first_screen_shows_the_verdict_and_the_first_ranking(found):
    first = found["first"]
    assert first["verdict"] < first["ranking"] <= first["height"] == 900


@on_pages("disagreeing", "wide", "multiclass", "long names")
def test_a_column_is_sorted_from_the_keyboard_and_back(found):
    found = found["scripted"]["sorted"]
    printed = found["printed"]
    numbers = sorted(number for number in printed if number is not None)
    ends = [None] * printed.count(None)
    assert found["first"] == ["descending", numbers[::-1] + ends]
    assert found["second"] == ["ascending", numbers + ends]
    assert found["third"] == [None, printed]


@pytest.mark.needs_chromium
def test_a_long_table_is_filtered_by_what_its_rows_say(observations):
    found = observations["wide"]["scripted"]["filtered"]
    assert found["said"] == f"{found['n']} of {found['all']} rows"
    assert 0 < found["n"] < found["all"]
    assert found["right"]


@on_pages(*PAGES)
def test_the_contents_mark_the_section_in_the_window(found):
    current = found["scripted"]["current"]
    assert len(current) == 6
    assert [marked for section, marked in current if marked != [section]] == []


@on_pages(*PAGES)
def test_sections_for_reference_are_folded_until_a_link_leads_to_them(found):
    found = found["scripted"]
    assert {"sec-m", "sec-n"} <= set(found["folded"])
    assert set(found["folded"]) <= {f"sec-{letter}" for letter in "ejmno"}
    assert found["opened"]


@on_pages(MARKED, "disagreeing", "wide", "long names")
def test_a_figure_shows_the_values_of_its_marks_on_focus_and_under_the_pointer(found):
    figure = found["scripted"]["figure"]
    first, second = figure["titles"][:2]
    assert figure["focused"] == f"{first} (← and → show the others)"
    assert (figure["next"], figure["none"]) == (second, "")
    assert figure["hovered"] == second
    assert figure["inside"]
    assert len(figure["role"]) > 40


@on_pages("disagreeing", RENAMED, "long names")
def test_a_phone_shows_page_one_and_every_verdict_without_scrolling(found):
    assert found["phone"] == {"tables": 2, "beyond": []}


@on_pages("disagreeing", SCRIPTLESS)
def test_a_phone_keeps_the_names_of_rows_beside_their_ranks(found):
    names = found["names"]
    assert names
    assert all(left >= 0 and ranks >= 2 for left, ranks in names)


@on_pages(*PAGES)
def test_the_tab_key_leads_from_the_skip_link_and_shows_where_it_is(found):
    stops = found["keyboard"]
    assert stops[0]["href"] == "#main"
    assert len(stops) > 20
    assert [s for s in stops if s["outline"] < 3 or not s["visible"]] == []


@on_pages(*PAGES)
def test_an_address_inside_the_page_leads_into_the_window(found):
    links = found["links"]
    assert {"sec-b", "sec-q"} < set(links["some"])
    assert links["lost"] == []


@on_pages(*PAGES)
def test_printed_from_a_browser_nothing_is_cut_and_nothing_asks_for_a_click(found):
    assert found["printed"] == {"shown": 0, "folded": 0, "cut": []}


@on_pages(*PAGES)
def test_without_scripts_the_page_says_the_same(found):
    assert found["scriptless"]


@pytest.mark.needs_java
def test_the_checker_of_html_finds_no_error(folder):
    jar = HERE / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
    command = ["java", "-jar", jar, "--format", "json", *sorted(folder.glob("*.html"))]
    run = subprocess.run(command, capture_output=True, text=True)
    messages = json.loads(run.stderr)["messages"]
    texts = [m["message"] for m in messages]
    assert [text for text in texts if not text.startswith(KNOWN_MISTAKE)] == []
    assert run.returncode == 0


@pytest.mark.needs_chromium
def test_what_npm_brings_is_pinned_and_names_no_registry():
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: item for name, item in lock["packages"].items() if name}
    assert all(item["integrity"] for item in packages.values())
    assert not any("resolved" in item for item in packages.values())
