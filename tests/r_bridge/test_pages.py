"""What is shown stays as it was, and what is done to it is seen nowhere else."""

import os

import numpy as np
import pytest

from importance_audit.r_bridge.pages import Pages

SMALL, LARGE = (2, 3), (2, 600_000)


@pytest.fixture(params=[SMALL, LARGE], ids=["copied", "mapped"])
def pages(request):
    pages = Pages(request.param)
    pages.rows()[:] = [[1.0], [2.0]]
    return pages


def means(rows):
    return rows.mean(axis=1).tolist()


def test_each_view_has_the_rows_of_its_time(pages):
    views = [pages.show(), pages.show()]
    pages.rows()[0] = 5.0
    views.append(pages.show())
    pages.rows()[1] = 7.0
    assert [means(view) for view in views] == [[1.0, 2.0], [1.0, 2.0], [5.0, 2.0]]
    assert means(pages.show()) == [5.0, 7.0]


def test_a_part_of_a_view_keeps_it_as_it_was(pages):
    part = pages.show()[1, 1:]
    pages.rows()[:] = 9.0
    assert set(part) == {2.0}


def test_what_is_written_into_a_view_is_seen_nowhere_else(pages):
    one, other = pages.show(), pages.show()
    one[:] = 0.0
    assert (means(other), means(pages.rows())) == ([1.0, 2.0], [1.0, 2.0])
    del one, other
    pages.rows()[0] = 3.0
    assert means(pages.show()) == [3.0, 2.0]


def test_rows_stay_in_place_while_nobody_keeps_what_was_shown():
    pages = Pages(LARGE)
    first = pages.rows()
    pages.show()
    assert pages.rows() is first
    view = pages.show()
    assert pages.rows() is not first
    assert view.shape == LARGE


def test_pages_leave_no_open_file():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        pages = Pages(LARGE)
        pages.show()[0, 0] = 1.0
        pages.rows()
        del pages
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_memory_to_share_there_are_copies(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    pages = Pages(LARGE)
    pages.rows()[:] = 1.0
    view = pages.show()
    pages.rows()[:] = 2.0
    assert set(np.unique(view)) == {1.0}
