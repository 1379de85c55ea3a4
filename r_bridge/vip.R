# Calls vip (and pdp, which computes its curves) for quantities that the audit computes in
# Python. Written for vip 0.4.x and 0.5.x.
#
# data     the features only, a plain data frame
# predict  function(object, newdata, ...) that returns one number per row, or a matrix with
#          one column per class; the model itself is never sent to R

# The score of every feature in every repeat, in the order of features.
#
# form    "difference" or "ratio"
# n_rows  rows drawn, NULL for all
vip_permute <- function(data, y, predict, features, loss, seed, n_repeats, form,
                        n_rows = NULL, classes = NULL) {
  of_loss <- loss_named(loss)
  start_stream(seed)
  scores_of(features, vip::vi_permute(
    structure(list(), class = "audited_model"),
    feature_names = features, train = data, target = as_observed(y, classes),
    metric = function(truth, estimate) of_loss(truth, estimate),
    smaller_is_better = TRUE, type = form, nsim = n_repeats, keep = TRUE,
    sample_size = n_rows, pred_wrapper = function(object, newdata) predict(object, newdata)
  ))
}

# The scores in a result of vip, one row per feature, matched by name: its rows may be sorted
# while its raw scores are not. A single repeat has no raw scores.
scores_of <- function(features, answer) {
  scores <- attr(answer, "raw_scores")
  if (is.null(scores)) {
    scores <- matrix(answer$Importance, dimnames = list(answer$Variable, NULL))
  }
  unname(scores[features, , drop = FALSE])
}

# The importance of every feature in every repeat from the values that fastshap samples, in
# the order of the columns. The random stream continues from one repeat to the next.
#
# data    numbers only: fastshap converts other frames to text with seven digits
# adjust  whether fastshap distributes the difference of its values from their sum
vip_shap <- function(data, predict, seed, n_repeats, n_permutations, adjust) {
  start_stream(seed)
  features <- names(data)
  of_repeat <- function(k) {
    answer <- vip::vi_shap(
      structure(list(), class = "audited_model"),
      feature_names = features, train = data, nsim = n_permutations, adjust = adjust,
      pred_wrapper = function(object, newdata) predict(object, newdata)
    )
    answer$Importance[match(features, answer$Variable)]
  }
  matrix(vapply(seq_len(n_repeats), of_repeat, numeric(length(features))), length(features))
}

# The partial dependence of one feature at the points of grid, in their order, and its
# spread.
#
# predict  one number per row, on the requested scale
# divisor  divisor of the range over categories
vip_firm <- function(data, predict, feature, grid, divisor) {
  points <- as_points(grid, data[[feature]])
  # pdp rounds every grid of an integer column to whole numbers, even a given grid.
  if (is.double(points)) data[[feature]] <- as.double(data[[feature]])
  firm_of(feature, points, vip::vi_firm(
    structure(list(), class = "audited_model"),
    feature_names = feature, train = data, type = "regression",
    pred.grid = stats::setNames(data.frame(points), feature),
    pred.fun = function(object, newdata) mean(predict(object, newdata)),
    var_continuous = stats::sd,
    var_categorical = function(x) diff(range(x)) / divisor
  ))
}

# That partial dependence only.
vip_curve <- function(data, predict, feature, grid) {
  vip_firm(data, predict, feature, grid, divisor = 4)$values
}

firm_of <- function(feature, points, answer) {
  curve <- attr(answer, "effects")[[feature]]
  list(
    importance = as.numeric(answer$Importance),
    values = curve$yhat[match(points, curve[[feature]])]
  )
}
