"""What an entry says of its own draws: its seed, its features and their order."""

import numpy as np
import pytest
from tests.auditing.test_audit import by, linear, rows_to_audit
from tests.report.reading import section

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.methods.importance.permutation import permutation, permuted_target
from importance_audit.records.errors import ConfigError
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

DALEX = {"method": "permutation", "engines": ["DALEX"], "losses": ["rmse"]}
SEEDED = {**DALEX, "seed": 1980, "n_repeats": 2, "n_rows": 30}
TURNED = {**SEEDED, "features": ["b", "a"]}


def audited_entries(*entries, **config):
    return audit(
        None,
        rows_to_audit(),
        parse_config({"importance": list(entries), **config}),
        models=(linear(),),
    )


def measured(*entries):
    """Return our record of each entry."""
    return by(audited_entries(*entries), "python")


def losses(record):
    return dict(zip(record.features, record.raw.tolist(), strict=True))


@pytest.mark.usefixtures("without_r")
def test_an_entry_draws_with_its_own_seed_whatever_that_of_the_audit():
    options = {"seed": 1980, "stream": "DALEX", "n_repeats": 2, "n_rows": 30}
    raw, baseline = permutation(linear(), rows_to_audit(), **options)
    for seed in (1, 2):
        (record,) = by(audited_entries(SEEDED, seed=seed), "python")
        assert record.seed == 1980
        np.testing.assert_array_equal(record.raw, raw[:, :, 0])
        np.testing.assert_array_equal(record.baseline, baseline[:, 0])


@pytest.mark.usefixtures("without_r")
def test_the_order_of_features_says_who_gets_which_draw():
    one = {**SEEDED, "n_repeats": 1}
    straight, turned, alone = measured(
        {**one, "features": ["a", "b"], "name": "straight"},
        {**one, "features": ["b", "a"], "name": "turned"},
        {**one, "features": ["b"], "name": "alone"},
    )
    assert turned.features == ("b", "a")
    assert turned.baseline == straight.baseline == alone.baseline
    assert turned.y_permuted == straight.y_permuted
    assert losses(turned)["b"] == losses(alone)["b"] != losses(straight)["b"]


@pytest.mark.needs_dalex
def test_dalex_draws_with_the_same_seed_in_the_same_order():
    result = audited_entries(TURNED)
    (python_record,), (dalex_record,) = by(result, "python"), by(result, "DALEX")
    assert (dalex_record.features, dalex_record.seed) == (("b", "a"), 1980)
    assert result.agreement["verdict"].tolist() == ["replayed"]
    np.testing.assert_allclose(
        dalex_record.y_permuted, python_record.y_permuted, rtol=1e-12
    )


@pytest.mark.usefixtures("without_r")
def test_the_target_is_permuted_in_the_draws_of_its_record():
    (record,) = measured({**TURNED, "form": "ratio"})
    options = {"seed": 1980, "stream": "DALEX", "n_repeats": 2, "n_rows": 30}
    rows = rows_to_audit().with_groups({"b": ("b",), "a": ("a",)})
    permuted_losses = permuted_target(linear(), rows, **options)
    np.testing.assert_array_equal(record.y_permuted, permuted_losses[:, 0])


@pytest.mark.usefixtures("without_r")
def test_groups_are_asked_in_the_order_of_their_entry():
    entry = {"method": "permutation", "of": "groups", "features": ["rest", "first"]}
    groups = {"first": ["a"], "rest": ["b", "unread"]}
    (record,) = by(audited_entries(entry, groups=groups), "python")
    assert record.features == ("rest", "first")
    assert record.columns == (("b", "unread"), ("a",))


@pytest.mark.usefixtures("without_r")
def test_entries_that_ask_the_same_are_told_apart_by_their_names():
    result = audited_entries({**SEEDED, "name": "first"}, {**TURNED, "name": "second"})
    assert [record.entry for record in by(result, "python")] == ["first", "second"]
    cards = section(build_view(result), "E").parts["cards"]
    titles = [plain(card.title) for card in cards]
    assert [title.partition(" (")[2] for title in titles] == [
        'entry = "first")',
        'entry = "second")',
    ]


@pytest.mark.usefixtures("without_r")
def test_a_feature_that_the_rows_lack_is_refused_before_any_predict():
    with pytest.raises(ConfigError) as refused:
        audited_entries({**SEEDED, "features": ["a", "unred"]})
    assert refused.value.problems == (
        "A feature of an entry must be one that the audit has; 'unred' is not. "
        "Did you mean 'unread'?",
    )
