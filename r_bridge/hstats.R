# Calls hstats for quantities that the audit computes in Python. Every argument that affects a
# number is passed: none is left to a default of hstats.
#
# data     the features only, a plain data frame
# predict  function(object, newdata, ...) that returns one number per row, or a matrix with
#          one column per class; the model itself is never sent to R
# weights  one number per row, NULL for none
# n_rows   rows to draw if there are more

# The mean loss of every group in every repeat, one column each, and in a last column the loss
# without permutation.
#
# hstats returns only the mean over its repeats and their standard error, as differences from
# the loss without permutation. But it accepts losses with several columns: with one column per
# repeat, zero in all others, it returns each repeat separately.
hstats_permutation <- function(data, y, predict, groups, loss, seed, n_repeats, n_rows,
                               weights = NULL, classes = NULL) {
  of_row <- row_losses[[loss]]
  plain <- plainly_named(data, predict)
  is_permuted <- FALSE
  by_repeat <- function(observed, predicted) {
    row_loss <- of_row(observed, if (is.null(classes)) as.vector(predicted) else predicted)
    columns <- matrix(0, length(row_loss), n_repeats + 1)
    if (is_permuted) {
      of_repeat <- rep(seq_len(n_repeats), each = length(row_loss) / n_repeats)
      columns[cbind(seq_along(row_loss), of_repeat)] <- n_repeats * row_loss
    } else {
      columns[, n_repeats + 1] <- -row_loss
    }
    is_permuted <<- TRUE
    columns
  }
  variables <- lapply(unname(groups), plain$names_of)
  names(variables) <- paste0("group", seq_along(variables))
  start_stream(seed)
  answer <- hstats::perm_importance(
    structure(list(), class = "audited_model"),
    X = plain$data, y = as_observed(y, classes), v = variables, pred_fun = plain$predict,
    loss = by_repeat, m_rep = n_repeats, agg_cols = FALSE, normalize = FALSE,
    n_max = n_rows, w = weights, verbose = FALSE
  )
  unname(answer$M[names(variables), , drop = FALSE])
}

# Numerator and denominator of Friedman's H squared for one, two or three columns, one row
# per group. Small values are not set to 0: eps is 0.
hstats_h <- function(data, predict, groups, seed, n_rows, weights = NULL) {
  plain <- plainly_named(data, predict)
  # In the order of the data, by which hstats names pairs; it needs at least two columns.
  is_used <- names(data) %in% unlist(groups)
  if (sum(is_used) == 1) is_used[which(!is_used)[1]] <- TRUE
  columns <- names(plain$data)[is_used]
  sizes <- lengths(groups)
  start_stream(seed)
  answer <- hstats::hstats(
    structure(list(), class = "audited_model"),
    X = plain$data, v = columns, pred_fun = plain$predict,
    pairwise_m = if (any(sizes > 1)) length(columns) else 0L,
    threeway_m = if (any(sizes > 2)) length(columns) else 0L,
    approx = FALSE, n_max = n_rows, eps = 0, w = weights, verbose = FALSE
  )
  parts <- lapply(unname(groups), function(group) {
    h_of(answer, intersect(columns, plain$names_of(group)))
  })
  matrix(unlist(parts), ncol = 2, byrow = TRUE)
}

# Numerator and denominator of the part not explained by all other columns, one row per feature.
# Small values are not set to 0.
hstats_pd_importance <- function(data, predict, features, seed, n_rows, weights = NULL) {
  plain <- plainly_named(data, predict)
  columns <- plain$names_of(features)
  # hstats needs at least two columns; the result for one does not depend on the others.
  variables <- union(columns, names(plain$data)[seq_len(2)])
  start_stream(seed)
  answer <- hstats::hstats(
    structure(list(), class = "audited_model"),
    X = plain$data, v = variables, pred_fun = plain$predict, pairwise_m = 0L, threeway_m = 0L,
    approx = FALSE, n_max = n_rows, eps = 0, w = weights, verbose = FALSE
  )
  importance <- answer$pd_importance
  cbind(unname(importance$num[columns, 1]), as.numeric(importance$denom))
}

# The statistic of hstats for some columns. It leaves out pairs with a column that interacts
# with no other, and uses 1 as their denominator; here it is the mean square of their curves.
h_of <- function(answer, columns) {
  kind <- c("h2_overall", "h2_pairwise", "h2_threeway")[length(columns)]
  name <- paste(columns, collapse = ":")
  statistic <- answer[[kind]]
  if (length(columns) == 1) {
    return(c(statistic$num[name, 1], statistic$denom))
  }
  if (name %in% names(answer[[paste0("combs", length(columns))]])) {
    return(c(statistic$num[name, 1], statistic$denom[name, 1]))
  }
  c(0, sum(vapply(answer$F_j[columns], function(curve) mean(curve^2), 0)))
}
