"""One question for one engine and one model, with the results as records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import combinations
from typing import Any, get_args

import numpy as np

from ..config.load import AuditConfig, ImportanceSection, is_later
from ..config.questions import in_its_order
from ..engines import ENGINES, EngineInfo
from ..methods.effects import EFFECTS
from ..methods.importance import METHODS, options_of
from ..methods.importance.method_result import MethodResult
from ..records.check_answers import Answers
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import NotApplicable, listed, quote
from ..records.extensions import is_in_force
from ..records.finding import Finding, cause_of
from ..records.importance_record import Effect, Importance
from ..records.losses import LOSSES, default_losses

OUT_OF_BAG = ("random_subspace", "random_subspace_permutation")
"""Methods whose ensemble members are evaluated on their out-of-bag training rows."""
ON_REFERENCE = ("firm", "gradient_sensitivity")
"""Methods that need no target, computed on the reference rows if there are any."""
SETS_STREAM = {"DALEX": "DALEX", "hstats": "hstats"}
"""Engines whose draw order our only run uses, in order of priority."""


@dataclass(frozen=True)
class Question:
    """An entry of the configuration, with its model, rows and engine.

    Attributes
    ----------
    model : FittedModel or None
        None if the method uses the data only.
    rows : Dataset
    section : ImportanceSection
    engine : EngineInfo
    """

    model: FittedModel | None
    rows: Dataset
    section: ImportanceSection
    engine: EngineInfo

    @property
    def subject(self) -> str:
        """The name of the model, or "the data", in steps and findings."""
        return "the data" if self.model is None else self.model.name


def draws(method: str) -> bool:
    """Return whether a method draws random numbers, so that it has a stream."""
    return "stream" in signature(METHODS[method].function).parameters


def losses_of(
    section: ImportanceSection, model: FittedModel, config: AuditConfig
) -> tuple[str, ...]:
    """Return the losses of an entry for a model, by default those of its task.

    The defaults of a model without probabilities are its own losses.
    """
    usual: tuple[tuple[str, ...], ...] = ((),)
    if config.data is not None:  # then the defaults of the task are filled in
        usual = ((), default_losses(model.task))
    if model.scale == "class" and section.losses in usual:
        return model.losses
    return section.losses_for(model.task) or model.losses


def models_of(
    section: ImportanceSection, models: Iterable[FittedModel], config: AuditConfig
) -> Iterator[FittedModel | None]:
    """Yield each model of an entry, with the entry's losses.

    A method that uses the data only yields None, once.
    """
    if METHODS[section.method].asks == "data":
        yield None
        return
    for model in models:
        if not section.models or model.name in section.models:
            yield from model.asked_for(losses_of(section, model, config))


def other_losses(model: FittedModel, config: AuditConfig) -> tuple[Finding, ...]:
    """Return the finding that a model's losses differ from those configured."""
    replaced = {
        loss
        for entry in config.importance
        if METHODS[entry.method].unit == "loss"
        and (not entry.models or model.name in entry.models)
        and losses_of(entry, model, config) != entry.losses
        for loss in entry.losses
    }
    if not replaced:
        return ()
    finding = Finding(
        check="no_probabilities",
        severity="info",
        subject=model.name,
        message="The model gives no probabilities. It is measured by "
        f"{listed(model.losses)} instead of {listed(sorted(replaced))}.",
        remedy="Choose an estimator, or parameters of it, that give them.",
    )
    return (finding,)


def primary_stream(section: ImportanceSection) -> str:
    """Return our draw order: that of the first named engine that sets it.

    The engine need not be installed. One that does not support the entry sets none.
    """
    if not draws(section.method):
        return ""
    for engine, stream in SETS_STREAM.items():
        has_method = section.method in ENGINES[engine]["importance"]
        is_asked = engine in section.engines and has_method
        if is_asked and not missing_options(engine, section):
            return stream
    return "numpy"


def stream_of(section: ImportanceSection, engine: EngineInfo) -> str:
    """Return the draw order of an engine: its own, or ours if it takes that."""
    row = ENGINES[engine.name]["importance"].get(section.method)
    if row is None or is_in_force("engine", engine.name):
        return engine.stream  # the draw order of user-defined engines is unknown
    ours = signature(row.function).parameters.get("stream")
    return engine.stream if ours is None else str(ours.default)


def wants_run_beside(
    section: ImportanceSection, rows: Dataset, engine: EngineInfo, primary: str
) -> bool:
    """Return whether we can draw in an engine's order, and have not done so yet."""
    if not draws(section.method):
        return False
    function = METHODS[section.method].function
    streams = signature(function).parameters["stream"].annotation
    orders = (_draw_order(section, rows, stream) for stream in (engine.stream, primary))
    return engine.stream in get_args(streams) and len({*orders}) == 2


def pairs_of(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return all pairs of features by name, "a:b"; quoted if names are ambiguous."""
    pairs = list(combinations(names, 2))
    by_name = {f"{a}:{b}": (a, b) for a, b in pairs}
    if len(by_name) < len(pairs):
        return {f"{a!r}:{b!r}": (a, b) for a, b in pairs}
    return by_name


def curve_of(section: ImportanceSection) -> str:
    """Return the key of the curve behind an importance, empty if there is none."""
    usual = METHODS[section.method].curve if section.of == "features" else ""
    return str(section.options.get("curve", usual)) if usual else ""


def _draw_order(section: ImportanceSection, rows: Dataset, stream: str) -> str:
    """Return the draw order, empty if nothing is drawn."""
    n_rows = section.options.get("n_rows")
    takes_all = n_rows is None or n_rows >= rows.n_samples
    if not draws(section.method) or (METHODS[section.method].draws_rows and takes_all):
        return ""
    if section.options.get("draws") == "exact":
        return ""
    return stream


def is_of_training_rows(method: str) -> bool:
    """Return whether a method is computed on training rows, whatever is evaluated."""
    return METHODS[method].asks in ("data", "estimator") or method in OUT_OF_BAG


def rows_for(
    section: ImportanceSection,
    train: Dataset | None,
    test: Dataset,
    *,
    groups: Mapping[str, tuple[str, ...]],
) -> Dataset:
    """Return the rows for an entry: the test rows if it evaluates a fitted model.

    Predictive power in the data is estimated on training rows, as a model would be, so
    that the test rows can evaluate a choice of features. Quantities read from a fit, or
    measured out of bag or on rows held out of a refit, are of the training rows too.
    Methods that need no target use the reference rows, if there are any.
    """
    holds_out = bool(section.options.get("held_out"))
    on_training = is_of_training_rows(section.method) or holds_out
    rows = train if on_training and train is not None else test
    if section.method in ON_REFERENCE and test.reference is not None:
        rows = test.reference
    if section.of == "pairs":
        return rows.with_groups(pairs_of(tuple(rows.groups)))
    subjects = rows.with_groups(groups) if section.of == "groups" else rows
    return in_its_order(section, subjects)


def importances(
    question: Question, *, seed: int, stream: str
) -> tuple[Importance, ...]:
    """Return one Importance per loss, class or output that the method measures.

    Parameters and errors are those of `answered`.
    """
    return answered(question, seed=seed, stream=stream)[0]


def answered(
    question: Question, *, seed: int, stream: str, **supplied: Any
) -> tuple[tuple[Importance, ...], MethodResult]:
    """Return one Importance per loss, class or output, and the method's full result.

    Parameters
    ----------
    question : Question
    seed : int
    stream : str
        Draw order of our own numbers; an R engine has its own.
    supplied : Any
        Arguments that a method gets if it accepts them: `curves`, a mapping of features
        to (grid, values) already computed; `on_curve`, called for each new curve;
        `keep` and `segments` as in `permutation`.

    Raises
    ------
    NotApplicable
        The engine lacks the method, or the model does not support it.
    """
    model, rows = question.model, question.rows
    section, engine = question.section, question.engine
    method = METHODS[section.method]
    row = ENGINES[engine.name]["importance"].get(section.method)
    if row is None:
        raise NotApplicable(f"{engine.name} has no equivalent of {section.method!r}.")
    known = options_of(row.function)
    other = missing_options(engine.name, section)
    _check_none(engine.name, section, {name: section.options[name] for name in other})
    form = section.form or method.form
    supplied |= {"stream": stream, "form": form}
    accepted = signature(row.function).parameters
    result = row.function(
        model,
        rows,
        seed=seed,
        **{name: value for name, value in supplied.items() if name in accepted},
        **{name: section.options[name] for name in known if name in section.options},
    )
    if not isinstance(result, MethodResult):
        result = MethodResult(*result)
    order = "" if result.is_exact else _draw_order(section, rows, stream)
    options = dict(section.options)
    if result.quantity:
        options["type"] = result.quantity
    targets = result.y_permuted
    answers = tuple(
        Importance(
            model="" if model is None else model.name,
            method=section.method,
            engine=engine.name,
            engine_version=engine.version,
            of=section.of,
            form=form,
            aggregator="pooled" if order == "DALEX" else "mean",
            split=rows.split,
            options=options,
            n_samples=rows.n_samples,
            stream=order,
            seed=seed,
            features=tuple(rows.groups),
            columns=tuple(rows.groups.values()),
            raw=np.asarray(result.raw)[:, :, k],
            baseline=np.asarray(result.baseline)[:, k],
            y_permuted=np.empty(0) if targets is None else targets[:, k],
            entry=section.name,
            **score,
        )
        for k, score in enumerate(_scores(model, section))
    )
    return answers, result


def missing_options(engine: str, section: ImportanceSection) -> tuple[str, ...]:
    """Return the options with non-default values that an engine lacks."""
    function = ENGINES[engine]["importance"][section.method].function
    options, usual = options_of(function), options_of(METHODS[section.method].function)
    return tuple(
        name
        for name, value in section.options.items()
        if name not in options and value != usual[name]
    )


def _check_none(
    engine: str, section: ImportanceSection, other: Mapping[str, Any]
) -> None:
    """Refuse options that an engine does not have."""
    if other:
        settings = listed(f"{name} = {value}" for name, value in other.items())
        raise NotApplicable(
            f"{engine} has no such option of {section.method!r}: {settings}."
        )


def effects(
    question: Question, *, seed: int
) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """Return the curves behind an importance, per feature and output.

    The second value are the reasons why features lack one, if others have one.

    Raises
    ------
    NotApplicable
        The engine lacks the curve, or the model supports it for no feature.
    """
    model, rows = question.model, question.rows
    section, engine = question.section, question.engine
    curve = curve_of(section)
    row = ENGINES[engine.name]["effects"].get(curve)
    if row is None:
        raise NotApplicable(f"{engine.name} has no equivalent of the {curve!r} curve.")
    usual = options_of(EFFECTS[curve].function)
    options = {
        name: section.options.get(name, value)
        for name, value in usual.items()
        if not is_later(curve, name) or section.options.get(name, value) != value
    }
    own = options_of(row.function)
    other = {name: value for name, value in options.items() if name not in own}
    _check_none(engine.name, section, other)
    curves, reasons = [], []
    has_band = "on_band" in signature(row.function).parameters
    for feature in (name for name in rows.features if name in rows.groups):
        bands: list[tuple[Floats, Floats]] = []
        supplied: dict[str, Any] = {}
        if has_band:
            supplied["on_band"] = lambda *ends, bands=bands: bands.append(ends)
        try:
            grid, values = row.function(
                model, rows, feature, seed=seed, **supplied, **options
            )
        except NotApplicable as error:
            reasons.append(str(error))
            continue
        for k, score in enumerate(_scores(model, section)):
            curves.append(
                Effect(
                    model="" if model is None else model.name,
                    method=curve,
                    engine=engine.name,
                    engine_version=engine.version,
                    scale=score["scale"],
                    positive_class=score["positive_class"],
                    split=rows.split,
                    unit=score["unit"],
                    options=options,
                    n_samples=rows.n_samples,
                    seed=seed,
                    feature=feature,
                    kind="number"
                    if np.asarray(grid).dtype.kind in "fiu"
                    else "category",
                    grid=np.asarray(grid),
                    values=np.asarray(values)[:, k],
                    band_low=bands[0][0][:, k] if bands else np.empty(0),
                    band_high=bands[0][1][:, k] if bands else np.empty(0),
                )
            )
    if not curves and reasons:
        raise NotApplicable(reasons[0])
    return tuple(curves), tuple(reasons)


def gaps(effects: tuple[Effect, ...]) -> tuple[Finding, ...]:
    """Return one finding for each of our curves that lacks a level, for all outputs.

    Engines that lack the same level are not reported.
    """
    ours = {(e.model, e.feature): e for e in effects if e.engine == "python"}
    return tuple(
        Finding(
            check="not_applicable",
            severity="info",
            subject=model,
            message=(
                f"Model {quote(model)} cannot predict these declared levels of "
                f"{quote(feature)}: {listed(effect.grid[np.isnan(effect.values)])}. "
                "The curve is shown at the other levels, and no importance is taken "
                "from it."
            ),
            remedy="Train on rows with every level, or declare only levels they have.",
            measure=f"{effect.method} curve of {feature}",
            cause=cause_of("unseen_levels", feature),
        )
        for (model, feature), effect in ours.items()
        if _lacks_levels(effect)
    )


def because_of_levels(
    answers: Answers, importance: Importance, curves: Iterable[Effect]
) -> Answers:
    """Return the checks, with a cause for values missing because of their curves.

    A curve that lacks a level gives no importance: one cause for two findings.
    """
    lacking = {curve.feature for curve in curves if _lacks_levels(curve)}
    numbers = zip(importance.features, importance.mean, strict=True)
    missing = [name for name, mean in numbers if np.isnan(mean)]
    if not missing or not lacking.issuperset(missing):
        return answers
    cause = cause_of("unseen_levels", missing[0])
    return [
        (row, replace(finding, cause=cause))
        if finding is not None and finding.check == "unmeasured"
        else (row, finding)
        for row, finding in answers
    ]


def _lacks_levels(effect: Effect) -> bool:
    return effect.kind == "category" and bool(np.isnan(effect.values).any())


def _scores(
    model: FittedModel | None, section: ImportanceSection
) -> list[dict[str, Any]]:
    """Return loss, class, scale and unit of each score, in the order of `raw`."""
    unit = METHODS[section.method].unit
    standardised = {"unit": "1"} if section.options.get("standardised") else {}
    if model is None or unit not in ("loss", "prediction"):
        facts = {"loss": "", "positive_class": "", "scale": "", "unit": unit}
        return [facts | standardised]
    event = model.classes[-1] if model.task == "binary" else ""
    if unit == "loss":
        facts = {"positive_class": event, "scale": model.scale}
        return [
            {"loss": loss, **facts, "unit": LOSSES[loss].unit} for loss in model.losses
        ]
    scale_option = section.options.get("scale", "native")
    scale = model.scale if scale_option == "native" else str(scale_option)
    facts = {"loss": "", "scale": scale, "unit": "y" if scale == "response" else scale}
    return [facts | {"positive_class": name} | standardised for name in model.outputs]


def as_curves(effects: tuple[Effect, ...]) -> dict[str, tuple[Any, Floats]]:
    """Return effects as ``feature -> (grid, values of shape (n_grid, n_outputs))``."""
    features = dict.fromkeys(effect.feature for effect in effects)
    curves = {}
    for feature in features:
        of_feature = [effect for effect in effects if effect.feature == feature]
        values = np.stack([effect.values for effect in of_feature], axis=1)
        curves[feature] = (of_feature[0].grid, values)
    return curves
