"""xplainfi: permutation importance, marginal or conditional, refits and SAGE."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from importance_audit.r_bridge import host

from ..data.column_types import is_category
from ..methods.effects.stratpd import refuse_missing
from ..methods.importance.drop_column import check_held_out
from ..methods.importance.exchange import numbers_of
from ..methods.importance.neighbours import Convention
from ..methods.importance.refits import (
    Unit,
    columns_of,
    parted,
    prediction_of_refit,
    seed_of_fit,
    training_rows,
)
from ..methods.importance.sage import Background
from ..methods.importance.samplers import GIVEN, Within
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import NotApplicable, listed, quote
from ..records.losses import OF_ROWS
from ..records.value_rules import Range
from .asking import ask_loss, classes_of, losses_and_full, refuse
from .availability import advice_on

TESTS = {"t": "t", "wilcoxon": "wilcoxon", "sign": "binomial"}
"""Names in xplainfi of the tests without random draws."""
DEPENDENT = 1e-7
"""R's lm drops a column if less than this share of its norm is orthogonal to others."""


@dataclass(kw_only=True)
class RowTests:
    """Tests of row losses that xplainfi makes in the same computation.

    Attributes
    ----------
    statistic : {"t", "wilcoxon", "sign", "fisher"}
        As in `assess.paired_tests`; always one-sided, for a rise.
    tables : dict of str to ndarray of shape (n_groups, 4)
        Results of xplainfi by loss: the statistic, the p-value, the mean or median
        difference, and its standard error, NaN for statistics other than t.
    reason : str
        Why there is no test of the same differences as ours.
    """

    statistic: str
    tables: dict[str, Floats] = field(default_factory=dict)
    reason: str = ""


def xplainfi_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    within: Within = "none",
    n_neighbours: int = 5,
    convention: Convention = "standard",
    row_tests: RowTests | None = None,
) -> tuple[Floats, Floats]:
    """Return the losses of ``xplainfi::PFI``, or of the conditional ``CFI``.

    Parameters, returns and raises as in `importance.permutation.permutation`, drawn in
    the order "xplainfi"; but PFI permutes the columns of a group one by one, while CFI
    draws them jointly. `NotApplicable` too if rows are weighted or few, or for what the
    samplers of xplainfi do not support or draw differently. The results of its
    ``ci_method = "cpi"`` are stored in `row_tests`.
    """
    near = {"n_neighbours": n_neighbours} if within == "neighbours" else {}
    refuse("xplainfi", "permutation", data, **near)
    if within in GIVEN:
        refuse_missing(data, "a draw given other columns", data.X)
        if data.unread:
            raise NotApplicable(
                "xplainfi draws given all other columns, also those that no model is "
                f"given: {listed(data.unread)}. Leave them out, or the engine."
            )
    if within == "leaves":
        raise NotApplicable("xplainfi permutes within no leaves. Leave within out.")
    if within == "gaussian":
        _refuse_other_than_numbers(data)
        for group, columns in data.groups.items():
            others = [name for name in data.X if name not in columns]
            _refuse_dependent(data.X[others], quote(group))
    if within == "neighbours":
        _refuse_for_neighbours(data, convention)
    are_joined = any(len(columns) > 1 for columns in data.groups.values())
    if row_tests is not None and within not in GIVEN and are_joined:
        row_tests.reason = (
            "xplainfi permutes the columns of a group one by one, so it would test "
            "other differences. Draw given the other columns, or test features."
        )
    question = {"groups": data.groups, "seed": seed, "n_repeats": n_repeats}
    question |= {"within": within, "n_neighbours": n_neighbours}
    # R returns groups in the byte order of their names.
    by_name = sorted(data.groups, key=str.encode)
    order = [by_name.index(name) for name in data.groups]
    answers = [
        ask_loss(
            "xplainfi_permutation",
            model,
            data,
            loss,
            test=_test_of(row_tests, loss),
            **question,
        )[order]
        for loss in model.losses
    ]
    _store_tests(row_tests, model, (answer[:, n_repeats + 1 :] for answer in answers))
    return losses_and_full([answer[:, : n_repeats + 1] for answer in answers])


def _test_of(row_tests: RowTests | None, loss: str) -> str | None:
    """Return the name in xplainfi of the test of a loss, None without a test."""
    if row_tests is None or row_tests.reason or loss not in OF_ROWS:
        return None
    if row_tests.statistic not in TESTS:
        row_tests.reason = (
            "xplainfi changes signs at random by draws of its own, so its p-values "
            "differ from ours by chance. Take another statistic to compare them."
        )
    return TESTS.get(row_tests.statistic)


def _store_tests(
    row_tests: RowTests | None, model: FittedModel, tables: Iterable[Floats]
) -> None:
    """Store the test results of each tested loss."""
    for loss, table in zip(model.losses, tables, strict=True):
        if row_tests is not None and table.shape[1]:
            row_tests.tables[loss] = table


def xplainfi_sage(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 100,
    tolerance: Annotated[float, Range(least=0)] = 0.01,
    background: Background = "rows",
    n_background: int = 100,
) -> tuple[Floats, Floats]:
    """Return the values of ``xplainfi::MarginalSAGE``, or of ``ConditionalSAGE``.

    Parameters, returns and raises as in `importance.sage.sage`, drawn in the order
    "xplainfi". `NotApplicable` too if rows are weighted, groups have several columns,
    several losses are given with a tolerance to stop at, or the columns are collinear
    for xplainfi's Gaussian sampler.
    """
    refuse("xplainfi", "sage", data)
    joined = [name for name, columns in data.groups.items() if len(columns) > 1]
    if joined:
        raise NotApplicable(
            "xplainfi lets each column join by itself; these groups have several: "
            f"{listed(joined)}. Leave the engine out, or measure features."
        )
    if len(model.losses) > 1 and tolerance > 0:
        raise NotApplicable(
            "xplainfi stops by one loss at a time, and several would stop after "
            "different numbers of orders. Give one loss, or set tolerance = 0."
        )
    frame = data.X[list(model.features)]
    if background == "gaussian":
        _refuse_other_than_numbers(data)
        _refuse_dependent(frame, "any of them")
    question: dict[str, Any] = {"seed": seed, "n_repeats": n_repeats}
    question["background"] = background
    question |= {"n_background": n_background, "tolerance": tolerance}
    players = replace(data, X=frame)
    answers = [
        ask_loss("xplainfi_sage", model, players, loss, **question)
        for loss in model.losses
    ]
    by_name = sorted(frame, key=str.encode)
    order = [by_name.index(name) for name in frame]
    gains = [answer.reshape(-1, len(order))[:, order].T for answer in answers]
    by_feature = dict(zip(model.features, np.stack(gains, axis=-1), strict=True))
    unread = np.zeros((gains[0].shape[1], len(gains)))
    raw = [by_feature.get(columns[0], unread) for columns in data.groups.values()]
    return np.stack(raw), unread


def xplainfi_drop_column(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    n_repeats: int = 5,
    held_out: Annotated[float, Range(least=0, below=1)] = 0.0,
    row_tests: RowTests | None = None,
) -> tuple[Floats, Floats]:
    """Return the losses of ``xplainfi::LOCO``, or of ``WVIM`` for groups.

    Parameters, returns and raises as in `importance.drop_column.drop_column`. Python
    fits the models when R calls for them, with the ``random_state`` of the repeat; so
    the order of the draws is ours. `NotApplicable` too if rows are weighted. The
    results of its ``ci_method = "lei"`` for a single repeat are stored in `row_tests`.
    """
    del stream
    refuse("xplainfi", "drop_column", data)
    check_held_out(training_rows(model, "drop_column").n_samples, held_out)
    units = [columns_of(model, [unit]) for unit in data.groups.values()]
    asked = [unit for unit in dict.fromkeys(units) if unit]
    baseline = np.empty((n_repeats, len(model.losses)))
    raw = np.empty((len(units), *baseline.shape))
    if row_tests is not None and n_repeats > 1:
        row_tests.reason = (
            "xplainfi is asked for each repeat by itself, so that it cannot test their "
            "mean. Set n_repeats = 1."
        )
    tests = [_test_of(row_tests, loss) for loss in model.losses]
    places = [asked.index(unit) if unit in asked else -1 for unit in units]
    for repeat in range(n_repeats):
        fitted, judging = parted(
            model.unfitted(), data, held_out, seed=seed, repeat=repeat
        )
        seed_of_repeat = seed_of_fit(seed, repeat)
        answers = _losses_of_refits(
            fitted, judging, asked, tests=tests, seed=seed_of_repeat
        )
        for k, (losses, full, _) in enumerate(answers):
            baseline[repeat, k] = full
            raw[:, repeat, k] = np.append(losses, full)[places]
        tables = (  # place -1 is a row of NaN
            np.concatenate([table, np.full((1, table.shape[1]), np.nan)])[places]
            for *_, table in answers
        )
        _store_tests(row_tests, model, tables)
    return raw, baseline


def _losses_of_refits(
    model: FittedModel,
    data: Dataset,
    units: list[Unit],
    *,
    tests: Sequence[str | None],
    seed: int,
) -> list[tuple[Floats, float, Floats]]:
    """Return per loss: refits without each unit, with all columns, and tests.

    Shapes for each loss: (n_units,), a number, and (n_units, 4) or (n_units, 0).
    """
    train = training_rows(model, "drop_column")
    known: dict[bytes, Floats] = {}  # R repeats the same fits for every loss

    def predict(rows: pd.DataFrame) -> Floats:
        asked = rows.to_numpy(dtype=np.int64).tobytes()
        if asked not in known:
            known[asked] = _predict_rows(model, data, units, rows, seed=seed)
        return known[asked]

    # Index into y from 1; whether it is fitted or evaluated; unit left out, 0 for none
    rows = {"row": np.int64(), "is_fitted": np.bool_(), "without": np.int64()}
    places = [[model.features.index(name) + 1 for name in unit] for unit in units]
    classes, n = classes_of(model), len(units)
    answers: list[tuple[Floats, float, Floats]] = []
    for loss, test in zip(model.losses, tests, strict=True):
        question = {
            "y": np.concatenate([train.y, data.y]).astype(np.float64),
            "n_fitted": train.n_samples,
            "n_columns": len(model.features),
            "loss": loss,
            "groups": places,
            "test": test,
            "classes": list(classes) or None,
        }
        numbers = np.asarray(
            host.current().call(
                "xplainfi_refits",
                question,
                predict=predict,
                schema_of=pd.DataFrame([rows]),
                labels=classes,
            ),
            dtype=np.float64,
        )
        table = numbers[n + 1 :].reshape(4 if test else 0, n).T
        answers.append((numbers[:n], float(numbers[n]), table))
    return answers


def _predict_rows(
    model: FittedModel,
    data: Dataset,
    units: list[Unit],
    rows: pd.DataFrame,
    *,
    seed: int,
) -> Floats:
    """Fit the rows marked by R and predict the others; fitted rows get 0."""
    train = training_rows(model, "drop_column")
    is_fitted = rows["is_fitted"].to_numpy()
    at = rows["row"].to_numpy() - 1
    without = ((), *units)[rows["without"].iloc[0]]
    fitted = train.part(train.features, at[is_fitted])
    judging = data.part(data.features, at[~is_fitted] - train.n_samples)
    others = [name for name in model.features if name not in without]
    on_these = replace(model, train=fitted)
    answer = prediction_of_refit(on_these, others, judging, seed=seed)
    predictions = np.zeros((len(rows), *answer.shape[1:]))
    predictions[~is_fitted] = answer
    return predictions


def _refuse_other_than_numbers(data: Dataset) -> None:
    other = [n for n in data.X if is_category(data.X[n]) or _is_flag(data, n)]
    if other:
        raise NotApplicable(
            "xplainfi draws from a normal only if all columns are numbers; these are "
            f'not: {listed(other)}. Set within = "neighbours".'
        )


def _refuse_dependent(others: pd.DataFrame, drawn: str) -> None:
    """Refuse linearly dependent columns, given which `drawn` is sampled."""
    numbers = [numbers_of(others[name]) for name in others]
    table = np.stack([np.ones(len(others)), *numbers], axis=1)
    # R's lm decides in this way whether a column is a sum of earlier ones.
    left = np.abs(np.diag(np.linalg.qr(table, mode="r")))
    is_short = table.shape[1] > table.shape[0]
    if is_short or (left < DEPENDENT * np.linalg.norm(table, axis=0)).any():
        raise NotApplicable(
            "The normal of xplainfi breaks on columns that are sums of others or "
            f"constant, such as those it draws {drawn} given. Leave one of them out."
        )


def _refuse_for_neighbours(data: Dataset, convention: Convention) -> None:
    """Refuse data for which the neighbours in xplainfi differ from ours."""
    if convention != "xplainfi":
        raise NotApplicable(
            "xplainfi counts a row as the nearest of its own neighbours. Set "
            'convention = "xplainfi" to compare with it.'
        )
    flags = [name for name in data.X if _is_flag(data, name)]
    if flags:
        raise NotApplicable(
            "xplainfi does not count it as alike if two rows are both false in a "
            f"column; these hold true and false: {listed(flags)}. Leave them out, or "
            "make them categories."
        )
    whole = [name for name, of in data.groups.items() if len(of) == len(data.features)]
    if whole:
        raise NotApplicable(
            "xplainfi draws each column by itself where no other is left, as for "
            f"{quote(whole[0])}. Leave it out."
        )
    by_gower = any(is_category(data.X[name]) for name in data.X)
    if by_gower and "gower" not in host.installed().get("packages", {}):
        raise NotApplicable(
            "For neighbours by categories xplainfi needs the package gower, which R "
            f"does not have. {advice_on('gower', 'xplainfi')}"
        )


def _is_flag(data: Dataset, name: str) -> bool:
    return bool(pd.api.types.is_bool_dtype(data.X[name]))


IMPORTANCE = {
    "permutation": xplainfi_permutation,
    "drop_column": xplainfi_drop_column,
    "sage": xplainfi_sage,
}
