"""The HTML page: one file, readable by everyone, every cell from the result."""

import base64
import posixpath
import re
import subprocess
from dataclasses import replace
from functools import cache
from hashlib import sha256
from urllib.parse import unquote

import pytest
from tests.report.made_records import HOSTILE
from tests.report.made_results import found
from tests.report.made_variants import (
    RESULTS,
    plain_result,
    plain_view,
    result_of,
    view_of,
    view_of_records,
)
from tests.report.page_reader import dead_links, having, nodes_of, parse_page
from tests.report.pages.test_by_model import four
from tests.report.reading import page_files

from importance_audit.records.as_csv import tables
from importance_audit.records.template_folder import templates
from importance_audit.report.pages.html import own_file, print_html, show, to_html
from importance_audit.report.pages.view import build_view

SCRIPT = (templates() / "screen.js").read_text(encoding="utf-8").strip()

LETTERS = "bacdefghijklmnopq"


@cache
def page_of(name):
    return to_html(view_of(name))


@cache
def tree_of(name):
    return parse_page(page_of(name))


def by_id(tree, id_):
    (node,) = having(tree, "id", id_)
    return node


def boxes(path):
    """Return where each word of a document begins and ends across its page."""
    run = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True)
    pattern = r'<word xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)"[^>]*>(.*?)</word>'
    matches = re.findall(pattern, run.stdout.decode())
    return [(float(left), float(right), word) for left, right, word in matches]


def test_the_policy_forbids_every_outside_address_and_comes_first(any_name):
    head = tree_of(any_name).all("head")[0]
    charset, policy = head.all("meta")[:2]
    assert charset.attributes == {"charset": "utf-8"}
    digest = base64.b64encode(sha256(SCRIPT.encode()).digest()).decode()
    assert policy.attributes["content"] == (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_the_one_script_of_a_page_is_ours_and_asks_for_nothing(any_name):
    scripts = tree_of(any_name).all("script")
    assert ["".join(script.inside) for script in scripts] == [SCRIPT]
    assert [script.attributes for script in scripts] == [{}]
    asking = r"fetch|XMLHttp|https?:|import\b|eval|cookie|Storage|innerHTML|Worker"
    assert not re.search(asking, SCRIPT)
    assert len(SCRIPT.splitlines()) < 200
    print_page = parse_page(print_html(view_of(any_name), conformity="None."))
    assert not print_page.all("script")


def test_the_page_asks_for_nothing_outside_itself(any_name):
    for node in nodes_of(tree_of(any_name)):
        assert node.tag not in {"link", "iframe", "object", "form"}
        for name, value in node.attributes.items():
            assert not name.startswith("on")
            assert "http:" not in value.replace("http-equiv", "")
            if name in {"src", "href"}:
                assert value.startswith(("#", "data:")), value


def test_the_page_says_its_language_title_and_digest(any_name):
    tree, view = tree_of(any_name), view_of(any_name)
    assert tree.all("html")[0].attributes["lang"] == "en"
    assert tree.all("title")[0].text.startswith("Importance audit: ")
    meta = {m.attributes.get("name"): m for m in tree.all("meta")}
    assert meta["content-digest"].attributes["content"] == view.digest


def test_every_section_is_there_and_named_by_its_heading(any_name):
    tree = tree_of(any_name)
    sections = tree.all("section")
    brief = {letter.lower() for letter in view_of(any_name).composed.brief}
    whole = [letter for letter in LETTERS if letter not in brief]
    assert [s.attributes["id"] for s in sections] == [f"sec-{x}" for x in whole]
    for part in sections:
        label = part.attributes["aria-labelledby"]
        assert part.all("h2")[0].attributes["id"] == label
    listed = [a.attributes["href"] for a in tree.all("nav")[0].all("a")]
    assert listed == [f"#sec-{letter}" for letter in whole]
    contents = [item.text for item in tree.all("nav")[0].all("li")]
    assert len(contents) == len(LETTERS)


def test_ids_are_unique_and_every_link_has_its_target(any_name):
    ids = [node.attributes["id"] for node in having(tree_of(any_name), "id")]
    assert len(ids) == len(set(ids))
    assert not dead_links(tree_of(any_name))


def test_tables_have_caption_heads_and_a_header_in_every_row(any_name):
    for item in tree_of(any_name).all("table"):
        assert item.all("caption")[0].text
        heads = item.all("thead")[0].all("th") if item.all("thead") else []
        assert all(head.text and head.attributes["scope"] == "col" for head in heads)
        for row in item.all("tbody")[0].all("tr"):
            (header,) = row.all("th")
            assert header.attributes["scope"] == "row"
            assert header.text
            assert not heads or len(row.all("th", "td")) == len(heads)


def test_shapes_are_decoration_beside_a_word(any_name):
    shapes = having(tree_of(any_name), "class", "shape")
    assert shapes
    assert all(n.attributes["aria-hidden"] == "true" for n in shapes)


@pytest.mark.needs_poppler
def test_words_among_numbers_stay_in_their_column(tmp_path):
    checks = result_of("apartments").checks.copy()
    checks[["observed", "threshold"]] = checks[["observed", "threshold"]].astype(object)
    checks.loc[0, ["observed", "threshold"]] = "training rows unknown", "otherwise"
    checks.loc[0, "verdict"] = "fail"  # what passed is not printed
    path = tmp_path / "report.pdf"
    result = plain_result(["a"], checks=checks)
    path.write_bytes(page_files(result)["report.pdf"])
    ends = {word: (left, right) for left, right, word in boxes(path)}
    assert ends["unknown"][1] < ends["otherwise"][0]


def test_hostile_names_are_shown_as_text():
    names = [n.text for n in tree_of("hostile").all("bdi")]
    for name in filter(str.strip, HOSTILE):
        escaped = name.replace("\u202e", "⟨U+202E⟩").replace("\n", "⟨U+000A⟩")
        assert re.sub("^ ", "⟨U+0020⟩", escaped) in names


def test_figures_are_images_with_words_for_who_does_not_see_them(any_name):
    figures = tree_of(any_name).all("figure")
    assert len(figures) == len(view_of(any_name).figures)
    for figure in figures:
        (image,) = figure.all("img")
        assert len(image.attributes["alt"]) > 40
        assert image.attributes["src"].startswith("data:image/svg+xml;base64,")
        assert int(image.attributes["width"]) == 658
        assert figure.all("figcaption")[0].text.startswith("Figure ")


def test_rows_that_the_body_leaves_out_can_be_opened():
    sections = {s.attributes["id"]: s for s in tree_of("wide").all("section")}
    (ranking,) = (d for d in sections["sec-f"].all("details") if "Rise" in d.text)
    assert len(ranking.all("tbody")[0].all("tr")) == 200
    assert not ranking.all("summary")[0].all("a")


def on_paper(name):
    return parse_page(print_html(view_of(name), conformity="PDF/A: not claimed."))


def test_paper_says_what_the_file_conforms_to_and_has_nothing_to_click():
    tree = on_paper("wide")
    assert not tree.all("details", "style")
    assert "PDF/A: not claimed." in by_id(tree, "kv-document").text


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    result = result_of("one feature")
    frame = parse_page(show(result)._repr_html_()).all("iframe")[0]
    page = to_html(build_view(result, has_folder=False))
    assert frame.attributes["srcdoc"] == page
    assert frame.attributes["title"]


def test_no_attribute_on_paper_holds_the_quotes_of_another():
    assert "=&#34;" not in print_html(view_of("apartments"), conformity="")


def test_a_run_folder_gets_page_and_figures():
    files = page_files(result_of("apartments"), pdf=False)
    names = [figure.id.removeprefix("fig-") for figure in view_of("apartments").figures]
    figures = {f"figures/{name}.{end}" for name in names for end in ("svg", "png")}
    assert set(files) == {"report.html", *figures}
    assert len(figures) == 2 * len(names)
    # The page of a result alone differs only in that it has no files to link to.
    links = r' <span class="take"><a href="figures/[^>]*>[^<]*</a>, <a .*?</a></span>'
    page, n_links = re.subn(links, "", files["report.html"])
    assert n_links == len(names)
    assert page == page_of("apartments")


def test_captions_lead_to_the_files_of_their_figures_below_any_folder():
    result, figures = result_of("apartments"), "some run of mine/figures"
    files = page_files(result, pdf=False, figures=figures)
    page = parse_page(files["report.html"])
    links = [unquote(link.attributes["href"]) for link in page.all("a")]
    linked = [link for link in links if link.endswith((".svg", ".png"))]
    assert sorted(linked) == sorted(set(files) - {"report.html"})
    for path in linked:
        start = b"\x89PNG" if path.endswith(".png") else "<?xml"
        assert files[path].startswith(start)


def test_pages_of_models_link_to_the_files_of_the_run():
    files = page_files(four(), pdf=False)
    pages = {path: files[path] for path in files if path.endswith(".html")}
    assert len(pages) == 5
    figures = set()
    for path, page in pages.items():
        links = re.findall(r'href="([^"#]*\.(?:svg|png))"', page)
        folder = posixpath.dirname(path)
        linked = {posixpath.normpath(posixpath.join(folder, link)) for link in links}
        assert linked <= files.keys()
        figures |= {link for link in linked if link.startswith("figures/")}
    assert figures == {path for path in files if path.startswith("figures/")}


UNKNOWN_TO_SOME = (
    *("display: grid", " gap:", "calc(", "min(", "max(", "var(", "clamp(", "&"),
    *("@layer", "@supports", "oklch", "color-mix", "light-dark", "inset", "sticky"),
    *("-inline:", "-block:", "box-shadow", "aspect-ratio", "filter:", "gradient"),
    *("writing-mode", "text-wrap", "text-underline-offset", "unicode-range"),
)


def test_paper_keeps_to_what_every_renderer_knows():
    # Between the columns of a text, all know a gap.
    css = re.sub(r"(columns: \d; )column-gap:", r"\1", own_file("print.css"))
    assert not [word for word in UNKNOWN_TO_SOME if word in css]
    assert not re.search(r"\d(vw|vh)\b", css)


LONG = "totalDebtToIncomeRatioAfter_disbursement.percent"
BROKEN = "<wbr>".join(
    ["total", "Debt", "To", "Income", "Ratio", "After_", "disbursement.", "percent"]
)
RIGHT_TO_LEFT = "גודל הדירה החדשה במטר"
HALF_LONG = "deindustrialisation_score.of.region"


@pytest.mark.parametrize(
    ("name", "on_screen", "on_paper"),
    [
        (LONG, f'<bdi><span class="joints">{BROKEN}</span></bdi>', BROKEN),
        ("m2.price", "<bdi>m2.price</bdi>", '<bdi class="joints">m2.price</bdi>'),
        (RIGHT_TO_LEFT, "", f"<bdi>{RIGHT_TO_LEFT}</bdi>"),  # else its words turn
        (
            HALF_LONG,  # its words stay whole beside one that no column holds
            "",
            "<bdi>deindustrialisation_<wbr>"
            '<span class="joints">score.<wbr>of.<wbr>region</span></bdi>',
        ),
        ("income_" * 40, f'<bdi title="{"income_" * 40}">', ""),
    ],
)
def test_a_name_may_break_between_its_words_and_reads_as_it_is(
    name, on_screen, on_paper
):
    view = plain_view([name, "x"])
    screen, paper = to_html(view), print_html(view, conformity="")
    for page, shown in ((screen, on_screen), (paper, on_paper)):
        assert shown in page
        is_plain = not shown or f"<bdi>{name}</bdi>" in shown
        assert is_plain or f"<bdi>{name}<" not in page


def test_a_long_name_inside_a_sentence_breaks_where_it_does_alone():
    message = f"These depend on each other: '{LONG}' & <b>x</b>."
    note = found("dependence", severity="info", message=message)
    view = plain_view(["x"], findings=[note])
    page = to_html(view)
    assert f"other: &#39;{BROKEN}&#39; &amp; &lt;b&gt;x&lt;/b&gt;." in page
    assert "<b>x</b>" not in page
    assert f"&#39;{BROKEN}" in print_html(view, conformity="")


def test_nothing_of_the_page_moves_by_itself():
    moving = r"transition|animation|@keyframes|scroll-behavior|smooth|\.animate\("
    css = (templates() / "screen.css").read_text(encoding="utf-8")
    assert not re.search(moving, css + SCRIPT)


def test_sections_for_reference_open_and_close_and_stand_open_without_a_script():
    folds = [
        d for d in tree_of("wide").all("details") if "fold" in d.attributes.values()
    ]
    assert folds
    assert all("open" in fold.attributes for fold in folds)
    assert all(fold.all("summary")[0].text.startswith("Details: ") for fold in folds)


def test_of_three_models_a_phone_says_each_model_before_its_value():
    names = ("forest", "linear", "svm")
    (record, *_) = result_of("apartments").importances
    page = to_html(view_of_records(*(replace(record, model=name) for name in names)))
    head, first = page[page.index('<table id="tab-executive"') :].split("</tr>")[:2]
    in_head = re.findall(r"\b(forest|linear|svm)\b", head.split("<thead>")[1])
    assert sorted(in_head) == list(names)
    assert re.findall('data-l="([^"]*)"', first) == in_head


@pytest.mark.parametrize("name", RESULTS)
def test_every_table_of_the_run_that_the_page_names_is_written(name):
    written = tables(result_of(name))
    named = re.findall(r"tables/\w+\.csv", to_html(view_of(name)))
    assert named or not result_of(name).importances
    assert set(named) <= set(written)
