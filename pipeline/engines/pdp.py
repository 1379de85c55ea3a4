"""pdp, asked for partial dependence itself: by vip it is asked for its spread."""

from .asking import partial_dependence_by

pdp_curve = partial_dependence_by("pdp", "pdp_partial")

CURVES = {"partial_dependence": pdp_curve}
