"""Correlated features: the tree, the table, the words, the figure."""

from dataclasses import replace
from itertools import combinations

import pytest
from tests.report.made_records import APARTMENTS, made_frame, made_rows
from tests.report.made_results import apartments_result
from tests.report.made_variants import configured, plain_result
from tests.report.reading import column, figure, lede_of, said_in, table
from tests.report.svg_reader import groups, mark, points

from importance_audit.records.as_csv import tables
from importance_audit.report.figures.clusters import draw_clusters
from importance_audit.report.figures.parts import Row
from importance_audit.report.pages.view import build_view

SIZE = {("surface", "no.rooms"): 0.89}
PAIRS = {**SIZE, ("district", "construction.year"): 0.85}
THREE = {**PAIRS, ("district", "floor"): 0.81}


def associated(names, strong, weak=0.05):
    """Return the frame of all pairs: `strong` ones by name, all others `weak`."""
    rows = [(*pair, strong.get(pair, weak)) for pair in combinations(names, 2)]
    columns = "feature_a feature_b value"
    return made_rows("associations", columns, *rows, statistic="spearman")


def limited(result, frame):
    """Return the view of a result with these associations and a limit of 0.8."""
    checks = {**result.run.config["checks"], "dependence": 0.8}
    return build_view(configured(replace(result, associations=frame), checks=checks))


def apartments(strong=SIZE, **changes):
    frame = associated(APARTMENTS, strong)
    return limited(apartments_result(**changes), frame)


def view_of_pairs(names, strong):
    return limited(plain_result(names), associated(names, strong))


def figure_of(view):
    return figure(view, "fig-clusters")


def together(view):
    """Return what the table of clusters says that they count together."""
    return column(table(view, "tab-clusters"), "Together")


def test_independent_columns_are_in_no_cluster_and_the_strongest_pair_is_told():
    view = view_of_pairs(("a", "b"), {})
    assert "tab-clusters" not in {item.id for item in view.tables}
    text = said_in(view, "H")
    assert "No two features have an association of 0.8 or above;" in text
    assert "the strongest is 0.05." in text
    assert text.count("No two features have an association") == 1


@pytest.mark.parametrize("pairs", [SIZE, PAIRS])
def test_a_pair_has_a_row_per_model_and_no_tree(pairs):
    view = apartments(pairs)
    assert len(table(view, "tab-clusters").rows) == 3 * len(pairs)  # of three models
    assert not figure(view, "fig-clusters")


def test_a_cluster_is_linked_pair_by_pair_from_the_limit_on():
    """a-b and b-c hold a, b and c together; d stays below the limit by a hair."""
    strong = {("a", "b"): 0.8, ("b", "c"): 0.9, ("c", "d"): 0.7999}
    clusters = table(view_of_pairs(tuple("abcd"), strong), "tab-clusters")
    assert column(clusters, "Members") == ["a, b, c"]
    assert column(clusters, "Strongest") == ["0.90"]


def test_members_stand_alone_summed_and_together_for_each_model():
    """The group "size" is surface and no.rooms; made, it counts for their sum."""
    clusters = table(apartments(), "tab-clusters")
    assert column(clusters, "Model") == ["forest", "linear", "svm"]
    assert column(clusters, "Separately E1")[0] == "182.4; 117.5"
    assert column(clusters, "Sum of separate importances")[0] == "299.9"
    assert column(clusters, "Together") == ["299.9", "185.9", "348.7"]


def test_a_cluster_measured_as_a_group_names_the_file_that_has_its_number():
    result = apartments_result()
    assert "tables/joint_importances.csv" not in tables(result)
    assert table(apartments(), "tab-clusters").source in tables(result)


def test_a_group_of_other_columns_is_not_the_cluster():
    view = apartments({("surface", "floor"): 0.9})
    assert set(together(view)) == {"–"}


def test_a_cluster_that_the_audit_shuffled_as_one_has_that_number():
    result = plain_result(tuple("abcd"))
    (record,) = (one for one in result.importances if one.of == "features")
    ends = {"loss": record.loss, "form": record.form, "mean": 6.25}
    ends |= {"low": 5.0, "high": 7.0, "cluster": 1, "model": record.model}
    sets = [("a", 1), ("c", 1), ("b", 2), ("d", 2)]
    shared = {"strongest": 0.9, "group": ""}
    result = result.with_frames(
        clusters=made_rows("clusters", "feature cluster", *sets, **shared),
        joint_importances=made_frame("joint_importances", [ends]),
    )
    strong = {("a", "c"): 0.9, ("b", "d"): 0.9}
    view = limited(result, associated(tuple("abcd"), strong))
    members = column(table(view, "tab-clusters"), "Members")
    sizes = dict(zip(members, together(view), strict=True))
    assert sizes == {"a, c": "6.25", "b, d": "–"}
    for low, high, sign in ((-1.0, 7.0, "(–)"), (-7.0, -1.0, "(↓)")):
        at_zero = made_frame("joint_importances", [ends | {"low": low, "high": high}])
        view_of = limited(
            result.with_frames(joint_importances=at_zero),
            associated(tuple("abcd"), {("a", "c"): 0.9}),
        )
        assert together(view_of) == [f"6.25 {sign}"]
    item, alone = "features shuffled together", view_of_pairs(tuple("abcd"), strong)
    assert item in column(table(alone, "tab-untested"), "Item")
    assert item not in column(table(view, "tab-untested"), "Item")
    # It is no importance by refits, nor one of shuffling within leaves.
    for changes in ({"method": "drop_column"}, {"options": {"within": "leaves"}}):
        other = replace(result, importances=(replace(record, **changes),))
        view = limited(other, associated(tuple("abcd"), strong))
        assert set(together(view)) == {"–"}


def test_a_group_shuffled_in_another_way_is_not_the_cluster():
    result = apartments_result()
    other = tuple(
        replace(r, options={**r.options, "within": "leaves"}) if r.of == "groups" else r
        for r in result.importances
    )
    assert set(together(apartments(importances=other))) == {"–"}


def test_the_lede_names_the_one_cluster_and_counts_several():
    one = lede_of(apartments(), "H")
    assert one.startswith("surface and no.rooms are correlated (association")
    two = {**SIZE, ("district", "floor"): 0.8}
    lede = lede_of(apartments(two), "H")
    assert lede.startswith("4 features form 2 clusters of correlated features, with")


def test_branches_meet_at_the_strongest_association_between_them():
    strong = {("a", "c"): 0.95, ("a", "b"): 0.3, ("b", "c"): 0.85}
    joins = figure_of(view_of_pairs(tuple("abc"), strong)).data["joins"]
    assert [rows for rows, _ in joins] == [[0, 0, 1, 1], [0.5, 0.5, 2, 2]]
    assert joins[0][1] == pytest.approx([1, 0.95, 0.95, 1])
    assert joins[1][1] == pytest.approx([0.95, 0.85, 0.85, 1])


def test_forty_features_are_drawn_at_most_and_only_those_whose_pairs_are_kept():
    names = tuple(f"x{n:02}" for n in range(45))
    frame = associated(names, {}, weak=0.9)
    missing = frame[(frame["feature_a"] != "x03") | (frame["feature_b"] != "x07")]
    view = limited(plain_result(names), missing.reset_index(drop=True))
    features = [row.name for row in figure_of(view).data["rows"]]
    assert sorted(features) == [n for n in names[:41] if n != "x07"]


def rows(*estimates):
    return [Row(f"f{n}", e, e - 1, e + 1, str(e)) for n, e in enumerate(estimates)]


def clusters_svg(rows, joins, **changes):
    labels = ("limit", "tree", "unit", "baseline", "value")
    options = {"limit": 0.8, "baseline": 0.0, **changes}
    options |= {f"{label}_label": label for label in labels}
    return draw_clusters(rows, joins=joins, **options).svg("fig")


def test_a_join_is_drawn_where_its_branches_meet():
    svg = clusters_svg(rows(4.0, 2.0), [((0, 0, 1, 1), (1.0, 0.5, 0.5, 1.0))])
    (join,) = groups(svg, "join-")
    (x0, y0), (x1, _), (x2, _), (x3, y3) = points(join)
    (limit,) = groups(svg, "limit")
    at = points(limit)[0][0]
    assert (x0, x1, y0) == (x3, x2, pytest.approx(mark(svg, "estimate-0")[1]))
    assert y3 == pytest.approx(mark(svg, "estimate-1")[1])
    # The leaves stand at 1: half way to the axis is 0.5, a fifth of it is the limit.
    assert (x0 - at) / (x0 - x1) == pytest.approx(0.2 / 0.5)
    assert not groups(clusters_svg(rows(4.0, 2.0), [], limit=float("nan")), "limit")


def test_the_better_ranked_branch_comes_first_and_members_stand_together():
    rows = figure_of(apartments(THREE)).data["rows"]
    names = ["district", "construction.year", "floor", "surface", "no.rooms"]
    assert [row.name for row in rows] == names
    assert [row.cluster for row in rows] == [0, 0, 0, 1, 1]


def test_members_of_a_cluster_stand_on_one_ground():
    four = [replace(row, cluster=n // 2) for n, row in enumerate(rows(*range(4)))]
    assert len(groups(clusters_svg(four, []), "cluster-")) == 2
