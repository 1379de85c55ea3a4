"""A result of many models as one result per model, each a report of its own.

What is about no model, such as rows and the importances of the data, is in each. Not:
the page that leads to them (`index_page`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from ...records.frames import FRAMES
from ...records.result import AuditResult
from ...runs.summary import RunHistory

MOST = 3
"""Models that one report compares without losing its reader."""
RECORDS = ("record", "record_a", "record_b")
_PLACE = re.compile(r"^(\w+)\[(\d+)\]")


class ModelPart(NamedTuple):
    """What a result says of one model.

    `places` has, for each sequence or frame, where its items stand in the whole.
    """

    model: str
    result: AuditResult
    places: Mapping[str, tuple[int, ...]]

    def path(self, path: str) -> str:
        """Return the path of a value in the whole result."""
        match = _PLACE.match(path)
        if not match or match[1] not in self.places:
            return path
        place = self.places[match[1]][int(match[2])]
        return f"{match[1]}[{place}]{path[match.end() :]}"


def parts(result: AuditResult) -> tuple[ModelPart, ...]:
    """Return a part per model in the order of the audit, if there are too many."""
    models = result.models["model"].tolist()
    return tuple(part_of(result, name) for name in models) if len(models) > MOST else ()


def part_of(result: AuditResult, model: str) -> ModelPart:
    """Return everything about one model, and about none."""
    places = {
        name: _about(records, model)
        for name, records in (
            ("importances", [r.model for r in result.importances]),
            ("effects", [r.model for r in result.effects]),
            ("surfaces", [r.model for r in result.surfaces]),
        )
    }
    places |= _subjects(result, model)
    importance_places = places["importances"]
    frames = {}
    for name, frame in result.frames.items():
        if not {"model", "record"} & set(FRAMES[name].columns):
            continue
        rows = _rows(frame, model, importance_places)
        places[name] = tuple(rows)
        frames[name] = _renumbered(
            frame.iloc[rows].reset_index(drop=True), importance_places
        )
    frames["checks"] = result.checks.iloc[list(places["checks"])].reset_index(drop=True)
    changed = replace(
        result.with_frames(**frames),
        importances=tuple(result.importances[i] for i in importance_places),
        effects=tuple(result.effects[i] for i in places["effects"]),
        surfaces=tuple(result.surfaces[i] for i in places["surfaces"]),
        findings=tuple(result.findings[i] for i in places["findings"]),
    )
    return ModelPart(model, changed, places)


def _about(models: Sequence[str], model: str) -> tuple[int, ...]:
    return tuple(i for i, name in enumerate(models) if name in ("", model))


def _rows(frame: pd.DataFrame, model: str, of_part: Sequence[int]) -> list[int]:
    """Return the rows of a frame about this model, by its model or its records."""
    if "model" in frame:
        return list(_about(frame["model"].tolist(), model))
    records = frame["record"].tolist()
    return [row for row, record in enumerate(records) if record in set(of_part)]


def _renumbered(frame: pd.DataFrame, of_part: Sequence[int]) -> pd.DataFrame:
    """Return a frame whose places of records are those of the part."""
    numbers = {old: new for new, old in enumerate(of_part)}
    columns = {
        name: frame[name].map(lambda old: numbers.get(old, old))
        for name in RECORDS
        if name in frame
    }
    return frame.assign(**columns) if columns else frame


def _subjects(result: AuditResult, model: str) -> dict[str, tuple[int, ...]]:
    """Return the places of the checks and findings about this model, or about none."""
    models = result.models["model"].tolist()
    subjects_of = {
        "checks": result.checks["subject"].tolist(),
        "findings": [finding.subject for finding in result.findings],
    }
    return {
        name: tuple(
            place
            for place, subject in enumerate(subjects)
            if not (about := models_in(str(subject), models)) or model in about
        )
        for name, subjects in subjects_of.items()
    }


def history_of_part(history: RunHistory, result: AuditResult, model: str) -> RunHistory:
    """Return the past without earlier findings that are about other models alone."""
    models = result.models["model"].tolist()
    findings = (
        finding
        for finding in history.findings
        if not (about := models_in(finding.subject, models)) or model in about
    )
    return history._replace(findings=tuple(findings))


def models_in(subject: str, models: Sequence[str]) -> frozenset[str]:
    """Return the models that a subject is about: it begins with one, or lists them."""
    starts = [
        name
        for name in models
        if subject == name or subject.startswith((f"{name},", f"{name}:"))
    ]
    longest = max(starts, key=len, default=None)
    if longest is None:
        return frozenset()
    listed = set(subject.split(", "))
    return frozenset(listed) if listed <= set(models) else frozenset({longest})
