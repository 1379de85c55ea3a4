"""Time SAGE beside the bare predictions it needs, made elsewhere beforehand.

Run from the project's root: ``python3 -m tests.benchmarks.sage``. Prints one table;
ours and peer alternate in one run, in processor time, and the median of their ratios is
printed. The peer is handed the rows of each call and only predicts. For conditional
SAGE ours also draws normal numbers, which takes longer than a linear model predicts.
"""

from functools import partial
from statistics import median
from time import process_time

from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

from importance_audit.methods.importance.sage import sage
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import wrap

ROUNDS = 5
SLOPES = (3, -2, 1, 0.5, 0.2, 0)
OPTIONS = {
    "sampling": {"algorithm": "sampling", "n_repeats": 10},
    "exact": {"algorithm": "exact"},
    "gaussian": {"algorithm": "exact", "background": "gaussian"},
}


def seconds(function):
    """Return how much processor time one call takes."""
    start = process_time()
    function()
    return process_time() - start


def recorded(model, calls):
    """Return a model that keeps the rows of its calls."""

    def predict(X):
        calls.append(X.copy())
        return model.predict(X)

    return wrap(predict, name="m", task="regression", features=list(model.features))


def predict_all(model, calls):
    """Predict the rows of each call."""
    for X in calls:
        model.predict(X)


def rows():
    """Yield task, size, ours and peer of each line."""
    for estimator, n_samples in (
        (RandomForestRegressor(100, min_samples_leaf=5, random_state=1), 100),
        (GradientBoostingRegressor(random_state=1), 300),
        (SVR(), 100),
        (LinearRegression(), 1000),
    ):
        data = normal_data(*SLOPES, n_samples=n_samples)
        model = wrap(estimator.fit(data.X, data.y), name="m").with_losses(("mse",))
        for name, options in OPTIONS.items():
            options = {"seed": 1, "n_background": 50, **options}
            calls = []
            sage(recorded(model, calls).with_losses(("mse",)), data, **options)
            ours = partial(sage, model, data, **options)
            peer = partial(predict_all, model, calls)
            times = [(seconds(ours), seconds(peer)) for _ in range(ROUNDS)]
            n = sum(map(len, calls))
            size = f"{n_samples} x {len(SLOPES)}, {n} predictions, {len(calls)} calls"
            yield f"{type(estimator).__name__}, {name}", size, times


if __name__ == "__main__":
    print(f"{'task':40}{'size':48}{'ours':>9}{'peer':>9}{'ratio':>8}{'limit':>7}")
    for task, size, times in rows():
        ours, peer = (median(column) for column in zip(*times, strict=True))
        ratio = median(one / other for one, other in times)
        print(f"{task:40}{size:48}{ours:8.3f}s{peer:8.3f}s{ratio:8.2f}{1.1:7.1f}")
