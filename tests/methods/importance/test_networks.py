"""Garson and Olden: nets whose weights are set by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier, MLPRegressor
from tests.methods.importance.toys import numbers, refused

from importance_audit.methods.importance.networks import garson, olden
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import wrap

# The nets are not meant to be fitted: their weights are set afterwards.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
DATA = normal_data(3, -1, 0.5, n_samples=60)
HIDDEN = np.array([[1.0, 2.0], [-3.0, 2.0], [0.0, 4.0]])
OUTPUT = np.array([[2.0], [-0.5]])


def net(hidden=HIDDEN, output=OUTPUT, **parameters):
    """Return a net of two hidden units with these weights."""
    machine = MLPRegressor(
        hidden_layer_sizes=[2], max_iter=1, solver="lbfgs", **parameters
    )
    machine.fit(DATA.X, DATA.y)
    machine.coefs_ = [np.array(hidden, float), np.array(output, float)]
    return wrap(machine, name="net")


def of(method, model, data=DATA, **options):
    """Return one number per group."""
    return numbers(method, model, data, **options).tolist()


def test_olden_is_the_slope_of_a_net_of_linear_units():
    model = net(activation="identity")
    steps = model.predict(DATA.X[:3] * 0 + np.eye(3)) - model.predict(DATA.X[:1] * 0)
    assert of(olden, model) == pytest.approx(steps, rel=1e-9)


def test_garson_with_output_weights_counts_units_by_them():
    truth = np.array([2 / 4 + 0.5 * 2 / 8, 2 * 3 / 4 + 0.5 * 2 / 8, 0.5 * 4 / 8]) / 2.5
    shares = of(garson, net(), output_weights=True)
    assert shares == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("output_weights", [False, True])
def test_a_unit_that_carries_nothing_counts_nothing(output_weights):
    still = net(np.c_[HIDDEN[:, 0], [0.0, 0.0, 0.0]])
    unheard = net(output=[[2.0], [0.0]])
    for model in (still, unheard):
        shares = of(garson, model, output_weights=output_weights)
        assert shares == pytest.approx([0.25, 0.75, 0.0], rel=1e-12)


def test_a_dead_net_has_no_shares():
    assert np.isnan(of(garson, net(output=[[0.0], [0.0]]))).all()


def test_shares_of_columns_are_summed_and_products_are_not():
    model = replace(net(), encoded=("x1", "g", "g"))
    data = DATA.with_groups({"g": ("g",), "x1": ("x1",), "all": ("x1", "g")})
    assert of(garson, model, data) == pytest.approx([0.75, 0.25, 1.0])
    assert np.isnan(of(olden, model, data)).tolist() == [True, False, True]


def test_the_other_class_turns_the_sign_of_olden_only():
    y = np.where(DATA.y > 0, "yes", "no")
    machine = MLPClassifier(hidden_layer_sizes=[3], max_iter=5, random_state=1)
    machine.fit(DATA.X, y)
    yes, no = (
        wrap(machine, name="net", classes=classes)
        for classes in (["no", "yes"], ["yes", "no"])
    )
    assert of(olden, no) == [-value for value in of(olden, yes)]
    assert of(garson, no) == of(garson, yes)


def deep():
    """Return a net of two hidden layers."""
    model = net()
    model.estimator.coefs_ = [HIDDEN, np.eye(2), OUTPUT]
    return model


def of_three():
    """Return a net of three outputs."""
    return net(output=np.ones((2, 3)))


@pytest.mark.parametrize("method", [garson, olden])
@pytest.mark.parametrize(
    ("model", "rule"),
    [(deep, "one hidden layer for {}; it has 2"), (of_three, "one output for {}")],
)
def test_a_net_of_another_shape_says_why(method, model, rule):
    sentence = refused(method, model(), DATA)
    rule = rule.format(f"method {method.__name__!r}")
    assert sentence.startswith(f"Model 'net' must have {rule}")
    assert sentence.endswith(". Use permutation importance.")
