"""Each fault that an audit avoids is there in the versions it is told of."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from importance_audit.engines.avoided_defects import ENGINES, avoided, avoided_defects
from importance_audit.engines.known_defects import DEFECTS, is_between
from importance_audit.r_bridge import host
from importance_audit.records.importance_record import Importance

SHOWN = (
    *("VIP-RANK", "VIP-NA", "VIP-SCALE", "VIP-EVENT"),
    *("YARDSTICK-NA", "YARDSTICK-WEIGHTS", "YARDSTICK-BRIER"),
    *("PDP-INTGRID", "PDP-HALFLOGIT", "FASTSHAP-TEXT"),
    *("DALEX-N1000", "DALEX-ACC", "DALEX-XENT", "DALEX-CENTER"),
    *("DALEX-SILENT", "ING-DOTS"),
    *("XPLAINFI-RELATION", "XPLAINFI-COLLINEAR", "XPLAINFI-PRINT", "XPLAINFI-LOCO"),
)
"""The faults that known_defects.R looks for."""
VIP = {"vip": "0.4.5", "pdp": "0.10.0", "yardstick": "1.3.0"}


@pytest.fixture(scope="module")
def installed_defects():
    """Return what the packages installed here do: fault -> whether they have it."""
    script = Path(__file__).with_name("known_defects.R")
    folders = (os.environ.get("R_LIBS", ""), str(host.library_folder() or ""))
    run = subprocess.run(
        ["Rscript", "--vanilla", str(script)],
        env=os.environ | {"R_LIBS": ":".join(filter(None, folders))},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split() for line in run.stdout.splitlines())


def ids(faults):
    return [fault.id for fault in faults]


@pytest.mark.needs_r
@pytest.mark.parametrize("name", SHOWN)
def test_a_defect_is_in_the_versions_it_names_and_in_no_other(name, installed_defects):
    (fault,) = (fault for fault in avoided_defects() if fault.id == name)
    version = host.installed()["packages"].get(fault.package, "")
    if name not in installed_defects:
        pytest.skip(f"R lacks a package to show {name}")
    is_listed = is_between(version, fault.since, fault.before)
    assert installed_defects[name] == str(is_listed).upper()


def test_ranks_are_those_of_vip_05_where_vip_04_turns_them():
    """Recorded with vip 0.4.5 and 0.5.0.9000: rank = TRUE, sort = FALSE."""
    scores = np.array(
        [[0.0], [0.3325718070160012], [0.0], [0.09583785637384745], [0.0]]
    )
    names = ("x4", "x1", "x3", "x2", "x5")
    record = Importance(
        model="m",
        method="permutation",
        engine="vip",
        engine_version="0.4.5",
        of="features",
        form="difference",
        split="test",
        unit="1",
        options={},
        n_samples=4,
        seed=1,
        features=names,
        columns=tuple((name,) for name in names),
        raw=scores,
        baseline=np.zeros(1),
    )
    by_vip_04, by_vip_05 = [2, 4, 2, 5, 2], [4, 1, 4, 2, 4]
    assert record.rank.tolist() == by_vip_05 != by_vip_04


def test_only_faults_of_the_packages_and_measures_asked_are_told():
    fault_ids = ids(avoided({"python", "vip"}, {"partial_dependence"}, VIP))
    assert fault_ids == [
        *("VIP-RANK", "VIP-NA", "VIP-SCALE"),
        *("PDP-INTGRID", "PDP-HALFLOGIT"),
    ]
    assert "YARDSTICK-BRIER" in ids(avoided({"vip"}, {"permutation"}, VIP))
    assert avoided({"python", "DALEX"}, {"permutation"}, VIP) == ()


def test_a_fault_that_a_version_repaired_is_not_told():
    question = {"vip"}, {"permutation", "shapley"}
    newer = VIP | {"vip": "0.5.0.9000", "yardstick": "1.4.0"}
    gone = set(ids(avoided(*question, VIP))) - set(ids(avoided(*question, newer)))
    assert gone == {"VIP-RANK", "YARDSTICK-BRIER"}


def test_a_fault_is_either_avoided_or_touches():
    names = ids(avoided_defects())
    assert len(set(names)) == len(names)
    assert set(names).isdisjoint(ids(DEFECTS))


@pytest.mark.parametrize("fault", avoided_defects(), ids=lambda fault: fault.id)
def test_a_text_says_what_is_wrong_and_what_is_done(fault):
    assert fault.package in ENGINES
    assert fault.text.endswith(".")
    assert fault.text.count(". ") >= 1
