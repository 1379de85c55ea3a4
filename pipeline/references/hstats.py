"""hstats, asked for losses under permutation and for Friedman's H, rows weighted."""

import numpy as np

from pipeline.effects import EffectMethod
from pipeline.effects.partial_dependence import Scale, rounding_of
from pipeline.errors import NotApplicable, listed
from pipeline.importance import METHODS, Method
from pipeline.importance.interaction import columns_of, ratio
from pipeline.records import Dataset, FittedModel, Floats
from pipeline.references.asking import classes_of, outputs
from r_bridge import hstats


def hstats_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> tuple[Floats, Floats]:
    """Return the losses of ``hstats::perm_importance``, repeat by repeat.

    Parameters, returns and raises as in `importance.permutation.permutation`, drawn in
    the order "hstats". `NotApplicable` too if a loss is no mean over the rows: hstats
    takes one number per row. The root of one is taken here.
    """
    losses = {name: "mse" if name == "rmse" else name for name in model.losses}
    sums = [name for name in losses if losses[name] not in hstats.ROW_LOSSES]
    if sums:
        raise NotApplicable(
            f"hstats takes losses that are means over the rows, and {listed(sums)} "
            "is none."
        )
    drawn = {"seed": seed, "n_repeats": n_repeats, "n_rows": n_rows or data.n_samples}
    found = [
        hstats.permutation(
            data.X,
            data.y,
            model.predict,
            groups=data.groups,
            loss=row_loss,
            drawn=drawn,
            weights=data.weights if data.is_weighted else None,
            classes=classes_of(model),
        )
        for row_loss in losses.values()
    ]
    permuted = np.stack([part[0] for part in found], axis=-1)
    full = np.array([part[1] for part in found])
    for k, name in enumerate(losses):
        if name == "rmse":
            permuted[..., k], full[k] = np.sqrt(permuted[..., k]), np.sqrt(full[k])
    return permuted, np.tile(full, (n_repeats, 1))


def hstats_h_statistic(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_rows: int | None = 500,
    scale: Scale = "native",
    standardised: bool = False,
) -> tuple[Floats, Floats]:
    """Return the roots of the numerators of ``hstats::hstats``, or its H.

    Parameters, returns and raises as in `importance.interaction.h_statistic`, drawn in
    the order "hstats"; `NotApplicable` too if the rows have a single column.
    """
    groups = columns_of(data, (1, 2, 3), "h_statistic")
    if len(data.X.columns) < 2:
        raise NotApplicable("hstats must have two columns or more, but there is one.")
    found = []
    for predict in outputs(model, scale):
        numerator, denominator = np.sqrt(
            hstats.h_squared(
                data.X,
                predict,
                groups=data.groups,
                seed=seed,
                n_rows=n_rows or data.n_samples,
                weights=data.weights if data.is_weighted else None,
            )
        )
        # Up to seven curves go into one residual, three into one rounding.
        missed = rounding_of(data.n_samples, np.abs(predict(data.X)).max())
        curves = np.array([{1: 3, 2: 3, 3: 7}[len(columns)] for columns in groups])
        numerator[numerator <= missed * curves / 3] = 0
        denominator[denominator <= missed] = 0
        found.append(ratio(numerator, denominator) if standardised else numerator)
    raw = np.stack(found, axis=1)[:, np.newaxis, :]
    return raw, np.zeros(raw.shape[1:])


IMPORTANCE: dict[str, Method] = {
    "permutation": METHODS["permutation"]._replace(function=hstats_permutation),
    "h_statistic": METHODS["h_statistic"]._replace(function=hstats_h_statistic),
}
CURVES: dict[str, EffectMethod] = {}
