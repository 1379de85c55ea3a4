"""The matrix of ranks that opens the results, and what paper leaves to the screen."""

import re

from tests.report.made_records import made_importance, row_intervals_frame
from tests.report.made_results import STILL
from tests.report.made_variants import apartments_view, view_of_records
from tests.report.reading import column, section, table

from importance_audit.report.pages.html import print_html, to_html

IMPURITY = {"method": "impurity", "form": "raw", "unit": "1", "options": {}, **STILL}


def two_measures(model="forest", **frames):
    """Return the view of one model by two measures that order c and b otherwise."""
    records = (
        made_importance(model, "abc", (9.0, 5.0, 1.0), sd=0.01),
        made_importance(model, "abc", (9.0, 1.0, 5.0), **IMPURITY),
    )
    return view_of_records(*records, **frames)


def test_features_stand_by_their_mean_rank_over_all_rankings():
    overview = table(two_measures(), "tab-overview-features")
    assert column(overview, "Feature") == ["a", "b", "c"]
    assert column(overview, "forest E1") == ["1", "2", "3"]
    assert column(overview, "forest E2") == ["1", "3", "2"]


def test_what_is_not_told_from_zero_has_no_rank():
    """Its place among the others is chance."""
    record = made_importance("m", "abc", (9.0, 0.2, 0.1), sd=1.0)
    other = made_importance("n", "abc", (9.0, 5.0, 1.0), sd=0.01)
    overview = table(view_of_records(record, other), "tab-overview-features")
    assert column(overview, "m E1") == ["1", "–", "–"]
    assert column(overview, "n E1") == ["1", "2", "3"]


def test_what_fewer_rankings_measured_comes_last_whatever_its_rank():
    records = (
        made_importance("one", ("a", "b"), (2.0, 1.0)),
        made_importance("two", ("c", "a", "b"), (3.0, 2.0, 1.0)),
    )
    overview = table(view_of_records(*records), "tab-overview-features")
    assert column(overview, "Feature") == ["a", "b", "c"]


def test_the_closer_to_the_top_the_darker():
    names = [f"x{n}" for n in range(12)]
    values = range(12, 0, -1)
    records = (made_importance(m, names, values, sd=0.1) for m in ("one", "two"))
    overview = table(view_of_records(*records), "tab-overview-features")
    shades = [row.cells[1].shade for row in overview.rows]
    assert shades == [5, 4, 4, 3, 3, 2, 2, 2, 2, 2, 0, 0]


def test_what_a_model_does_better_without_is_marked_and_not_shaded():
    ends = {"low": [8, -9, -1], "high": [10, -8, 2]}
    record = made_importance("forest", ("a", "b", "c"), (9.0, 5.0, 1.0))
    frame = row_intervals_frame((record,), 1.0).assign(**ends)
    overview = table(two_measures(row_intervals=frame), "tab-overview-features")
    assert column(overview, "forest E1") == ["1", "2 ↓", "–"]
    assert [row.cells[1].shade for row in overview.rows] == [5, 0, 0]


def test_of_many_features_the_rest_is_counted():
    names = [f"x{n:02}" for n in range(30)]
    records = (made_importance(m, names, range(30, 0, -1)) for m in "ab")
    overview = table(view_of_records(*records), "tab-overview-features")
    assert len(overview.rows) == 25
    assert column(overview, "Feature")[-1] == "the other 6"


def test_of_many_rankings_the_columns_are_shared_out_over_tables():
    records = tuple(made_importance(f"m{n}", ("a", "b"), (2.0, 1.0)) for n in range(12))
    view = view_of_records(*records)
    ids = [t.id for t in view.tables if t.id.startswith("tab-overview")]
    assert ids == ["tab-overview-features", "tab-overview-features-2"]
    assert [len(table(view, id_).columns) for id_ in ids] == [7, 7]


def test_paper_has_no_table_of_a_single_ranking_and_says_where_it_is():
    view = apartments_view()
    single = [item for item in view.tables if item.is_single]
    paper = print_html(view, conformity="PDF/A: not claimed.")
    assert single
    for item in single:
        assert f'id="{item.id}"' not in paper
        assert f'href="#{item.id}"' not in paper
        assert f'id="{item.id}"' in to_html(view)
    assert "of report.html" in paper


def test_tables_are_numbered_as_they_stand_single_ones_behind_all_others():
    view = apartments_view()
    order = [item.is_single for item in view.tables]
    assert order == sorted(order)
    labels = [view.composed.labels[item.id] for item in view.tables]
    assert labels == [f"Table\u00a0{n}" for n, _ in enumerate(labels, start=1)]
    first = view.figures[0]
    assert view.composed.labels[first.id] == "Figure\u00a01"
    paper = print_html(view, conformity="")
    captions = re.findall(r'<caption [^>]*id="(.*?)-caption"><b>(Table.*?)\.', paper)
    shown = [item.id for item in view.tables if not item.is_single]
    assert dict(captions) == dict(zip(shown, labels, strict=False))


def test_a_group_of_single_tables_alone_leaves_no_heading_on_paper():
    view = two_measures()
    screen, paper = to_html(view), print_html(view, conformity="")
    groups = [group.id for group in section(view, "F").parts["groups"]]
    assert all(f'class="measure" id="{id_}"' in screen for id_ in groups)
    assert sum(f'id="{id_}"' in paper for id_ in groups) == len(groups) - 1


def test_the_head_of_a_ranking_holds_the_whole_name_of_its_model():
    model = "gradient boosting on bureau_and_application_data, 2024-02"
    overview = table(two_measures(model), "tab-overview-features")
    name, _, card = overview.columns[1].label
    assert (name.text, name.whole, card.target) == (model, "", "card-e1")
