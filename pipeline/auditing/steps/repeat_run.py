"""Pairs that noise may explain, asked again with four times the repeats.

The first numbers stay as they are; the second run decides between noise and a cause.
Not: judging two answers, which is `agreement`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...config.load import ImportanceSection
from ...engines import EngineInfo
from ...engines.agreement import DISAGREEMENTS, Row
from ...engines.agreement.circumstances import draws_wanted
from ...engines.agreement.numbers import Gaps, mean_gaps
from ...engines.agreement.reasons import (
    because,
    best,
    codes_of,
    count_outside,
    text,
    why_of,
)
from ...engines.agreement.sides import side_by_side
from ...records import streams
from ...records.importance_record import Importance
from .. import measure
from . import Run

TIMES = 4
"""How many times the repeats of the first run the second has."""
MOST_QUESTIONS = 8
"""How many questions are put a second time at most, over all engines."""
REPEATED = ("n_repeats", "n_permutations")
"""The options that say how often a method draws."""
WIDE = "REPEATS (wide)"
NOT_EXPLAINED, NOISE, IMPLEMENTATION = "not explained", "noise", "implementation"


@dataclass(kw_only=True)
class SecondRun:
    """Asks what a record answered a second time, each question once.

    Attributes
    ----------
    run : Run
    answers : mapping
        What was answered, by question: empty if nobody could.
    """

    run: Run
    answers: dict[tuple[Any, ...], tuple[Importance, ...]] = field(default_factory=dict)

    def wants(self, row: Row) -> bool:
        """Return whether a pair is to be asked again, by ``[checks] repeat_run``."""
        setting = self.run.config.checks.repeat_run
        if setting == "never" or row["kind"] != "importance":
            return False
        is_wide = WIDE in codes_of(row["reasons"]) and setting == "unresolved"
        return bool(row["cause"] == NOT_EXPLAINED or is_wide)

    def ask(self, record: Importance) -> Importance | None:
        """Return what the engine of a record answers now, None if it cannot be asked.

        The seed is derived from that of the audit, for both sides of a pair anew.
        """
        section = self._section(record)
        info = self.run.engines.get(record.engine)
        if section is None or info is None or not info.available:
            return None
        key = (
            *(record.engine, record.stream, record.model, record.method, record.of),
            *(str(sorted(record.options.items())), record.form),
        )
        if key not in self.answers:
            if len(self.answers) >= MOST_QUESTIONS:
                return None
            self.answers[key] = self._answers(record, section, info)
        same = ("loss", "positive_class", "scale", "features")
        return next(
            (
                answer
                for answer in self.answers[key]
                if all(getattr(answer, n) == getattr(record, n) for n in same)
            ),
            None,
        )

    def _section(self, record: Importance) -> ImportanceSection | None:
        """Return the entry that a record answers, with its repeats multiplied."""
        for entry in self.run.config.importance:
            same = (entry.method, entry.of) == (record.method, record.of)
            option = next((n for n in REPEATED if n in entry.options), "")
            if same and option and dict(entry.options) == dict(record.options):
                n_repeats = TIMES * entry.options[option]
                options = {**entry.options, option: n_repeats}
                return replace(entry, options=options, form=record.form)
        return None

    def _answers(
        self, record: Importance, section: ImportanceSection, info: EngineInfo
    ) -> tuple[Importance, ...]:
        """Return what an engine answers, nothing if it fails, which is a finding."""
        run = self.run
        model = next((m for m in run.models if m.name == record.model), None)
        if model is not None:
            losses = measure.losses_of(section, model, run.config)
            asked = model.asked_for(losses)
            model = next((m for m in asked if record.loss in m.losses), asked[0])
        groups = dict(zip(record.features, record.columns, strict=True))
        rows = measure.rows_for(
            section, run.train, run.test, groups=run.config.groups
        ).with_groups(groups)
        purpose = f"repeat run by {record.engine}"
        seed = streams.seed_of(run.config.seed, record.model, purpose, record.of)
        question = measure.Question(model, rows, section, info)
        ask = partial(measure.importances, question, seed=seed, stream=record.stream)
        label = f"the repeat run of {record.method} by {record.engine}"
        answer, _ = run.journal.guarded(question.subject, label, ask, record.engine)
        return answer or ()


def settle(
    second: SecondRun, pair: tuple[Importance, Importance], row: Row, rows: list[Row]
) -> tuple[Row, list[Row]]:
    """Return a row and its disagreements with what a second run says of them.

    Parameters
    ----------
    second : SecondRun
    pair : (Importance, Importance)
        What the row is about.
    row : dict
        Of AGREEMENT; its numbers stay.
    rows : list of dict
        Of DISAGREEMENTS; theirs stay too, with both bands in the evidence.

    Returns
    -------
    row, rows
        As they were if either side cannot be asked again. Else, all inside the band
        of the second run: the first differences are noise, and the pair "equivalent"
        if that band is no wider than `resolution` and no other reason stands against
        it. Outside it again: "implementation".
    """
    again = second.ask(pair[0]), second.ask(pair[1])
    if again[0] is None or again[1] is None:
        return row, rows
    left, right, _ = side_by_side(again[0], again[1])
    if not left.features:
        return row, rows
    gaps = mean_gaps(left, right)
    n_repeats = f"{left.n_repeats} and {right.n_repeats} repeats"
    inside = dict(zip(left.features, gaps.inside.tolist(), strict=True))
    if all(inside.values()):
        first = "too wide a band"
        if row["verdict"] == "disagrees":
            first = "outside the band"
        now = f"{first} at first, all inside it in a run with {n_repeats}"
        wide = draws_wanted(left, right, gaps, second.run.config.checks.resolution)
        # What was counted outside, and that the band was wide, is told by that alone.
        against = [why for why in why_of(row["reasons"]) if why[0] not in ("", WIDE)]
        reasons = text([because("REPEAT_RUN", now), *wide, *against])
        verdict = best([*against, *wide, ("STREAM", "")])
        row = row | {"verdict": verdict, "cause": "", "reasons": reasons}
        return row, list(_with_evidence(rows, left, gaps, NOISE))
    if row["verdict"] == "disagrees":
        count = count_outside(row["n_outside"], row["n_features"], IMPLEMENTATION)
        why = [one for one in why_of(row["reasons"]) if one[0]]
        row = row | {"cause": IMPLEMENTATION, "reasons": text([count, *why])}
        rows = list(_with_evidence(rows, left, gaps, IMPLEMENTATION))
    n_outside = sum(not is_inside for is_inside in inside.values())
    now = f"{n_outside} of {len(inside)} outside in a run with {n_repeats}"
    each = row["reasons"], text([because("REPEAT_RUN", now)])
    return row | {"reasons": "; ".join(filter(None, each))}, rows


def _with_evidence(
    rows: Iterable[Row], left: Importance, gaps: Gaps, cause: str
) -> Iterable[Row]:
    """Yield rows of DISAGREEMENTS with cause and evidence of the second run.

    A feature that is inside its band now is noise, whatever the others are.
    """
    places = {name: n for n, name in enumerate(left.features)}
    for row in rows:
        n = places.get(row["feature"])
        if n is None or row["cause"] != NOT_EXPLAINED:
            yield row
            continue
        is_inside = bool(gaps.inside[n])
        evidence = (
            f"difference {row['difference']:.2g} and band ±{row['band']:.2g} at first, "
            f"{gaps.difference[n]:.2g} and "
            f"±{gaps.band[n]:.2g} in a run with {left.n_repeats} repeats"
        )
        facts = {"cause": NOISE if is_inside else cause, "evidence": evidence}
        yield {name: (row | facts)[name] for name in DISAGREEMENTS}
