"""The table of p-values below a ranking."""

from tests.report.made_records import APARTMENTS, made_frame
from tests.report.made_results import apartments_result
from tests.report.made_variants import plain_result
from tests.report.reading import column, section, table, words

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Table, plain, walk

RANKING = "tab-ranking-forest-permutation-features-rmse"
SIGNIFICANCE = "tab-significance-forest-permutation-features-rmse"


def p_values(names, values):
    """Return the frame of these p-values of the first ranking, the last one unknown."""
    rows = [
        {"feature": name, "p_value": p, "p_adjusted": 2 * p, "record": 0}
        | {"shuffles": 99 if p == p else 12}
        for name, p in zip(names, values, strict=True)
    ]
    return made_frame("significance", rows)


def view():
    frame = p_values(APARTMENTS, (0.01, 0.02, 0.01, 0.4, float("nan")))
    return build_view(apartments_result(significance=frame))


def test_p_values_stand_below_their_ranking_only():
    tables = [b.id for b in walk(section(view(), "F")) if isinstance(b, Table)]
    assert tables[tables.index(RANKING) + 1] == SIGNIFICANCE
    assert sum("significance" in name for name in tables) == 1


def test_p_values_are_told_to_the_step_of_their_grid_in_the_order_of_the_ranking():
    significance = table(view(), SIGNIFICANCE)
    by_name = dict(
        zip(
            column(significance, "Feature"),
            column(significance, "p-value"),
            strict=True,
        )
    )
    texts = ("0.010", "0.020", "0.010", "0.400", "–")
    assert by_name == dict(zip(APARTMENTS, texts, strict=True))
    assert column(significance, "Rank") == ["1", "2", "3", "4", "5"]
    assert column(significance, "Adjusted")[0] == "0.020"


def test_shuffles_their_least_p_value_and_what_they_lack_are_told():
    significance = table(view(), SIGNIFICANCE)
    assert plain(significance.caption).endswith("from 99 shuffles of the target.")
    assert "at least 0.010" in words(significance.notes)
    assert "Benjamini-Hochberg over 4 p-values" in words(significance.notes)
    assert f"(number in brackets): {APARTMENTS[-1]} (12)." in words(significance.notes)


def test_a_long_table_of_p_values_is_cut_like_its_ranking():
    names = [f"x{n:02}" for n in range(30)]
    long_view = build_view(
        plain_result(names, significance=p_values(names, [0.3] * 30))
    )
    significance = table(long_view, SIGNIFICANCE)
    assert (len(significance.rows), len(significance.everything.rows)) == (13, 30)
