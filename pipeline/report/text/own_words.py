"""Texts on the page that come from the audit: labels, translation, own methods."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from ...assess.checks.importances import question_and_engine
from ...config.extensions import stored_rows
from ...config.own_words import file_of
from ...engines.agreement import subject_of
from ...records.extensions import in_force
from ...records.losses import loss_label
from ...records.ranking import OURS, question_of
from ...records.result import AuditResult
from ...runs.summary import stored_question
from .blocks import plain
from .labels import labelled
from .number_text import method_words
from .wording import LANGUAGE, AsWritten, say, series, show_hidden, with_words, word

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
"""Heading of a section in a numpydoc docstring."""


@contextmanager
def own_words(result: AuditResult) -> Iterator[None]:
    """Use labels, catalogue, own methods and losses of a result inside the block."""
    config = result.run.config
    with ExitStack() as stack:
        stack.enter_context(in_force(stored_rows(config)))
        file = config.get("files", {}).get(file_of(language_of(result)))
        if file:
            stack.enter_context(with_words(tomllib.loads(file["text"])))
        methods = [e for e in config.get("extensions", ()) if e["kind"] == "method"]
        if methods:
            stack.enter_context(with_words(_cards(methods)))
        stack.enter_context(labelled(labels_of(result)))
        yield


def labels_of(result: AuditResult) -> dict[str, str]:
    """Return the labels by raw name, also of names composed of labelled names.

    These are pairs of features, "a:b", and the subjects of findings and checks: a
    question with its engines, or a subject that starts with a model, "forest, A".
    """
    given: Mapping[str, str] = result.run.config.get("labels") or {}
    labels = dict(given) | dict(_questions(result, given))
    subjects = {finding.subject for finding in result.findings}
    subjects |= {*map(str, result.checks["subject"])}
    for subject in subjects - labels.keys():
        for name in given:
            if subject.startswith(f"{name}, "):
                labels[subject] = given[name] + subject.removeprefix(name)
    pairs = {
        name: columns
        for record in result.importances
        if given and record.of == "pairs"
        for name, columns in zip(record.features, record.columns, strict=True)
    }
    for name, columns in pairs.items():
        if name not in given and any(column in given for column in columns):
            labels[name] = ":".join(given.get(column, column) for column in columns)
    return labels


def _questions(
    result: AuditResult, given: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the subject of each question in findings and checks, and its words."""

    def words(
        model: str,
        method: str = "",
        of: str = "",
        loss: str = "",
        cls: str = "",
        feature: str = "",
    ) -> str:
        measured = word(f"asked.{of}") if of else given.get(feature, feature)
        question = word("words.question").format(
            method=method_words(method), of=measured
        )
        parts = (
            given.get(model, model),
            question if measured else "",
            loss_label(loss) if loss else "",
            word("data.of_class").format(cls=cls) if cls else "",
        )
        return ", ".join(filter(None, parts))

    def engine(name: str) -> str:
        return word("words.python") if name == OURS else name

    for record in result.importances:
        question = question_of(record)
        # Ensembles are measured for all classes at once: without the class too.
        for parts in (question, question[:-1]):
            yield ", ".join(filter(None, parts)), words(*parts)
        yield stored_question(record), words(*question)
        yield (
            question_and_engine(record),
            f"{words(*question)}: {engine(record.engine)}",
        )
    for row in result.agreement.to_dict("records"):
        names = ("model", "method", "of", "loss", "positive_class", "feature")
        sides = plain(series(engine(row[side]) for side in ("engine_a", "engine_b")))
        yield subject_of(row), f"{words(*(row[name] for name in names))}: {sides}"
    for row in result.performance.to_dict("records"):
        model, loss = row["model"], row["loss"]
        yield f"{model}, {loss}", words(model, loss=loss)


def language_of(result: AuditResult) -> str:
    """Return the language of the report on a result."""
    return str(result.run.config.get("report", {}).get("language") or LANGUAGE)


def _cards(methods: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return entries of the catalogue for own methods, from their docstrings."""
    cards: dict[str, Any] = {"stream_of": {}}
    limits = {}
    for entry in methods:
        name, text = entry["name"], _texts(entry["text"])
        short = name.partition(":")[2] or name
        nothing = AsWritten(word("own.not_stated"))
        no_limit = AsWritten(word("own.no_limit"))
        limit = text.get("Warnings") or text.get("Notes") or no_limit
        cards[name] = {
            "title": {
                of: plain(say("own.title", name=short, of=word(f"own.{of}")))
                for of in ("features", "groups", "pairs")
            },
            "question": text["summary"] or nothing,
            "why": text["more"] or nothing,
            "formula": word("own.formula"),
            "symbols": word("own.symbols"),
            "limits": limit,
            "reference": text.get("References") or nothing,
            "value": word("own.value"),
            "axis": word("own.axis").replace("{name}", short),
        }
        cards["stream_of"][name] = word("own.stream")
        limits[name] = [limit]
    return {"cards": cards, "limits": {"method": limits}}


def _texts(docstring: str) -> dict[str, AsWritten]:
    """Return the parts of a docstring: summary, more, and each section by heading."""
    body, *rest = SECTION.split(docstring)
    summary, _, more = body.partition("\n\n")
    parts = {"summary": summary, "more": more}
    parts |= dict(zip(rest[::2], rest[1::2], strict=True))
    return {
        name: AsWritten(show_hidden(" ".join(text.split())))
        for name, text in parts.items()
    }
