"""Counts of rows near each leaf, held against the boxes looked at one by one."""

import numpy as np
import pytest
from hypothesis import given, settings

from importance_audit.methods.trees import counts as module
from importance_audit.methods.trees import pack
from importance_audit.methods.trees.boxes import boxes_of
from importance_audit.methods.trees.counts import counts_of

from .small_ensembles import fitted, kinds, seeds

pytestmark = pytest.mark.needs_numba


def boxes_and_bins(kind, seed):
    """Return the boxes of an ensemble, and the bins of rows in the features it uses."""
    model, rows = fitted(kind, seed)
    packing = pack(model)
    boxes = boxes_of(packing)
    return boxes, packing.bins(rows)[boxes.used]


def is_outside(boxes, side, bins):
    """Return which rows a side of a box keeps out."""
    runs = boxes.runs[boxes.run_start[side] : boxes.run_start[side + 1]]
    own = bins[boxes.feature[side]]
    return ~np.any([(own >= low) & (own < high) for low, high in runs], axis=0)


def counted(boxes, bins):
    """Return the three counts, leaf by leaf and side by side."""
    inside, but_one, but_two = [], [], []
    for leaf in range(len(boxes.values)):
        sides = range(boxes.start[leaf], boxes.start[leaf + 1])
        out = [is_outside(boxes, side, bins) for side in sides]
        n_out = np.sum(out, axis=0) if out else np.zeros(bins.shape[1])
        inside.append((n_out == 0).sum())
        but_one += [(rows & (n_out == 1)).sum() for rows in out]
        but_two += [
            (out[a] & out[b] & (n_out == 2)).sum()
            for a in range(len(out))
            for b in range(a + 1, len(out))
        ]
    return inside, but_one, but_two


@settings(max_examples=25)
@given(kind=kinds, seed=seeds)
def test_rows_are_counted_as_the_boxes_say(kind, seed):
    boxes, bins = boxes_and_bins(kind, seed)
    counts = counts_of(boxes, bins, pairs=True)
    for ours, theirs in zip(counts, counted(boxes, bins), strict=True):
        assert ours.tolist() == theirs
    assert len(counts_of(boxes, bins).but_two) == 0


@settings(max_examples=25)
@given(kind=kinds, seed=seeds)
def test_lists_count_as_bits_do(kind, seed):
    boxes, bins = boxes_and_bins(kind, seed)
    bits = counts_of(boxes, bins, lists=False)
    for n_threads in (1, 2):
        lists = counts_of(boxes, bins, lists=True, n_threads=n_threads)
        assert lists.inside.tolist() == bits.inside.tolist()
        assert lists.but_one.tolist() == bits.but_one.tolist()


def test_lists_of_several_blocks_are_added(monkeypatch):
    boxes, bins = boxes_and_bins("forest", 1)
    whole = counts_of(boxes, bins, lists=True)
    monkeypatch.setattr(module, "BLOCK", 7)
    parts = counts_of(boxes, bins, lists=True)
    for ours, theirs in zip(parts, whole, strict=True):
        assert ours.tolist() == theirs.tolist()


def test_trees_of_many_leaves_are_counted_by_lists(monkeypatch):
    boxes, bins = boxes_and_bins("forest", 1)
    called = []
    monkeypatch.setattr(module, "_add_list", lambda *_: called.append("list"))
    monkeypatch.setattr(module, "_add_bits", lambda *_: called.append("bits"))
    counts_of(boxes, bins)
    monkeypatch.setattr(module, "MOST_LEAVES", 1)
    counts_of(boxes, bins)
    counts_of(boxes, bins, pairs=True)
    assert called == ["bits", "list", "bits"]


@settings(max_examples=25)
@given(kind=kinds, seed=seeds)
def test_each_row_is_in_one_box_of_each_tree(kind, seed):
    model, rows = fitted(kind, seed)
    packing = pack(model)
    boxes = boxes_of(packing)
    counts = counts_of(boxes, packing.bins(rows)[boxes.used])
    assert counts.inside.sum() == len(rows) * len(packing.roots)


def test_blocks_of_rows_add_up(monkeypatch):
    model, _ = fitted("forest", 1)
    rows = np.random.default_rng(1).normal(size=(500, 5))
    packing = pack(model)
    boxes = boxes_of(packing)
    bins = packing.bins(rows)[boxes.used]
    whole = counts_of(boxes, bins, pairs=True)
    monkeypatch.setattr(module, "MOST_WORDS", 1)
    for n_threads in (1, 3, 20):
        parts = counts_of(boxes, bins, pairs=True, n_threads=n_threads)
        for ours, theirs in zip(parts, whole, strict=True):
            assert (ours == theirs).all()


def test_what_no_node_compares_has_no_side():
    packing = pack(fitted("forest", 1)[0])
    assert boxes_of(packing).used.tolist() == [0, 1, 2, 3]
