"""What an R package cannot be asked is said, before R is asked or by what it is."""

from dataclasses import replace

import numpy as np
import pytest

from importance_audit import engines
from importance_audit.methods.known_answers import (
    level_data,
    level_model,
    linear_model,
    normal_data,
)
from importance_audit.records.errors import NotApplicable

DATA = normal_data()
OUTSIDE = int((DATA.X["x1"].abs() > 1).sum())


def named(name):
    """Return rows whose first column has another name."""
    groups = {name: (name,), "x2": ("x2",)}
    return replace(DATA, X=DATA.X.rename(columns={"x1": name}), groups=groups)


def case(engine, row, words, data=DATA, model=None, needs=True, **options):
    """Return a row of an engine's table, what is asked of it, and how it refuses."""
    marks = [getattr(pytest.mark, f"needs_{engine.lower()}")] if needs else []
    model = model or linear_model(2, 1)
    return pytest.param(engine, row, model, data, options, words, marks=marks)


WEIGHTED = replace(DATA, weights=np.linspace(1, 2, 200))
GROUPED = DATA.with_groups({"both": ("x1", "x2")})
ALL_THREE = normal_data(2, 1, 0).with_groups({"all": ("x1", "x2", "x3")})
ELSE = "so it would measure something else."
OF_X2 = {"feature": "x2", "needs": False}
H = {"n_rows": None, "standardised": True}
CASES = [
    *(
        case(engine, "permutation", f"{engine} {does} row weights, {ELSE}", WEIGHTED)
        for engine, does in (
            ("vip", "does not support"),
            ("DALEX", "ignores"),
            ("iml", "does not support"),
            ("xplainfi", "does not support"),
        )
    ),
    case(
        "vip",
        "partial_dependence",
        f"vip does not support row weights, {ELSE}",
        WEIGHTED,
    ),
    *(
        case(
            engine,
            row,
            f"{engine} cannot be asked about a table with a column named '': R finds "
            "no column by an empty name. Rename it.",
            named(""),
            **options,
        )
        for engine, row, options in (
            ("DALEX", "permutation", {"needs": False}),
            ("DALEX", "partial_dependence", OF_X2),
            ("pdp", "partial_dependence", OF_X2),
            ("vip", "permutation", {"needs": False}),
        )
    ),
    case(
        "vip",
        "permutation",
        "vip has no groups: it permutes single features only.",
        GROUPED,
        needs=False,
    ),
    case(
        "vip",
        "permutation",
        "vip computes differences and ratios only; the form requested is 'raw'.",
        needs=False,
        form="raw",
    ),
    case(
        "vip",
        "shapley",
        "vip explains predictions by the requested columns only, but 1 of 2 are "
        "requested. Request all features.",
        DATA.with_groups({"x2": ("x2",)}),
        needs=False,
    ),
    case(
        "DALEX",
        "partial_dependence",
        "DALEX reserves the name '_vname_' for its own use.",
        named("_vname_"),
        **OF_X2,
    ),
    case(
        "DALEX",
        "permutation",
        "DALEX reserves the name '_baseline_' for its own use.",
        DATA.with_groups({"_baseline_": ("x1",)}),
        needs=False,
    ),
    case(
        "DALEX",
        "permutation",
        "DALEX permutes a single target as if it were a count.",
        needs=False,
        n_rows=1,
    ),
    case(
        "DALEX",
        "accumulated_profile",
        "DALEX cannot draw rows of a single column for a profile. Leave n_rows out to "
        "use all rows.",
        normal_data(1),
        feature="x1",
        n_rows=5,
    ),
    case(
        "DALEX",
        "conditional_profile",
        "Column 'x1' must have a value in every row for a conditional profile of "
        "DALEX; some are missing.",
        replace(DATA, X=DATA.X.shift()),
        feature="x1",
        needs=False,
    ),
    case(
        "hstats",
        "pd_importance",
        "hstats takes one column at a time for method 'pd_importance'; group 'both' "
        "has 2. Measure features instead.",
        GROUPED,
    ),
    case(
        "hstats",
        "permutation",
        "hstats needs losses that are means over the rows; 'sum of squares' is not "
        "such a loss.",
        model=linear_model(1, losses=("mse", "sum_of_squares")),
    ),
    *(
        case(engine, row, f"{engine} needs at least two columns; there is one.", ONE)
        for ONE in [normal_data(1)]
        for engine, row in (
            ("hstats", "h_statistic"),
            ("hstats", "pd_importance"),
            ("iml", "permutation"),
        )
    ),
    case(
        "iml",
        "h_statistic",
        "iml computes H as a ratio only. Set standardised = true.",
        n_rows=None,
    ),
    case(
        "iml",
        "h_statistic",
        "iml draws 20 of 200 rows in an order that is not replayed here. Set n_rows = "
        "200.",
        **H | {"n_rows": 20},
    ),
    case(
        "iml",
        "h_statistic",
        "iml computes H for one or two columns only.",
        ALL_THREE,
        **H,
    ),
    case(
        "iml",
        "ale",
        f"iml moves every row, but {OUTSIDE} of 200 have no value of 'x1' within the "
        "grid.",
        feature="x1",
        grid=(-1.0, 0.0, 1.0),
    ),
    case(
        "iml",
        "partial_dependence",
        "iml does not accept column 'x1', which has one value.",
        replace(DATA, X=DATA.X.assign(x1=1.0)),
        feature="x1",
    ),
    case(
        "iml",
        "permutation",
        "iml passes one number per row to a loss, but a prediction of model 'levels' "
        "has 3.",
        level_data(),
        level_model(),
    ),
]


@pytest.mark.parametrize(("engine", "row", "model", "data", "options", "words"), CASES)
def test_what_a_package_cannot_be_asked_is_said(
    engine, row, model, data, options, words
):
    tables = engines.ENGINES[engine]
    table = "effects" if "feature" in options else "importance"
    with pytest.raises(NotApplicable) as refusal:
        tables[table][row].function(model, data, seed=1, **options)
    assert str(refusal.value) == words
