"""Files of a result for R users: tables, objects of vip and DALEX, and scripts.

Not: the structure of these objects (`r_bridge.handoff`), the inputs of a recomputation
in R (`recomputation`), or writing them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from string import Template
from typing import Any, NamedTuple

from importance_audit.r_bridge import handoff as objects

from ..engines.agreement.sides import is_finished
from ..records.as_csv import csv_text
from ..records.as_json import content_digest
from ..records.dataset_and_model import Dataset, Floats
from ..records.importance_record import Effect, Importance
from ..records.ranking import OURS, options_text
from ..records.result import AuditResult
from ..records.template_folder import templates
from . import recomputation

VIP_TYPES = {"partial_dependence": "firm", "shapley": "shap"}
"""Names of our methods in vip, if they differ."""
LONGEST = 60
"""Maximum length of the names in the name of a file, in characters."""
FACTS = (
    *("model", "method", "of", "loss", "positive_class", "engine", "engine_version"),
    *("form", "aggregator", "scale", "split", "unit", "n_samples", "n_repeats"),
    *("stream", "seed"),
)
CURVE = "partial_dependence"
"""The curve with the same definition in DALEX; its accumulated curve differs."""
NUMBERS_ALONE = (
    "`row_numbers.csv` says which rows of the table were evaluated. The rows\n"
    "themselves are not here; a hand-off made with `--rows` has them."
)
WITH_ROWS = (
    "**`rows.rds` holds the evaluation rows themselves.** They may be personal data:\n"
    "hand this folder only to people who may see them."
)
ROW_FILES = (
    "| `row_numbers.csv`, `columns.csv` | Which rows of the table these are, from 1, "
    "and the columns and levels that their digest is made of. |\n"
)
NO_NUMBERS = (
    "The rows could not be read again when this folder was made, so it does not say\n"
    "which rows of the table were evaluated."
)
PARQUET = {
    False: "No table is here as Parquet: neither nanoparquet (R) nor pyarrow was\n"
    "installed.",
    True: "Each has its table beside it as `.parquet`, without\nits attributes.",
}


class HandoffObject(NamedTuple):
    """One R object: its kind, the number of its record, the record and the plan."""

    kind: str
    record: int
    about: Importance | Effect
    plan: objects.Plan


def handoff(
    result: AuditResult, rows: Dataset | None = None, *, with_rows: bool = False
) -> dict[str, bytes | str]:
    """Return the files of a hand-off by their paths; call it inside a session of R.

    ``importances.csv`` has every importance, ``rounds.csv`` the numbers of every
    repeat, ``effects.csv`` the curves, ``models.csv`` the digests of the predictions,
    and ``objects.csv`` the content of each .rds file. ``read.R`` opens them all, and
    recomputes every mean; ``recompute.R`` recomputes importances with DALEX and vip.
    The table of each .rds file is also written as Parquet if a package can write it.

    Parameters
    ----------
    result : AuditResult
    rows : Dataset, optional
        The evaluation rows, if they could be read again: their numbers are included.
    with_rows : bool, default False
        Whether the rows themselves are included.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
        If R is not available, or cannot read back its files.
    """
    objects_by_path = {_path(item): item for item in _objects(result)}
    plans = {path: item.plan for path, item in objects_by_path.items()}
    files: dict[str, bytes | str] = {}
    if rows is not None:
        table = result.run.config.get("data") or {}
        weights = str(table.get("weights") or "sample_weight")
        files["row_numbers.csv"] = csv_text(recomputation.row_numbers(rows))
        files["columns.csv"] = csv_text(recomputation.columns(rows, weights))
        if with_rows:
            plans["rows.rds"] = objects.rows(recomputation.table_of(rows, weights))
    writer = objects.parquet_writer()
    tables = objects.as_parquet(plans, writer)
    files |= {path[:-4] + ".parquet": table for path, table in tables.items()}
    words = templates() / "handoff"
    texts = {
        name: words.joinpath(name).read_text("utf-8")
        for name in ("read.R", "recompute.R", "r/tables.R", "r/digests.R")
    }
    texts |= {f"r/{name}": text for name, text in objects.scripts().items()}
    scripts = recomputation.predict_scripts(result)
    of_rows = WITH_ROWS if with_rows else NUMBERS_ALONE
    run, facts = result.run, recomputation.evaluation_of(result)
    packages = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    readme = Template(words.joinpath("README.md").read_text("utf-8")).substitute(
        audit=_one_line(run.audit),
        run_id=_one_line(str(run.volatile.get("run_id", ""))),
        verdict=result.verdict,
        seed=run.config.get("seed", ""),
        digest=content_digest(result),
        data=run.data_sha256,
        rows=facts["rows"],
        source=_one_line(str(facts["source"])),
        rows_sha256=facts["sha256"],
        of_rows=NO_NUMBERS if rows is None else of_rows,
        row_files="" if rows is None else ROW_FILES,
        parquet=PARQUET[bool(writer)],
        versions=_one_line(packages),
    )
    return {
        "README.md": readme,
        **texts,
        **{path: text for path, (_, text) in scripts.items()},
        "importances.csv": csv_text(_importances(result)),
        "rounds.csv": csv_text(_rounds(result.importances)),
        "effects.csv": csv_text(_effects(result.effects)),
        "models.csv": csv_text(recomputation.models(result)),
        "evaluation.csv": csv_text(recomputation.evaluation(result)),
        "questions.csv": csv_text(recomputation.questions(result)),
        "objects.csv": csv_text(_index(objects_by_path)),
        **files,
        **objects.written(plans),
    }


def _objects(result: AuditResult) -> Iterator[HandoffObject]:
    """Yield the objects: of vip for each importance, of DALEX for its own methods."""
    for number, record in enumerate(result.importances, start=1):
        for line in objects.LINES:
            plan = objects.vi(
                record.features,
                record.values,
                type_=VIP_TYPES.get(record.method, record.method),
                line=line,
            )
            yield HandoffObject(f"vi-{line}", number, record, plan)
        y_permuted = _y_permuted(result, record)
        if y_permuted is not None:
            plan = objects.parts(
                record.features,
                record.raw,
                full=record.baseline,
                y_permuted=y_permuted,
                form=record.form,
                label=_label(record),
                loss_name=objects.LOSS_NAMES.get(record.loss, record.loss),
            )
            yield HandoffObject("DALEX", number, record, plan)
    yield from _profiles(result)


def _y_permuted(result: AuditResult, record: Importance) -> Floats | None:
    """Return the loss with y permuted in each round, None if DALEX does not have it.

    It is stored with our first record of a question, and with records that have their
    own draws; it is only valid for records with the same draws.
    """
    if record.method != "permutation" or is_finished(record):
        return None
    draws = "model method of loss features stream seed n_repeats options".split()
    candidates = (
        other.y_permuted
        for other in (record, *result.importances)
        if other.engine in (OURS, record.engine)
        and all(getattr(other, name) == getattr(record, name) for name in draws)
        and len(other.y_permuted) == record.n_repeats
    )
    return next(candidates, None)


def _profiles(result: AuditResult) -> Iterator[HandoffObject]:
    """Yield one object for the curves of each model, class, engine and kind."""
    together: dict[tuple[Any, ...], list[Effect]] = {}
    for effect in result.effects:
        if effect.method == CURVE and effect.model:
            who = (effect.model, effect.engine, effect.positive_class, effect.scale)
            question = (*who, options_text(effect), effect.kind)
            together.setdefault(question, []).append(effect)
    for number, effects in enumerate(together.values(), start=1):
        curves = {e.feature: (e.grid.tolist(), e.values) for e in effects}
        means = result.of_curve("mean_predictions", effects[0])["mean"]
        plan = objects.profile(
            curves,
            label=_label(effects[0]),
            mean_prediction=float(means.max()),  # NaN of none
            method="partial",
        )
        yield HandoffObject("DALEX", number, effects[0], plan)


def _label(record: Importance | Effect) -> str:
    """Return the name of a model, with the class, and the engine if not ours."""
    engine = "" if record.engine == OURS else record.engine
    details = ", ".join(filter(None, (record.positive_class, engine)))
    return f"{record.model} ({details})" if details else record.model


def _path(item: HandoffObject) -> str:
    """Return the path of an object: its number, and ASCII letters and digits."""
    about = item.about
    kind = "profile" if isinstance(about, Effect) else "importance"
    facts = (about.model, about.method, getattr(about, "of", about.engine))
    shape = getattr(about, "kind", getattr(about, "loss", ""))
    name = re.sub(r"[^A-Za-z0-9]+", "-", "-".join((*facts, shape)))[:LONGEST]
    return f"{item.kind}/{kind}-{item.record:03d}-{name.strip('-')}.rds"


def _importances(result: AuditResult) -> Iterator[tuple[Any, ...]]:
    """Yield the tidy table: one row per record and feature."""
    models = result.models
    digests = dict(zip(models["model"], models["predictions_sha256"], strict=True))
    tail = ("options", "predictions_sha256", "feature", "importance", "std", "rank")
    yield ("record", *FACTS, *tail)
    for number, record in enumerate(result.importances, start=1):
        facts = [getattr(record, name) for name in FACTS]
        facts += [options_text(record), digests.get(record.model, "")]
        columns = (record.features, record.mean, record.std, record.rank)
        for row in zip(*columns, strict=True):
            yield (number, *facts, *row)


def _rounds(records: Iterable[Importance]) -> Iterator[tuple[Any, ...]]:
    """Yield the table of measurements: one row per record, feature and repeat."""
    yield ("record", "feature", "repeat", "raw", "baseline", "value")
    for number, record in enumerate(records, start=1):
        values = record.values
        for j, feature in enumerate(record.features):
            rows = zip(record.raw[j], record.baseline, values[j], strict=True)
            for repeat, numbers in enumerate(rows, start=1):
                yield (number, feature, repeat, *numbers)


def _effects(effects: Iterable[Effect]) -> Iterator[tuple[Any, ...]]:
    """Yield the table of curves: one row per point."""
    names = ("model", "method", "engine", "engine_version", "positive_class", "scale")
    yield (*names, "feature", "kind", "x", "value")
    for effect in effects:
        who = [getattr(effect, name) for name in names]
        for point in zip(effect.grid.tolist(), effect.values, strict=True):
            yield (*who, effect.feature, effect.kind, *point)


def _index(objects_by_path: Mapping[str, HandoffObject]) -> Iterator[tuple[Any, ...]]:
    """Yield the table of files; `record` is as in the other tables, 0 for curves."""
    yield ("file", "class", "record", "model", "method", "of", "loss", "engine")
    for path, (_, record, about, plan) in objects_by_path.items():
        is_curve = isinstance(about, Effect)
        facts = [getattr(about, name, "") for name in ("model", "method", "of", "loss")]
        cls = {"vi": "vi", "parts": "feature_importance_explainer"}.get(
            plan.kind, "aggregated_profiles_explainer"
        )
        yield (path, cls, 0 if is_curve else record, *facts, about.engine)


def _one_line(text: str) -> str:
    """Return a name on one line and without backticks, for Markdown code."""
    return " ".join(text.split()).replace("`", "'")
