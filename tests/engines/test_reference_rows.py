"""Reference rows: read as the others, without a target, and what is taken over them."""

import numpy as np
import pytest
from tests.cases import for_each
from tests.report.reading import section

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import read_datasets
from importance_audit.records.errors import DataError
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

ROWS = "x,kind,y\n1,a,2\n2,b,4\n3,a,6\n4,b,8\n"
MORE = "kind,x\na,-10\nb,10\nb,10\n"
LINE = {"name": "line", "estimator": "sklearn.linear_model.LinearRegression"}


def configured(folder, more=MORE, importance=None, **data):
    (folder / "rows.csv").write_text(ROWS, encoding="utf-8")
    (folder / "more.csv").write_text(more, encoding="utf-8")
    rows = {"file": "rows.csv"}
    usual = {"train": rows, "test": rows, "target": "y", "task": "regression"}
    usual |= {"reference_rows": {"file": "more.csv"}}
    importance = importance or [{"method": "firm"}]
    return parse_config(
        {"data": usual | data, "models": [LINE], "importance": importance},
        base=folder,
    )


def test_they_have_the_columns_and_levels_of_the_others_and_no_target(tmp_path):
    more = "kind,x,y\na,-10,soon\nb,10,later\nb,10,later\n"
    derived = {"derived": [{"name": "big", "expression": "x > 3"}]}
    config = parse_config(
        configured(tmp_path, more).resolved() | derived, base=tmp_path
    )
    train, test = read_datasets(**config.data_arguments)
    reference = test.reference
    named = (train.reference, reference.split, reference.name)
    assert named == (None, "reference", "more")
    X = {"x": [-10, 10, 10], "kind": ["a", "b", "b"], "big": [0, 1, 1]}
    assert reference.X.to_dict("list") == X
    assert (reference.X.dtypes == train.X.dtypes).all()
    assert np.isnan(reference.y).all()
    assert len(test.X) == 4


ASKED = [{"method": method} for method in ("firm", "gradient_sensitivity")]
OTHERS = [{"method": "firm_labels"}, {"method": "permutation"}]


def measured(folder, more=MORE, **data):
    config = configured(folder, more, [*ASKED, *OTHERS], **data)
    result = audit(*read_datasets(**config.data_arguments), config)
    return result, {record.method: record for record in result.importances}


def test_firm_and_the_gradients_are_taken_over_them_and_nothing_else_is(tmp_path):
    """The score is 2 x: of -10, 10, 10 its standard deviation is 2 * sqrt(800) / 3."""
    _, records = measured(tmp_path)
    truth = 2 * np.sqrt(800) / 3
    for method in ("firm", "gradient_sensitivity"):
        record = records[method]
        assert (record.split, record.n_samples) == ("reference", 3)
        assert record.mean[0] == pytest.approx(truth, rel=1e-6)
    assert records["firm_labels"].split == "train"
    assert records["permutation"].split == "test"


def test_the_covariance_of_firm_is_theirs(tmp_path):
    entry = {"method": "firm", "estimator": "gaussian", "covariance": "sample"}
    more = "kind,x\na,-10\nb,10\nb,10\na,1\n"
    config = configured(tmp_path, more, [entry], features=["x"])
    (record,) = audit(*read_datasets(**config.data_arguments), config).importances
    assert record.mean[0] == pytest.approx(2 * np.std([-10, 10, 10, 1]), rel=1e-9)


def test_the_result_its_digest_and_the_card_of_firm_know_them(tmp_path):
    result, _ = measured(tmp_path)
    other, _ = measured(tmp_path, MORE.replace("-10", "-11"))
    assert result.datasets["split"].tolist() == ["train", "test", "reference"]
    assert result.datasets["name"].tolist()[-1] == "more"
    assert result.run.data_sha256 != other.run.data_sha256
    cards = section(build_view(result), "E").parts["cards"]
    facts = [{plain(k): plain(v) for k, v in card.facts.rows} for card in cards]
    descriptions = [fact["Data"] for fact in facts]
    mark = "3 rows of more, the reference rows, unweighted; their target is not used"
    assert descriptions.count(mark) == 2
    assert sum("reference" in text for text in descriptions) == 2


MESSAGES = [
    (
        "kind,z\na,1\nb,2\n",
        "Column 'x', a feature in rows.csv, is not in more.csv. "
        "Its columns: 'kind', 'z'.",
    ),
    (
        "kind,x\na,1\nc,2\n",
        "more.csv: column 'kind' has levels in the reference rows that no training row "
        "has: 'c'. Leave those rows out, merge rare levels, or set [data] unseen.",
    ),
    (
        "kind,x\na,1\n",
        "more.csv has 1 row, and at least two are needed. Give more rows.",
    ),
]


@for_each(MESSAGES, lambda case: case[1])
def test_reference_rows_that_do_not_fit_are_refused(case, tmp_path):
    more, message = case
    with pytest.raises(DataError) as refusal:
        read_datasets(**configured(tmp_path, more).data_arguments)
    assert str(refusal.value) == message
