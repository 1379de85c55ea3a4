"""Models in LightGBM's text format, beside the predictions of R's lightgbm."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.data.reading import configured

import importance_audit as ia
from importance_audit.data.datasets import read_datasets
from importance_audit.models.fit import fit_models
from importance_audit.models.lightgbm_text import LightGBMModel

REFERENCE = Path(__file__).parents[1] / "reference" / "lightgbm.json"
RECORDED = json.loads(REFERENCE.read_text(encoding="utf8"))
CASES = {case["id"]: case for case in RECORDED["cases"]}
ROWS = pd.DataFrame(RECORDED["rows"], columns=RECORDED["columns"], dtype=float)
TASKS = {
    "binary": "binary",
    "sigmoid": "binary",
    "cross_entropy": "binary",
    "multiclass": "multiclass",
    "one_against_all": "multiclass",
}


@pytest.mark.parametrize("case", CASES)
def test_a_text_model_predicts_as_lightgbm_itself(tmp_path, case):
    path = tmp_path / "model.txt"
    path.write_text(CASES[case]["model"], encoding="utf8")
    model = ia.wrap(path, name="m")
    assert model.task == TASKS.get(case, "regression")
    assert model.features == tuple(RECORDED["columns"])
    expected = np.array(CASES[case]["prediction"])
    assert model.predict(ROWS) == pytest.approx(expected, rel=1e-12)
    assert ia.wrap(str(path), name="m").predict(ROWS).tolist() == (
        model.predict(ROWS).tolist()
    )


def test_a_value_at_the_threshold_goes_left_with_those_below(tmp_path):
    path = tmp_path / "model.txt"
    text = CASES["numbers"]["model"]
    path.write_text(text, encoding="utf8")
    # Of equal keys the last one is kept, which is that of the first tree.
    lines = dict(line.partition("=")[::2] for line in text.splitlines()[::-1])
    column = RECORDED["columns"][int(lines["split_feature"].split()[0])]
    threshold = float(lines["threshold"].split()[0])
    around = [np.nextafter(threshold, -np.inf), threshold, np.nextafter(threshold, 9)]
    rows = ROWS.iloc[[0, 0, 0]].assign(**{column: around})
    below, at, above = ia.wrap(path, name="m").predict(rows)
    assert below == at != above


def audited(folder, text, **facts):
    """Return the model of an audit of a text model, and its test rows."""
    (folder / "model.txt").write_text(text, encoding="utf8")
    table = ROWS.assign(y=np.arange(len(ROWS))).to_csv(index=False)
    section = {"name": "m", "file": "model.txt"} | facts
    config = configured(folder, table, models=[section])
    train, test = read_datasets(**config.data_arguments)
    (model,) = fit_models(config.models, train, base=config.base)
    return model, test


def test_a_text_model_is_a_file_of_an_audit_and_no_code(tmp_path):
    model, rows = audited(tmp_path, CASES["regression"]["model"])
    expected = np.array(CASES["regression"]["prediction"])
    assert model.predict(rows.X) == pytest.approx(expected, rel=1e-12)
    assert len(model.sha256) == 64
    assert model.parameters["trees"] == 6
    with pytest.raises(ia.ModelError, match=r"the sha256 of 'model\.txt' is "):
        audited(tmp_path, CASES["regression"]["model"], sha256="0" * 64)


CATEGORIES = 'end\npandas_categorical:[["a", "b"]]'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tree\n", "forest\n", "its first line is not 'tree'. Write it with lgb.save "),
        ("left_child=", "left_child=1 ", "Tree=0 is incomplete. Write it with"),
        ("is_linear=0", "is_linear=1", "it has linear models in its leaves. Write it"),
        ("=regression", "=cross_entropy_lambda", "for 'cross_entropy_lambda', whose"),
        ("end of parameters", CATEGORIES, "trained on categories of pandas, whose"),
    ],
)
def test_a_text_that_is_not_read_says_why(old, new, message):
    text = CASES["regression"]["model"].replace(old, new)
    with pytest.raises(ia.ModelError, match=message):
        LightGBMModel("m", text.encode())
