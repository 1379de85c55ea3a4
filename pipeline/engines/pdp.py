"""pdp: partial dependence curves. vip uses it for their spread."""

from .asking import partial_dependence_by

pdp_curve = partial_dependence_by("pdp", "pdp_partial")

CURVES = {"partial_dependence": pdp_curve}
