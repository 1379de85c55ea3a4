# Calls pdp for quantities that the audit computes in Python.

# The partial dependence of one feature at the points of grid, in their order.
#
# data     the features only, a plain data frame
# predict  function(object, newdata, ...) that returns one number per row, on the requested
#          scale; the model itself is never sent to R
pdp_partial <- function(data, predict, feature, grid) {
  points <- as_points(grid, data[[feature]])
  # pdp rounds every grid of an integer column to whole numbers, even a given grid.
  if (is.double(points)) data[[feature]] <- as.double(data[[feature]])
  curve <- pdp::partial(
    structure(list(), class = "audited_model"),
    pred.var = feature, pred.grid = stats::setNames(data.frame(points), feature),
    pred.fun = function(object, newdata) mean(predict(object, newdata)),
    train = data, type = "regression"
  )
  curve$yhat[match(points, curve[[feature]])]
}
