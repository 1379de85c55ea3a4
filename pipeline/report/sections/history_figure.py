"""The figure of the verdicts and leaders of the last runs of an audit."""

from collections.abc import Sequence
from datetime import datetime
from math import nan

from ...runs.summary import Leader, RunSummary, summarise
from ..figures.history import MARKS, MOST_RUNS, LeaderLine, draw_history
from ..text.blocks import Figure, Sentence
from ..text.number_text import significant
from ..text.wording import display_name, figure_of, look_up, say, say_count, word
from .facts import Facts, config_of, tallied

LINES = 6
"""Number of leaders with a line, of the newest run that has leaders."""


def over_runs(facts: Facts) -> tuple[Figure, ...]:
    """Return the figure of this and earlier runs, or nothing for the first run."""
    before = facts.history.runs
    if facts.is_part or not before:
        return ()
    this = summarise(facts.result)
    now = RunSummary(
        started=this.started,
        verdict=facts.result.verdict,
        measure=this.measure,
        leaders=this.leaders,
    )
    figure = history_figure(
        [*before, now],
        baseline=facts.history.baseline.run_id if facts.history.baseline else "",
        always_show=config_of(facts, "report").get("always_show", ()),
        n_runs=facts.history.n_runs + 1,
    )
    return (figure,)


def history_figure(
    runs: Sequence[RunSummary],
    *,
    baseline: str = "",
    always_show: Sequence[str] = (),
    source: str = "history.json",
    n_runs: int = 0,
) -> Figure:
    """Return the figure of verdicts and leaders over runs, the last sixty of them.

    Parameters
    ----------
    runs : sequence of RunSummary
        Oldest first, at least one. An attempt that left no run has only its start.
    baseline : str
        The run that is the approved baseline, "" if there is none. If it is not
        drawn, the caption says so.
    always_show : sequence of str
        Features that have a line regardless of their rank.
    source : str
        The file with the numbers, for the caption.
    n_runs : int
        The number of all runs, if `runs` are not all of them.
    """
    last = runs[-MOST_RUNS:]
    n_all = n_runs or len(runs)
    run_ids = [run.run_id for run in last]
    place = run_ids.index(baseline) if baseline and baseline in run_ids else None
    newest = next((run for run in reversed(last) if run.leaders), None)
    lines = []
    names: list[str] = []
    if newest is not None:
        latest = {leader.feature: leader for leader in newest.leaders}
        always = (name for name in always_show if name in latest)
        names = list(dict.fromkeys((*[*latest][:LINES], *always)))
        same = [run.leaders if run.measure == newest.measure else () for run in last]
        by_name = [{leader.feature: leader for leader in leaders} for leaders in same]
        for name in names:
            nothing = Leader(name, nan, nan, nan, nan)
            _, values, low, high, _ = zip(
                *(leaders.get(name, nothing) for leaders in by_name), strict=True
            )
            text = significant(latest[name].value)
            lines.append(LeaderLine(values, low, high, text))
    caption = say("history.figure_verdicts")
    if newest is not None:
        measure = newest.measure.rpartition(" (estimand")[0] or newest.measure
        caption = say("history.figure", measure=display_name(measure), file=source)
    if len(last) < n_all:
        n, every = tallied("runs", len(last)), tallied("runs", n_all)
        caption += say("history.figure_cut", n=n, all=every)
    if baseline:
        key = "baseline_not_drawn" if place is None else "figure_baseline"
        caption += say(f"history.{key}", run=display_name(baseline))
    return figure_of(
        "history",
        draw_history,
        {
            "lines": tuple(lines),
            "names": tuple(map(display_name, names)),
            "verdicts": tuple(run.verdict for run in last),
            "words": tuple(look_up("history.marks")),
            "days": tuple(_day(run.started) for run in last),
            "head": (word("history.verdict"), word("history.newest")),
            "baseline": None if place is None else (place, word("history.baseline")),
        },
        alt=say(
            "history.alt",
            n=say_count(tallied("runs", len(last)), "past_run"),
            first=_day(last[0].started),
            last=_day(last[-1].started),
            verdict=_words(last[-1].verdict),
            leader=display_name(names[0]) if names else word("history.nobody"),
        ),
        headline=_headline(last, is_cut=len(last) < n_all),
        caption=caption,
    )


def _headline(runs: Sequence[RunSummary], *, is_cut: bool) -> Sentence:
    """Return the verdict of the last run, and the number of runs since it changed."""
    verdict = runs[-1].verdict
    if not verdict:
        return say("history.headline_none")
    others = (n for n, run in enumerate(reversed(runs)) if run.verdict != verdict)
    same, words = next(others, len(runs)), _words(verdict)
    return say(
        f"history.headline_{'same' if same > 1 else 'newest'}",
        verdict=words.capitalize() if same > 1 else words,
        n=say_count(tallied("runs", same), "past_run"),
        first=say("history.at_least") if same == len(runs) and is_cut else (),
    )


def _words(verdict: str) -> str:
    return str(look_up("history.marks")[[*MARKS].index(verdict)])


def _day(instant: str) -> str:
    return f"{datetime.fromisoformat(instant):%Y-%m-%d}" if instant else "–"
