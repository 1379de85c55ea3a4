"""Facts about a result that several sections use: engines, lead ranking, units."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import pandas as pd

from ...assess.expectations import DEVIATES
from ...assess.page_one import is_of_unknown_rows
from ...records.finding import Finding
from ...records.importance_record import Effect, Importance, supplied_engine
from ...records.losses import LOSSES
from ...records.ranking import (
    OURS,
    Measure,
    distinguishing_options,
    lead_of,
    measure_of,
    options_text,
    question_of,
)
from ...records.result import AuditResult
from ...records.shift import Shift
from ...runs.baseline.change import Change, compare_runs
from ...runs.baseline.drift import shifts
from ...runs.signoff.finding_states import Standing, standings
from ...runs.summary import NO_HISTORY, RunHistory
from ..text.blocks import (
    Group,
    KeyValues,
    Link,
    Part,
    Parts,
    Section,
    Sentence,
    Value,
    plain,
)
from ..text.number_text import count, loss_label, number, unit_text
from ..text.wording import SECTIONS, say, series, short_value, show_hidden, word
from .rankings import Ranking, rankings

KEY_DIGITS = 12
"""Digits of the key of a finding that the page shows."""
PROFILES = {"executive": "ABJP"}
"""Letters of the sections of each profile that omits some: executive, two pages."""
ACTS_WITH = {
    ("permutation", "min_samples_leaf"): ("within", "leaves"),
    ("permutation", "n_neighbours"): ("within", "neighbours"),
    ("permutation", "convention"): ("within", "neighbours"),
    ("relieff", "sigma"): ("weighting", "rank"),
    ("shapley", "n_permutations"): ("algorithm", "sampling"),
}
"""Options that have an effect only with one value of another option.

The key is (method, option), the value (other option, its value).
"""


ANSWER = ["model", "method", "of", "loss", "positive_class", "options"]
"""Columns of the frame `agreement` that identify the record of ours in a pair."""
Answer: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Facts:
    """A result, and what is derived from it once for all sections.

    Attributes
    ----------
    result : AuditResult
    digest : str
        The content digest of the result.
    rankings : tuple of Ranking
        In the order of the audit.
    cards : mapping of measure to str
        The id of each estimand card: "E1", "E2", …
    baseline : AuditResult, optional
        The approved earlier run.
    signoffs : tuple of mapping, optional
        The signatures of this run; None if it is not known whether it was signed.
    has_pdf : bool
        Whether there is a report.pdf.
    has_folder : bool
        Whether there is a run folder, with the files that the report names.
    history : RunHistory
        The earlier runs of the audit.
    file_digest : str
        The SHA-256 of the run's result.json; empty if not yet computed.
    is_part : bool
        Whether the report is about one model of a result that has a report for each;
        the index of those reports has the earlier runs.
    profile : str
        The name of the profile, "executive" for two pages; empty for all sections.
    """

    result: AuditResult
    digest: str
    rankings: tuple[Ranking, ...]
    cards: Mapping[Measure, str]
    baseline: AuditResult | None = None
    signoffs: tuple[Mapping[str, Any], ...] | None = ()
    has_pdf: bool = True
    has_folder: bool = True
    history: RunHistory = NO_HISTORY
    file_digest: str = ""
    is_part: bool = False
    profile: str = ""

    @cached_property
    def change(self) -> Change | None:
        """The changes since the approved baseline, None if there is none."""
        if self.baseline is None:
            return None
        minimum = float(config_of(self, "checks").get("minimum_change", 0.0))
        return compare_runs(self.baseline, self.result, minimum=minimum)

    @cached_property
    def uncompared(self) -> tuple[Ranking, ...]:
        """The rankings of ours that no other implementation was compared with."""
        ranked = self.rankings
        return tuple(r for r in ranked if answer_of(r.record) not in self.compared)

    @cached_property
    def compared(self) -> dict[Answer, pd.DataFrame]:
        """The pairs of importances that were compared, by the record of ours."""
        frame = self.result.agreement
        pairs = frame[
            (frame["kind"] == "importance") & (frame["verdict"] != "not compared")
        ]
        return {tuple(key): own for key, own in pairs.groupby(ANSWER, sort=False)}

    @cached_property
    def register(self) -> tuple[Standing, ...]:
        """The state of each finding, those of this run first."""
        return standings(self.result, self.history)

    @cached_property
    def shifts(self) -> tuple[Shift, ...]:
        """The shift of each column from the approved baseline; empty without one."""
        return shifts(self.baseline, self.result) if self.baseline else ()

    @cached_property
    def finding_groups(self) -> tuple[tuple[Link, tuple[Finding, ...]], ...]:
        """The groups of `AuditResult.grouped_findings`, each with a link to it.

        The target of the link is the abbreviated key of the first finding of the group.
        If several findings have the same key, those after the first get a number.
        """
        counts, ids = Counter[str](), dict[int, str]()
        for finding in self.result.findings:
            counts[finding.key] += 1
            place, short = counts[finding.key], f"finding-{finding.key[:KEY_DIGITS]}"
            ids[id(finding)] = short if place == 1 else f"{short}-{place}"
        return tuple(
            (Link(ids[id(group[0])], f"K{number}"), group)
            for number, group in enumerate(self.result.grouped_findings, start=1)
        )

    @cached_property
    def clusters(self) -> dict[int, list[str]]:
        """The sets of correlated features, by their number."""
        frame = self.result.clusters
        return {
            int(number): rows["feature"].tolist()
            for number, rows in frame.groupby("cluster")
        }

    @property
    def run_id(self) -> str:
        """The id of the run, empty if it has none."""
        return str(self.result.run.volatile.get("run_id", ""))

    @property
    def came_to_end(self) -> bool:
        """Whether the run is complete: nothing stopped it or cut it short."""
        return self.result.is_complete

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, in the order of the audit."""
        return tuple(self.result.models["model"])

    @cached_property
    def evaluated_on(self) -> str:
        """The kind of the evaluation rows: "test", "given" or "fitted".

        "fitted" if every model was fitted to all of them, "given" if it is not known
        whether the models were fitted to them.
        """
        fitted = {
            finding.subject
            for finding in self.result.findings
            if finding.check == "scored_on_training_rows"
            and finding.evidence.get("rows") == finding.evidence.get("of")
        }
        if self.models and fitted.issuperset(self.models):
            return "fitted"
        return "given" if is_of_unknown_rows(self.result) else "test"

    def named(self, split: str) -> str:
        """Return the key of the rows of a split in the catalogue of texts."""
        return self.evaluated_on if split == "test" else split

    @property
    def rows_word(self) -> str:
        """The name of the evaluation rows in a sentence."""
        return word(f"splits.{self.evaluated_on}")

    @property
    def target(self) -> str:
        """The name of the target column, empty if no rows were read."""
        targets = self.result.datasets["target"]
        return str(targets.iloc[0]) if len(targets) else ""

    @property
    def task(self) -> str:
        """The task of the audit, empty if no rows were read."""
        tasks = self.result.datasets["task"]
        return str(tasks.iloc[0]) if len(tasks) else ""

    @property
    def target_unit(self) -> str:
        """The unit of the target as configured, empty if none was given."""
        return self.note("unit")

    @cached_property
    def lead(self) -> Ranking | None:
        """The ranking shown first: of a model if any, features before groups."""
        lead = lead_of(self.result.importances)
        return next((r for r in self.rankings if r.record is lead), None)

    @property
    def leads(self) -> tuple[Ranking, ...]:
        """The lead ranking, and others with its measure and loss, in their order."""
        if self.lead is None:
            return ()
        first = self.lead.record
        same = self.of_measure(measure_of(first))
        return tuple(r for r in same if r.record.loss == first.loss)

    @property
    def is_of_data(self) -> bool:
        """Whether the lead ranking is of the data alone, without a model."""
        return self.lead is not None and not self.lead.record.model

    @property
    def answered(self) -> tuple[str, ...]:
        """The engines other than ours that returned a result."""
        records: tuple[Importance | Effect, ...]
        records = (*self.result.importances, *self.result.effects)
        return tuple(dict.fromkeys(r.engine for r in records if r.engine != OURS))

    @cached_property
    def supplied_engines(self) -> frozenset[str]:
        """The engines of supplied numbers, including numbers that were refused."""
        entries = config_of(self, "supplied")
        names = (supplied_engine(one["package"], one["version"]) for one in entries)
        return self.result.supplied_engines.union(names)

    @property
    def configured_engines(self) -> tuple[str, ...]:
        """The engines in the configuration, in its order."""
        entries = self.result.run.config.get("importance", ())
        names = (name for entry in entries for name in entry["engines"])
        return tuple(dict.fromkeys(names))

    def engines_asked(self, record: Importance) -> frozenset[str]:
        """Return the engines that are configured for a ranking of ours."""
        return frozenset(
            engine
            for entry in self.result.run.config.get("importance", ())
            if (entry["method"], entry.get("of", "features"))
            == (record.method, record.of)
            and record.model in (entry.get("models") or (record.model,))
            and record.loss in (entry.get("losses") or (record.loss,))
            for engine in entry["engines"]
        )

    def note(self, key: str) -> str:
        """Return a text of `[report]` in the configuration, empty if not given."""
        return str(self.result.run.config.get("report", {}).get(key, ""))

    def entry_of(self, model: str) -> Mapping[str, Any]:
        """Return the entry of a model in the configuration, empty if it has none."""
        entries = config_of(self, "models") or ()
        return next((entry for entry in entries if entry["name"] == model), {})

    def in_lead_order(self, names: Iterable[str]) -> list[str]:
        """Return unique names in the order of the lead ranking, others at the end."""
        lead = self.lead
        order = (
            [] if lead is None else [lead.record.features[row] for row in lead.order]
        )
        place = {name: at for at, name in enumerate(order)}
        return sorted(dict.fromkeys(names), key=lambda n: place.get(n, len(order)))

    @cached_property
    def always_shown(self) -> tuple[str, ...]:
        """The features of `always_show`, after those that deviate from expectations."""
        expected = self.result.expected
        unmet = expected.loc[expected["verdict"] == DEVIATES, "farthest"]
        return (*unmet, *config_of(self, "report").get("always_show", ()))

    def of_measure(self, measure: Measure) -> list[Ranking]:
        """Return the rankings by one measure, in the order of the audit."""
        return [r for r in self.rankings if measure_of(r.record) == measure]

    def index(self, record: Importance) -> int:
        """Return the position of a record in ``result.importances``."""
        return self.result.importances.index(record)

    def card(self, record: Importance) -> str:
        """Return the id of the card of a record.

        Raises
        ------
        KeyError
            If it has no card: no number is printed without one.
        """
        return self.cards[measure_of(record)]

    def beside_card(self, record: Importance) -> list[Part]:
        """Return the loss and the class of a record, each if its card has several."""
        own = [ranking.record for ranking in self.of_measure(measure_of(record))]
        parts: list[Part] = []
        if len({other.loss for other in own}) > 1:
            parts.append(loss_label(record.loss))
        if len({other.positive_class for other in own}) > 1:
            parts.append(short_value(record.positive_class))
        return parts

    def apart(self, record: Importance) -> str:
        """Return the options that distinguish a measure from others of its method.

        Only options that have an effect in it and differ between measures in which they
        have an effect; "" if there is none.
        """
        own = measure_of(record)
        peers = [dict(card[3]) for card in self.cards if card[:2] == own[:2]]
        return ", ".join(
            setting(name, value)
            for name, value in sorted(distinguishing_options(record).items())
            if _acts(record.method, name, dict(own[3]))
            and len({o.get(name) for o in peers if _acts(record.method, name, o)}) > 1
        )

    def unit(self, record: Importance | Effect) -> str:
        """Return the unit of a record's values, empty for a pure number."""
        if isinstance(record, Importance) and record.form == "ratio":
            return ""
        return self.unit_of(record.unit)

    def unit_of(self, unit: str, target_unit: str = "") -> str:
        """Return a unit as shown on the page, empty for a pure number."""
        if unit == "link":
            return word(f"words.link_{self.task}")
        return unit_text(unit, target_unit or self.target_unit)

    def head_of(self, loss: str) -> str:
        """Return the head of the column of a loss: its name and, if any, its unit."""
        unit = self.unit_of(LOSSES[loss].unit)
        return show_hidden(", ".join(filter(None, (loss_label(loss), unit))))

    def rows(self, split: str) -> Value | None:
        """Return the number of rows of a split, None if it was not read."""
        splits = self.result.datasets["split"].tolist()
        if split not in splits:
            return None
        place = splits.index(split)
        rows = int(self.result.datasets["rows"].iloc[place])
        return whole(f"datasets[{place}].rows", rows)


def facts_of(
    result: AuditResult, digest: str, *, profile: str = "", **about: Any
) -> Facts:
    """Return the facts of a result; cards are numbered in the order of its rankings.

    `about` are other attributes of `Facts`, such as those of a `RunContext`.
    """
    ranked = rankings(result)
    measures = dict.fromkeys(measure_of(ranking.record) for ranking in ranked)
    return Facts(
        result=result,
        digest=digest,
        rankings=ranked,
        cards={measure: f"E{n}" for n, measure in enumerate(measures, start=1)},
        profile=profile or str(result.run.config.get("report", {}).get("profile", "")),
        **about,
    )


def answer_of(record: Importance) -> Answer:
    """Return the values of the columns `ANSWER` that identify a record of ours."""
    return (*question_of(record), options_text(record))


def _acts(method: str, name: str, options: Mapping[str, str]) -> bool:
    """Return whether an option has an effect, given the values of the other options."""
    other, value = ACTS_WITH.get((method, name), ("", ""))
    return not other or options.get(other) == repr(value)


def setting(name: str, value: object) -> str:
    """Return an option in the syntax of the configuration, floats to six digits."""
    if value is None:
        return plain(say("cards.not_set", name=name))
    if isinstance(value, bool):
        return f"{name} = {str(value).lower()}"
    if isinstance(value, float):
        return f"{name} = {value:.6g}"
    return f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}"


def engine_name(engine: str) -> str:
    """Return the name of an engine on the page."""
    return word("words.python") if engine == OURS else engine


def card_link(card: str) -> Link:
    """Return the link to a card, by its id."""
    return Link(f"card-{card.lower()}", card)


def cards_of(facts: Facts, rankings: Iterable[Ranking]) -> Sentence:
    """Return links to the cards of rankings, without duplicates."""
    return series(map(card_link, dict.fromkeys(facts.card(r.record) for r in rankings)))


def number_in(
    frame: str, row: Any, column: str, places: int, *, sign: bool = False
) -> Value:
    """Return a number of a row of a frame of the result, with `places` decimals."""
    raw = float(row[column])
    text = number(raw, places, sign=sign)
    return Value(f"{frame}[{row.name}].{column}", raw, text)


def whole(path: str, number: int) -> Value:
    """Return the whole number at `path` of the result."""
    return Value(path, number, count(number))


def repeats_of(record: Importance, path: str) -> Value:
    """Return the number of repeats of a record; `path` is that of the record."""
    return Value(f"{path}.n_repeats", record.n_repeats, count(record.n_repeats))


def tallied(path: str, number: int) -> Value:
    """Return a number of items that were counted in the table or list at `path`."""
    return Value(path, number, count(number), derived="count")


def first_few(
    items: Iterable[Part | Sentence], most: int, path: str
) -> list[Part | Sentence]:
    """Return the first `most` items, then the number of the others, with its path."""
    every = list(items)
    more = tallied(path, len(every) - most)
    return [*every[:most], *([say("words.more", n=more)] if more.raw > 0 else [])]


def section(letter: str, lede: Sentence = (), parts: Parts | None = None) -> Section:
    """Return a section, with the name and title of its letter."""
    name = SECTIONS[letter]
    return Section(letter, name, word(f"sections.{name}"), lede, parts or {})


def group(id_: str, title: Sentence, blocks: Iterable[Any]) -> tuple[Group, ...]:
    """Return a group of blocks under a heading, or nothing if there are no blocks."""
    content = tuple(blocks)
    return (Group(id_, title, content),) if content else ()


def key_values(
    id_: str, title: Sentence, heads: str, rows: Iterable[tuple[str, Sentence]]
) -> KeyValues:
    """Return a short table from rows of a key and a text.

    A key is that of a label in the table `heads` of the catalogue; one with a full stop
    is a full key. Rows without a text are omitted.
    """
    pairs = (
        (say(key if "." in key else f"{heads}.{key}"), text)
        for key, text in rows
        if any(text)
    )
    return KeyValues(id_, title, tuple(pairs))


def config_of(facts: Facts, key: str) -> Any:
    """Return a section of the resolved configuration, empty if there is none."""
    return facts.result.run.config.get(key, {})
