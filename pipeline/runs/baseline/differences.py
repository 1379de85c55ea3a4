"""What is recorded otherwise in two runs of one audit: settings, data, model, machine.

Not: what moved, or what a movement means (`change`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ...records.result import AuditResult

Area = Literal[
    "configuration", "limits", "data", "model", "code", "environment", "seed"
]
AREAS: tuple[Area, ...] = (
    *("configuration", "limits", "data", "model", "code", "environment", "seed"),
)
OWN = "importance-audit"
LIMITS = ("checks", "fail_on", "expected", "claims")
"""Parts of a configuration that change verdicts, but no importance."""
OF_COLUMNS = ("kind", "levels", "minimum", "maximum", "definition")
PREDICTIONS = "predictions sha256"
OF_MODELS = (
    *("estimator", "library", "parameters", "encoder", "source", "sha256"),
    "predictions_sha256",
)


class Difference(NamedTuple):
    """One thing that is not as it was; an absent side is an empty text."""

    area: Area
    what: str
    old: str
    new: str


def differences(old: AuditResult, new: AuditResult) -> list[Difference]:
    """Return what differs, area by area, in a fixed order.

    Parameters
    ----------
    old, new : AuditResult

    Returns
    -------
    list of Difference
        The same model predicts otherwise for other rows: its predictions tell of it
        only where these rows are the same, or something that its fit rests on is not.
    """
    all_differences = list(_all_differences(old, new))
    fit_differences = [one for one in all_differences if _bears_on_fit(one)]
    other_rows = any(one.what == "test digest" for one in all_differences)
    if other_rows and not fit_differences:
        return [one for one in all_differences if not one.what.endswith(PREDICTIONS)]
    return all_differences


def _bears_on_fit(one: Difference) -> bool:
    """Return whether a fitted model can be another one for this difference."""
    if one.area == "model":
        return not one.what.endswith(PREDICTIONS)
    parts = ("train digest", "models[")
    return one.area in ("code", "environment", "seed") or one.what.startswith(parts)


def _all_differences(old: AuditResult, new: AuditResult) -> Iterator[Difference]:
    """Yield what is recorded otherwise, area by area."""
    for area, describe in _FACTS_BY_AREA.items():
        before, after = describe(old), describe(new)
        for what in dict.fromkeys((*before, *after)):
            one, other = before.get(what, ""), after.get(what, "")
            if one != other:
                yield Difference(area, what, one, other)


def _configuration(result: AuditResult) -> dict[str, str]:
    elsewhere = (*LIMITS, "report", "schedule", "seed")
    settings = {k: v for k, v in result.run.config.items() if k not in elsewhere}
    return dict(_flat(settings))


def _limits(result: AuditResult) -> dict[str, str]:
    limits = {k: v for k, v in result.run.config.items() if k in LIMITS}
    return dict(_flat(limits))


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every key of a configuration with its value, as one text each."""
    if isinstance(value, Mapping) and value:
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
    return str(value).lower() if isinstance(value, bool) else str(value)


def _data(result: AuditResult) -> dict[str, str]:
    facts = {}
    for row in result.datasets.to_dict("records"):
        facts[f"{row['split']} rows"] = str(row["rows"])
        facts[f"{row['split']} digest"] = str(row["sha256"])
    for row in result.columns.to_dict("records"):
        facts[f"column {row['feature']}"] = "present"
        for name in OF_COLUMNS:
            text = _text(row[name])
            if text not in ("", "nan", "none"):
                facts[f"column {row['feature']}, {name}"] = text
    return facts


def _model(result: AuditResult) -> dict[str, str]:
    return {
        f"{row['model']}, {name.replace('_', ' ')}": str(row.get(name, ""))
        for row in result.models.to_dict("records")
        for name in OF_MODELS
        if row.get(name, "")
    }


def _code(result: AuditResult) -> dict[str, str]:
    return {OWN: result.run.versions.get(OWN, "")}


def _environment(result: AuditResult) -> dict[str, str]:
    versions = {k: v for k, v in result.run.versions.items() if k != OWN}
    return {**versions, **result.run.environment}


def _seed(result: AuditResult) -> dict[str, str]:
    seed = result.run.config.get("seed")
    return {} if seed is None else {"seed": str(seed)}


_FACTS_BY_AREA: dict[Area, Callable[[AuditResult], dict[str, str]]] = {
    "configuration": _configuration,
    "limits": _limits,
    "data": _data,
    "model": _model,
    "code": _code,
    "environment": _environment,
    "seed": _seed,
}
