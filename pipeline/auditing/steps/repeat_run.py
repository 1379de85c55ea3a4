"""Second runs, with four times the repeats, of pairs whose difference may be noise.

The first numbers are kept; the second run decides between noise and another cause. Not:
the comparison of two results, which is `agreement`.
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
"""Repeats of the second run, as a multiple of those of the first."""
MOST_QUESTIONS = 8
"""Most questions that are computed a second time, over all engines."""
REPEATED = ("n_repeats", "n_permutations")
"""The options that set the number of draws."""
WIDE = "REPEATS (wide)"
NOT_EXPLAINED, NOISE, IMPLEMENTATION = "not explained", "noise", "implementation"


@dataclass(kw_only=True)
class SecondRun:
    """Computes the question of a record a second time, each question once.

    Attributes
    ----------
    run : Run
    answers : mapping
        Results by question: empty if the engine failed.
    """

    run: Run
    answers: dict[tuple[Any, ...], tuple[Importance, ...]] = field(default_factory=dict)

    def wants(self, row: Row) -> bool:
        """Return whether a pair needs a second run, by ``[checks] repeat_run``."""
        setting = self.run.config.checks.repeat_run
        if setting == "never" or row["kind"] != "importance":
            return False
        is_wide = WIDE in codes_of(row["reasons"]) and setting == "unresolved"
        return bool(row["cause"] == NOT_EXPLAINED or is_wide)

    def ask(self, record: Importance) -> Importance | None:
        """Return the new result of a record's engine, None if there is none.

        The seed is derived from that of the audit, separately for each side of a pair.
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
            self.answers[key] = self._compute(record, section, info)
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
        """Return the entry of a record, with its repeats multiplied."""
        for entry in self.run.config.importance:
            same = (entry.method, entry.of) == (record.method, record.of)
            option = next((n for n in REPEATED if n in entry.options), "")
            if same and option and dict(entry.options) == dict(record.options):
                n_repeats = TIMES * entry.options[option]
                options = {**entry.options, option: n_repeats}
                return replace(entry, options=options, form=record.form)
        return None

    def _compute(
        self, record: Importance, section: ImportanceSection, info: EngineInfo
    ) -> tuple[Importance, ...]:
        """Return the results of an engine, empty if it fails, which is a finding."""
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
    """Return a row and its disagreements, updated by a second run.

    Parameters
    ----------
    second : SecondRun
    pair : (Importance, Importance)
        The two records of the row.
    row : dict
        A row of AGREEMENT; its numbers are kept.
    rows : list of dict
        Rows of DISAGREEMENTS; their numbers are kept, with both bands in the evidence.

    Returns
    -------
    row, rows
        Unchanged if either side cannot be computed again. If all values are now inside
        the band, the first differences are noise, and the pair is "equivalent" if the
        band is no wider than `resolution` and no other reason prevents it. If some are
        outside again, the cause is "implementation".
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
        # The count outside and the width of the first band are covered by this text.
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
    """Yield rows of DISAGREEMENTS with cause and evidence from the second run.

    A feature that is now inside its band is noise, whatever the others are.
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
