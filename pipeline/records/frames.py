"""The table of frames: one entry for every table that a result holds.

A new frame needs an entry here, a module that makes its rows, and a section of the
report. The record, its JSON and CSV, its schema and the journal iterate over this
table.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

Row: TypeAlias = dict[str, Any]


TABLES = "tables"
"""The folder of a run that holds its tables as files."""
DECILES = 10
"""Number of parts by rising prediction in the checks of calibration and bias."""


class Frame(NamedTuple):
    """A frame of a result.

    Attributes
    ----------
    name : str
        The attribute of the result, its key in the JSON, and the name of its CSV file.
    columns : tuple of str
        In their order.
    meaning : str
        The content of a row, and of each column that its name does not explain.
    """

    name: str
    columns: tuple[str, ...]
    meaning: str

    @property
    def csv(self) -> str:
        """The path of its file of comma-separated values, in the run folder."""
        return csv_path(self.name)

    def of(self, rows: Iterable[Mapping[str, Any]] = ()) -> pd.DataFrame:
        """Return rows as a table with the columns of this frame, even if empty."""
        cells = list(rows)
        if not cells:
            return _without_rows(self.columns).copy()
        return pd.DataFrame(cells, columns=list(self.columns))


@cache
def _without_rows(columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(np.empty((0, len(columns)), dtype=object), columns=[*columns])


def csv_path(name: str) -> str:
    """Return the path of the CSV file of a table in the run folder.

    Examples
    --------
    >>> csv_path("importances")
    'tables/importances.csv'
    """
    return f"{TABLES}/{name}.csv"


_WHO = ("model", "method", "of", "loss", "positive_class")
_SEGMENT = ("segment", "kind", "level")
_RANKING = ("entry", "method", "model", "ranked_by", "positive_class")
_FRAMES = (
    Frame(
        "columns",
        (
            *("feature", "kind", "dtype", "origin", "levels", "minimum", "maximum"),
            *("distinct", "missing_train", "missing_test", "definition"),
        ),
        "One row per feature.",
    ),
    Frame(
        "datasets",
        (
            *("name", "split", "rows", "columns", "target", "task", "source"),
            *("sha256", "weighted", "missing_cells", "script", "script_sha256"),
        ),
        "One row per set of rows.",
    ),
    Frame(
        "distributions",
        ("split", "feature", "bin", "low", "high", "level", "rows", "weight"),
        "Where the rows of curves lie along their feature: one row per split, "
        "feature and bin of a number, or level of a category. bin: from 1; low, "
        "high: ends of the bin, NaN of a level; level: empty of a bin; rows: how "
        "many lie there; weight: the sum of theirs. Missing values lie nowhere.",
    ),
    Frame(
        "models",
        (
            *("model", "estimator", "library", "task", "scale", "positive_class"),
            *("classes", "encoder", "parameters", "source", "sha256", "n_train"),
            "predictions_sha256",
        ),
        "One row per model.",
    ),
    Frame(
        "performance",
        (
            *("model", "loss", "split", "n_samples", "value", "std_error"),
            *("constant", "difference", "difference_std_error"),
        ),
        "Losses of each model and of the constant predictor. split: as in readings. "
        "Standard errors are over other rows, by what each row adds to the loss; from "
        "200 bootstrap resamples of losses of which that is not known.",
    ),
    Frame(
        "readings",
        ("model", "reading", "split", "n_samples", "value", "std_error"),
        "How good each model is in the words of the trade, higher is better: r2 of "
        "numbers, auc and gini (2 auc - 1) of two classes, accuracy of several. split: "
        '"train", "test", or "out_of_bag", the training rows of a forest, each '
        "predicted by the trees that did not see it; std_error: over other rows.",
    ),
    Frame(
        "comparisons",
        (
            *("model_a", "model_b", "loss", "split", "n_samples", "difference"),
            "std_error",
        ),
        "How far two models are apart on the same rows: one row per pair of models and "
        "loss. difference: loss of a less loss of b; std_error: over other rows, each "
        "of them predicted by both models.",
    ),
    Frame(
        "roc",
        ("model", "positive_class", "split", "threshold", "false_rate", "true_rate"),
        "The ROC curve of each model of two classes, at most 200 points by falling "
        "threshold. false_rate: share of the negative class predicted at or above the "
        "threshold; true_rate: the same share of the positive class.",
    ),
    Frame(
        "calibration",
        (
            *("model", "positive_class", "split", "bin", "rows", "hits", "weight"),
            *("lowest", "highest", "predicted", "observed", "low", "high"),
        ),
        "Predictions and what was observed, in tenths of the rows by rising "
        "prediction, tied rows together. Of classes the prediction is the probability "
        "of positive_class, or, where that is empty, of the predicted class of "
        "several; of a number it is the number. bin: from 1; hits: rows that are of "
        "the class, NaN of a number; lowest, highest, predicted: smallest, largest and "
        "mean prediction; observed: share of the class, or mean target; low, high: its "
        "95 % interval, of a share by Wilson, of a mean by t of the residuals.",
    ),
    Frame(
        "calibration_checks",
        (
            *("model", "positive_class", "split", "deciles", "too_low", "too_high"),
            *("lowest", "highest", "chance", "predicted", "observed"),
        ),
        "Whether predictions agree with what was observed: one row per model, and per "
        "class of several. deciles: rows of the frame calibration that have an "
        "interval; too_low, too_high: in how many of them the mean prediction is below "
        'or above it; lowest, highest: "too low", "too high" or "within", of the first '
        "and the last decile; chance: the probability of so many outside, or more, if "
        "each is with 5 %; predicted, observed: the means over all rows.",
    ),
    Frame(
        "residuals",
        (
            *("model", "split", "bin", "rows", "weight", "lowest", "highest"),
            *("fitted", "mean", "q05", "q25", "q50", "q75", "q95"),
        ),
        "Residuals, target less prediction, of a number: in at most 20 equal parts of "
        "the rows by rising prediction, tied rows together, of 10 rows or more. "
        "lowest, highest, fitted: smallest, largest and mean prediction; mean, q05 to "
        "q95: mean and quantiles of the residuals.",
    ),
    Frame(
        "steps",
        ("model", "step", "estimator", "parameters"),
        "What pipelines, searches and other wrappers are made of: one row for the "
        "wrapper and one per step, in order. step: the names that lead to it, joined "
        "by /, empty of the wrapper itself; estimator: its class, or drop or "
        "passthrough; parameters: those that differ from the defaults of the class, "
        "as JSON.",
    ),
    Frame(
        "left_out",
        ("column", "reason", "look", "distinct"),
        "Columns of the tables that are neither audited nor the target. reason: "
        '"weights", "split", "dates", of which parts are taken, or "segments" if the '
        'configuration gives them that role, "excluded" if it says so, '
        '"not_in_training" if only evaluation or reference rows have them, else '
        '"not_listed" among its features; look: "empty", "constant", '
        '"near_constant" (one value in 99 % of the rows or more), "names_rows" (every '
        "text or whole number differs), else empty; distinct: how many values it has.",
    ),
    Frame(
        "y_permuted",
        ("model", "of", "loss", "repeat", "value"),
        "Loss with the target permuted.",
    ),
    Frame(
        "agreement",
        (
            "kind",
            *_WHO,
            *("feature", "engine_a", "engine_b", "stream", "verdict", "reasons"),
            *("max_relative_difference", "spearman", "kendall", "top_k_overlap"),
            *("max_rank_shift", "n_features", "n_outside", "cause"),
            *("rank_shift_limit", "options"),
        ),
        "One row per pair of engines. max_relative_difference: relative to the "
        "terms of the tolerance; n_features: of a curve, its points; cause: empty "
        "unless the pair disagrees.",
    ),
    Frame(
        "disagreements",
        (
            *_WHO,
            *("engine_a", "engine_b", "feature", "value_a", "value_b", "difference"),
            *("band", "inside", "rank_a", "rank_b", "shift", "cause", "evidence"),
        ),
        "One row per feature outside its band, or moved in rank. band: the half-width "
        "the difference was held against, NaN where nothing was judged; shift: how "
        "many places the feature falls from a to b.",
    ),
    Frame(
        "checks",
        ("check", "subject", "observed", "threshold", "set_by", "verdict"),
        "One row per check, with its threshold. observed, threshold: numbers or words; "
        "verdict: pass, note, warn, fail, error or not run; note: outside "
        "its threshold, and of information only.",
    ),
    Frame(
        "claims",
        (
            *("claim", "source", "kind", "method", "model", "of", "loss", "engine"),
            *("asked", "must", "paper", "ours", "decimals", "verdict", "reason"),
        ),
        "One row per claim of a paper. decimals: how many the claim is about, NaN "
        "where four digits show them. The verdict is reproduced, not reproduced, or "
        "not comparable, which has a reason.",
    ),
    Frame(
        "expected",
        (
            *("expectation", "features", "of", "place", "reason", "record", "model"),
            *("method", "loss", "positive_class", "first", "farthest", "rank"),
            *("share", "verdict"),
        ),
        "What the owner expects of the rankings, if said: one row per expectation "
        "and ranking. record: place in importances; first: the first features, as "
        "many as are expected; farthest: the expected feature farthest from its "
        "place, with its rank, and its distance from zero as a share of the "
        "largest. The verdict is as expected, not as expected, or not measured.",
    ),
    Frame(
        "losses",
        (
            *("model", "method", "of", "positive_class", "loss_a", "loss_b"),
            *("record_a", "record_b", "n_features", "kendall", "top_k"),
            *("top_k_overlap", "leader_a", "leader_b"),
        ),
        "One row per ranking and two of its losses. record_a, record_b: places in "
        "importances; kendall: tau-b of the ranks; top_k_overlap: share of the "
        "first top_k in common; leader_a, leader_b: whom no other exceeds.",
    ),
    Frame(
        "associations",
        ("feature_a", "feature_b", "statistic", "value"),
        "How strongly features go together on the evaluation rows: one row per "
        "pair; of more than 60 features, the pairs at or above the limit of the "
        "check dependence, and those of the first 40 of the first ranking. "
        "statistic: spearman of two numbers, cramers_v of two categories, "
        "correlation_ratio of a number given a category, the last two corrected for "
        "chance; value: its size, from 0 to 1.",
    ),
    Frame(
        "clusters",
        ("cluster", "feature", "strongest", "group"),
        "Which features are linked by associations at or above [checks] dependence on "
        "the evaluation rows: one row per feature of a set. cluster: from 1; "
        "strongest: its strongest association with another of them; group: the "
        "measured group of the owner that has exactly these columns, empty if there "
        "is none.",
    ),
    Frame(
        "joint_importances",
        (
            *("cluster", "model", "loss", "form", "unit", "n_repeats"),
            *("mean", "std_error", "low", "high", "over"),
        ),
        "What the features of a cluster measure when they are permuted together, "
        "beside the first permutation ranking of each model, with as many repeats and "
        "draws of their own: one row per cluster without a group, model and loss. No "
        "engine recomputes it, and it has no rank. std_error, low, high: with the "
        '95 % interval of the mean; over: "rows" if it covers other rows and the '
        'draws, "repeats" if the draws alone, empty if there is none.',
    ),
    Frame(
        "stability",
        (
            *_WHO,
            *("feature", "rank_low", "rank_high", "p_top_k", "repeats_to_settle"),
            *("resamples", "record"),
        ),
        "How stable each ranking of ours is, if asked: one row per feature. "
        "rank_low to rank_high: 95 % of its ranks on bootstrap resamples of the "
        "rows; p_top_k: share of these in which it is among the first top_k; "
        "repeats_to_settle: repeats that tell it from the next, Infinity if none "
        "do; resamples: those that measured it; record: place in importances.",
    ),
    Frame(
        "resampled_ranks",
        ("record", "feature", "rank", "resamples"),
        "Which ranks features took on bootstrap resamples of the rows, if asked: "
        "one row per ranking of ours, feature and rank. record: place in "
        "importances; rank: 1 for the largest, ties averaged; resamples: in how "
        "many.",
    ),
    Frame(
        "row_intervals",
        (
            *("record", "feature", "std_error", "low", "high"),
            *("rank_low", "rank_high", "top_k_share", "lead_share", "route"),
        ),
        "How far other rows of the same kind would move each permutation importance of "
        "ours, shuffling included: one row per feature. record: place in importances; "
        "std_error: of the mean, in its unit; low, high: 95 % of its values on "
        "resampled rows, of raw losses with the unpermuted loss as it is; rank_low, "
        "rank_high: 95 % of its ranks there; top_k_share, "
        "lead_share: in which share of the resamples it is among the first top_k, or "
        'first, ties shared; route: "resampled", or "normal" where normal numbers were '
        "drawn instead, empty where nothing could be said.",
    ),
    Frame(
        "significance",
        (
            *_WHO,
            *("feature", "p_value", "p_adjusted", "shuffles", "record"),
            *("test", "statistic", "value", "estimate", "std_error", "low", "high"),
            *("n", "adjustment", "engine", "stream"),
        ),
        "p-values of each ranking, if asked: one row per feature. p_value: of "
        "shuffled targets (r + 1) / (m + 1), r of m shuffles having measured as much; "
        "p_adjusted: for as many features as the ranking has; shuffles: m, those that "
        "measured the feature; record: place in importances. The other columns came "
        'with 1.5. test: "shuffled_targets", "altmann" if models were fitted to them, '
        "or of differences between the losses without and with the feature, of a row "
        '"cpi" or "lei", of a refit "nadeau_bengio"; statistic: "t", "wilcoxon", '
        '"sign" or "fisher" of the differences, empty of shuffled targets; value: of '
        "the statistic; estimate: their mean, of lei their median; std_error, low, "
        "high: of the mean, with its 95 % interval, by t; n: differences, or shuffles; "
        'adjustment: how p_adjusted follows, "holm", "bonferroni" or '
        '"benjamini_hochberg", by which it always is up to 1.4; engine, stream: whose '
        "test it is, and in whose draw order: an engine that makes the same test has "
        "rows of its own, and so has our answer in its draws.",
    ),
    Frame(
        "convergence",
        ("record", "n_repeats", "feature", "value", "std_error", "rank"),
        "What the first repeats of each ranking of ours alone tell: all of them, "
        "half, a quarter, and so on. record: place in importances; n_repeats: how "
        "many of the first; rank: 1 for the largest.",
    ),
    Frame(
        "segment_performance",
        ("model", *_SEGMENT, "loss", "rows", "value", "std_error"),
        "How good each model is on the rows that [data] segments tell apart: one row "
        'per model, segment and loss. segment: the column; kind: "level", a value of '
        'it; "range", of numbers; "others", rarer values together; or "missing"; '
        "level: the value, the ends of the range, or how many others there are; value: "
        "the loss, NaN of fewer than 30 rows; std_error: over other rows of the "
        "segment.",
    ),
    Frame(
        "segment_calibration",
        (
            *("model", *_SEGMENT, "positive_class", "rows"),
            *("predicted", "observed", "low", "high"),
        ),
        "The mean prediction and what was observed in each segment of at least 30 "
        "rows. positive_class, low, high: as in calibration.",
    ),
    Frame(
        "segment_importances",
        ("record", *_SEGMENT, "feature", "mean", "std_error"),
        "What each feature's permutation among all rows changes in the loss of each "
        "segment of at least 30 rows. record: place in importances; std_error: over "
        "other rows of the segment and other draws, the rows that lend values held "
        "fixed.",
    ),
    Frame(
        "top_k",
        (
            *_RANKING,
            *("protocol", "judge", "loss", "k", "fold", "feature", "value"),
        ),
        "Loss of a judging model fitted to the first k features of a ranking, by "
        "each protocol of [top_k] that was asked. entry: place of the ranking's "
        "question in the configuration, from 0; model: whose ranking it is, empty "
        "for the data; ranked_by: the loss it ranks by; protocol: folds of the "
        "training rows, held-out test rows, or splits of both; loss: what value is; "
        "fold: 1 if held out; feature: the k-th.",
    ),
    Frame(
        "mean_predictions",
        ("model", "positive_class", "split", "scale", "n_samples", "mean"),
        "The weighted mean prediction of each model on the rows of its "
        "partial-dependence curves: one row per class and scale.",
    ),
    Frame(
        "missing_predictions",
        (
            *("model", "feature", "positive_class", "split", "scale", "n_samples"),
            *("n_missing", "share", "mean", "reason"),
        ),
        "The point of each partial-dependence curve at a missing value, of features "
        "with missing cells: one row per model, feature, class and scale. n_missing, "
        "share: in how many rows the cell is missing, and their weighted share; mean: "
        "the weighted mean prediction with the cell missing in all rows, NaN if the "
        "model does not predict that; reason: why not, empty if it does.",
    ),
    Frame(
        "selection",
        (
            *_RANKING,
            *("judge", "loss", "split", "k", "value"),
        ),
        "Loss of a judging model fitted to the features that a ranking keeps, on "
        "the rows held out in each split of the training rows; rankings and fits "
        "are made anew by the others. entry: place of the ranking's question in the "
        "configuration, from 0, or -1 for all features; model: whose ranking it is, "
        "empty for the data; loss: what value is; k: number of features kept, that "
        "of the first ranking by PERF; value: NaN where none is kept.",
    ),
    Frame(
        "quantiles",
        ("split", "column", "role", "kind", "place", "value", "level", "rows"),
        "A sketch of each column of each set of rows and of its target, rows "
        'counted alike whatever they weigh. role: "feature" or "target"; kind: '
        '"number", "category" or "missing"; place: how many known rows are at or '
        "below the value, or the place of the level from 1; value: NaN of a level; "
        "level: empty of a number; rows: how many have this value or lie above it "
        "and below the next, or have this level. Of each column the last row is of "
        'kind "missing" and counts the cells without a value. Numbers with at most '
        "50 distinct values are counted, others kept by their order statistics at "
        "0, 1/100, …, 1.",
    ),
    Frame(
        "split_shifts",
        (
            *("column", "role", "psi", "noise", "verdict"),
            *("missing_train", "missing_test", "missing_psi", "missing_noise"),
            "missing_verdict",
        ),
        "How each feature and the target are distributed in the evaluation rows, "
        "against the training rows: the largest index first. psi: the population "
        "stability index of the known values, NaN if one side has none; noise: what "
        'chance explains of it; verdict: "moved" above both [checks] split_shift and '
        'the noise, "below the limit", "within chance" or "not comparable"; '
        "missing_train, missing_test: shares of missing cells; missing_psi, "
        "missing_noise, missing_verdict: of missing against known cells.",
    ),
    Frame(
        "answers",
        (
            *("key", "check", "subject", "owner", "due", "response"),
            *("accepted_until", "reason", "control", "approved_by", "state"),
            "overdue",
        ),
        "What people answered to findings in findings.toml, as it stood in UTC on "
        "the day the run started. key: the key of the finding, or its first digits "
        "if no finding of this run or a run before has it; check, subject: of that "
        "finding; due, accepted_until: days as ISO texts, empty if none; state: "
        '"answered", "accepted" until accepted_until, or "expired"; overdue: '
        "whether due is past and the finding still counts.",
    ),
)
FRAMES: dict[str, Frame] = {frame.name: frame for frame in _FRAMES}
"""Frames by name, in the order of result.json."""
