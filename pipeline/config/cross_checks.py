"""One key of a configuration against another. Not: a key alone, which `rules` judge.

Every function yields one sentence per problem and takes sections as far as they could
be read: a key that broke its own rule is absent and judged no further.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ..data.derived_columns import DERIVED
from ..data.expressions import problem_of
from ..methods.importance import METHODS, options_of
from ..methods.importance.random_subspace import PERF
from ..records.errors import did_you_mean, listed
from ..records.losses import default_losses
from .sections import unsuited


class Entry(NamedTuple):
    """A section as far as it could be read.

    Attributes
    ----------
    where : str
        Its place, as a sentence begins with it.
    values : dict
        The keys that keep their rules.
    problems : tuple of str
        A sentence for every other key.
    """

    where: str
    values: dict[str, Any]
    problems: tuple[str, ...] = ()


class Facts(NamedTuple):
    """What other sections say that an importance entry must agree with.

    Attributes
    ----------
    task : str
        Empty if the configuration has no data.
    groups : tuple of str or None
        None if they could not be read.
    models : tuple of str or None
        None if models may be handed over in Python.
    """

    task: str
    groups: tuple[str, ...] | None
    models: tuple[str, ...] | None


def data_problems(entry: Entry) -> Iterator[str]:
    """Yield what is wrong between the keys of ``[data]``."""
    where, values, _ = entry
    task, target = values.get("task"), values.get("target")
    positive, weights = values.get("positive_class"), values.get("weights", "")
    split = values.get("test", {}).get("column")
    if positive is not None and task in ("regression", "multiclass"):
        rule = f"must be left out for task {task!r}"
        yield f"{where} positive_class {rule}, but {positive!r} was given."
    if weights and weights == target:
        rule = "must be another column than the target"
        yield f"{where} weights {rule}, but {weights!r} was given."
    if split is not None and split in (target, weights):
        rule = "must be another column than the target and the weights"
        yield f"{where} test.column {rule}, but {split!r} was given."
    for role, column in (("target", target), ("weights", weights), ("split", split)):
        if column and column in values.get("features", ()):
            yield f"{where} features must leave out the {role}, but hold {column!r}."
        if column and column in values.get("held_out_columns", ()):
            rule = f"held_out_columns must leave out the {role}"
            yield f"{where} {rule}, but hold {column!r}."
    for column in values.get("held_out_columns", ()):
        if column in values.get("features", ()):
            rule = "features must leave out held_out_columns"
            yield f"{where} {rule}, but hold {column!r}."


def top_k_problems(entry: Entry, asked: Sequence[Entry], facts: Facts) -> Iterator[str]:
    """Yield what is wrong with who ranks by all rows."""
    if facts.models is None:
        return
    methods = [entry.values["method"] for entry in asked if "method" in entry.values]
    known = tuple(dict.fromkeys((*methods, *facts.models)))
    for name in entry.values.get("all_rows", ()):
        if name not in known:
            hint = did_you_mean(name, known)
            rule = "all_rows must name methods and models that are asked"
            yield f"{entry.where} {rule}, but {name!r} is not.{hint}"


def selection_problems(entry: Entry, asked: Sequence[Entry]) -> Iterator[str]:
    """Yield what is wrong with selected sets that nobody selects."""
    splits = entry.values.get("splits", 0)
    is_asked = any(
        values.get("method") == PERF and values.get("of", "features") == "features"
        for _, values, _ in asked
    )
    if splits and not is_asked:
        rule = f"splits must be 0 without an [[importance]] of method {PERF!r}"
        how = "Its PERF keeps the features: add one, or leave [selection] out."
        yield f"{entry.where} {rule} of features, but {splits} was given. {how}"


def derived_problems(entries: Sequence[Entry], *data: Entry) -> Iterator[str]:
    """Yield what is wrong between the keys of derived columns, and between them."""
    taken = {name for entry in data for name in _columns_named(entry.values)}
    for where, values, problems in entries:
        name = values.get("name")
        if name in taken:
            rule = "name must be new among columns and what is derived before it"
            yield f"{where} {rule}, but {name!r} is not."
        taken |= {name} if name else set()
        if "kind" in values:
            yield from _option_problems(where, values, problems)
            yield from _count_problems(where, values)


def _columns_named(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns to which ``[data]`` gives a role."""
    single = (values.get("target", ""), values.get("weights", ""))
    split = values.get("test", {}).get("column", "")
    lists = (*values.get("features", ()), *values.get("held_out_columns", ()))
    return tuple(name for name in (*single, split, *lists) if name)


def _option_problems(
    where: str, values: Mapping[str, Any], problems: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with the key that one kind needs and others lack."""
    kind = values["kind"]
    needed = DERIVED[kind].option
    faulty = any(f"{where} {needed} " in problem for problem in problems)
    if needed and values.get(needed) in (None, (), "") and not faulty:
        yield f"{where} {needed} must be given for kind {kind!r}, but it is missing."
    if needed == "expression" and values.get(needed):
        problem = problem_of(values[needed])
        yield from [f"{where} {needed} {problem}"] if problem else []
    is_of = kind != "expression" and not values.get("of")
    if is_of and not any(f"{where} of " in problem for problem in problems):
        yield f"{where} of must be given for kind {kind!r}, but it is missing."
    others = ("of",) if kind == "expression" else ()
    for key in (*others, "threshold", "level", "weights", "expression"):
        if key != needed and values.get(key) not in (None, (), ""):
            rule = f"must be left out for kind {kind!r}"
            yield f"{where} {key} {rule}, but {values[key]!r} was given."


def _count_problems(where: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with how many columns and weights there are."""
    _, _, least, most, *_ = DERIVED[values["kind"]]
    n, n_weights = len(values.get("of", ())), len(values.get("weights", ()))
    if n and least and not least <= n <= (most or n):
        needed = "one column" if most else "two columns or more"
        rule = f"of must name {needed} for kind {values['kind']!r}"
        yield f"{where} {rule}, but {n} {_was(n)} given."
    if values["kind"] == "linear_combination" and n and n_weights not in (0, n):
        rule = f"weights must be one for each of {n} columns"
        yield f"{where} {rule}, but {n_weights} {_was(n_weights)} given."


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def model_problems(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what is wrong between the keys of the models, and between models."""
    seen: set[str] = set()
    for where, values, problems in entries:
        name = values.get("name")
        if name in seen:
            rule = f"{where} name must be given to one model only"
            yield f"{rule}, but {name!r} is not. Give each model a name of its own."
        seen |= {name} if name else set()
        is_read = values or not problems
        is_sound = not any(f"{where} {key} " in p for key in SOURCE for p in problems)
        if is_read and is_sound:
            yield from _source_problems(where, values)


SOURCE = ("estimator", "file", "r_script", "sha256")
MADE_BEFORE = {
    "file": "a file, which is fitted already",
    "r_script": "an R script, which says itself how it fits",
}


def _source_problems(where: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with where one model comes from."""
    given = [key for key in SOURCE[:3] if values.get(key)]
    if len(given) != 1:
        found = f"{listed(given)} were given" if given else "none was given"
        rule = "estimator, file or r_script must be given, one of them"
        yield f"{where} {rule}, but {found}."
        return
    (source,), name = given, values.get(given[0], "")
    if source == "file" and not values.get("sha256"):
        rule = "sha256 must be given for a file, because loading it runs its code"
        yield f"{where} {rule}, but it is missing. Run: sha256sum {name}"
    if source == "estimator":
        if values.get("sha256"):
            yield f"{where} sha256 must be left out without file, but it was given."
        return
    if values.get("standardise"):
        rule = f"standardise must be left out for {MADE_BEFORE[source]}"
        yield f"{where} {rule}, but true was given."
    if values.get("parameters"):
        rule = f"parameters must be left out for {MADE_BEFORE[source]}"
        yield f"{where} {rule}, but {listed(values['parameters'])} was given."
    encoder = values.get("encoder", "auto")
    if encoder != "auto" and (source == "r_script" or name.lower().endswith(".rds")):
        rule = "encoder must be left out for a model of R, which reads factors"
        yield f"{where} {rule}, but {encoder!r} was given."


def importance_problems(entries: Sequence[Entry], facts: Facts) -> Iterator[str]:
    """Yield what is wrong between an entry's keys, other sections, and entries."""
    for where, values, _ in entries:
        if values.get("of") == "groups" and facts.groups == ():
            yield f"{where} of must be 'features' without [groups], but is 'groups'."
        yield from _of_problems(where, values)
        yield from _unknown_models(where, values, facts)
        yield from _model_problems(where, values)
        yield from _form_problems(where, values)
        yield from _loss_problems(where, values, facts.task)
        yield from _order_problems(where, values, facts)
    for name, where in _named_twice(entries):
        rule = "name must be given to one entry only"
        yield f"{where} {rule}, but {name!r} is not. Give each a name of its own."
    for (_, first, _), (where, second, _) in combinations(entries, 2):
        if _ask_the_same(first, second, facts.task):
            same = f"{second['method']!r} of {second.get('of', 'features')!r}"
            rule = "must ask something new of its models"
            yield f"{where} {rule}, but {same} is asked by an entry before it."


def expected_problems(entries: Sequence[Entry], facts: Facts) -> Iterator[str]:
    """Yield what is wrong between what is expected, and models and groups."""
    for where, values, _ in entries:
        model, names = values.get("model"), values.get("features", ())
        if model and facts.models is not None and model not in facts.models:
            rule = f"model must be one of {listed(facts.models)}"
            hint = did_you_mean(model, facts.models)
            yield f"{where} {rule}, but {model!r} was given.{hint}"
        if values.get("of") == "groups" and facts.groups is not None:
            for name in (name for name in names if name not in facts.groups):
                rule = "features must be groups of [groups]"
                hint = did_you_mean(name, facts.groups)
                yield f"{where} {rule}, but {name!r} is none.{hint}"


def surface_problems(
    entries: Sequence[Entry], importance: Sequence[Entry], facts: Facts
) -> Iterator[str]:
    """Yield what is wrong with the features and the models of surfaces."""
    has_pairs = any(entry.values.get("of") == "pairs" for entry in importance)
    for where, values, problems in entries:
        names = values.get("features", ())
        if names and (len(names), len(set(names))) != (2, 2):
            found = f"{listed(names)} {_was(len(names))} given"
            yield f"{where} features must name two columns, but {found}."
        if not names and not has_pairs and not problems:
            rule = 'features must be given without an entry of = "pairs"'
            yield f"{where} {rule}, but they are missing."
        yield from _unknown_models(where, values, facts)


def _unknown_models(
    where: str, values: Mapping[str, Any], facts: Facts
) -> Iterator[str]:
    for name in values.get("models", ()):
        if facts.models is not None and name not in facts.models:
            rule = f"models must name some of {listed(facts.models)}"
            hint = did_you_mean(name, facts.models)
            yield f"{where} {rule}, but {name!r} was given.{hint}"


def _of_problems(where: str, values: Mapping[str, Any]) -> Iterator[str]:
    method, of = values.get("method"), values.get("of", "features")
    if method and of not in METHODS[method].of:
        rule = f"of must be one of {listed(METHODS[method].of)} for method {method!r}"
        yield f"{where} {rule}, but is {of!r}."
    top = values.get("top", 0)
    if top and of != "pairs":
        yield f"{where} top must be left out unless of is 'pairs', but is {top}."
    elif top == 1:
        rule = "top must be at least 2 to make a pair, or 0 for all"
        yield f"{where} {rule}, but is 1."


def _model_problems(where: str, values: Mapping[str, Any]) -> Iterator[str]:
    method, models = values.get("method"), values.get("models", ())
    if method and models and METHODS[method].asks == "data":
        rule = f"models must be left out for method {method!r}, which asks the data"
        yield f"{where} {rule}, but {listed(models)} was given."


def _form_problems(where: str, values: Mapping[str, Any]) -> Iterator[str]:
    method = values.get("method")
    if method and values.get("form") == "ratio" and METHODS[method].unit != "loss":
        rule = f"form must not be 'ratio' for method {method!r}, whose baseline is 0"
        yield f"{where} {rule}, but it is."


def _loss_problems(where: str, values: Mapping[str, Any], task: str) -> Iterator[str]:
    method, losses = values.get("method"), values.get("losses", ())
    if method and losses and METHODS[method].unit != "loss":
        rule = f"losses must be left out for method {method!r}, which measures no loss"
        yield f"{where} {rule}, but {listed(losses)} was given."
    elif task and (problem := unsuited(losses, task)):
        yield f"{where} losses {problem}"


ORDERED = ("permutation",)
"""Methods whose numbers in an R stream hang on what is asked, and in which order."""


def _order_problems(
    where: str, values: Mapping[str, Any], facts: Facts
) -> Iterator[str]:
    """Yield what is wrong with the features of an entry; columns are known later."""
    method, names = values.get("method"), values.get("features", ())
    if not names or not method:
        return
    if method not in ORDERED:
        rule = f"features must be left out for method {method!r}, which asks all"
        yield f"{where} {rule}, but {listed(names)} was given."
    elif values.get("of") == "groups" and facts.groups is not None:
        for name in (name for name in names if name not in facts.groups):
            hint = did_you_mean(name, facts.groups)
            rule = "features must be groups of [groups]"
            yield f"{where} {rule}, but {name!r} is none.{hint}"


def _named_twice(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield each name that an entry before has, and the entry that repeats it."""
    seen: set[str] = set()
    for where, values, _ in entries:
        name = values.get("name", "")
        if name in seen:
            yield name, where
        seen |= {name} if name else set()


def _ask_the_same(
    first: Mapping[str, Any], second: Mapping[str, Any], task: str
) -> bool:
    """Return whether two entries would make two records with one name."""
    if "method" not in first or first["method"] != second.get("method"):
        return False
    if first.get("of", "features") != second.get("of", "features"):
        return False
    usual = default_losses(task) if task else ()
    losses = [set(values.get("losses") or usual) for values in (first, second)]
    models = [set(values.get("models", ())) for values in (first, second)]
    if _is_other_measure(first, second) or _is_told_apart(first, second):
        return False
    is_loss = METHODS[first["method"]].unit == "loss"
    return _overlap(*models) and (not is_loss or _overlap(*losses))


def _is_other_measure(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether options that define the quantity differ: then both are shown.

    Curves are told apart by their method only, so of these there is one measure.
    """
    method = METHODS[first["method"]]
    usual = {k: v for k, v in options_of(method.function).items() if k != "n_repeats"}
    one, other = (
        {k: values.get("options", {}).get(k, v) for k, v in usual.items()}
        for values in (first, second)
    )
    return one != other and not method.curve


def _is_told_apart(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether names tell two entries apart; those of curves have no names."""
    names = first.get("name", ""), second.get("name", "")
    return names[0] != names[1] and not METHODS[first["method"]].curve


def _overlap(some: set[str], others: set[str]) -> bool:
    """Return whether two selections meet; an empty one means all."""
    return not some or not others or bool(some & others)
