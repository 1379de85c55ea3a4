"""Objects of vip and DALEX: ours are identical to theirs, and hostile ones refused."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from importance_audit.r_bridge import handoff, host
from importance_audit.r_bridge.errors import RBridgeError

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
def test_what_is_read_is_what_was_written(tmp_path):
    values = np.array([[0.1, 0.2], [3.0, 4.0], [np.nan, np.inf]])
    names = ["a", "fare (£)", "=cmd()"]
    plan = handoff.vi(names, values, type_="permutation", line="0.5")
    file = tmp_path / "v.rds"
    file.write_bytes(handoff.written({"v": plan})["v"])
    table = handoff.read(file)
    assert table["feature"].tolist() == [names[1], names[0], names[2]]  # as vi() sorts
    order = [names.index(name) for name in table["feature"]]
    np.testing.assert_array_equal(table["values"], values[order])


@pytest.mark.needs_r
@pytest.mark.usefixtures("r")
def test_a_file_is_as_large_as_its_numbers():
    rng = np.random.default_rng(1)
    small, large = (
        handoff.vi([f"x{n}" for n in range(p)], rng.random((p, 10)), type_="", line="")
        for p in (100, 1000)
    )
    sizes = [len(data) for data in handoff.written({"s": small, "l": large}).values()]
    assert sizes[1] < 1.2 * 8 * 1000 * 12
    assert 8 < sizes[1] / sizes[0] < 11


@pytest.mark.needs_r
@pytest.mark.parametrize("what", ["closure", "environment", "call", "pointer"])
def test_more_than_data_is_never_written(r, what):
    assert r.call(f"live_{what}", {})[0].endswith("at object$extra$inner")


HOSTILE = {
    "closure": "it holds a function",
    "environment": "it holds an environment",
    "promise": "it holds an environment",
    "call": "it holds a call",
    "formula": "it holds a call",
    "expression": "it holds an expression",
    "primitive": "it holds a function",
    "pointer": "it holds an external pointer",
}


@pytest.mark.needs_r
@pytest.mark.parametrize(("what", "finding"), HOSTILE.items())
def test_more_than_data_is_refused_before_r_unpacks_it(r, tmp_path, what, finding):
    file = tmp_path / "v.rds"
    r.call("save_hostile", {"file": str(file), "what": what})
    with pytest.raises(RBridgeError) as caught:
        handoff.read(file)
    rule = "File 'v.rds' must be an .rds file of plain data;"
    assert str(caught.value) == f"{rule} {finding}."


def test_a_promise_in_the_bytes_is_refused(tmp_path):
    promise = b"X\n" + b"".join(
        n.to_bytes(4, "big") for n in (2, 0x040202, 0x020300, 5, 254, 254, 254)
    )
    (tmp_path / "v.rds").write_bytes(gzip.compress(promise))
    with pytest.raises(RBridgeError, match="; it holds a promise"):
        handoff.read(tmp_path / "v.rds")


@pytest.mark.needs_r
@pytest.mark.parametrize("compress", ["gzip", "bzip2", "xz", False])
def test_every_form_of_plain_data_is_read(r, tmp_path, compress):
    file = tmp_path / "v.rds"
    r.call("save_alternatives", {"file": str(file), "compress": compress})
    assert handoff.read(file)["importance"].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.needs_r
@pytest.mark.parametrize("cut", [5, 40, -4])
def test_a_file_that_ends_early_is_refused(r, tmp_path, cut):
    file = tmp_path / "v.rds"
    r.call("save_alternatives", {"file": str(file), "compress": False})
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(RBridgeError, match="; it ends before its data do"):
        handoff.read(file)


def test_what_is_no_rds_is_refused(tmp_path):
    (tmp_path / "v.rds").write_bytes(b"hello")
    with pytest.raises(RBridgeError, match=r"; it is no binary \.rds file"):
        handoff.read(tmp_path / "v.rds")
    (tmp_path / "v.rds").write_bytes(gzip.compress(b"X\nmore of it")[:-9])
    with pytest.raises(RBridgeError, match="; it is corrupt: "):
        handoff.read(tmp_path / "v.rds")


@pytest.mark.needs_r
@pytest.mark.parametrize(
    ("value", "name", "finding"),
    [
        ({"a": 1.0}, "lm", "its class is lm"),
        ({"Variable": "a"}, "vi", "its column 'Importance' is not there or of another"),
        ({"Variable": ["a", "b"], "Importance": 1.0}, "vi", "its columns are not of"),
    ],
)
def test_another_class_is_refused_by_its_name(r, tmp_path, value, name, finding):
    file = tmp_path / "v.rds"
    r.call("save_value", {"file": str(file), "value": value, "class": name})
    with pytest.raises(RBridgeError, match=f"; {finding}"):
        handoff.read(file)
