"""What an R package cannot be asked is said, before R is asked or by what it is."""

from dataclasses import replace

import numpy as np
import pytest
from tests.known_answers import level_data, level_model

from importance_audit import engines
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import NotApplicable

DATA = normal_data()
OUTSIDE = int((DATA.X["x1"].abs() > 1).sum())


def named(name):
    """Return rows whose first column has another name."""
    groups = {name: (name,), "x2": ("x2",)}
    return replace(DATA, X=DATA.X.rename(columns={"x1": name}), groups=groups)


def case(engine, row, words, data=DATA, *, model=None, by="", **options):
    """Return a question to a row of an engine, and words of its refusal.

    `by` is a package that must be there for the question to be refused.
    """
    marks = [getattr(pytest.mark, f"needs_{by}")] if by else []
    model = model or linear_model(2, 1)
    return pytest.param(engine, row, model, data, options, words, marks=marks)


PD, PROFILE, OF_X1 = "partial_dependence", "accumulated_profile", {"feature": "x1"}
WEIGHTED = replace(DATA, weights=np.linspace(1, 2, 200))
GROUPED = DATA.with_groups({"both": ("x1", "x2")})
THREE = normal_data(2, 1, 0).with_groups({"all": ("x1", "x2", "x3")})
GAPS, FLAT = replace(DATA, X=DATA.X.shift()), replace(DATA, X=DATA.X.assign(x1=1.0))
X2, BASELINE = DATA.with_groups({"x2": ("x2",)}), {"_baseline_": ("x1",)}
SUMS = linear_model(1, losses=("mse", "sum_of_squares"))
ONE, TOO_FEW = normal_data(1), "iml needs at least two columns; there is one."
H = {"n_rows": None, "standardised": True}
WITHIN = {"feature": "x1", "grid": (-1.0, 0.0, 1.0)}
UNNAMED = (
    "{} cannot be asked about a table with a column named '': R finds no column by an "
    "empty name. Rename it."
)
CASES = [
    *(
        case(
            engine, "permutation", f"{engine} {does} row weights", WEIGHTED, by=package
        )
        for engine, package, does in (
            ("vip", "vip", "does not support"),
            ("DALEX", "dalex", "ignores"),
            ("iml", "iml", "does not support"),
            ("xplainfi", "xplainfi", "does not support"),
        )
    ),
    case("vip", PD, "so it would measure something else.", WEIGHTED, by="vip"),
    case("DALEX", "permutation", UNNAMED.format("DALEX"), named("")),
    case("DALEX", PD, UNNAMED.format("DALEX"), named(""), feature="x2"),
    case("pdp", PD, UNNAMED.format("pdp"), named(""), feature="x2"),
    case("vip", "permutation", UNNAMED.format("vip"), named("")),
    case("vip", "permutation", "vip has no groups: it permutes single", GROUPED),
    case("vip", "permutation", "only; the form requested is 'raw'.", form="raw"),
    case("vip", "shapley", "but 1 of 2 are requested. Request all features.", X2),
    case("DALEX", PD, "reserves the name '_vname_'", named("_vname_"), feature="x2"),
    case("DALEX", "permutation", "name '_baseline_'", DATA.with_groups(BASELINE)),
    case("DALEX", "permutation", "permutes a single target as if it were", n_rows=1),
    case("DALEX", PROFILE, "of a single column", ONE, by="dalex", **OF_X1, n_rows=5),
    case("DALEX", "conditional_profile", "'x1' must have a value in", GAPS, **OF_X1),
    case("hstats", "pd_importance", "; group 'both' has 2. Measure features", GROUPED),
    case("hstats", "permutation", "'sum of squares' is not such a loss.", model=SUMS),
    case("hstats", "h_statistic", "needs at least two columns; there is one.", ONE),
    case("hstats", "pd_importance", "needs at least two columns; there is one.", ONE),
    case("iml", "permutation", TOO_FEW, ONE, by="iml"),
    case("iml", "h_statistic", "Set standardised = true.", by="iml", n_rows=None),
    case("iml", "h_statistic", "Set n_rows = 200.", by="iml", **H | {"n_rows": 20}),
    case("iml", "h_statistic", "for one or two columns only.", THREE, by="iml", **H),
    case(
        "iml", "ale", f"but {OUTSIDE} of 200 have no value of 'x1'", by="iml", **WITHIN
    ),
    case("iml", PD, "column 'x1', which has one value.", FLAT, by="iml", **OF_X1),
    case(
        "iml",
        "permutation",
        "iml passes one number per row to a loss, but a prediction of model 'levels' "
        "has 3.",
        level_data(),
        model=level_model(),
        by="iml",
    ),
]


@pytest.mark.parametrize(("engine", "row", "model", "data", "options", "words"), CASES)
def test_what_a_package_cannot_be_asked_is_said_with_its_name(
    engine, row, model, data, options, words
):
    table = "effects" if "feature" in options else "importance"
    with pytest.raises(NotApplicable) as refusal:
        engines.ENGINES[engine][table][row].function(model, data, seed=1, **options)
    message = str(refusal.value)
    assert words in message
    assert engine in message
    assert message.endswith(".")
