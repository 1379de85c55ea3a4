"""Each fault that an audit avoids is there in the versions it is told of."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.engines.agreement.sides import importance

from importance_audit.engines.known_defects import DEFECTS, is_between
from importance_audit.r_bridge import host

SCRIPT = Path(__file__).with_name("known_defects.R")
SHOWN = re.findall(r'\bsay\("([A-Z0-9-]+)"', SCRIPT.read_text("utf-8"))
"""The faults that the script looks for."""
PAGE = Path(__file__).parents[2] / "docs" / "defects.md"


def faults():
    """Return the rows of the page by their id."""
    page = PAGE.read_text("utf-8")
    lines = [line for line in page.splitlines() if line.startswith("|")]
    head, _, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines
    )
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


FAULTS = faults()


@pytest.fixture(scope="module")
def installed_defects():
    """Return what the packages installed here do: fault -> whether they have it."""
    folders = (os.environ.get("R_LIBS", ""), str(host.library_folder() or ""))
    run = subprocess.run(
        ["Rscript", "--vanilla", str(SCRIPT)],
        env=os.environ | {"R_LIBS": ":".join(filter(None, folders))},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split() for line in run.stdout.splitlines())


@pytest.mark.needs_r
@pytest.mark.parametrize("name", SHOWN)
def test_a_defect_is_in_the_versions_it_names_and_in_no_other(name, installed_defects):
    fault = FAULTS[name]
    version = host.installed()["packages"].get(fault["package"], "")
    if name not in installed_defects:
        pytest.skip(f"R lacks a package to show {name}")
    before = fault["versions"].removeprefix("before ").replace("all", "")
    is_listed = is_between(version, "", before)
    assert installed_defects[name] == str(is_listed).upper()


def test_ranks_are_those_of_vip_05_where_vip_04_turns_them():
    """Recorded with vip 0.4.5 and 0.5.0.9000: rank = TRUE, sort = FALSE."""
    scores = np.array(
        [[0.0], [0.3325718070160012], [0.0], [0.09583785637384745], [0.0]]
    )
    names = ("x4", "x1", "x3", "x2", "x5")
    record = importance(
        scores, baseline=0.0, features=names, columns=[(name,) for name in names]
    )
    by_vip_04, by_vip_05 = [2, 4, 2, 5, 2], [4, 1, 4, 2, 4]
    assert record.rank.tolist() == by_vip_05 != by_vip_04


def test_a_fault_is_either_avoided_or_touches():
    names = list(FAULTS)
    assert (len(names), len(SHOWN)) == (30, 20)
    assert set(names).isdisjoint(defect.id for defect in DEFECTS)
