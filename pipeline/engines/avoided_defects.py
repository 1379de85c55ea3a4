"""Faults of R packages that no question of an audit meets, and how they are avoided.

What touches a number is in `known_defects`. These are told all the same: who asks the
package without the audit meets them.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from .known_defects import is_between

ENGINES = {
    "vip": ("vip",),
    "yardstick": ("vip",),
    "pdp": ("vip", "pdp"),
    "fastshap": ("vip",),
    "DALEX": ("DALEX",),
    "ingredients": ("DALEX",),
}
"""The engines that each package may work for."""
PERMUTATION = ("permutation",)
CURVES = ("partial_dependence", "ale", "accumulated_profile", "conditional_profile")


class Avoided(NamedTuple):
    """One fault, and what the audit does instead.

    Attributes
    ----------
    id, package : str
    since, before : str
        As in `known_defects.Defect`.
    methods : tuple of str
        The measures and curves it could touch; empty for all.
    text : str
        Two sentences: what is wrong, and how it is avoided.
    """

    id: str
    package: str
    since: str
    before: str
    methods: tuple[str, ...]
    text: str


AVOIDED: tuple[Avoided, ...] = (
    Avoided(
        id="VIP-RANK",
        package="vip",
        since="",
        before="0.5",
        methods=(),
        text=(
            "vip before 0.5 ranks wrongly with rank = TRUE, unless its table is "
            "sorted, decreasing and without ties. Ranks here are made from the "
            "importances."
        ),
    ),
    Avoided(
        id="VIP-PARREPS",
        package="vip",
        since="",
        before="0.4.3",
        methods=PERMUTATION,
        text=(
            "vip before 0.4.3 never runs repetitions in parallel (vip issue 161). It "
            "is asked for one after the other."
        ),
    ),
    Avoided(
        id="VIP-PARSEED",
        package="vip",
        since="",
        before="",
        methods=PERMUTATION,
        text=(
            "Seeds have no effect on vip in parallel (vip issue 145). It is asked for "
            "one repetition after the other."
        ),
    ),
    Avoided(
        id="VIP-NA",
        package="vip",
        since="",
        before="",
        methods=(),
        text=(
            "vip::vi leaves out features without a number and does not say so. Its "
            "parts are asked themselves, which keep them."
        ),
    ),
    Avoided(
        id="VIP-SCALE",
        package="vip",
        since="",
        before="",
        methods=(),
        text=(
            "vip::vi(scale = TRUE) divides by the largest importance, be it 0 or "
            "below. Shares here are made from the importances, and NaN where they say "
            "nothing."
        ),
    ),
    Avoided(
        id="VIP-EVENT",
        package="vip",
        since="",
        before="",
        methods=PERMUTATION,
        text=(
            "vip's logloss and brier take the first level for the event without a "
            "word. Losses are passed as functions, with the positive class stated."
        ),
    ),
    Avoided(
        id="YARDSTICK-BRIER",
        package="yardstick",
        since="",
        before="1.4.0",
        methods=PERMUTATION,
        text=(
            "The brier of yardstick before 1.4.0 ignores the event level, which turns "
            "every sign. vip gets our losses instead."
        ),
    ),
    Avoided(
        id="YARDSTICK-NA",
        package="yardstick",
        since="",
        before="",
        methods=PERMUTATION,
        text=(
            "yardstick drops rows with missing predictions without a word. Predictions"
            " must be finite here, and vip gets our losses."
        ),
    ),
    Avoided(
        id="YARDSTICK-WEIGHTS",
        package="yardstick",
        since="",
        before="",
        methods=PERMUTATION,
        text=(
            "The brier of yardstick puts row weights through a softmax. Weighted rows "
            "are never asked of vip."
        ),
    ),
    Avoided(
        id="PDP-GBMFACTOR",
        package="pdp",
        since="",
        before="0.8.3",
        methods=CURVES,
        text=(
            "pdp before 0.8.3 reads the levels of a factor one too far when it walks "
            "the trees of a gbm. It gets a prediction function and walks no tree."
        ),
    ),
    Avoided(
        id="PDP-INTGRID",
        package="pdp",
        since="",
        before="",
        methods=CURVES,
        text=(
            "pdp cuts the grid of an integer column to whole numbers. Such columns are"
            " passed to it as doubles."
        ),
    ),
    Avoided(
        id="PDP-HALFLOGIT",
        package="pdp",
        since="",
        before="",
        methods=CURVES,
        text=(
            "pdp shows classifiers on half of their logit unless it is told otherwise."
            " It gets a prediction function on the scale that is stated."
        ),
    ),
    Avoided(
        id="FASTSHAP-TEXT",
        package="fastshap",
        since="",
        before="",
        methods=("shapley",),
        text=(
            "fastshap passes a table with a factor or a text column through text of 7 "
            "digits, numbers too. Every column is passed to it as numbers."
        ),
    ),
    Avoided(
        id="FASTSHAP-BASE",
        package="fastshap",
        since="",
        before="0.1.4",
        methods=("shapley",),
        text=(
            "fastshap before 0.1.4 reports a baseline of 0 where it computed none. Its"
            " baseline is not read."
        ),
    ),
    Avoided(
        id="FASTSHAP-SEED",
        package="fastshap",
        since="",
        before="0.1.2",
        methods=("shapley",),
        text=(
            "fastshap before 0.1.2 has no argument `seed` and passes it on unseen. The"
            " stream of R is started before it is asked."
        ),
    ),
    Avoided(
        id="DALEX-N1000",
        package="DALEX",
        since="",
        before="",
        methods=(*PERMUTATION, *CURVES),
        text=(
            "DALEX draws 1000 rows, 100 for a profile, unless it is told otherwise "
            "(DALEX issue 175). It is told the number of rows every time."
        ),
    ),
    Avoided(
        id="DALEX-BOX",
        package="ingredients",
        since="",
        before="",
        methods=PERMUTATION,
        text=(
            "Box plots of ingredients count the mean as one repeat more. Intervals "
            "here are of the repeats alone."
        ),
    ),
    Avoided(
        id="DALEX-ACC",
        package="DALEX",
        since="",
        before="",
        methods=PERMUTATION,
        text=(
            "DALEX::loss_accuracy is an accuracy: larger is better (DALEX issue 535). "
            "It cannot be asked for as a loss."
        ),
    ),
    Avoided(
        id="DALEX-XENT",
        package="DALEX",
        since="",
        before="",
        methods=PERMUTATION,
        text=(
            "DALEX::loss_cross_entropy is a sum clipped at 0.0001, over columns by the"
            " code of the class. It has a name of its own here, dalex_cross_entropy, "
            "and columns are passed in the order of the levels."
        ),
    ),
    Avoided(
        id="DALEX-CENTER",
        package="ingredients",
        since="",
        before="",
        methods=CURVES[1:],
        text=(
            "ingredients centres accumulated profiles whatever `center` says. They are"
            " never asked for uncentred."
        ),
    ),
    Avoided(
        id="DALEX-SILENT",
        package="DALEX",
        since="",
        before="",
        methods=(),
        text=(
            "DALEX::explain swallows the errors of predict. It is told not to predict,"
            " and an error of predict ends the question with its own words."
        ),
    ),
    Avoided(
        id="DALEX-METHODS",
        package="DALEX",
        since="",
        before="",
        methods=(),
        text=(
            "Saved results of DALEX print as plain tables until DALEX and ingredients "
            "are loaded (DALEX issue 569). Load both before you read one."
        ),
    ),
    Avoided(
        id="ING-DOTS",
        package="ingredients",
        since="",
        before="2.3.1",
        methods=PERMUTATION,
        text=(
            "ingredients before 2.3.1 passes no further arguments on to predict. None "
            "is needed here."
        ),
    ),
    Avoided(
        id="ING-INT",
        package="ingredients",
        since="",
        before="2.3.0",
        methods=CURVES,
        text=(
            "ingredients before 2.3.0 grids integers by quantiles. It is told every "
            "point of the grid."
        ),
    ),
)


def avoided(
    engines: Collection[str], methods: Collection[str], versions: Mapping[str, str]
) -> tuple[Avoided, ...]:
    """Return the faults that an audit kept clear of, in the order of the register.

    Parameters
    ----------
    engines : collection of str
        Who took part.
    methods : collection of str
        The measures and curves they were asked for.
    versions : mapping of str to str
        Installed version of each R package.
    """
    return tuple(
        fault
        for fault in AVOIDED
        if not set(ENGINES[fault.package]).isdisjoint(engines)
        and (not fault.methods or not set(fault.methods).isdisjoint(methods))
        and is_between(versions.get(fault.package, ""), fault.since, fault.before)
    )
