"""Sections that request results: importances, surfaces, analyses of rankings.

As in `sections`, each field is a key; its annotation is the rule (`value_rules`), its
default the default of the key. Other sections are in `settings`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ..assess.significance import Adjustment
from ..engines import ENGINES
from ..methods.effects.partial_dependence import Scale
from ..methods.importance import METHODS
from ..records.dataset_and_model import Dataset, Form, Task
from ..records.errors import (
    ConfigError,
    did_you_mean,
    listed,
    quote,
)
from ..records.importance_record import supplied_engine
from ..records.losses import LOSSES, default_losses
from ..records.streams import seed_of
from ..records.value_rules import NAME, OneOf, Pattern, Range

R_ENGINES = tuple(name for name in ENGINES if name != "python")
MEASURED = tuple(name for name, method in METHODS.items() if method.asks == "predict")
"""Methods computed from predictions, which a digest can identify."""

UNNAMED = Pattern(r"|[\s\S]*\S[\s\S]*", "a text that is not blank")
DIGEST = Pattern(r"[0-9a-f]{64}", "64 hexadecimal digits")
SUPPLIED_FILE = Pattern(
    r".+\.csv",
    "a .csv file, such as write_importance in R writes of what vip or DALEX returned",
)
DATE = Pattern(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "a date such as '2026-11-21'"
)
Protocol = Literal["folds", "holdout", "splits"]
Test = Literal["cpi", "lei", "altmann", "nadeau_bengio"]
STATISTICS = ("t", "wilcoxon", "sign", "fisher")


@dataclass(frozen=True, kw_only=True, eq=False)
class ImportanceSection:
    """One importance: the method, what it applies to, the engines and the models.

    Attributes
    ----------
    name : str
        The name of the entry in claims and in the report; required if two entries
        measure the same, for example in different orders.
    method : str
        The importance method, or a function of your own: "my_module:my_method" is
        `my_method` in `my_module.py` in the folder of the file (docs/extending.md).
    of : {"features", "groups", "pairs"}
        Each feature alone, the columns of each group together, or every pair of
        features, for a method that measures interactions.
    engines : tuple of str
        R packages that recompute the importance, or an engine of your own, given like
        a method of your own.
    losses : tuple of str
        Losses, for a method that measures one; by default rmse, one_minus_auc or
        log_loss_clipped, depending on the task. A loss of your own is given like a
        method of your own.
    form : {"difference", "ratio", "raw", "absolute"}
        How the importance is expressed; by default as defined by the method. "ratio"
        needs a method that measures a loss, "absolute" one that does not.
    models : tuple of str
        The models to measure; all by default.
    features : tuple of str
        The features, or groups, that are permuted, in the order in which an R package
        draws them; by default all, in the order of the data.
    seed : int
        Seed of the random draws of this entry for every model, here and in R's
        set.seed; by default derived from the seed of the audit and from what is
        measured.
    top : int
        Measure only the pairs of this many leading features of each model, by
        partial-dependence importance; 0 measures all pairs.
    options : mapping
        The method's own options, defaults included; in the file, keys of the entry.
    """

    method: Annotated[str, OneOf(tuple(METHODS), "method")]
    of: Literal["features", "groups", "pairs"] = "features"
    engines: tuple[Annotated[str, OneOf(R_ENGINES, "engine")], ...] = ()
    losses: tuple[Annotated[str, OneOf(tuple(LOSSES), "loss")], ...] = ()
    form: Form | None = None
    models: tuple[str, ...] = ()
    name: Annotated[str, UNNAMED] = ""
    features: tuple[str, ...] = ()
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] | None = None
    top: Annotated[int, Range(least=0)] = 0
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def losses_for(self, task: Task) -> tuple[str, ...]:
        """Return the losses of a task, empty if the method measures no loss.

        Raises
        ------
        ConfigError
            If a configured loss is not defined for `task`.
        """
        if METHODS[self.method].unit != "loss":
            return ()
        problem = unsuited(self.losses, task)
        if problem:
            raise ConfigError([f"[importance] {problem}"])
        return self.losses or default_losses(task)


def unsuited(losses: tuple[str, ...], task: str) -> str:
    """Return a sentence about the first loss that is not defined for `task`, or ""."""
    for loss in losses:
        tasks = LOSSES[loss].tasks
        if task not in tasks:
            rule = f"losses must suit task {task!r}; {loss!r} is for {listed(tasks)}."
            return f"{rule} Leave losses out for {listed(default_losses(task))}."
    return ""


def unknown_loss(
    subject: str, name: str, task: str, scorers: Iterable[str] = ()
) -> str:
    """Return a sentence about a loss that does not exist, with a list of valid ones.

    Parameters
    ----------
    subject : str
        The key that contains the name.
    name : str
    task : str
        Empty if the task is not known.
    scorers : iterable of str
        Names of scorers of the task, if these are accepted as well.
    """
    suited = [key for key, loss in LOSSES.items() if not task or task in loss.tasks]
    known = [*suited, *scorers]
    of_task = f" of task {task!r}" if task else ""
    rule = f"must be among those{of_task}: {listed(known, limit=99)}"
    return f"{subject} {rule}; {quote(name)} was given.{did_you_mean(name, known)}"


def seed_for(section: ImportanceSection, seed: int, model: str) -> int:
    """Return the seed of a question: that of its entry, else one from the audit's seed.

    Parameters
    ----------
    section : ImportanceSection
    seed : int
        The seed of the audit.
    model : str
        The name of the model; empty if the method measures the data.
    """
    if section.seed is not None:
        return section.seed
    drawn_as = METHODS[section.method].seeded_as or section.method
    return seed_of(seed, model, drawn_as, section.of)


def in_its_order(section: ImportanceSection, rows: Dataset) -> Dataset:
    """Return rows with the groups of an entry, in its order; all by default."""
    if not section.features:
        return rows
    return rows.with_groups({name: rows.groups[name] for name in section.features})


@dataclass(frozen=True, kw_only=True, eq=False)
class SurfaceSection:
    """A surface: the mean prediction as a function of two features.

    Attributes
    ----------
    features : tuple of str
        The two features; by default the first pair of each model in the first entry
        about pairs.
    models : tuple of str
        The models to evaluate; all by default.
    n_grid : int
        Maximum number of grid points for a numeric feature; the grid is evenly spaced.
    scale : {"native", "link", "centred_logit"}
        The scale of predictions, as in `effects.partial_dependence`.
    """

    features: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    n_grid: Annotated[int, Range(least=2, most=50)] = 20
    scale: Scale = "native"


@dataclass(frozen=True, kw_only=True, eq=False)
class SuppliedSection:
    """Results of vip or DALEX measured elsewhere, compared as an additional engine.

    Attributes
    ----------
    file : str
        A .csv with the columns `feature` and `value`, and `repeat` if there are
        several repeats, or `x` for the points of curves. `write_importance` in R writes
        such files from objects of vip (`vi`) and DALEX (an importance or a profile).
    sha256 : str
        The SHA-256 of that file.
    package : {"vip", "DALEX"}
        The package that measured it.
    version : str
        The version of that package.
    by : str
        Who measured it, or where.
    date : str
        The date, as year-month-day.
    model : str
        The model that was measured.
    predictions_sha256 : str
        The digest of the predictions on which it was measured, as stated in the report
        and in the hand-off. If this run's predictions differ, the numbers are not
        compared.
    method : str
        The method, which an `[[importance]]` must use for the model.
    of : {"features", "groups", "pairs"}
        Each feature alone, or the columns of each group together.
    loss : str
        The loss, for a method that measures one.
    positive_class : str
        The class, if the model has several outputs.
    form : {"difference", "ratio", "raw", "absolute"}
        How the importance is expressed; by default as defined by the method. Raw losses
        of DALEX (`type = "raw"`) are shown like those of the audit.
    seed : int
        The argument of `set.seed` right before the call. Leave it out if it is unknown
        or the draws were not made in one sequence; then no draw is replayed.
    options : mapping
        The method's own options, defaults included; in the file, keys of the entry.
    """

    file: Annotated[str, SUPPLIED_FILE]
    sha256: Annotated[str, DIGEST]
    package: Literal["vip", "DALEX"]
    version: Annotated[str, Pattern(r"\d+\.\d+([.-]\d+)*", "a version such as '0.4.5'")]
    by: Annotated[str, NAME]
    date: Annotated[str, DATE]
    model: Annotated[str, NAME]
    predictions_sha256: Annotated[str, DIGEST]
    method: Annotated[str, OneOf(MEASURED)]
    of: Literal["features", "groups", "pairs"] = "features"
    loss: Annotated[str, OneOf(("", *LOSSES))] = ""
    positive_class: str = ""
    form: Form | None = None
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def engine(self) -> str:
        """Name of this engine; no engine that the audit runs has this name."""
        return supplied_engine(self.package, self.version)


@dataclass(frozen=True, kw_only=True, eq=False)
class StabilitySection:
    """How stable each ranking is under resampled rows and more repeats.

    Attributes
    ----------
    resamples : int
        Number of bootstrap samples of the rows on which every ranking is measured
        again, without refitting; 0 turns this off.
    n_repeats : int
        Repeats in each resample, at most those of the entry; fewer repeats widen the
        intervals.
    row_resamples : int
        Number of resamples of the rows for the intervals of permutation importances.
        They need no further predictions, because each row's contribution is known from
        the shuffles of the importance itself. With fewer than a few hundred, the ends
        of a 95 % interval are imprecise; 0 turns these intervals off.
    """

    resamples: Annotated[int, Range(least=0)] = 0
    n_repeats: int = 1
    row_resamples: Annotated[int, Range(least=0)] = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class SignificanceSection:
    """p-values of rankings: by random targets, or by the losses of single rows.

    Attributes
    ----------
    shuffles : int
        Number of random permutations of the target. For each, every ranking without a
        model is measured again, with all its repeats; with "altmann" among the tests,
        also importances that models report themselves. 0 turns these p-values off.
    tests : tuple of str
        Tests of rankings by models, none by default. "cpi" and "lei" are one-sided
        tests of the differences between the losses of a row without and with a feature.
        "cpi" tests `permutation`; this is the conditional predictive impact if values
        are drawn conditionally on the other features. "lei" tests `drop_column`.
        "nadeau_bengio" tests `drop_column` with `held_out` over its refits. "altmann"
        refits models to each shuffled target and measures importances that models
        report themselves, such as `impurity`, again.
    statistic : {"", "t", "wilcoxon", "sign", "fisher"}
        The statistic of "cpi" and "lei": Student's t, Wilcoxon's signed ranks, the
        number of rows with an increased loss, or the mean under random signs. "" is t
        for "cpi" and Wilcoxon's for "lei".
    adjustment : {"benjamini_hochberg", "holm", "bonferroni"}
        How p-values are adjusted for the number of features of a ranking.
        Benjamini-Hochberg limits the expected share of false positives among the
        features found, Holm and Bonferroni the probability of any false positive.
    """

    shuffles: Annotated[int, Range(least=0)] = 0
    tests: tuple[Test, ...] = ()
    statistic: Annotated[str, OneOf(("", *STATISTICS))] = ""
    adjustment: Adjustment = "benjamini_hochberg"


@dataclass(frozen=True, kw_only=True, eq=False)
class TopKSection:
    """How well models predict from the leading features of each ranking.

    Attributes
    ----------
    k : int
        The largest number of leading features that models are fitted to; 0 turns this
        off. Only columns that models are given are ranked here: without the others,
        `mrmr` and `pca` may give another order than elsewhere in the report.
    folds : int
        Number of cross-validation folds of the training rows.
    protocols : tuple of str
        The rows used for ranking and for evaluation. "folds" ranks on the training rows
        only and evaluates by cross-validation on them. "holdout" evaluates once on the
        test rows, which were also used to rank the features of fitted models. "splits"
        is like "holdout", but over random splits of all rows.
    all_rows : tuple of str
        Methods and models that rank on all rows under "holdout" and "splits".
    splits : int
        Number of random splits, each with as many test rows as the audit has.
    """

    k: Annotated[int, Range(least=0)] = 0
    folds: Annotated[int, Range(least=2)] = 5
    protocols: Annotated[tuple[Protocol, ...], Range(least=1)] = ("folds",)
    all_rows: tuple[str, ...] = ()
    splits: Annotated[int, Range(least=1)] = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectionSection:
    """How well models predict from the features that PERF keeps (Fokoué, eq. 1.1).

    Attributes
    ----------
    splits : int
        Number of random splits of the training rows. On one part, the first entry with
        method `random_subspace` keeps the features with a PERF above 0, every other
        ranking keeps as many of its top features, and models are fitted to them. The
        other part evaluates these models with the loss of that entry. 0 turns this off.
    fraction : float
        Share of the training rows used for evaluation.
    """

    splits: Annotated[int, Range(least=0)] = 0
    fraction: Annotated[float, Range(above=0, below=1)] = 0.2
