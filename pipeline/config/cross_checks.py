"""Check keys of a configuration against each other; `value_rules` checks single keys.

Every check is called as ``check(entry, facts)``, with one entry of its section, and
yields one sentence per problem, without the name of the section. Keys that broke their
own rules are absent and not checked again. Claims are checked by `claim_checks`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..assess.paired_tests import is_test_of
from ..data.expressions import problem_of
from ..data.tables import option_problems
from ..methods.importance import METHODS, options_of
from ..methods.importance.random_subspace import PERF
from ..records.errors import (
    did_you_mean,
    hints,
    listed,
    quote,
)
from ..records.losses import default_losses
from .frameworks import load_frameworks
from .questions import unsuited

Values = Mapping[str, Any]


class Entry(NamedTuple):
    """A section with its valid keys and its problems.

    Attributes
    ----------
    where : str
        The name of the section, with which sentences begin.
    values : dict
        The valid keys with their values.
    problems : tuple of str
        A sentence for every other key.
    faulty : frozenset of str
        The keys that broke their rules.
    """

    where: str
    values: dict[str, Any]
    problems: tuple[str, ...] = ()
    faulty: frozenset[str] = frozenset()


class Facts(NamedTuple):
    """Values of other sections with which an entry must agree.

    Attributes
    ----------
    data : mapping
        The keys of ``[data]``.
    importance : tuple of Entry
    groups : tuple of str or None
        None if they could not be read.
    models : tuple of str or None
        None if models may be passed in Python.
    before : tuple of Entry
        The entries of the same section that come before it.
    """

    data: Values
    importance: tuple[Entry, ...]
    groups: tuple[str, ...] | None
    models: tuple[str, ...] | None
    before: tuple[Entry, ...] = ()

    @property
    def task(self) -> str:
        """The task, empty if the configuration has no data."""
        return str(self.data.get("task", ""))

    @property
    def asked(self) -> list[Values]:
        """The entries of ``[[importance]]`` whose method is known."""
        return [entry.values for entry in self.importance if "method" in entry.values]


def data_problems(entry: Entry, _: Facts) -> Iterator[str]:
    """Yield contradictions between the keys of ``[data]``."""
    values = entry.values
    task, target = values.get("task"), values.get("target")
    positive, weights = values.get("positive_class"), values.get("weights", "")
    split = values.get("test", {}).get("column")
    for part in ("train", "test", "reference_rows"):
        for problem in option_problems(values.get(part, {})):
            yield f"{part}.{problem}"
    if values.get("train") == {} and {"fraction", "column"} & set(
        values.get("test", {})
    ):
        rule = "test must be a table of its own where train is {}"
        yield f"{rule}; a part of the training rows was asked for."
    if positive is not None and task in ("regression", "multiclass"):
        rule = f"positive_class works only for task 'binary', not for {task!r}"
        yield f"{rule}; leave it out."
    if weights and weights == target:
        rule = "weights must be another column than the target"
        yield f"{rule}; {quote(weights)} was given."
    if split is not None and split in (target, weights):
        rule = "test.column must be another column than the target and the weights"
        yield f"{rule}; {quote(split)} was given."
    for role, column in (("target", target), ("weights", weights), ("split", split)):
        for key in ("features", "exclude", "held_out_columns", "segments"):
            if key == "segments" and role != "target":
                continue
            if column and column in values.get(key, ()):
                yield f"{key} must leave out the {role}; it holds {quote(column)}."
    pairs = (("features", "held_out_columns"), ("features", "exclude"))
    for key, other in (*pairs, ("held_out_columns", "exclude")):
        for column in values.get(other, ()):
            if column in values.get(key, ()):
                yield f"{key} must leave out {other}; it holds {quote(column)}."


def top_k_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield the names in all_rows that are neither methods nor models."""
    if facts.models is None:
        return
    methods = [asked["method"] for asked in facts.asked]
    names = tuple(dict.fromkeys((*methods, *facts.models)))
    for name in entry.values.get("all_rows", ()):
        if name not in names:
            what = "no method or model of this audit"
            hint = did_you_mean(name, names)
            yield f"all_rows names {quote(name)}, which is {what}.{hint}"


def selection_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield a problem if no entry computes the PERF that selects the features."""
    has_perf = any(
        asked["method"] == PERF and asked.get("of", "features") == "features"
        for asked in facts.asked
    )
    if entry.values.get("splits", 0) and not has_perf:
        rule = (
            f"splits works only with an [[importance]] of method {PERF!r} of features"
        )
        how = "whose PERF keeps the features. Add one, or leave [selection] out."
        yield f"{rule}, {how}"


TESTED = {
    "cpi": "method 'permutation'",
    "lei": "method 'drop_column' without held_out",
    "altmann": "what a model says of itself, such as 'impurity'",
    "nadeau_bengio": "method 'drop_column' with held_out above 0",
}
"""The importance that each test needs, as part of a sentence."""


def significance_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield the tests of importances that no entry measures."""
    values = entry.values
    for test in values.get("tests", ()):
        if test == "altmann":
            is_asked = any(
                METHODS[asked["method"]].asks == "estimator" for asked in facts.asked
            )
        else:
            is_asked = any(
                is_test_of(test, asked["method"], asked.get("options", {}))
                for asked in facts.asked
            )
        if not is_asked:
            rule = f"tests works with {quote(test)} only if an [[importance]] measures"
            yield f"{rule} {TESTED[test]}; add one, or leave it out."
        if test == "altmann" and not values.get("shuffles"):
            rule = "tests works with 'altmann' only if shuffles is at least 1"
            yield f"{rule}, such as 99; each fits the models again."


def execution_problems(entry: Entry, _: Facts) -> Iterator[str]:
    """Yield contradictions between the backend and the address of a cluster."""
    backend, scheduler = (entry.values.get(key) for key in ("backend", "scheduler"))
    address = 'scheduler = "tcp://…"'
    if backend == "dask" and not scheduler and "scheduler" not in entry.faulty:
        yield f'backend = "dask" needs its address: {address}.'
    if scheduler and backend != "dask" and "backend" not in entry.faulty:
        yield 'scheduler works only with backend = "dask".'


def report_problems(entry: Entry, _: Facts) -> Iterator[str]:
    """Yield a sentence for each framework that does not exist."""
    for name in entry.values.get("frameworks", ()):
        if name not in load_frameworks():
            hint = did_you_mean(name, load_frameworks())
            offer = f"On offer: {', '.join(load_frameworks())}."
            what = f"{quote(name)}, which is unknown"
            yield f"frameworks names {what}.{hint} {offer}"


def derived_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield contradictions between the keys of a derived column, or with others."""
    data, values, name = facts.data, entry.values, entry.values.get("name")
    columns = {
        data.get("target"),
        data.get("weights"),
        data.get("test", {}).get("column"),
        *data.get("features", ()),
        *data.get("held_out_columns", ()),
    }
    if name and (name in columns or _has_name(facts.before, name)):
        what = "the name of a column, or of one derived before it"
        yield f"name {quote(name)} is {what}. Choose another."
    if not values or "kind" in entry.faulty:
        return
    has_part = bool(values.get("part")) or "part" in entry.faulty
    kind = values.get("kind") or ("date_part" if has_part else "expression")
    needed = ("of", "part") if kind == "date_part" else ("expression",)
    for key in needed:
        if not values.get(key) and key not in entry.faulty:
            yield f"{key} is missing; kind {kind!r} needs it."
    own = (*needed, "format") if kind == "date_part" else needed
    for key in ("expression", "of", "part", "format"):
        if key not in own and values.get(key):
            yield f"{key} does not work with kind {kind!r}; leave it out."
    n = len(values.get("of", ()))
    if kind == "date_part" and n > 1:
        yield f"of must name one column for kind {kind!r}; {n} were given."
    problem = problem_of(values["expression"]) if values.get("expression") else ""
    if kind == "expression" and problem:
        yield f"expression {problem}"


def model_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield contradictions between the keys of a model, or with other models."""
    values, name = entry.values, entry.values.get("name")
    if name and _has_name(facts.before, name):
        how = "Give each model a name of its own."
        yield f"name {quote(name)} is that of a model before it. {how}"
    if (values or not entry.problems) and not entry.faulty & set(SOURCE):
        yield from _source_problems(values)


def _has_name(entries: Sequence[Entry], name: str) -> bool:
    return any(entry.values.get("name") == name for entry in entries)


SOURCE = ("estimator", "file", "r_script", "predict", "sha256")
MADE_BEFORE = {
    "file": "a file, which is fitted already",
    "r_script": "an R script, which says itself how it fits",
}


def _source_problems(values: Values) -> Iterator[str]:
    """Yield contradictions between the source of a model and its other keys."""
    sources = [key for key in SOURCE[:3] if values.get(key)]
    if len(sources) != 1:
        clause = f"{listed(sources)} were given" if sources else "none was given"
        yield f"must have one of estimator, file or r_script; {clause}."
        return
    (source,), name = sources, values.get(sources[0], "")
    is_of_r = source == "r_script" or name.lower().endswith(".rds")
    if values.get("predict") and not is_of_r:
        rule = "predict works only with a model of R: an .rds file, or r_script"
        yield f"{rule}; leave it out."
    for key in ("offset", "exposure"):
        if values.get(key) and (source != "file" or is_of_r):
            rule = f"{key} works only with the file of a fitted model of Python"
            yield f"{rule}; leave it out."
    is_code = source == "file" and not name.lower().endswith(".txt")
    if is_code and not values.get("sha256"):
        rule = "a file needs it, because loading it runs its code"
        yield f"sha256 is missing; {rule}. Run: sha256sum {name}"
    if source == "estimator":
        if values.get("sha256"):
            yield "sha256 works only with file or r_script; leave it out."
        return
    for key in ("standardise", "parameters"):
        if values.get(key):
            yield f"{key} does not work with {MADE_BEFORE[source]}; leave it out."
    encoder = values.get("encoder", "auto")
    if encoder != "auto" and is_of_r:
        rule = "encoder does not work with a model of R, which reads factors"
        yield f"{rule}; leave it out."


ORDERED = ("permutation",)
"""Methods whose draws in an R stream depend on the features and their order."""


def importance_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield contradictions of an entry in itself, with sections and other entries."""
    values = entry.values
    method, of = values.get("method"), values.get("of", "features")
    if of == "groups" and facts.groups == ():
        yield "of = 'groups' works only with [groups]; add that section."
    if method and of not in METHODS[method].of:
        known = METHODS[method].of
        rule = f"{'one of ' if len(known) > 1 else ''}{listed(known)}"
        yield f"of must be {rule} for method {method!r}; {quote(of)} was given."
    if values.get("top") and of != "pairs":
        yield "top works only with of = 'pairs'; leave it out."
    elif values.get("top") == 1:
        yield "top must be 0 for all or at least 2 for a pair; 1 was given."
    yield from unknown_names("models", values.get("models"), facts.models)
    if method:
        row = METHODS[method]
        useless = {
            "models": "which asks the data" if row.asks == "data" else "",
            "losses": "which measures no loss" if row.unit != "loss" else "",
            "features": "which asks all" if method not in ORDERED else "",
        }
        for key, why in useless.items():
            if values.get(key) and why:
                yield f"{key} does not work with {quote(method)}, {why}; leave it out."
        yield from _form_problems(values)
        problem = unsuited(values.get("losses", ()), facts.task) if facts.task else ""
        if problem and not useless["losses"]:
            yield problem
        if not useless["features"]:  # columns are known later
            yield from unknown_groups(values, facts)
    name = values.get("name")
    if name and _has_name(facts.before, name):
        how = "Give each a name of its own."
        yield f"name {quote(name)} is that of an entry before it. {how}"
    for other in facts.before:
        if _ask_the_same(other.values, values, facts.task):
            yield (
                f"asks for {method!r} of {quote(of)}, as an entry before it does. "
                "Leave one of them out."
            )


def _form_problems(values: Values) -> Iterator[str]:
    """Yield a sentence for a form that is not meaningful for a method."""
    method = values["method"]
    is_loss = METHODS[method].unit == "loss"
    why = {
        ("ratio", False): "whose baseline is 0",
        ("absolute", True): "which measures a loss: it may rise or fall",
    }.get((values.get("form", ""), is_loss))
    if why:
        rule = f"form = {values['form']!r} does not work with {quote(method)}"
        yield f"{rule}, {why}; leave it out."


def expected_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield models and groups of expectations that do not exist."""
    yield from unknown_names("model", entry.values.get("model"), facts.models)
    yield from unknown_groups(entry.values, facts)


def surface_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield the problems of the features and the models of surfaces."""
    names = entry.values.get("features", ())
    if names and (len(names), len(set(names))) != (2, 2):
        clause = f"{listed(names)} {'was' if len(names) == 1 else 'were'} given"
        yield f"features must name two columns; {clause}."
    has_pairs = any(asked.values.get("of") == "pairs" for asked in facts.importance)
    if not names and not has_pairs and not entry.problems:
        rule = 'only an [[importance]] of = "pairs" can choose them'
        yield f"features is missing; {rule}."
    yield from unknown_names("models", entry.values.get("models"), facts.models)


def unknown_names(
    key: str,
    names: str | Iterable[str] | None,
    choices: Sequence[str] | None,
) -> Iterator[str]:
    """Yield a sentence for each name in a key that is not among `choices`.

    `choices` is None if they are not known.
    """
    for name in (names,) if isinstance(names, str) else names or ():
        if name and choices is not None and name not in choices:
            rule = f"must be {'one of' if isinstance(names, str) else 'among'}"
            clause = f"{quote(name)} was given.{did_you_mean(name, choices)}"
            yield f"{key} {rule} {listed([*dict.fromkeys(choices)])}; {clause}"


def unknown_groups(values: Values, facts: Facts) -> Iterator[str]:
    """Yield a sentence for each feature of an entry of groups that is not a group."""
    if values.get("of") == "groups" and facts.groups is not None:
        names = values.get("features", ())
        unknown = [name for name in names if name not in facts.groups]
        for name, hint in zip(unknown, hints(unknown, facts.groups), strict=True):
            yield f"features names {quote(name)}, which is not in [groups].{hint}"


def _ask_the_same(first: Values, second: Values, task: str) -> bool:
    """Return whether two entries would make records with the same name."""
    both = (first, second)
    if "method" not in first or first["method"] != second.get("method"):
        return False
    if first.get("of", "features") != second.get("of", "features"):
        return False
    method = METHODS[first["method"]]
    if not method.curve:  # curves are identified by their method only
        options = [
            {**_options(asked), "n_repeats": 0, "name": asked.get("name", "")}
            for asked in both
        ]
        if options[0] != options[1]:
            return False
    usual_losses = default_losses(task) if task else ()
    selections = [[set(asked.get("models", ())) for asked in both]]
    if method.unit == "loss":
        selections.append([set(asked.get("losses") or usual_losses) for asked in both])
    # An empty selection means all.
    return all(not one or not other or one & other for one, other in selections)


def _options(values: Values) -> dict[str, Any]:
    """Return the options of an entry's method, defaults included."""
    usual = options_of(METHODS[values["method"]].function)
    return {k: values.get("options", {}).get(k, v) for k, v in usual.items()}


QUESTION = ("model", "method", "of", "loss", "positive_class")


def supplied_problems(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield the problems of supplied results, such as no matching [[importance]]."""
    if entry.problems:
        return
    values = entry.values
    model, method, loss = values["model"], values["method"], values.get("loss", "")
    yield from unknown_names("model", model, facts.models)
    yield from _form_problems(values)
    measures_loss = METHODS[method].unit == "loss"
    if measures_loss and not loss:
        yield f"loss is missing; {method!r} needs it."
    elif loss and not measures_loss:
        why = "which measures no loss"
        yield f"loss does not work with {method!r}, {why}; leave it out."
    elif not any(_asks(asked.values, values, facts) for asked in facts.importance):
        question = f"{method!r} of {values.get('of', 'features')}"
        yield (
            f"answers what nobody asks: no [[importance]] asks {question} "
            f"of model {quote(model)}{f' by {loss!r}' if loss else ''}. Add it, or "
            "leave the numbers out."
        )
    names = ("package", "version", *QUESTION)
    keys = [
        ([str(one.values.get(name, "")) for name in names], _options(one.values))
        for one in (*facts.before, entry)
        if not one.problems
    ]
    if keys[-1] in keys[:-1]:
        what = "the same model, question, options, package and version"
        yield f"has {what} as an entry before it. Leave one of them out."


def _asks(question: Values, answer: Values, facts: Facts) -> bool:
    """Return whether an entry of [[importance]] matches supplied results."""
    models = question.get("models", ())
    losses = question.get("losses") or (
        default_losses(facts.task) if facts.task else ()
    )
    return (
        question.get("method") == answer["method"]
        and question.get("of", "features") == answer.get("of", "features")
        and (not models or answer["model"] in models)
        and (not answer.get("loss") or not losses or answer["loss"] in losses)
    )
