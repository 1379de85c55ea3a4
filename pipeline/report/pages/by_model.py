"""The split of a result of many models into one result per model, each with a report.

Records that belong to no model, such as importances of the data, are in each of them.
Not: the index page of these reports (`index_page`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...records.frames import FRAMES
from ...records.result import AuditResult
from ...runs.summary import RunHistory

MOST = 3
"""Most models in a report of one page."""
SEQUENCES = ("importances", "effects", "surfaces", "findings")
RECORDS = ("record", "record_a", "record_b")
_PLACE = re.compile(r"^(\w+)\[(\d+)\]")


class ModelPart(NamedTuple):
    """The part of a result that is about one model.

    `places` has, for each sequence or frame, the indices of its items in the whole.
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
    """Return one part per model in the order of the audit; none for up to `MOST`."""
    models = result.models["model"].tolist()
    return tuple(part_of(result, name) for name in models) if len(models) > MOST else ()


def part_of(result: AuditResult, model: str) -> ModelPart:
    """Return the part about one model, with all that belongs to no model."""
    models = result.models["model"].tolist()
    places = {
        name: tuple(
            i
            for i, item in enumerate(getattr(result, name))
            if (
                _is_about(model, item.subject, models)
                if name == "findings"
                else item.model in ("", model)
            )
        )
        for name in SEQUENCES
    }
    numbers = {old: new for new, old in enumerate(places["importances"])}
    frames = {}
    for name, frame in result.frames.items():
        if name == "checks":
            kept = [_is_about(model, str(s), models) for s in frame["subject"]]
        elif not {"model", "record"} & set(FRAMES[name].columns):
            continue
        elif "model" in frame:
            kept = frame["model"].isin(["", model]).tolist()
        else:
            kept = frame["record"].isin(list(numbers)).tolist()
        places[name] = tuple(row for row, is_kept in enumerate(kept) if is_kept)
        rows = frame.iloc[list(places[name])].reset_index(drop=True)
        renumbered = {
            column: rows[column].map(lambda old: numbers.get(old, old))
            for column in RECORDS
            if column in rows
        }
        frames[name] = rows.assign(**renumbered)
    items = {
        name: tuple(getattr(result, name)[i] for i in places[name])
        for name in SEQUENCES
    }
    own = replace(result.with_frames(**frames), **items)
    return ModelPart(model, own, places)


def history_of_part(history: RunHistory, result: AuditResult, model: str) -> RunHistory:
    """Return the history without findings about other models only."""
    models = result.models["model"].tolist()
    findings = (f for f in history.findings if _is_about(model, f.subject, models))
    return history._replace(findings=tuple(findings))


def _is_about(model: str, subject: str, models: Sequence[str]) -> bool:
    """Return whether a subject is about this model, or about no model."""
    about = models_in(subject, models)
    return not about or model in about


def models_in(subject: str, models: Sequence[str]) -> frozenset[str]:
    """Return the models of a subject, which begins with one or is a list of them."""
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
