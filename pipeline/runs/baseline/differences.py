"""Differences between two runs of an audit in settings, data, model and environment.

Not: the movements of features (`change`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from ...records.result import AuditResult

Area = Literal[
    "configuration", "limits", "data", "model", "code", "environment", "seed"
]
AREAS: tuple[Area, ...] = get_args(Area)
OWN = "importance-audit"
LIMITS = ("checks", "fail_on", "expected", "claims")
"""Parts of a configuration that affect verdicts, but no importance."""
OF_COLUMNS = ("kind", "levels", "minimum", "maximum", "definition")
OF_MODELS = {
    name: name for name in ("estimator", "library", "parameters", "encoder", "source")
} | {
    "sha256": "SHA-256 of its file",
    "predictions_sha256": "SHA-256 of its predictions",
}
"""Compared columns of the frame `models`, and their names in words."""


Kind = Literal["", "training rows", "test rows", "range", "model entry", "predictions"]
"""Kinds of facts that `differences` and `replaced_models` treat specially."""


class Difference(NamedTuple):
    """One difference between two runs; an absent side is an empty text."""

    area: Area
    what: str
    old: str
    new: str
    kind: Kind = ""


class Fact(NamedTuple):
    """The name of a recorded fact, and its kind."""

    what: str
    kind: Kind = ""


def differences(old: AuditResult, new: AuditResult) -> list[Difference]:
    """Return the differences between two runs, ordered by area.

    Parameters
    ----------
    old, new : AuditResult

    Returns
    -------
    list of Difference
        Differences of predictions are included only if the test rows are the same, or
        if something that the fit depends on differs: on other rows the predictions of
        the same model differ too.
    """
    before, after = _facts(old), _facts(new)
    found = []
    for area in AREAS:
        for fact in dict.fromkeys((*before[area], *after[area])):
            one, other = before[area].get(fact, ""), after[area].get(fact, "")
            is_unknown = fact.kind == "predictions" and not (one and other)
            if one != other and not is_unknown:  # an interrupted run has no digest
                found.append(Difference(area, fact.what, one, other, fact.kind))
    has_other_rows = any(one.kind == "test rows" for one in found)
    if has_other_rows and not any(map(_bears_on_fit, found)):
        return [one for one in found if one.kind != "predictions"]
    return found


def replaced_models(old: AuditResult, new: AuditResult) -> list[Difference]:
    """Return the differences that show another model under the same name.

    Differences of predictions are left out if training or test rows differ, which
    explains them.
    """
    found = differences(old, new)
    has_other_rows = any(one.kind in ("training rows", "test rows") for one in found)
    return [
        one
        for one in found
        if one.area == "model" and one.old and one.new
        if not (has_other_rows and one.kind == "predictions")
    ]


def _bears_on_fit(one: Difference) -> bool:
    """Return whether a difference can lead to another fitted model."""
    if one.area == "model":
        return one.kind != "predictions"
    of_fit = one.kind in ("training rows", "model entry")
    return of_fit or one.area in ("code", "environment", "seed")


def _facts(result: AuditResult) -> dict[Area, dict[Fact, str]]:
    """Return the recorded facts of a run, by area."""
    config, versions = result.run.config, dict(result.run.versions)
    elsewhere = (*LIMITS, "report", "files", "schedule", "execution", "seed")
    code = versions.pop(OWN, "")
    seed = config.get("seed")
    return {
        "configuration": {
            Fact(path, "model entry" if key == "models" else ""): text
            for key, value in config.items()
            if key not in elsewhere
            for path, text in _flat(value, key)
        },
        "limits": {
            Fact(path): text
            for path, text in _flat({k: v for k, v in config.items() if k in LIMITS})
        },
        "data": _data(result),
        "model": {
            Fact(
                f"{row['model']}, {what}",
                "predictions" if name == "predictions_sha256" else "",
            ): str(row.get(name, ""))
            for row in result.models.to_dict("records")
            for name, what in OF_MODELS.items()
            if row.get(name, "")
        },
        "code": {Fact(OWN): code},
        "environment": {
            Fact(name): text
            for name, text in {**versions, **result.run.environment}.items()
        },
        "seed": {} if seed is None else {Fact("seed"): str(seed)},
    }


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every value in a configuration."""
    if isinstance(value, Mapping):  # nothing for an empty one
        for key in value:
            yield from _flat(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(v, Mapping) for v in value):
        for at, item in enumerate(value, start=1):
            yield from _flat(item, f"{path}[{at}]")
    else:
        yield path, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _data(result: AuditResult) -> dict[Fact, str]:
    kinds: dict[str, Kind] = {"train": "training rows", "test": "test rows"}
    facts = {}
    for row in result.datasets.to_dict("records"):
        split = str(row["split"])
        facts[Fact(f"{split} rows")] = str(row["rows"])
        facts[Fact(f"{split} digest", kinds.get(split, ""))] = str(row["sha256"])
    for row in result.columns.to_dict("records"):
        facts[Fact(f"column {row['feature']}")] = "present"
        for name in OF_COLUMNS:
            text = _text(row[name])
            if text not in ("", "nan", "none"):
                kind: Kind = "range" if name in ("minimum", "maximum") else ""
                facts[Fact(f"column {row['feature']}, {name}", kind)] = text
    return facts
