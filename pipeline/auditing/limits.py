"""What [limits] cut of a question: before it is asked, while it is, and after.

`max_repeats` and `max_rows` hold for the whole run. A time limit is shared among the
questions by what each is expected to take; one that does not fit into its share is
asked about fewer rows, fewer repeats or the leading features, and says so.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..config.load import AuditConfig, ImportanceSection
from ..data.datasets import draw_rows
from ..methods.importance import METHODS
from ..methods.importance.permutation import FEWEST
from ..records.dataset_and_model import Dataset, FittedModel
from ..records.errors import listed, several
from ..records.finding import Finding
from ..records.importance_record import Importance
from ..records.ranking import LEVEL, order_of, primary
from . import measure
from .cost import Calls, count_calls, in_words

FIRST_SHARE = 0.5
"""Of a question's time, what the fewest repeats may be expected to take."""
LEAST_ROWS = 100
"""Rows below which no sample is drawn for want of time."""
LEAST_DRAWN = 50
"""Rows below which no curve or interaction is taken for want of time."""
OVERRUN = 1.5
"""How far a question that was cut may exceed its share before it is ended."""
LEADING = ("h_statistic", "vint", "pd_importance")
"""Methods, besides those of curves, that are asked of leading features for time."""
REMEDY = (
    "Raise --minutes or minutes under [limits], or reduce the work: fewer entries, "
    "max_rows, max_repeats."
)


def limited(
    config: AuditConfig, test: Dataset
) -> tuple[AuditConfig, Dataset, list[Finding]]:
    """Return question and rows within [limits], and what was cut of them."""
    limits, cuts = config.limits, []
    if limits.max_repeats is not None:
        entries = []
        for entry in config.importance:
            n_repeats = entry.options.get("n_repeats", 0)
            if n_repeats > limits.max_repeats:
                options = {**entry.options, "n_repeats": limits.max_repeats}
                name = f"{entry.method} of {entry.of}"
                cuts.append(f"{entry.name or name} {n_repeats}")
                entry = replace(entry, options=options)
            entries.append(entry)
        config = replace(config, importance=tuple(entries))
    findings = []
    if cuts:
        message = (
            f"max_repeats = {limits.max_repeats} limits n_repeats: {'; '.join(cuts)}."
        )
        findings.append(_cut("max_repeats", "n_repeats", message))
    n_all = test.n_samples
    if limits.max_rows is not None and n_all > limits.max_rows:
        test = draw_rows(test, limits.max_rows, config.seed)
        message = (
            f"{test.n_samples} of the {n_all} test rows were drawn and audited, "
            f"because max_rows = {limits.max_rows}."
        )
        findings.append(_cut("max_rows", test.name, message))
    return config, test, findings


def _cut(limit: str, subject: str, message: str) -> Finding:
    remedy = f"Raise {limit} under [limits] for narrower intervals."
    return Finding(
        check=limit, severity="info", subject=subject, message=message, remedy=remedy
    )


def time_limit(minutes: float | None) -> str:
    """Return the name of a time limit."""
    return f"the time limit of {several(minutes or 0.0, 'minute')}"


def time_cuts(
    minutes: float | None, cut_short: list[str], not_begun: list[str]
) -> Iterator[Finding]:
    """Yield what a time limit left without an answer: questions and steps."""
    labels = {"Cut short": cut_short, "Not begun": not_begun}
    names = [
        f"{words}: {'; '.join(dict.fromkeys(each))}."
        for words, each in labels.items()
        if each
    ]
    if names and minutes:
        limit = time_limit(minutes).replace("the", "The", 1)
        yield Finding(
            check="time_limit",
            severity="warning",
            subject="audit",
            message=f"{limit} was reached before everything was measured. "
            + " ".join(names),
            remedy=REMEDY,
        )


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The time of one question under a time limit.

    Attributes
    ----------
    end : float
        When its share of the time is over, by `time.monotonic`.
    expected : float
        How many seconds it would take as configured.
    calls : Calls or None
        What it asks; None if that cannot be counted.
    """

    end: float
    expected: float
    calls: Calls | None

    @property
    def seconds(self) -> float:
        """How much of its share is left."""
        return self.end - time.monotonic()

    @property
    def is_short(self) -> bool:
        """Whether the question does not fit into its share."""
        return self.expected > self.seconds


def cut_to_fit(
    budget: Budget,
    entry: ImportanceSection,
    model: FittedModel,
    rows: Dataset,
    importances: Sequence[Importance],
) -> tuple[ImportanceSection, Dataset, list[Finding]]:
    """Return a question that fits into its time, and what was cut of it.

    All methods repeat less. Permutation draws fewer rows where even the fewest repeats
    of all of them take too long, and is asked of the features that lead the ranking of
    another model where that is not enough. Other methods are asked of the features that
    lead the permutation importances so far.
    """
    share, asked = budget.seconds / budget.expected, entry
    if entry.method == "permutation":
        if entry.options.get("draws") == "exact":
            return entry, rows, []
        return _fewer_permutations(budget, entry, model, rows, importances)
    cuts = []
    n_repeats = entry.options.get("n_repeats", 1)
    fewer = max(1, min(n_repeats, int(n_repeats * share)))
    if fewer < n_repeats and not METHODS[entry.method].draws_rows:
        entry = _with_options(entry, n_repeats=fewer)
        cuts.append(f"was repeated {several(fewer, 'time')} instead of {n_repeats}")
        share *= n_repeats / fewer
    leading, every = _leading(entry, model, rows, importances, min(share, 1.0)), rows
    if len(leading) < len(rows.groups):
        n_all, kind = len(rows.groups), entry.of
        rows = rows.with_groups({name: rows.groups[name] for name in leading})
        cuts.append(
            f"was reduced to {len(leading)} of {n_all} {kind}, those that lead the "
            f"permutation importance of the model ({listed(leading, limit=20)})"
        )
    room = (count_calls(asked, model, every) or 0.0) * budget.seconds / budget.expected
    n_all = n_rows = min(entry.options.get("n_rows") or rows.n_samples, rows.n_samples)
    while "n_rows" in entry.options and n_rows // 2 >= LEAST_DRAWN:
        if (count_calls(entry, model, rows) or 0.0) <= room:
            break
        n_rows //= 2
        entry = _with_options(entry, n_rows=n_rows)
    if n_rows < n_all:
        cuts.append(f"drew {n_rows} of {n_all} rows")
    return (
        entry,
        rows,
        [_cut_for_time(entry, model.name, " and ".join(cuts))] if cuts else [],
    )


def describe_repeats(importance: Importance) -> Finding | None:
    """Return that time ended a permutation before its last repeat; None if not."""
    made, asked = importance.n_repeats, importance.options.get("n_repeats", 0)
    is_drawn = importance.method == "permutation" and importance.stream
    if not is_drawn or made >= asked:
        return None
    return _cut_for_time(importance, importance.model, _repeated_less(made, asked))


def _repeated_less(made: int, asked: int) -> str:
    """Return in words that a permutation has fewer repeats, and what that costs."""
    return (
        f"was repeated {several(made, 'time')} instead of {asked}. An interval over "
        f"{several(made, 'repeat')} is about {_width(made) / _width(asked):.1f} times "
        f"as wide as one over {asked}"
    )


def _width(n_repeats: int) -> float:
    """Return half the width of an interval over repeats, in their spread."""
    from scipy.special import stdtrit

    return float(stdtrit(n_repeats - 1, (1 + LEVEL) / 2) / np.sqrt(n_repeats))


def _fewer_permutations(
    budget: Budget,
    entry: ImportanceSection,
    model: FittedModel,
    rows: Dataset,
    importances: Sequence[Importance],
) -> tuple[ImportanceSection, Dataset, list[Finding]]:
    """Return a permutation of so few repeats, and if need be rows, that it fits.

    Rows are halved until the fewest repeats fit, so that runs of about the same speed
    agree.
    """
    n_all = n_rows = min(entry.options.get("n_rows") or rows.n_samples, rows.n_samples)
    n_repeats = entry.options["n_repeats"]
    fewest = min(FEWEST, n_repeats)
    first = budget.expected * fewest / n_repeats
    room = FIRST_SHARE * budget.seconds
    while n_rows > room / first * n_all and n_rows // 2 >= LEAST_ROWS:
        n_rows //= 2
    what = []
    if n_rows < n_all:
        entry = _with_options(entry, n_rows=n_rows)
        what.append(
            f"drew {n_rows} of {n_all} rows in each repeat, since {fewest} repeats of "
            f"all of them would have taken {in_words(first)} of the "
            f"{in_words(budget.seconds)} there were for it. A repeat varies about "
            f"{np.sqrt(n_all / n_rows):.1f} times as much"
        )
    others = {record.model for record in importances} - {model.name}
    ranking = _permuted(importances, others)
    share = room / (first * n_rows / n_all)
    if share < 1 and ranking is not None and entry.of == "features":
        order = [ranking.features[at] for at in order_of(ranking)]
        leading = [name for name in order if name in rows.groups]
        leading = leading[: max(2, int(len(leading) * share))]
        n_groups = len(rows.groups)
        rows = rows.with_groups(
            {name: of for name, of in rows.groups.items() if name in leading}
        )
        what.append(
            f"was reduced to {len(leading)} of {n_groups} features, those that lead "
            f"the permutation importance of model {ranking.model} "
            f"({listed(leading, limit=20)}): there was no time to rank all by this one"
        )
    share = budget.seconds / (first * n_rows / n_all)
    n_fewer = min(n_repeats, max(fewest, int(fewest * share)))
    if n_fewer < n_repeats:
        entry = _with_options(entry, n_repeats=n_fewer)
        what.append(_repeated_less(n_fewer, n_repeats))
    cuts = [_cut_for_time(entry, model.name, each) for each in what]
    return entry, rows, cuts


def _permuted(
    importances: Sequence[Importance], models: Collection[str]
) -> Importance | None:
    """Return the first permutation importance of features of some models."""
    return next(
        (
            record
            for _, record in primary(importances).values()
            if record.model in models
            and (record.method, record.of) == ("permutation", "features")
        ),
        None,
    )


def _leading(
    entry: ImportanceSection,
    model: FittedModel,
    rows: Dataset,
    importances: Sequence[Importance],
    share: float,
) -> list[str]:
    """Return the groups a question is asked of if it has time for a share of them."""
    names = list(rows.groups)
    has_curve = bool(measure.curve_of(entry)) or entry.method in LEADING
    ranking = _permuted(importances, [model.name])
    if share >= 1 or ranking is None or not has_curve or entry.of == "groups":
        return names
    order = [ranking.features[at] for at in order_of(ranking)]
    n_first = max(2, int(len(order) * share))
    if entry.of == "pairs":  # k features have k (k - 1) / 2 pairs
        n_first = max(2, int(0.5 + np.sqrt(0.25 + 2 * len(names) * share)))
    first = set(order[:n_first])
    return [name for name in names if first.issuperset(rows.groups[name])]


def _with_options(entry: ImportanceSection, **options: int) -> ImportanceSection:
    return replace(entry, options={**entry.options, **options})


def _cut_for_time(
    asked: ImportanceSection | Importance, model: str, what: str
) -> Finding:
    """Return what was cut of a question because of the time."""
    question = f"{asked.method} of {asked.of}"
    return Finding(
        check="time_limit",
        severity="warning",
        subject=f"{model}, {question}",
        message=f"Because of the time limit, {question} of model {model} {what}.",
        remedy=REMEDY,
        measure=question,
    )
