"""The page as data: every number from the result, every link leads somewhere."""

from tests.report.made_variants import view_of

LETTERS = "BACDEFGHIJKLMNOPQ"


def test_tables_and_figures_are_numbered_as_they_stand():
    view = view_of("apartments")
    numbers = [view.composed.labels[item.id].split("\u00a0")[1] for item in view.tables]
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]
    assert view.composed.labels[view.figures[0].id] == "Figure\u00a01"
