"""Objects of vip and DALEX: ours are identical to theirs, and are data only."""

from pathlib import Path

import numpy as np
import pytest

from importance_audit.r_bridge import handoff, host

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def r():
    with host.session(
        r_seconds=30, extra_r_files=[HERE / "functions.R", HERE / "handoff_own.R"]
    ) as worker:
        yield worker


def holds(r, file, plan):
    arguments = {"kind": plan.kind, "parts": plan.parts, "file": str(file)}
    return bool(r.call("handoff_holds", arguments)[0])


@pytest.mark.needs_dalex
@pytest.mark.parametrize("form", ["raw", "difference", "ratio"])
@pytest.mark.parametrize("rounds", [1, 7])
def test_parts_are_identical_to_those_of_dalex(r, tmp_path, form, rounds):
    file = tmp_path / "own.rds"
    own = r.call("own_parts", {"file": str(file), "form": form, "rounds": rounds})
    plan = handoff.parts(
        ["a", "b", "g"],
        np.asarray(own["losses"]).reshape(3, rounds),
        full=own["full"],
        y_permuted=own["y_permuted"],
        form=form,
        label="m",
        loss_name=handoff.LOSS_NAMES["rmse"],
    )
    assert holds(r, file, plan)


@pytest.mark.needs_dalex
@pytest.mark.parametrize("method", ["partial", "accumulated"])
@pytest.mark.parametrize("variables", [["a"], ["a", "b"], ["g"]])
def test_profiles_are_identical_to_those_of_dalex(r, tmp_path, variables, method):
    file = tmp_path / "own.rds"
    arguments = {"file": str(file), "variables": variables, "method": method}
    own = r.call("own_profile", arguments)
    curves = {}
    for name in variables:
        at = [n for n, feature in enumerate(own["feature"]) if feature == name]
        curves[name] = (list(np.asarray(own["x"])[at]), np.asarray(own["yhat"])[at])
    mean = float(own["mean_prediction"][0])
    plan = handoff.profile(curves, label="m", mean_prediction=mean, method=method)
    assert holds(r, file, plan)


@pytest.mark.needs_vip
@pytest.mark.parametrize("rounds", [1, 7])
def test_vi_is_identical_to_that_of_vip_but_for_stray_names(r, tmp_path, rounds):
    file = tmp_path / "own.rds"
    own = r.call("own_vi", {"file": str(file), "rounds": rounds})
    values = np.asarray(own["values"], dtype=float).reshape(3, rounds)
    line = str(own["line"][0])
    plan = handoff.vi(["a", "b", "g"], values, type_="permutation", line=line)
    assert holds(r, file, plan)


@pytest.mark.needs_r
@pytest.mark.usefixtures("r")
def test_a_file_is_as_large_as_its_numbers():
    rng = np.random.default_rng(1)
    plans = [
        handoff.vi([f"x{n}" for n in range(p)], rng.random((p, 10)), type_="", line="")
        for p in (100, 1000)
    ]
    small, large = map(
        len, handoff.written(dict(zip("sl", plans, strict=True))).values()
    )
    assert large < 1.2 * 8 * 1000 * 12
    assert 8 < large / small < 11


@pytest.mark.needs_r
@pytest.mark.parametrize("what", ["closure", "environment", "call", "pointer"])
def test_more_than_data_is_never_written(r, what):
    assert r.call(f"live_{what}", {})[0].endswith("at object$extra$inner")
