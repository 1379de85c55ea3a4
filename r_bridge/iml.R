# Calls iml for quantities that the audit computes in Python. Every argument that affects a
# number is passed: none is left to a default of iml.
#
# data     the features only, a plain data frame of two columns or more
# predict  function(object, newdata, ...) that returns one number per row; the model itself
#          is never sent to R

# The predictor that iml calls instead of a model, with the data as numbers; predict gets them
# in their original types. All rows are predicted in one call: the default is many small ones.
#
# factor_name  a factor that is not converted, NULL for none
predictor_of <- function(data, predict, y = NULL, factor_name = NULL) {
  plain <- plainly_named(data, predict)
  numbers <- lapply(plain$data, as.double)
  if (!is.null(factor_name)) {
    numbers[[plain$names_of(factor_name)]] <- in_its_order(data[[factor_name]])
  }
  iml::Predictor$new(
    model = structure(list(), class = "audited_model"), data = as.data.frame(numbers), y = y,
    predict.function = function(model, newdata) {
      plain$predict(model, as.data.frame(Map(as_was, as.list(newdata), as.list(plain$data))))
    },
    batch.size = 3 * nrow(data)^2 + 3
  )
}

# An ordered factor keeps its order: iml would sort levels by the similarity of their rows.
# Levels without rows are not on the curve.
in_its_order <- function(column) as.ordered(droplevels(column))

as_was <- function(values, column) {
  if (!is.factor(column)) {
    return(values)
  }
  level <- if (is.factor(values)) as.character(values) else levels(column)[values]
  factor(level, levels(column), ordered = is.ordered(column))
}

# The loss of every group in every repeat, one column each, and in a last column the loss
# without permutation. iml returns only the median of its repeats: it is called for one at a time.
iml_permutation <- function(data, y, predict, groups, loss, seed, n_repeats) {
  predictor <- predictor_of(data, predict, y)
  names_of <- plainly_named(data, predict)$names_of
  variables <- lapply(unname(groups), names_of)
  names(variables) <- paste0("group", seq_along(variables))
  start_stream(seed)
  full <- NULL
  permuted <- lapply(seq_len(n_repeats), function(i) {
    answer <- iml::FeatureImp$new(
      predictor,
      loss = loss_named(loss), compare = "difference", n.repetitions = 1, features = variables
    )
    full <<- answer$original.error
    answer$results$permutation.error[match(names(variables), answer$results$feature)]
  })
  unname(cbind(do.call(cbind, permuted), full))
}

# The curve of one feature at the points of grid, in their order.
#
# method  "pdp" or "ale"
iml_curve <- function(data, predict, feature, grid, method) {
  name <- plainly_named(data, predict)$names_of(feature)
  keeps_levels <- method == "ale" && is.factor(data[[feature]])
  points <- if (is.numeric(grid)) grid else match(grid, levels(data[[feature]]))
  curve <- iml::FeatureEffect$new(
    predictor_of(data, predict, factor_name = if (keeps_levels) feature),
    feature = name, method = method, center.at = NULL,
    grid.points = if (!keeps_levels) points
  )$results
  curve$.value[match(if (keeps_levels) grid else points, curve[[name]])]
}

# Friedman's H (not squared) of one column with all others or of a pair; one row per group.
iml_h <- function(data, predict, groups, seed) {
  names_of <- plainly_named(data, predict)$names_of
  predictor <- predictor_of(data, predict)
  variables <- lapply(unname(groups), names_of)
  partners <- vapply(variables, function(columns) c(columns, "")[2], "")
  start_stream(seed)
  # With as many points as rows, the draw includes every row.
  interactions <- lapply(unique(partners), function(partner) {
    iml::Interaction$new(
      predictor,
      feature = if (nzchar(partner)) partner, grid.size = nrow(data)
    )$results
  })
  interactions <- do.call(rbind, interactions)
  names <- vapply(variables, paste, "", collapse = ":")
  interactions$.interaction[match(names, interactions$.feature)]
}
