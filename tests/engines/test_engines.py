"""What our tables say of R packages, and what is known of each that is installed."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from tests.cases import for_each
from tests.engines.replaying import assert_replayed, mixed
from tests.known_answers import level_data, level_model, logistic_model
from tests.report.made_records import made_importance

from importance_audit import engines
from importance_audit.methods.effects import local_profiles
from importance_audit.methods.importance import METHODS, options_of
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.r_bridge import host
from importance_audit.records.errors import NotApplicable

AS_ITS_USERS_ASK = """
parts_shown <- function(data, y, predict, type, groups, n_rows) {
  start_stream(7)
  DALEX::model_parts(
    explainer_of(data, y, predict),
    loss_function = DALEX::loss_root_mean_square, type = type, B = 3, N = n_rows,
    variable_groups = lapply(groups, unlist)
  )[c("variable", "permutation", "dropout_loss")]
}
"""


@pytest.fixture(scope="module")
def r(tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "as_its_users_ask.R"
    file.write_text(AS_ITS_USERS_ASK)
    with host.session(extra_r_files=[file]) as worker:
        yield worker


@pytest.mark.needs_dalex
@for_each(["raw", "difference", "ratio"])
def test_dalex_forms_differences_and_ratios_as_we_do(form, r):
    groups = {"b": ("fare (£)", "é"), "a": ("kind",)}
    model, data = mixed(groups=groups)
    question = {"data": data.X, "y": data.y, "type": form, "n_rows": 30}
    question["groups"] = {name: list(columns) for name, columns in groups.items()}
    losses = r.call("parts_shown", question, predict=model.predict, schema_of=data.X)
    means = losses[losses["permutation"] == 0].set_index("variable")["dropout_loss"]
    raw, full = permutation(model, data, seed=7, stream="DALEX", n_repeats=3, n_rows=30)
    losses = {"raw": raw[:, :, 0], "baseline": full[:, 0]}
    record = made_importance("linear", tuple(groups), [0.0] * 2)
    ours = replace(record, form=form, aggregator="pooled", **losses)
    baseline = full[:, 0].mean() if form != "ratio" else 1
    assert_replayed(ours.mean, means[list(groups)].to_numpy(), baseline)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
@for_each(["conditional", "accumulated"])
def test_profiles_are_of_the_rows_drawn_that_lie_as_near_as_asked(kind):
    options = {"seed": 7, "n_grid": 11, "n_rows": 20, "span": 0.1}
    model, data = logistic_model(1, 2), binary_data()
    for feature in data.features:
        (_, ours), (_, reference) = (
            getattr(*row)(model, data, feature, **options)
            for row in (
                (local_profiles, f"{kind}_profile"),
                (engines.dalex, f"dalex_{kind}_profile"),
            )
        )
        assert_replayed(ours, reference)


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_where_no_row_is_near_dalex_says_zero_and_is_not_heard():
    options = {"seed": 2, "n_rows": 2}  # of levels a and c
    _, reference = engines.dalex.dalex_conditional_profile(
        level_model(), level_data(), "kind", **options
    )
    assert np.isnan(reference).all(axis=1).tolist() == [False, True, False]
    with pytest.raises(NotApplicable, match="it has none near 'b'"):
        engines.dalex.dalex_accumulated_profile(
            level_model(), level_data(), "kind", **options
        )


@pytest.mark.needs_vip
@pytest.mark.needs_fastshap
@pytest.mark.usefixtures("r")
def test_shapley_values_are_adjusted_and_scaled_as_asked():
    line = engines.describe_engine("vip").stream
    model, data = logistic_model(1, 2), binary_data()
    options = {"seed": 7, "n_repeats": 1, "n_permutations": 3}
    plain, _ = engines.vip.vip_shapley(model, data, scale="link", **options)
    options |= {"scale": "link", "adjust": True}
    ours, _ = METHODS["shapley"].function(model, data, stream=line, **options)
    vip_values, _ = engines.vip.vip_shapley(model, data, **options)
    # Four roundings of numbers a million times the scores, which are below 10.
    np.testing.assert_allclose(vip_values, ours, atol=4e6 * 2**-53 * 10)
    assert not np.isclose(vip_values, plain).any()


ROWS = [
    (engine, table, key)
    for engine in engines.ENGINES
    if engine != "python"
    for table in ("importance", "effects")
    for key in engines.ENGINES[engine][table]
]


@pytest.mark.parametrize(("engine", "table", "key"), ROWS)
def test_every_option_of_an_r_row_is_one_of_ours_with_its_default(engine, table, key):
    ours = engines.ENGINES["python"][table][key]
    r_row = engines.ENGINES[engine][table][key]
    assert options_of(r_row.function).items() <= options_of(ours.function).items()
    assert r_row._replace(function=None) == ours._replace(function=None)
    ours_annotated = signature(ours.function).parameters
    for name in options_of(r_row.function):
        assert signature(r_row.function).parameters[name].annotation == (
            ours_annotated[name].annotation
        )


@pytest.mark.needs_dalex
@pytest.mark.usefixtures("r")
def test_predictions_are_equal_in_r_or_their_largest_relative_difference_is_told():
    assert engines.compare_predictions(logistic_model(1, 2), binary_data()) == (0.0, 0)
    assert engines.compare_predictions(level_model(), level_data()) == (0.0, 0)
    answers = iter([np.array([0.0, 2.0, -4.0]), np.array([0.0, 2.0, -5.0])])
    model = replace(linear_model(1), predict=lambda _: next(answers))
    assert engines.compare_predictions(model, normal_data(1, n_samples=3))[0] == 0.2


def test_python_is_always_there_with_our_own_tables():
    python = engines.describe_engine("python")
    assert (python.available, python.stream, python.reason) == (True, "numpy", "")
    assert engines.ENGINES["python"]["importance"] is METHODS


@for_each(
    [
        ("0.4.0", "vip-0.4"),
        ("0.4.6", "vip-0.4"),
        ("0.5.0.9000", "vip-0.5"),
        ("0.10.1", "vip-0.5"),
        ("1.0", "vip-0.5"),
    ]
)
def test_the_version_of_vip_names_its_draw_order(case):
    version, stream = case
    assert engines.availability.stream_of("vip", version) == stream


@for_each(
    [
        ("DALEX", {"DALEX": "2.5.4", "ingredients": "2.3.0"}, ""),
        ("DALEX", {"DALEX": "2.5.4", "ingredients": "2.3.1"}, "ingredients 2.3.1"),
        ("DALEX", {"DALEX": "2.10.0", "ingredients": "2.3.0"}, "DALEX 2.10.0"),
        ("vip", {"vip": "0.5.0.9000", "pdp": "0.10.0"}, ""),
        ("vip", {"vip": "0.6.0"}, "vip 0.6.0"),
    ]
)
def test_a_package_newer_than_those_whose_numbers_were_met_is_said_to_be(case):
    engine, versions, words = case
    note = engines.availability.untried(engine, versions)
    newer = " is newer than any tested version (newest tested: "
    assert note.partition(newer)[0] == words
    assert bool(note) == bool(words)


@for_each(sorted({*engines.ENGINES} - {"python"}))
def test_every_engine_has_a_range_of_versions_that_were_tried(engine):
    oldest, newest = engines.availability.PACKAGES[engine]
    assert not engines.availability.is_older(newest, oldest[:3])


DESCRIBED = """
from importance_audit.engines import describe_engine
print(*describe_engine("vip"), sep="|")
"""
ASKED = """
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.engines.vip import vip_curve, vip_shapley
from importance_audit.r_bridge import host
model, data = linear_model(2), normal_data(2)
for name, ask, of in ("pdp", vip_curve, ["x1"]), ("fastshap", vip_shapley, []):
    print(name in host.installed()["packages"])
    try:
        ask(model, data, *of, seed=1)
        print()
    except Exception as refusal:
        print(type(refusal).__name__, refusal, sep=": ")
"""


def report_of(code, library):
    """Return what a new Python prints when R looks in this library only."""
    variables = {"IMPORTANCE_AUDIT_R_LIBRARY": str(library), "R_LIBS": ""}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | variables,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.rstrip("\n")


def library_with_vip(folder, version, code=""):
    """Return a library with an R package called vip that holds nothing else."""
    (folder / "library").mkdir()
    (folder / "vip" / "R").mkdir(parents=True)
    (folder / "vip" / "NAMESPACE").touch()
    (folder / "vip" / "R" / "code.R").write_text(code)
    (folder / "vip" / "DESCRIPTION").write_text(
        f"Package: vip\nVersion: {version}\nTitle: Empty\nDescription: Empty.\n"
        "Author: Nobody\nMaintainer: Nobody <nobody@example.org>\nLicense: GPL-3\n"
    )
    install = ["R", "CMD", "INSTALL", "--no-docs", "--no-test-load"]
    command = [*install, f"--library={folder / 'library'}", str(folder / "vip")]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "library"


IN_VAIN = (
    "It could not be installed: {}. Numbers computed elsewhere can be compared "
    "with [[supplied]]."
)
OFFERED = "Run: importance-audit install-r"
BROKEN = '.onLoad <- function(...) stop("a library is missing")'
NOT_HAD = "pdp: no repository answered\nvip: it is gone\nfastshap: it is gone\n"


@pytest.mark.needs_r
@for_each(
    [
        ("", "", "", rf"has no package 'vip'\. {OFFERED}"),
        (
            "",
            "",
            NOT_HAD,
            "has no package 'vip'\\. " + re.escape(IN_VAIN.format("it is gone")),
        ),
        (
            "0.3.2",
            "",
            "",
            r"has vip 0\.3\.2, and 0\.4\.0 is the oldest version supported\. "
            rf"{OFFERED}",
        ),
        ("0.5.0", BROKEN, "", r"cannot load package 'vip' \(.*a library is missing.*"),
    ]
)
def test_why_a_package_is_not_asked_is_said_with_the_remedy(case, tmp_path_factory):
    version, code, kept, words = case
    folder = tmp_path_factory.mktemp("library")
    library = library_with_vip(folder, version, code) if version else folder
    (library / "importance-audit-not-had").write_text(kept)
    output = report_of(DESCRIBED, library)
    if "True" in output:
        pytest.skip("vip is installed for all users of this machine")
    reason = rf"R [\d.]+ {words}"
    assert re.fullmatch(rf"vip\|False\|\|\|{reason}", output, re.DOTALL)


@pytest.mark.needs_r
@pytest.mark.parametrize("kept", ["", NOT_HAD])
def test_vip_without_another_package_says_what_it_lacks(tmp_path, kept):
    library = library_with_vip(tmp_path, "0.5.0")
    (library / "importance-audit-not-had").write_text(kept)
    lines = report_of(ASKED, library).splitlines()
    if "True" in lines[::2]:
        pytest.skip("one of them is installed for all users of this machine")
    whys = ("no repository answered", "it is gone")
    remedies = [IN_VAIN.format(why) if kept else OFFERED for why in whys]
    assert lines[1::2] == [
        "NotApplicable: vip takes its curves from R package 'pdp', which is not "
        f"installed. {remedies[0]}",
        "NotApplicable: vip takes Shapley values from R package 'fastshap', which is "
        f"not installed. {remedies[1]}",
    ]
