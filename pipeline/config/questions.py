"""What a configuration asks: of importances, of two features, of whole rankings.

As in `sections`: a field is a key, its annotation the rule (`value_rules`), its default
the default. Not: settings, which ask for no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ..engines import ENGINES
from ..methods.effects.partial_dependence import Scale
from ..methods.importance import METHODS
from ..records.dataset_and_model import Dataset, Form, Task
from ..records.errors import ConfigError, listed
from ..records.importance_record import supplied_engine
from ..records.losses import LOSSES, default_losses
from ..records.streams import seed_of
from ..records.value_rules import NAME, OneOf, Pattern, Range

METHOD_NAMES = tuple(METHODS)
LOSS_NAMES = tuple(LOSSES)
R_ENGINES = tuple(name for name in ENGINES if name != "python")
MEASURED = tuple(name for name, method in METHODS.items() if method.asks == "predict")
"""Methods whose numbers follow from the predictions, which a digest stands for."""

UNNAMED = Pattern(r"|[\s\S]*\S[\s\S]*", "a text that is not blank")
DIGEST = Pattern(r"[0-9a-f]{64}", "64 hexadecimal digits")
Protocol = Literal["folds", "holdout"]


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, eq=False)
class ImportanceSection:
    """One question: a method, of what, by whom, of which models.

    Attributes
    ----------
    name : str
        What claims and the report call the entry; needed where two entries ask the
        same, such as in two orders.
    method : str
        What is measured.
    of : {"features", "groups", "pairs"}
        Each feature alone, the columns of each group together, or every two features,
        for a method that measures interactions.
    engines : tuple of str
        Who answers the question besides Python.
    losses : tuple of str
        Losses, for a method that measures one; by default rmse, one_minus_auc or
        log_loss_clipped, by task.
    form : {"difference", "ratio", "raw", "absolute"}
        How the importance is shown; by default as the method says.
    models : tuple of str
        Which models are asked; by default all.
    features : tuple of str
        Which features, or groups, are permuted, in the order in which an R package
        draws them; by default all, in that of the data.
    seed : int
        Names the draws of this entry for every model, here and in R's set.seed; by
        default it follows from the seed of the audit and what is asked.
    top : int
        Of pairs, only those of the first so many features of each model, by their
        partial-dependence importance; 0 asks all pairs.
    options : mapping
        The method's own options, defaults included; in the file, keys of the entry.
    """

    method: Annotated[str, OneOf(METHOD_NAMES)]
    of: Literal["features", "groups", "pairs"] = "features"
    engines: tuple[Annotated[str, OneOf(R_ENGINES)], ...] = ()
    losses: tuple[Annotated[str, OneOf(LOSS_NAMES)], ...] = ()
    form: Form | None = None
    models: tuple[str, ...] = ()
    name: Annotated[str, UNNAMED] = ""
    features: tuple[str, ...] = ()
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] | None = None
    top: Annotated[int, Range(least=0)] = 0
    options: Mapping[str, Any] = field(default_factory=_empty)

    def losses_for(self, task: Task) -> tuple[str, ...]:
        """Return the losses of a task, none if the method measures no loss.

        Raises
        ------
        ConfigError
            If a loss that was named is not defined for `task`.
        """
        if METHODS[self.method].unit != "loss":
            return ()
        problem = unsuited(self.losses, task)
        if problem:
            raise ConfigError([f"[importance] {problem}"])
        return self.losses or default_losses(task)


def unsuited(losses: tuple[str, ...], task: str) -> str:
    """Return a sentence about losses that are not defined for `task`, or nothing."""
    for loss in losses:
        tasks = LOSSES[loss].tasks
        if task not in tasks:
            rule = f"losses must suit task {task!r}; {loss!r} is for {listed(tasks)}."
            return f"{rule} Leave losses out for {listed(default_losses(task))}."
    return ""


def seed_for(section: ImportanceSection, seed: int, model: str) -> int:
    """Return the seed of a question: that of its entry, else one of the audit's.

    Parameters
    ----------
    section : ImportanceSection
    seed : int
        Of the audit.
    model : str
        Who is asked; empty for the data.
    """
    if section.seed is not None:
        return section.seed
    drawn_as = METHODS[section.method].seeded_as or section.method
    return seed_of(seed, model, drawn_as, section.of)


def in_its_order(section: ImportanceSection, rows: Dataset) -> Dataset:
    """Return rows asked for the features of an entry, in its order; all by default."""
    if not section.features:
        return rows
    return rows.with_groups({name: rows.groups[name] for name in section.features})


@dataclass(frozen=True, kw_only=True, eq=False)
class SurfaceSection:
    """A surface: the mean prediction as a function of two features.

    Attributes
    ----------
    features : tuple of str
        The two; by default the first pair of each model, by the first entry about
        pairs.
    models : tuple of str
        Which models are asked; by default all.
    n_grid : int
        Most points of the even grid of a number.
    scale : {"native", "link", "centred_logit"}
        As in `effects.partial_dependence`.
    """

    features: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    n_grid: Annotated[int, Range(least=2, most=50)] = 20
    scale: Scale = "native"


@dataclass(frozen=True, kw_only=True, eq=False)
class SuppliedSection:
    """Numbers of vip or DALEX that somebody measured elsewhere, as one more engine.

    Attributes
    ----------
    file : str
        An object of vip (`vi`) or DALEX (an importance or a profile) saved in R as
        .rds, or a .csv with the columns `feature` and `value`, and `repeat` if there
        are several.
    sha256 : str
        The SHA-256 of that file.
    package : {"vip", "DALEX"}
        Whose functions measured it.
    version : str
        Of the package.
    by : str
        Who measured it, or where.
    date : str
        When, as year-month-day.
    model : str
        The model it is about.
    predictions_sha256 : str
        The digest of the predictions it was measured on, as the report and the
        hand-off state it. Where this run's differ the numbers are not compared.
    method : str
        What was measured: a method that `[[importance]]` asks of the model.
    of : {"features", "groups", "pairs"}
        Of each feature alone, or of the columns of each group together.
    loss : str
        By which loss, for a method that measures one.
    positive_class : str
        Of which class, where a model has several outputs.
    form : {"difference", "ratio", "raw", "absolute"}
        How it is shown; by default as the method says.
    seed : int
        The argument of `set.seed` right before the call; left out where it is not
        known or the draws were not in one sequence, so that no draw is repeated.
    options : mapping
        The method's own options, defaults included; in the file, keys of the entry.
    """

    file: Annotated[str, Pattern(r".+\.(rds|csv)", "an .rds or a .csv file")]
    sha256: Annotated[str, DIGEST]
    package: Literal["vip", "DALEX"]
    version: Annotated[str, Pattern(r"\d+\.\d+([.-]\d+)*", "a version such as '0.4.5'")]
    by: Annotated[str, NAME]
    date: Annotated[str, Pattern(r"\d{4}-\d\d-\d\d", "a date such as '2026-11-21'")]
    model: Annotated[str, NAME]
    predictions_sha256: Annotated[str, DIGEST]
    method: Annotated[str, OneOf(MEASURED)]
    of: Literal["features", "groups", "pairs"] = "features"
    loss: Annotated[str, OneOf(("", *LOSSES))] = ""
    positive_class: str = ""
    form: Form | None = None
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] | None = None
    options: Mapping[str, Any] = field(default_factory=_empty)

    @property
    def engine(self) -> str:
        """How the audit calls it: never as an engine that was asked here."""
        return supplied_engine(self.package, self.version)


@dataclass(frozen=True, kw_only=True, eq=False)
class StabilitySection:
    """How stable each ranking is: over resampled rows, and over more repeats.

    Attributes
    ----------
    resamples : int
        Bootstrap resamples of the rows on which every ranking is measured again, the
        model as it is; 0 leaves stability out.
    n_repeats : int
        Repeats in each resample, at most those of the entry; fewer widen the intervals
        by the noise of the repeats.
    row_resamples : int
        Resamples of the rows behind the intervals of permutation importances, which
        need no further prediction: each row's part in an importance is known from the
        shuffles that are made anyway. Fewer than some hundred leave the ends of a 95 %
        interval rough; 0 leaves these intervals out.
    """

    resamples: Annotated[int, Range(least=0)] = 0
    n_repeats: int = 1
    row_resamples: Annotated[int, Range(least=0)] = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class SignificanceSection:
    """How much each ranking would measure if the target meant nothing.

    Attributes
    ----------
    shuffles : int
        Random orders of the target on which every ranking of the data is measured
        again, with all its repeats; 0 leaves p-values out.
    """

    shuffles: Annotated[int, Range(least=0)] = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class TopKSection:
    """How well models predict from the first features of each ranking.

    Attributes
    ----------
    k : int
        The most features of a ranking that models are fitted to; 0 leaves it out.
    folds : int
        Parts of the training rows that are left out in turn.
    protocols : tuple of str
        Who sees what: "folds", rankings by the training rows only, judged by folds of
        them; "holdout", judged once by the test rows, on which fitted models were also
        asked for their ranking.
    all_rows : tuple of str
        Methods and models whose rankings are by all rows under "holdout".
    """

    k: Annotated[int, Range(least=0)] = 0
    folds: Annotated[int, Range(least=2)] = 5
    protocols: Annotated[tuple[Protocol, ...], Range(least=1)] = ("folds",)
    all_rows: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectionSection:
    """How well models predict from the features that PERF keeps (Fokoué, eq. 1.1).

    Attributes
    ----------
    splits : int
        Random splits of the training rows. On one side of each, the first entry of
        method `random_subspace` keeps the features whose PERF is above 0, every other
        ranking as many from its top, and models are fitted; the other side judges
        them, by the loss of that entry. 0 leaves it out.
    fraction : float
        Share of the training rows that judge.
    """

    splits: Annotated[int, Range(least=0)] = 0
    fraction: Annotated[float, Range(above=0, below=1)] = 0.2
