"""Section H: how firm the rankings are, and what else would have moved them.

Another loss, more repeats, other draws, other rows, another measure or model, and
features that say the same as others.
"""

from collections.abc import Iterator

from ..text.blocks import Figure, Group, Link, Section, Sentence, Table, Value
from ..text.number_text import lone, percent
from ..text.wording import counted, joined, named, say, series, word
from .cluster_views import clusters, said_in_short
from .convergence import convergence
from .expectations import losses
from .facts import Facts, config_of, tallied
from .likeness import likeness_table
from .rank_views import ranks
from .rankings import Ranking
from .stability_tables import stability_table


def stability(facts: Facts) -> Section:
    """Return section H: one group per question that was asked of the rankings."""
    groups = (
        *losses(facts),
        *_group("repeats", _over_repeats(facts)),
        *_group("ranks", ranks(facts)),
        *_group("rows", _over_rows(facts)),
        *_group("likeness", _alike(facts)),
        *clusters(facts),
    )
    lede = _lede(facts) if facts.rankings else say("stability.none")
    title = word("sections.stability")
    return Section("H", "stability", title, lede, {"groups": groups})


def firmness(facts: Facts, ranking: Ranking) -> Sentence:
    """Return where section H says how firm a ranking is; empty if it does not."""
    tables = [stability_table(facts, ranking), *convergence(facts, ranking)]
    links = [Link(table.id) for table in tables if isinstance(table, Table)]
    return say("stability.firm", tables=series(links)) if links else ()


def _group(name: str, blocks: Iterator[Table | Figure | Sentence]) -> tuple[Group, ...]:
    """Return blocks under their heading; nothing without any."""
    found = tuple(blocks)
    title = say(f"stability.title.{name}")
    return (Group(f"firm-{name}", title, found),) if found else ()


def _over_repeats(facts: Facts) -> Iterator[Table | Figure]:
    for ranking in facts.rankings:
        yield from convergence(facts, ranking)


def _over_rows(facts: Facts) -> Iterator[Table | Figure]:
    for ranking in facts.rankings:
        if table := stability_table(facts, ranking):
            yield table


def _alike(facts: Facts) -> Iterator[Table]:
    if table := likeness_table(facts):
        yield table


def _lede(facts: Facts) -> Sentence:
    """Return what was found, then what nobody asked."""
    found = [_first_place(facts), _loss(facts)]
    asked = config_of(facts, "stability").get("resamples", 0)
    reasons = ("still" if asked else "rows", "losses")
    unasked = [
        say(f"stability.unasked.{reason}")
        for reason, told in zip(reasons, found, strict=True)
        if not told
    ]
    said = [told for told in (*found, said_in_short(facts)) if told]
    if unasked:
        said.append(say("stability.unasked.all", what=joined(unasked, "; ")))
    return joined(said, " ")


def _first_place(facts: Facts) -> Sentence:
    """Return how often the leader of the lead ranking leads on resampled rows."""
    ranking, frame = facts.lead, facts.result.resampled_ranks
    if ranking is None or not ranking.measured:
        return ()
    leader = ranking.record.features[ranking.measured[0]]
    taken = frame[(frame["record"] == ranking.index) & (frame["feature"] == leader)]
    if taken.empty:
        return ()
    first, total = taken[taken["rank"] == 1.0], int(taken["resamples"].sum())
    share = float(first["resamples"].sum()) / total
    path = "resampled_ranks.resamples"
    return say(
        "stability.first_place",
        feature=named(leader),
        model=named(ranking.subject),
        share=Value(path, share, percent(share), derived="share"),
        resamples=counted(tallied(path, total), "resample"),
    )


def _loss(facts: Facts) -> Sentence:
    """Return what the choice of the loss changes, over all that were compared."""
    frame = facts.result.losses
    known = frame[frame["kendall"].notna()]
    if known.empty:
        return ()
    moved = int((known["leader_a"] != known["leader_b"]).sum())
    if moved:
        n = counted(tallied("losses", len(known)), "pair")
        return say("stability.loss.moves", moved=tallied("losses", moved), n=n)
    place = known["kendall"].astype(float).idxmin()
    least = float(known.at[place, "kendall"])
    key = "same" if least == 1.0 else "leads"
    tau = Value(f"losses[{place}].kendall", least, lone(least, least=2))
    return say(f"stability.loss.{key}", tau=tau)
