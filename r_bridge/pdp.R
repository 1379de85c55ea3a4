# Asks pdp what the audit computes in Python.

# The partial dependence of one feature at the points of grid, in their order.
#
# data     the features only, a plain data frame
# predict  function(object, newdata, ...) that returns one number per row, on the scale that
#          is asked for; the model itself never comes to R
pdp_partial <- function(data, predict, feature, grid) {
  points <- as_points(grid, data[[feature]])
  # pdp cuts every grid of an integer column to whole numbers, a given one too.
  if (is.double(points)) data[[feature]] <- as.double(data[[feature]])
  curve <- pdp::partial(
    structure(list(), class = "audited_model"),
    pred.var = feature, pred.grid = stats::setNames(data.frame(points), feature),
    pred.fun = function(object, newdata) mean(predict(object, newdata)),
    train = data, type = "regression"
  )
  curve$yhat[match(points, curve[[feature]])]
}
