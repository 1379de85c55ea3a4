# Calls DALEX (and ingredients, which it uses) for quantities that the audit computes in Python.
# Every argument that affects a number is passed: none is left to a default of theirs.
#
# predict  function(object, newdata, ...) that returns one number per row, or a matrix with
#          one column per class; the model itself is never sent to R

# The predictions when R calls predict, to be compared with those in Python, and how many random
# numbers predicting takes from R's stream. It should be none, because it would change every
# later draw. The count ends at `most`.
predictions <- function(data, predict, most) {
  start_stream(1)
  predicted <- predict(NULL, data)
  after <- globalenv()$.Random.seed
  start_stream(1)
  n_draws <- 0
  while (n_draws < most && !identical(globalenv()$.Random.seed, after)) {
    stats::runif(1)
    n_draws <- n_draws + 1
  }
  list(predicted = predicted, n_draws = as.numeric(n_draws))
}

# With precalculate, explain() would predict up to three times and hide every error.
# The type of model affects only the default loss, which is never used.
explainer_of <- function(data, y, predict) {
  DALEX::explain(
    structure(list(), class = "audited_model"),
    data = data, y = y, predict_function = predict, label = "audited model",
    model_info = list(package = "importance-audit", ver = "1", type = "regression"),
    precalculate = FALSE, verbose = FALSE
  )
}

# The loss of every variable or group in every round, the loss without permutation
# (_full_model_) and the loss with y permuted (_baseline_).
#
# groups    named list of column names
# own_loss  name of DALEX's function for the loss, NULL for ours
# n_rows    rows drawn per round, NULL for all
# classes   names of the columns of a prediction, NULL if it is one number
dalex_parts <- function(data, y, predict, loss, seed, n_repeats, groups,
                        own_loss = NULL, n_rows = NULL, classes = NULL) {
  loss_function <- if (is.null(own_loss)) {
    loss_named(loss)
  } else {
    getExportedValue("DALEX", own_loss)
  }
  explainer <- explainer_of(data, as_observed(y, classes), predict)
  alone <- all(lengths(groups) == 1)
  start_stream(seed)
  parts <- DALEX::model_parts(
    explainer,
    loss_function = loss_function, type = "raw", B = n_repeats, N = n_rows,
    variables = if (alone) unlist(groups),
    variable_groups = if (!alone) lapply(groups, unlist)
  )
  # A single round is returned as its own mean, under permutation 0.
  rounds <- if (n_repeats == 1) parts else parts[parts$permutation > 0, ]
  list(
    feature = as.character(rounds$variable),
    round = pmax(as.integer(rounds$permutation), 1L),
    loss = as.numeric(rounds$dropout_loss)
  )
}

# The profile of one feature at the points of grid, in their order.
#
# type    "partial", "conditional" or "accumulated"
# span    standard deviation of the kernel as a share of the grid's range; unused by "partial"
# n_rows  rows drawn, NULL for all
dalex_profile <- function(data, predict, feature, grid, type, seed,
                          span = 0.25, n_rows = NULL) {
  points <- as_points(grid, data[[feature]])
  explainer <- explainer_of(data, NULL, predict)
  start_stream(seed)
  profile <- DALEX::model_profile(
    explainer,
    variables = feature, N = n_rows, type = type, span = span,
    variable_splits = stats::setNames(list(points), feature),
    variable_type = if (is.numeric(points)) "numerical" else "categorical"
  )$agr_profiles
  profile$`_yhat_`[match(points, profile$`_x_`)]
}
