"""The numbers that Biecek & Burzykowski print in section 16.6, met digit by digit.

R fits their forest anew, and it is asked live: by DALEX, and by ourselves in its draws.
The third table, of 50 permutations, is held by the audit itself, under `make papers`.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from importance_audit.auditing.audit import audit
from importance_audit.config.load import load_config
from importance_audit.data.datasets import read_datasets
from importance_audit.r_bridge import host

AUDIT = Path(__file__).parents[2] / "reports" / "chapter16-apartments"
SINGLE = ("one permutation", "another order")


@pytest.fixture(scope="module")
def result():
    """Return what the audit says of the forest under a single permutation."""
    config = load_config(AUDIT)
    config = replace(
        config,
        groups={},
        models=tuple(model for model in config.models if model.name == "forest"),
        importance=tuple(e for e in config.importance if e.name in SINGLE),
        claims=tuple(claim for claim in config.claims if claim.entry in SINGLE),
    )
    with host.session():
        return audit(*read_datasets(**config.data_arguments), config)


@pytest.mark.needs_dalex
@pytest.mark.parametrize("engine", ["DALEX", "python"])
def test_every_number_of_the_first_two_tables_is_met_to_four_decimals(result, engine):
    claims = result.claims[result.claims["engine"] == engine]
    assert len(claims) == 2 * 7
    numbers = {f"{n:.4f}" for n in claims["ours"]}
    assert numbers == {f"{n:.4f}" for n in claims["paper"]}
    assert set(claims["verdict"]) == {"reproduced"}


@pytest.mark.needs_dalex
def test_the_loss_of_the_forest_is_the_one_that_is_printed(result):
    of_test = result.performance["split"] == "test"
    (loss,) = result.performance.loc[of_test, "value"]
    assert f"{loss:.4f}" == "282.9519"


@pytest.mark.needs_dalex
def test_the_order_of_the_variables_changes_who_gets_which_permutation(result):
    verdicts = result.agreement["verdict"].tolist()
    first, second = (r for r in result.importances if r.engine == "python")
    changed = {
        name
        for name, losses in zip(second.features, second.raw, strict=True)
        if losses[0] != first.raw[first.features.index(name), 0]
    }
    assert changed == {"surface", "floor", "construction.year"}
    assert verdicts == ["replayed", "replayed"]
