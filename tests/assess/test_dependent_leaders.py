"""What dependence does to the reading of the features that lead."""

from dataclasses import replace

import pytest
from tests.report.made_records import made_importance

from importance_audit.assess.clusters import Cluster
from importance_audit.assess.dependent_leaders import dependent_leaders
from importance_audit.methods.known_answers import normal_data
from importance_audit.records.asker import asked_by

NAMES = ("a", "near", "own", "far")


def rows():
    """Return white a, own and far, and near: a and a tenth of far."""
    data = normal_data(1, 1, 1)
    X = data.X.set_axis(["a", "own", "far"], axis=1)
    X["near"] = X["a"] + 0.1 * X["far"]
    return replace(data, X=X[list(NAMES)], groups={name: (name,) for name in NAMES})


def leader_findings(*means, grouped=(), test=None, top_k=1, **fields):
    record = made_importance("m", NAMES, means, sd=0.1, **fields)
    return dependent_leaders(
        [record], None, test or rows(), grouped=grouped, threshold=0.8, top_k=top_k
    )


def test_a_leader_that_depends_on_another_is_a_warning_of_both():
    (warning,) = leader_findings(9, 1, 5, 3)
    assert (warning.check, warning.severity, warning.subject) == (
        *("dependent_leader", "warning", "m"),
    )
    rho = rows().X[["a", "near"]].corr(method="spearman").iloc[0, 1]
    assert (
        "'a' is among the top 1 by permutation importance, but belongs to a set of "
        f"correlated features (association up to {rho:.2f}) that no measured group "
        "consists of: 'a', 'near'." in warning.message
    )


def test_what_they_measure_together_is_told_by_a_loss_that_has_a_number():
    none, over = float("nan"), {"cluster": 1, "model": "m", "over": "rows"}
    lost = {**over, "loss": "log_loss", "mean": none, "low": none, "high": none}
    known = {**over, "loss": "brier", "mean": 0.2, "low": 0.1, "high": 0.3}
    cluster = Cluster(1, ("a", "near"), (0.9, 0.9), "")
    once = {**known, "low": none, "high": none, "over": ""}

    def told(*joint):
        (warning,) = dependent_leaders(
            [made_importance("m", NAMES, (9, 1, 5, 3), sd=0.1)],
            None,
            rows(),
            grouped=(),
            threshold=0.8,
            top_k=1,
            clusters=[cluster],
            joint=joint,
        )
        return warning.message.partition(" the fit.")[2]

    words = " Permuted together, they have an importance of 0.2"
    assert told(lost, known) == f"{words} (0.1 to 0.3) by Brier score in 'm'."
    assert told(lost, once) == f"{words} by Brier score in 'm'."
    assert told(lost) == ""


def test_a_feature_that_leads_one_model_of_several_names_it():
    one, other = ((9, 1, 5, 3), (1, 9, 5, 3))
    records = [
        made_importance(model, NAMES, means, sd=0.1)
        for model, means in {"one": one, "other": other}.items()
    ]
    (warning,) = dependent_leaders(
        records, None, rows(), grouped=(), threshold=0.8, top_k=1
    )
    words = "'a' (of 'one'), 'near' (of 'other') are among the top 1 by permutation"
    assert warning.message.startswith(words)


def test_a_feature_among_the_leading_k_is_a_leader():
    assert len(leader_findings(5, 1, 9, 3, top_k=2)) == 1


@pytest.mark.parametrize(
    ("means", "options"),
    [
        ((5, 1, 9, 3), {}),  # own leads
        ((9, 1, 5, 3), {"grouped": [("near", "a")]}),  # asked jointly
        ((9, 1, 5, 3), {"method": "impurity"}),
        ((9, 1, 5, 3), {"of": "groups"}),
        ((9, 1, 5, 3), {"options": {"within": "leaves"}}),
        ((0, -1, -5, -3), {}),  # the first is no more than chance
        # derived, so it depends by definition
        ((9, 1, 5, 3), {"test": replace(rows(), unread={"near": ("a", "far")})}),
    ],
)
def test_there_is_nothing_to_warn_of(means, options):
    assert leader_findings(*means, **options) == []


def test_a_ranking_of_some_columns_tells_only_of_these():
    record = made_importance("m", ("own", "a"), (5, 9), sd=0.1)
    (warning,) = dependent_leaders(
        [record], None, rows(), grouped=(), threshold=0.8, top_k=1
    )
    assert warning.message.startswith("'a' is among the top 1 by permutation")


@pytest.mark.parametrize("grouped", [("a", "own"), ("a", "near", "own")])
def test_a_larger_group_or_one_of_a_part_does_not_end_the_warning(grouped):
    """What the three are worth together tells nothing of the two."""
    (warning,) = leader_findings(9, 1, 5, 3, grouped=[grouped])
    assert warning.measure == "a, near"
    assert warning.remedy == (
        "Put them under [groups], without others, add an [[importance]] with "
        'of = "groups", and read that number; or accept this in findings.toml.'
    )
    with asked_by("r"):
        (warning,) = leader_findings(9, 1, 5, 3, grouped=[grouped])
    assert warning.remedy == (
        "Name them in groups = list(...) as one, and read that number."
    )
    own = [grouped, ("a", "near")]
    assert leader_findings(9, 1, 5, 3, grouped=own) == []


def test_copies_and_derived_columns_may_be_in_the_group_that_ends_the_warning():
    made = rows()
    X = made.X.assign(copy=-made.X["a"], square=made.X["a"] ** 2)
    unread = {"square": ("a",)}
    test = replace(made, X=X, groups={n: (n,) for n in X}, unread=unread)
    grouped = [("a", "near", "copy", "square")]
    assert leader_findings(9, 1, 5, 3, test=test, grouped=grouped) == []
