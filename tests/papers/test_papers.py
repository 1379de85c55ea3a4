"""The papers' audits: their tables are those that were drawn, and the claims hold.

What is here needs no R and takes a second or two; `make papers` runs all of them. A
claim that does not reproduce is listed with its reason, so that a change is noticed in
either direction.
"""

import runpy
from dataclasses import replace
from hashlib import sha256
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from importance_audit.assess.claims import CLAIMS
from importance_audit.auditing.audit import audit
from importance_audit.config.load import load_config
from importance_audit.config.questions import SelectionSection
from importance_audit.data.datasets import read_datasets
from importance_audit.r_bridge import host

pytestmark = pytest.mark.usefixtures("shared_r")
ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "reports"
DRAWN = runpy.run_path(str(ROOT / "scripts" / "draw_paper_data.py"))
TABLES = (*DRAWN["TABLES"], *DRAWN["FROM_R"])

# At correlations of 0.75 x8 and x10 carry what x7 and x9 say, so both are above the
# cut-off, and x8 is permuted at a greater loss than x7.
FAILING = {
    "fokoue-simulation-correlated": {
        "all other columns are below it",
        "permuting finds the three signals",
    },
    # The paper prints 0.088; the data say 0.0914, and 9.07e-5 of age.
    "greenwell-hedonic": {
        "the coefficient of CHAS is 0.088",
        "the coefficient of AGE is 8.98e-5",
    },
}
SHORT = (
    "parr-quadratic",
    "greenwell-linear",
    "greenwell-hedonic",
    "zien-boolean",
    "zien-boolean-labels",
    "zien-gaussian",
    "fokoue-simulation-correlated",
)
LONG = (
    "fokoue-simulation",
    "greenwell-boston",
    "greenwell-friedman",
    "greenwell-pima",
    *("parr-boston", "parr-boston-splits", "parr-flights"),
    *("parr-boston-models", "parr-fpd-shap"),
    "fokoue-simulation-wide",
)
WITH_R = ("fokoue-pima", "fokoue-attitude")
LONG_WITH_R = (
    *("fokoue-spam", "titanic"),
    *("chapter16-apartments", "chapter16-titanic", "chapter16-titanic-held-out"),
)
ALL = [*SHORT, *LONG, *WITH_R, *LONG_WITH_R]


def claims_of(name):
    """Return the claims of an audit, without the fits that no claim is about."""
    config = replace(load_config(REPORTS / name), selection=SelectionSection())
    return audit(*read_datasets(**config.data_arguments), config).claims


def failing(frame):
    return set(frame.loc[frame["verdict"] == "not reproduced", "claim"])


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_the_claims_of_a_paper_hold_but_for_those_that_are_named(name):
    assert failing(claims_of(name)) == FAILING.get(name, set())


@pytest.mark.needs_r
@pytest.mark.parametrize("name", WITH_R)
def test_the_claims_on_data_of_r_hold(name):
    assert failing(claims_of(name)) == set()


@pytest.mark.parametrize("name", ALL)
def test_every_claim_says_what_it_is_about_and_where_it_stands(name):
    claims = load_config(REPORTS / name).claims
    assert claims
    about = [c for c in claims if c.features or not CLAIMS[c.kind].least]
    assert [c.text for c in claims if c not in about or not c.source] == []


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_one_its_audit_names_and_small(name):
    content = (REPORTS / name / "data.csv").read_bytes()
    assert sha256(content).hexdigest() in (REPORTS / name / "audit.toml").read_text(
        "utf8"
    )
    assert len(content) < 700_000


def missing_data_set(data_set):
    """Return why R has no such data set: its package may have dropped it."""
    package, name = data_set.split("::")
    names = list(host.current().call("data_sets_of", {"package": package})["object"])
    return "" if name in names else f"R's {package} has no data set {name}"


@pytest.mark.parametrize(
    "name",
    [
        *DRAWN["TABLES"],
        *(pytest.param(name, marks=pytest.mark.needs_r) for name in DRAWN["FROM_R"]),
    ],
)
def test_a_table_is_what_its_description_draws(name):
    stored_rows = pd.read_csv(REPORTS / name / "data.csv")
    if name in DRAWN["FROM_R"] and (
        reason := missing_data_set(DRAWN["FROM_R"][name][0])
    ):
        pytest.skip(reason)
    drawn_rows = pd.read_csv(StringIO(DRAWN["text_of"](name)))
    # Six digits are kept; the last may round otherwise where libm does.
    pd.testing.assert_frame_equal(stored_rows, drawn_rows, rtol=2e-5)


def test_every_audit_with_claims_is_tested_here():
    names = {
        file.parent.name
        for file in REPORTS.glob("*/audit.toml")
        if "\n[[claims]]\n" in file.read_text("utf8")
    }
    assert names == set(ALL)
