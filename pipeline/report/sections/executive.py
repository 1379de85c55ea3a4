"""Section B, page one: a summary. All that it reports is in other sections too."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...assess.expectations import DEVIATES, FOUND, shares, shuffles
from ...assess.page_one import ORDER, UNDERMINING, Point, points
from ...assess.split_shifts import moved as has_moved
from ...records.finding import Finding, places_apart
from ..text.blocks import Link, Part, Section, Sentence, Value
from ..text.labels import with_labels
from ..text.number_text import THIN, interval_text, number, percent, rank_text
from ..text.wording import (
    ended,
    full_name,
    full_value,
    joined,
    look_up,
    say,
    say_count,
    section_link,
    sentence_case,
    series,
    short_name,
    show_hidden,
    word,
)
from .cards import title_of as title_of_card
from .change import lede as change_lede
from .claims import reproduced
from .control import version_line
from .expectations import in_place, resolution_of
from .facts import (
    Facts,
    card_link,
    config_of,
    first_few,
    section,
    tallied,
    whole,
)
from .findings import link_to, standing_of, title_of
from .leading_features import (
    card_and_loss,
    differing,
    joint_values,
    leading_table,
    other_leaders,
    shown_letters,
    shown_rankings,
    strongest,
    where_models_differ,
)
from .missing import count_missing, name_missing
from .model_quality import (
    CLASSES,
    SPLITS,
    fits,
    measured,
    parts_word,
    quality_name,
    quality_table,
)
from .rankings import Ranking
from .results import by_leader_of, leader_of, leaders_in_words
from .scope import untested
from .verdicts import recomputed, verdict_badge

MODELS = 3
POINTS = 10
"""Number of points that page one lists; a link leads to the others."""
OF_MODELS = (
    *("rows_unknown", "scored_on_training_rows", "target_copy", "train_test_gap"),
    *("calibration", "bias", "split_shift", "unseen_levels"),
)
"""Kinds of points that do not depend on importances."""
NEARLY_ALL = 0.8
"""Share of all importance from which the headline gives the share of a leader."""
UNTESTED, COLUMNS, NUMBERS, CARDS, HELD = 2, 3, 3, 4, 3
"""Number of items of each kind that page one names."""


def executive(facts: Facts) -> Section:
    """Return section B."""
    found = _points(facts)
    shown = found[:POINTS]
    several = "" if len(facts.models) > 1 else "_one"
    heading = "page.data_say" if facts.is_of_data else f"page.relies_on{several}"
    headline = _headline(facts, found)
    parts = {
        "headline": headline,
        "expected": (*_expected(facts), *reproduced(facts)),
        "purpose": _purpose(facts),
        "verdict": verdict_badge(facts),
        "recomputed": recomputed(facts),
        "quality": tuple(filter(None, [quality_table(facts)])),
        "fits": fits(facts) or _models(facts),
        "how_good": word(f"page.how_good{several}"),
        "heading": word(heading),
        "ranking": tuple(filter(None, [leading_table(facts)])),
        "differ": _differ(facts, headline) if len(facts.models) > 1 else (),
        "change": change_lede(facts) if facts.baseline else (),
        "points": tuple(_point(facts, point) for point in shown),
        "more": _more(facts, len(found) - len(shown)),
        "untested": _untested(facts),
        "decide": _decide(facts, shown),
        "about": joined(
            [*_cards(facts), say("executive.about"), version_line(facts)], " "
        ),
        "decision": (show_hidden(facts.note("decision")),),
    }
    return section("B", parts=parts)


def _points(facts: Facts) -> list[Point]:
    """Return the points to decide, in their order on page one.

    One is a feature with nearly all importance, unless a finding reports it already.
    """
    found = points(facts.result)
    reported = {"target_copy", "leak_sign"} & {point.kind for point in found}
    if not reported and _dominant(facts):
        found.append(Point("one_feature", ()))
    return sorted(found, key=lambda point: ORDER.index(point.kind))


def _cards(facts: Facts) -> Iterator[Sentence]:
    """Yield the titles of the first few cards."""
    titles = {
        facts.card(r.record): title_of_card(facts, r.record)
        for r in reversed(facts.rankings)
    }
    if titles:
        texts: list[Part | Sentence] = [
            (card_link(card), " ", *titles[card]) for card in facts.cards.values()
        ]
        shown = joined(first_few(texts, CARDS, "importances"), "; ")
        yield say("executive.cards", cards=shown)


def _purpose(facts: Facts) -> Sentence:
    purpose = facts.note("purpose")
    text = say("executive.purpose", text=ended(purpose or word("executive.not_stated")))
    text += _own_limits(facts)
    if not facts.result.expected.empty:
        return text
    n = len(config_of(facts, "expected"))
    key = "not_reached" if n else "no_expectation"
    stated = say(f"executive.{key}", n=say_count(tallied("expected", n), "expectation"))
    return joined(filter(None, [text, stated]), " ")


def _models(facts: Facts) -> tuple[Sentence, ...]:
    """Return why no loss is shown: no model was evaluated, or none was measured."""
    if not facts.result.performance.empty:
        return ()
    if facts.models:
        return (say("data.no_performance"),)
    asked = [full_name(entry["name"]) for entry in config_of(facts, "models") or ()]
    key = "none_evaluated" if asked else "no_model"
    return (say(f"executive.{key}", models=series(asked)),)


def _headline(facts: Facts, found: list[Point]) -> Sentence:
    """Return the gravest point that undermines the result, or the leaders."""
    dominant = _dominant(facts)
    found = [point for point in found if point.kind != "one_feature"]
    for point in found:
        # A cluster without the feature that has nearly all importance is no headline.
        if point.kind == "dependent_leader" and dominant:
            members = set[str]()
            for finding in point.findings:
                cluster = int(finding.evidence.get("cluster", 0))
                members.update(facts.clusters.get(cluster, ()))
            if members and members.isdisjoint(leader_of(r)[1] for r in facts.leads):
                continue
        if point.kind in UNDERMINING and not _accepted_until(facts, point):
            return say(f"executive.headline.{point.kind}", **_fields(facts, point))
    if not facts.leads:
        return (word("page.nothing_ranked").rstrip("."),)
    text = _leaders(facts)
    if dominant:
        return (*text, *say("executive.headline.one_feature", **dominant))
    by = _by_measure(facts)
    # Correlated features may replace one another: the headline does not name them.
    correlated = {name for members in facts.clusters.values() for name in members}
    disputed = [d.feature for d in where_models_differ(facts)[0]]
    uncorrelated = [name for name in disputed if name not in correlated]
    leaders = {feature for _, feature in by_leader_of(facts)}
    if uncorrelated and leaders != {uncorrelated[0]}:
        text += say("executive.headline.differ", feature=full_name(uncorrelated[0]))
    return text + by


def _dominant(facts: Facts) -> dict[str, Part | Sentence]:
    """Return a feature with nearly all importance, as fields of a text.

    Its shares are those in the model with the largest share and in the other models
    where it has nearly all importance too. Empty if there is no such feature.
    """
    shares: dict[Ranking, float] = {}
    for ranking in shown_rankings(facts):
        mean, is_rise = ranking.mean, ranking.record.form == "difference"
        leader = leader_of(ranking)[1]
        if is_rise and len(mean) > 2 and leader and np.isfinite(mean).all():
            shares[ranking] = float(mean.max() / mean[mean > 0].sum())
    most = max(shares, key=shares.__getitem__, default=None)
    if most is None or shares[most] < NEARLY_ALL:
        return {}
    texts = []
    for ranking, share in shares.items():
        if leader_of(ranking) == leader_of(most) and share >= NEARLY_ALL:
            path, text = f"importances[{ranking.index}].mean", _share_text(share)
            value = Value(path, share, text, derived="share")
            texts.append((value, full_name(ranking.subject)))
    is_one = len(texts) == 1
    key = f"executive.{'share_in' if is_one else 'share_of'}"
    each = [say(key, share=share, model=model) for share, model in texts]
    return {
        "feature": full_name(leader_of(most)[1]),
        "shares": each[0] if is_one else say("executive.shares", shares=series(each)),
        "card": card_link(facts.card(most.record)),
    }


def _share_text(share: float) -> str:
    """Return a share in percent; one below 1 is never printed as 100%."""
    text = percent(share)
    if share < 1 and text == percent(1.0):
        return f"{number(100 * share, places_apart(share, 1.0))}{THIN}%"
    return text


def _leaders(facts: Facts) -> Sentence:
    """Return the leader of each model; models are not named if all have the same."""
    by_leader = by_leader_of(facts)
    (key, first), models = next(iter(by_leader.items()))
    if len(by_leader) == 1 and key == "leads" and len(models) == len(facts.leads):
        key = {1: "leads_alone", 2: "leads_both"}.get(len(models), "leads_all")
        n = tallied("models", len(models))
        return say(f"executive.{key}", feature=full_name(first), n=n)
    return sentence_case(joined(leaders_in_words(facts, "executive"), "; "))


def _by_measure(facts: Facts) -> Sentence:
    """Return the measure of the leaders, if another feature leads by another one."""
    if not other_leaders(facts):
        return ()
    card = card_and_loss(facts, facts.leads[0])
    return say("executive.by_measure", card=card)


def _differ(facts: Facts, headline: Sentence) -> Sentence:
    """Return the differences of models, after their leaders if not in the headline."""
    n_measured = len({ranking.record.model for ranking in facts.leads} - {""})
    if n_measured < 2:
        return say("executive.differ_unknown") if n_measured else ()
    leaders = _leaders(facts)
    is_in_headline = headline[: len(leaders)] == leaders
    said = (*leaders, *_by_measure(facts), ". ")
    return (*(() if is_in_headline else said), *differing(facts))


def _expected(facts: Facts) -> Iterator[Sentence]:
    """Yield the number of expectations that hold, and a sentence on each other one."""
    frame = facts.result.expected
    if frame.empty:
        return
    verdicts: dict[int, set[str]] = {}
    for at, verdict in zip(frame["expectation"], frame["verdict"], strict=True):
        verdicts.setdefault(int(at), set()).add(verdict)
    unmet = [at for at, own in verdicts.items() if DEVIATES in own]
    met = [at for at, own in verdicts.items() if own == {FOUND}]
    n_all = max(len(verdicts), len(config_of(facts, "expected")))
    unknown = n_all - len(unmet) - len(met)
    unsettled = {at: text for at in met if (text := _unsettled(facts, at))}
    held = [_held(facts, at) for at in met if at not in unsettled]
    named = joined(first_few(held, HELD, "expected"), "; ")
    yield say(
        "executive.expected" if facts.came_to_end else "executive.expected_so_far",
        n=tallied("expected", len(held)),
        of=tallied("expected", n_all),
        held=say("executive.held", held=named) if held else (),
    )
    if unknown:
        yield say("executive.unknown", n=tallied("expected", unknown))
    yield from unsettled.values()
    for at in unmet:
        yield _unmet(facts, at)


def _held(facts: Facts, number: int) -> Sentence:
    """Return an expectation that holds: its features, their place and the model."""
    asked = config_of(facts, "expected")[number - 1]
    names, place = asked["features"], asked["place"]
    frame = facts.result.expected.reset_index(drop=True)
    largest = frame.loc[frame["expectation"] == number, "share"].astype(float)
    at = largest.fillna(0.0).idxmax()  # no share of importances that are all zero
    share = Value(f"expected[{at}].share", largest[at], percent(largest[at]))
    return say(
        f"executive.met.{'first' if place == 'top' and len(names) == 1 else place}",
        features=series(map(short_name, names)),
        n=str(len(names)),
        where=_where(asked),
        share=share,
        limit=percent(resolution_of(facts)),
    )


def _where(asked: Mapping[str, Any]) -> Sentence:
    """Return among what and in which model a place is expected; empty if in all."""
    model = asked.get("model")
    return (
        *(say("executive.of_groups") if asked.get("of") == "groups" else ()),
        *(say("executive.in_model", model=full_name(model)) if model else ()),
    )


def _unsettled(facts: Facts, number: int) -> Sentence:
    """Return the feature whose range of ranks extends beyond its expected place."""
    frame = facts.result.expected
    own = frame[(frame["expectation"] == number) & (frame["place"] == "top")]
    names = config_of(facts, "expected")[number - 1]["features"]
    open_in: dict[str, list[Sentence]] = {}
    for ranking in facts.rankings:
        for name in names if ranking.index in set(own["record"]) else ():
            row = ranking.record.features.index(name)
            if ranking.last[row] > len(names):
                ranks = interval_text(ranking.first[row], ranking.last[row])
                card, model = card_and_loss(facts, ranking), full_name(ranking.subject)
                text = say("executive.ranks", ranks=ranks, card=card, model=model)
                open_in.setdefault(name, []).append(text)
    if not open_in:
        return ()
    feature, texts = max(open_in.items(), key=lambda item: len(item[1]))
    return say(
        f"executive.unsettled_{'top' if len(names) > 1 else 'first'}",
        feature=full_name(feature),
        n=str(len(names)),
        ranks=joined(first_few(texts, MODELS, "expected"), "; "),
    )


def _against(facts: Facts, number: int) -> pd.DataFrame:
    """Return the rankings that contradict an expectation."""
    frame = facts.result.expected.reset_index(drop=True)
    is_against = (frame["expectation"] == number) & (frame["verdict"] == DEVIATES)
    return frame[is_against]


class Miss(NamedTuple):
    """A ranking in which a feature is not at its expected place.

    Attributes
    ----------
    ranking : Ranking
    row : int
        The row of the feature in the record.
    value : Value
        Its rank, or its share of the largest importance.
    """

    ranking: Ranking
    row: int
    value: Value


def _unmet(facts: Facts, number: int) -> Sentence:
    """Return an expectation that is not met, with ranks or shares of its features."""
    against = _against(facts, number)
    first = against.iloc[0]
    place, feature = str(first["place"]), str(first["farthest"])
    asked = config_of(facts, "expected")[number - 1]
    names = asked["features"]
    by_subject: dict[str, list[Miss]] = {}
    for miss in _misses(facts, against, feature, len(names)):
        by_subject.setdefault(miss.ranking.subject, []).append(miss)
    found = _ranks if place == "top" else _shares
    text = say(
        f"executive.unmet.{place if len(names) > 1 or place == 'zero' else 'first'}",
        feature=full_name(feature),
        n=str(len(names)),
        where=_where(asked),
        reason=show_hidden(first["reason"].strip(" .")),
        found=joined((found(facts, own) for own in by_subject.values()), "; "),
    )
    others = []
    for name in names:
        misses = _misses(facts, against, name, len(names)) if name != feature else ()
        if worst := max(misses, key=lambda miss: miss.value.raw, default=None):
            others.append(
                say(
                    f"executive.at_worst.{place}",
                    feature=short_name(name),
                    value=worst.value,
                    within=_within(worst) if place == "top" else (),
                    model=short_name(worst.ranking.subject),
                    card=card_and_loss(facts, worst.ranking),
                )
            )
    at_zero = _at_zero(facts, feature) if place == "top" else ()
    key = f"executive.others.{place}"
    too = say(key, n=str(len(names)), features=series(others)) if others else ()
    limit = resolution_of(facts)
    is_small = place == "zero" and bool((against["share"] <= limit).all())
    small = say("executive.small", limit=percent(limit)) if is_small else ()
    return joined(filter(None, (text, at_zero, too, small)), " ")


def _within(miss: Miss) -> Sentence:
    """Return the interval of a rank, empty if it is the rank alone."""
    first, last = miss.ranking.first[miss.row], miss.ranking.last[miss.row]
    if first == last:
        return ()
    return say("executive.within", ranks=interval_text(first, last))


def _misses(
    facts: Facts, against: pd.DataFrame, feature: str, n: int
) -> Iterator[Miss]:
    """Yield the rankings in which one of `n` features is not at its expected place."""
    for at, row in against.to_dict("index").items():
        ranking = next(r for r in facts.rankings if r.index == row["record"])
        record, is_top = ranking.record, row["place"] == "top"
        of, column = record.features.index(feature), "rank" if is_top else "share"
        if row["farthest"] == feature:
            raw, path, derived = float(row[column]), f"expected[{at}].{column}", ""
        elif not in_place(facts, record, row["place"], n)[of]:
            raw = float((ranking.rank if is_top else shares(record))[of])
            path, derived = f"importances[{ranking.index}]", column
        else:
            continue
        text = rank_text(raw) if is_top else percent(raw)
        yield Miss(ranking, of, Value(path, raw, text, derived=derived))


def _ranks(facts: Facts, misses: Sequence[Miss]) -> Sentence:
    """Return the ranks of a feature in a model, or that it is at or below zero."""
    indistinct: dict[str, list[Sentence]] = {}
    ranks, subject = [], full_name(misses[0].ranking.subject)
    for miss in misses:
        ranking, row, value = miss
        card = card_and_loss(facts, ranking)
        if ranking.is_above_zero[row]:
            within = _within(miss)
            ranks.append(
                say("executive.by_card", value=value, within=within, card=card)
            )
        else:
            side = "below_zero" if row in ranking.negative else "not_told"
            indistinct.setdefault(side, []).append(card)
    texts = [
        say(f"executive.found.{side}", card=joined(cards, "; "))
        for side, cards in indistinct.items()
    ]
    if ranks:
        several = "several" if len(ranks) > 1 else "one"
        texts.append(say(f"executive.found.rank_{several}", ranks=series(ranks)))
    return say("executive.found.top", values=series(texts), model=subject)


def _shares(facts: Facts, misses: Sequence[Miss]) -> Sentence:
    """Return the shares of a feature in a model, and on which side of zero it is."""
    values, subject = [], full_name(misses[0].ranking.subject)
    for ranking, _, value in misses:
        card = card_and_loss(facts, ranking)
        values.append(say("executive.share_by_card", value=value, card=card))
    key = _side(misses)
    return say(f"executive.found.{key}", values=series(values), model=subject)


def _side(misses: Iterable[Miss]) -> str:
    """Return the key of a text: "zero", or "zero_…" if all values are below it."""
    misses = list(misses)
    if not all(r.mean[row] < r.null_value for r, row, _ in misses):
        return "zero"
    is_shuffled = all(shuffles(miss.ranking.record) for miss in misses)
    return "zero_negative" if is_shuffled else "zero_below"


def _at_zero(facts: Facts, feature: str) -> Sentence:
    """Return a sentence if a feature and its cluster are at zero in every model."""
    leads = [r for r in facts.leads if feature in r.record.features and r.is_drawn]
    if not leads or any(
        r.is_above_zero[r.record.features.index(feature)] for r in leads
    ):
        return ()
    for cluster, members in facts.clusters.items():
        values = list(joint_values(facts, cluster)) if feature in members else []
        sides = {one.side for one in values}
        if sides and "above" not in sides:
            key = "below_both" if "below" in sides else "zero_both"
            others = (short_name(name) for name in members if name != feature)
            value = strongest(facts, cluster)
            return say(f"executive.{key}", others=series(others), value=value)
    return ()


def _accepted_until(facts: Facts, point: Point) -> str:
    """Return the day until which all findings of a point are accepted, or ""."""
    days = [facts.result.accepted.get(finding.key, "") for finding in point.findings]
    return min(days) if days and all(days) else ""


def _fields(facts: Facts, point: Point) -> dict[str, Part | Sentence]:
    """Return the fields of the headline, text and question of a point."""
    if point.kind == "rows_unknown":
        rows = facts.rows("test")
        assert rows is not None
        return {"rows": say_count(rows, "row")}
    if point.kind == "one_feature":
        return _dominant(facts)
    found, findings = point.findings, facts.result.findings
    finding = found[0]
    evidence, place = finding.evidence, f"findings[{findings.index(finding)}].evidence"
    fields: dict[str, Part | Sentence] = {
        "title": title_of(point.findings),
        "message": (show_hidden(with_labels(finding.message)).rstrip("."),),
        "subject": full_name(finding.subject),
    }
    match point.kind:
        case "incomplete":
            left = name_missing(facts)
            text = say("executive.not_measured", measures=left)
            fields["left"] = text if left else fields["message"]
            fields["measured"] = count_missing(facts, "from")
        case "unexpected" | "unexpected_in_part":
            number_of = int(evidence["expectation"])
            against = _against(facts, number_of)
            first = against.iloc[0]
            asked = config_of(facts, "expected")[number_of - 1]["features"]
            n = len(asked)
            key = "first" if first["place"] == "top" and n == 1 else first["place"]
            feature = full_name(first["farthest"])
            if key == "zero":
                key = _side(_misses(facts, against, str(first["farthest"]), n))
            frame = facts.result.expected
            records = frame.loc[frame["expectation"] == number_of, "record"].astype(int)
            n_rankings = say_count(tallied("expected", len(records)), "ranking")
            missed = {
                name: tallied("expected", len([*_misses(facts, against, name, n)]))
                for name in [first["farthest"], *asked]
            }
            missed = {name: count for name, count in missed.items() if count.raw}
            texts = [
                say("executive.in_rankings", feature=full_name(name), n=count)
                for name, count in [*missed.items()][1:]
            ]
            others = ("; ", *joined(texts, "; ")) if texts else ()
            may = say(
                f"executive.may.{key}",
                feature=feature,
                features=series(
                    first_few(map(short_name, missed), COLUMNS, "expected")
                ),
                n=str(n),
            )
            names = {facts.result.importances[at].model for at in records}
            if len(names) == 1 < len(facts.models):
                name = full_name(*names)
                n_rankings += say("executive.of_model", model=name)
                may += say("executive.in_model", model=name)
            fields |= {
                "claim": say(f"executive.claim.{key}", feature=feature, n=str(n)),
                "may": may,
                "against": missed[first["farthest"]],
                "rankings": n_rankings,
                "others": others,
            }
        case "other" if finding.check == "weak_model":
            models = dict.fromkeys(one.subject.rpartition(", ")[0] for one in found)
            fields["models"] = series(map(full_name, models))
        case "target_copy":
            fields["features"] = full_name(finding.measure)
        case "leak_sign":
            share = float(evidence["share"])
            fields["feature"] = full_name(finding.measure)
            value = Value(f"{place}['share']", share, _share_text(share))
            fields["model"] = full_name(_model_of(facts, finding))
            fields["share"] = say(
                "executive.share_in", share=value, model=fields["model"]
            )
            dominant = _dominant(facts)  # also in models with more loss
            if dominant.get("feature") == fields["feature"]:
                fields["share"] = dominant["shares"]
        case "dependent_leader":
            fields["sets"] = _sets(facts, point)
        case "train_test_gap":
            model = finding.subject.rpartition(", ")[0]
            splits = {split: measured(facts, model, split) for split in SPLITS}
            fields |= {
                "model": full_name(model),
                "measure": quality_name(facts),
                "fitted": splits["out_of_bag"] or splits["train"],
                "test": splits["test"],
            }
        case "calibration" | "bias":
            fields["model"] = full_name(_model_of(facts, finding))
            if facts.task == "multiclass":
                of_classes = [
                    say(
                        "quality.in_class",
                        cls=full_value(one.subject.rpartition(", ")[2]),
                        directions=_too_low_and_high([one]),
                    )
                    for one in found
                ]
                few = first_few(of_classes, CLASSES, "findings")
                fields["directions"] = joined(few)
            else:
                fields["directions"] = _too_low_and_high(found)
        case "unseen_levels":
            unseen = whole(f"{place}['rows']", int(evidence.get("rows", 0)))
            fields["rows"] = say_count(unseen, "row")
        case "split_shift":
            psi, shifts = float(evidence["psi"]), facts.result.split_shifts
            moved = [
                row["column"] for row in shifts.to_dict("records") if has_moved(row)
            ]
            columns = first_few(map(short_name, moved), COLUMNS, "split_shifts")
            is_cut = len(moved) > COLUMNS
            fields["columns"] = joined(columns) if is_cut else series(columns)
            fields["psi"] = Value(f"{place}['psi']", psi, number(psi, 2))
    return fields


def _model_of(facts: Facts, finding: Finding) -> str:
    """Return the model of a finding, with which the text of its subject begins."""
    subject = f"{finding.subject}, "  # such as "model, class"
    own = [model for model in facts.models if subject.startswith(f"{model}, ")]
    return max(own, key=len, default=finding.subject)


def _too_low_and_high(findings: Sequence[Finding]) -> Sentence:
    """Return in how many deciles predictions are too low, and too high, in words."""
    low, high, of = (
        tallied("findings", int(sum(one.evidence[key] for one in findings)))
        for key in ("too_low", "too_high", "deciles")
    )
    sides = [(s, n) for s, n in (("too_low", low), ("too_high", high)) if n.raw]
    return series(
        say(
            f"quality.in{more}",
            side=word(f"quality.side.{side}"),
            n=n,
            of=of,
            parts=parts_word(one.evidence["deciles"] for one in findings),
        )
        for more, (side, n) in zip(("", "_more"), sides, strict=False)
    )


def _sets(facts: Facts, point: Point) -> Sentence:
    """Return the sets of correlated features, by their letters in the table if any."""
    by_cluster, letters, names = shown_letters(facts), list[str](), list[Sentence]()
    for finding in point.findings:
        cluster = int(finding.evidence.get("cluster", 0))
        if cluster in by_cluster:
            letters.append(by_cluster[cluster])
        else:
            members = facts.clusters.get(cluster, [finding.measure])
            names.append(series(map(short_name, members)))
    if letters:
        key = "one_set" if len(letters) == 1 else "sets"
        names.insert(0, say(f"executive.{key}", marks=series(letters)))
    return joined(names, "; ")


def _in_words(facts: Facts, point: Point, texts: str) -> Sentence:
    """Return the text on a point in a table of texts: by kind, check, or "other"."""
    kind = point.kind
    if kind == "other":  # its findings are of one check
        kind = point.findings[0].check
    key = kind if kind in look_up(texts) else "other"
    return say(f"{texts}.{key}", **_fields(facts, point))


def _point(facts: Facts, point: Point) -> Sentence:
    """Return a point with the numbers of its findings, acceptance and overdue day."""
    links = dict.fromkeys(link_to(one, facts) for one in point.findings)
    numbers = [*links][:NUMBERS] + ["…"] * (len(links) > NUMBERS)
    text = _in_words(facts, point, "executive.point")
    if numbers:
        text = (*text, " (", *joined(numbers), ")")
    if day := _accepted_until(facts, point):
        text += say("executive.accepted", day=day)
    days = [
        str(standing.answer["due"])
        for finding in point.findings
        if (standing := standing_of(facts, finding.key)) and standing.is_overdue
    ]
    return (*text, *(say("executive.overdue", day=min(days)) if days else ()), ".")


def _more(facts: Facts, n: int) -> tuple[Sentence, ...]:
    """Return sentences on points that are not listed, and on overdue answers.

    The latter are answers to findings that this run does not have.
    """
    sentences = []
    if n:
        findings = tallied("findings", n)
        sentences.append(say("executive.more", n=findings, section=section_link("K")))
    late = [one for one in facts.register if one.is_overdue and not one.is_found]
    if late:
        answers = tallied("answers.overdue", len(late))
        section = section_link("K")
        sentences.append(say("executive.late", n=answers, section=section))
    return tuple(sentences)


def _decide(facts: Facts, found: list[Point]) -> Sentence:
    """Return the questions to decide, each with the numbers of its points.

    Points of kind "other" share a question. Accepted points have none; if all are
    accepted, the text has the day until which they all are. Of a run that ended early
    only points on models and rows have one.
    """
    if found and found[0].kind == "incomplete":
        is_late = any(f.check == "time_limit" for f in found[0].findings)
        again = say(f"executive.decide.{'out_of_time' if is_late else 'incomplete'}")
        texts = _questions(facts, found, OF_MODELS)
        more = say("executive.decide.meanwhile", questions=joined(texts, "; "))
        return (*again, *(more if texts else ()))
    if texts := _questions(facts, found, ORDER):
        return (*joined(texts, "; "), ".")
    days = [_accepted_until(facts, point) for point in found]
    key = "accepted" if days else "none"
    return say(f"executive.decide.{key}", day=min(days, default=""))


def _questions(
    facts: Facts, found: Sequence[Point], kinds: Sequence[str]
) -> list[Sentence]:
    """Return the questions of the points of these kinds that are not accepted."""
    questions: dict[Sentence, list[int]] = {}
    for place, point in enumerate(found, 1):
        if point.kind in kinds and not _accepted_until(facts, point):
            question = _in_words(facts, point, "executive.decide")
            questions.setdefault(question, []).append(place)
    return [("(", *_places(at), ") ", *text) for text, at in questions.items()]


def _places(places: Sequence[int]) -> Sentence:
    """Return positions in a list as a series; more than two in a row as a range."""
    first, last = places[0], places[-1]
    if last - first == len(places) - 1 > 1:
        return (f"{first} {word('words.to')} {last}",)
    return series(map(str, places))


def _untested(facts: Facts) -> Sentence:
    """Return the gravest items that were not tested, and the number of the others."""
    every = untested(facts)
    items = [item.item for item in every if item.reason != "not applicable"]
    n_more = len(every) - len(items)
    table = Link("tab-untested", word("executive.listed"))
    n = tallied("findings", n_more + max(len(items) - UNTESTED, 0))
    key = "untested_more" if n.raw else "untested"
    texts = joined(items[:UNTESTED], "; ")
    return say(f"executive.{key}", items=texts, n=n, table=table)


def _own_limits(facts: Facts) -> Sentence:
    """Return the first of the owner's limits, and the number of the others."""
    limits = config_of(facts, "report").get("limits", ())
    if not limits:
        return ()
    n = tallied("run.config['report']['limits']", len(limits) - 1)
    link = Link("sec-l", word("executive.listed"))
    more = say("executive.more_limits", n=n, list=link) if n.raw else ()
    return say("executive.limits", text=ended(limits[0]), more=more)
