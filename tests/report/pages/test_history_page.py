"""The page of an audit's runs and that of several audits: what they say."""

import math
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from tests.report.made_variants import result_of
from tests.report.pages.test_by_model import four
from tests.report.reading import section

from importance_audit.report.figures.history import LeaderLine, draw_history
from importance_audit.report.pages.compose import compose
from importance_audit.report.pages.history_page import (
    AuditRow,
    history_html,
    index_html,
)
from importance_audit.report.pages.report_views import report_views
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.frameworks import evidence_in
from importance_audit.report.sections.history_figure import history_figure
from importance_audit.report.text.blocks import plain
from importance_audit.runs.run_context import RunContext
from importance_audit.runs.summary import (
    Approved,
    Leader,
    RunHistory,
    RunSummary,
    summarise,
)
from importance_audit.runs.timeline import Row

MADE = "2026-11-22T08:00:00+00:00"


def leader(name, value, rank=1.0):
    return Leader(name, value, value - 0.01, value + 0.01, rank)


def run(day, verdict="confirmed", leaders=(("a", 0.5), ("b", 0.1)), measure="m"):
    start = datetime(2026, 11, 1, 6, tzinfo=UTC) + timedelta(days=day)
    return RunSummary(
        run_id=f"{start:%Y%m%dT%H%M%SZ}-3f9a1c2b",
        started=start.isoformat(),
        status="complete",
        verdict=verdict,
        exit_code=0,
        content_digest="ab" * 32,
        list_sha256="cd" * 32,
        measure=measure,
        leaders=tuple(leader(name, value) for name, value in leaders),
    )


def row(day, **facts):
    summary = run(day, **{k: facts.pop(k) for k in ("verdict",) if k in facts})
    return Row(summary.started, summary, 0, **facts)


def page(*rows, **facts):
    return history_html("titanic", rows, made=MADE, **facts)


def text(html):
    without_style = re.sub(r"<style>.*?</style>", " ", html, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", without_style)))


KILLED = Row("2026-11-09T06:00:00+00:00", note="its process 12 was killed")


def test_runs_stand_newest_first_each_with_its_digest_and_the_way_to_its_report():
    html = page(row(1), row(2), reports={run(1).run_id: "runs/x/report.html"})
    html = html.replace("<wbr>", "")
    ids = re.findall(r"202611\d\dT060000Z-3f9a1c2b", html)
    assert ids == [run(2).run_id, run(1).run_id]
    link = re.search(r'<a href="runs/x/report.html">(.*?)</a>', html)
    assert re.sub("<[^>]+>", "", link[1]) == run(1).run_id
    assert text(html).count("content digest abababababab…") == 2


def test_an_attempt_that_left_no_run_stands_in_its_place_and_at_the_head():
    words = text(page(row(1), KILLED))
    head = "The last attempt, of 2026-11-09 06:00:00 UTC, left no run: its process 12"
    assert head in words
    assert "2026-11-09 06:00:00 no run – – its process 12 was killed" in words
    assert "1 run, and 1 attempt that left no run." in words


def test_an_event_that_is_no_attempt_stands_among_the_runs_and_counts_as_none():
    clock = Row("2026-11-09T06:00:00+00:00", note="back", is_attempt=False)
    words = text(page(row(1), clock))
    assert "2026-11-09 06:00:00 – – – back" in words
    assert "1 run. Page made" in words


def test_what_changed_was_signed_or_approved_is_told_at_its_run():
    first, second = row(1), row(2, changes=("column embarked is gone",))
    name = first.run.run_id
    signed = {name: ["approval by A. Miller"]}
    words = text(page(first, second, baseline=name, signed=signed))
    assert "column embarked is gone 2026-11-02" in words
    assert "confirmed approved baseline 0" in words
    assert "1 change since the previous run." in words


def test_a_broken_chain_is_told_and_a_whole_one_says_what_was_not_read():
    assert "Run 7 is gone." in text(page(row(1), gaps=("Run 7 is gone.",)))
    assert "did not read the contents of the run folders" in text(page(row(1)))


def test_a_first_run_is_not_told_as_one_before_it():
    assert "This audit has no runs yet." in text(page())
    assert "The first run started 2026-11-02 06:00:00 UTC." in text(page(row(1)))
    alike = "Its results are the same as those of the previous run."
    assert alike not in text(page(row(1)))
    assert alike in text(page(row(1), row(2)))


def test_words_from_outside_can_neither_act_nor_reorder():
    html = page(row(1, changes=("<script>alert(1)</script>", "\u202egnp")))
    assert html.count("<script") == 1  # our own
    assert "&lt;script&gt;alert(1)" in html
    assert "⟨U+202E⟩gnp" in html


def test_the_index_says_of_each_audit_its_verdict_code_and_why():
    rows = [
        AuditRow("a", 0, "confirmed", MADE, "run-1", "a/runs/run-1/report.html"),
        AuditRow("b", 2, note="b/audit.toml must be TOML; is not."),
    ]
    facts = {"folder": "reports", "date": MADE}
    html = index_html(rows, **facts, exit_code=2)
    words = text(html)
    assert "Exit code 2. 1 of 2 audits ended with 0." in words
    assert "b no run 2 – b/audit.toml must be TOML; is not." in words
    assert '<a href="a/runs/run-1/report.html"><bdi>a</bdi></a>' in html
    rows[1] = AuditRow("b", None)
    words = text(index_html(rows, **facts, exit_code=0))
    assert "Not every audit ended with exit code 0" in words
    assert "1 of 2 audits ended with 0." in words


def test_a_line_breaks_where_a_run_measured_something_else_or_nothing():
    runs = [run(1), run(2, measure="other"), run(3, leaders=()), run(4)]
    figure = history_figure(runs)
    (a, b) = figure.data["lines"]
    assert [math.isnan(v) for v in a.values] == [False, True, True, False]
    assert figure.data["names"] == ("a", "b")
    assert (b.values[0], b.values[3]) == (0.1, 0.1)


def test_the_last_sixty_runs_are_drawn_and_the_baseline_where_it_stands_among_them():
    runs = [run(day) for day in range(100)]
    figure = history_figure(runs, baseline=run(70).run_id)
    assert len(figure.data["verdicts"]) == 60
    assert figure.data["baseline"][0] == 30
    assert "Grey vertical line: the approved baseline." in plain(figure.caption)


NOT_DRAWN = "The approved baseline, run {}, is not among the runs shown."


def test_six_leaders_have_a_line_and_those_always_shown():
    many = tuple((f"x{n}", 1.0 - n / 10) for n in range(9))
    figure = history_figure([run(1, leaders=many)], always_show=("x8", "y"))
    assert figure.data["names"] == ("x0", "x1", "x2", "x3", "x4", "x5", "x8")


@pytest.mark.parametrize(
    ("last", "headline"),
    [
        ("confirmed", "Confirmed in the last 2 runs."),
        ("not confirmed", "The last run: not confirmed."),
        ("", "The last attempt left no run."),
    ],
)
def test_the_headline_says_how_the_last_run_came_out(last, headline):
    runs = [
        RunSummary(started=MADE, verdict=verdict) for verdict in ("confirmed", last)
    ]
    assert plain(history_figure(runs).headline) == headline


def test_equal_heights_are_equal_differences_in_every_line():
    def line(*values):
        return LeaderLine(values, (math.nan,) * 2, (math.nan,) * 2)

    lines = [line(0.0, 2.0), line(10.0, 11.0)]
    texts = {"names": ["a", "b"], "words": [""] * 6, "days": ["1", "2"]}
    texts |= {"verdicts": ["confirmed"] * 2, "head": ("", ""), "baseline": None}
    svg = draw_history(lines, **texts).svg("fig-history")
    rises = []
    for n in range(2):
        path = re.search(rf'<g id="line-{n}">\s*<path d="([^"]+)"', svg)[1]
        (_, first), (_, last) = re.findall(r"[ML] ([\d.]+) ([\d.]+)", path)
        rises.append(float(first) - float(last))
    assert rises[0] == pytest.approx(2 * rises[1], abs=0.03)  # drawn to 0.01 pt


def before(*days, result=None):
    """Return the runs of some days, asked what the apartments are asked."""
    now = summarise(result or result_of("apartments"))
    runs = (run(day, measure=now.measure) for day in days)
    return tuple(one._replace(leaders=now.leaders) for one in runs)


def view_after(runs, **facts):
    history = RunHistory(runs=runs, n_runs=len(runs), **facts)
    return build_view(result_of("apartments"), history=history)


def section_i(runs, **facts):
    return section(view_after(runs, **facts), "I")


def test_section_i_ends_with_the_runs_before_and_the_numbers_of_this_one():
    part = section_i(before(1, 2))
    (figure,) = part.parts["blocks"]
    assert figure.id == "fig-history"
    result = result_of("apartments")
    first = summarise(result).leaders[0]
    assert figure.data["names"][0] == first.feature
    assert figure.data["lines"][0].values == (first.value,) * 3
    assert len(figure.data["verdicts"]) == 3
    assert figure.data["verdicts"][2] == result.verdict
    assert plain(part.lede).startswith("No approved baseline exists, so nothing is")
    # Runs alone are no evidence of a comparison.
    assert "change" not in evidence_in(compose([part]).bodies)


def test_the_approved_run_is_marked_and_one_that_is_not_drawn_is_not():
    approved = Approved(run(2).run_id, "", "", "", "")
    (figure,) = section_i(before(1, 2, 3), baseline=approved).parts["blocks"]
    assert figure.data["baseline"][0] == 1
    part = section_i(before(1, 3), baseline=approved)
    (figure,) = part.parts["blocks"]
    assert figure.data["baseline"] is None
    assert NOT_DRAWN.format(run(2).run_id) in plain(figure.caption)
    assert plain(part.lede) == (
        f"The approved baseline {run(2).run_id} is not beside this run, so nothing is "
        "compared with it."
    )


def test_the_caption_says_how_many_of_all_runs_are_drawn():
    figure = history_figure([run(1), run(2)], n_runs=1200)
    assert plain(figure.caption).endswith(" 2 of 1\u202f200 runs are shown.")
    assert "are shown." not in plain(history_figure([run(1), run(2)]).caption)


def test_of_many_models_the_index_alone_tells_of_the_runs_before():
    result = four()
    history = RunHistory(runs=before(1, result=result), n_runs=1)
    views = report_views(result, context=RunContext(history=history))
    ids = {path: [f.id for f in view.figures] for path, view in views.items()}
    assert [path for path in ids if "fig-history" in ids[path]] == ["report"]
