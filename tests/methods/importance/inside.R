# Fitted models of R as far as their recorded insides go: what is read must be there.

# error  the standard errors: of each row, or of each row and column
forest_inside <- function(type, values, rows, cols, error = NULL) {
  names <- list(unlist(rows), unlist(cols))
  table <- matrix(values, length(rows), dimnames = names)
  if (is.matrix(error)) dimnames(error) <- list(names[[1]], names[[2]][seq_len(ncol(error))])
  model <- structure(list(importance = table, importanceSD = error), class = "randomForest")
  model_numbers(model, type)
}

ranger_inside <- function(mode, names, values) {
  stored <- stats::setNames(values, unlist(names))
  parts <- list(variable.importance = stored, importance.mode = mode)
  model_numbers(structure(parts, class = "ranger"), "")
}

net_inside <- function(type, n, wts, conn, nconn, coefnames = NULL) {
  parts <- list(n = n, wts = wts, conn = conn, nconn = nconn, coefnames = unlist(coefnames))
  model_numbers(structure(parts, class = c("nnet.formula", "nnet")), type)
}

# columns, decreases  of the splits of each tree: the number of the column, from 0
boosting_inside <- function(type, names, columns, decreases) {
  trees <- Map(function(column, decrease) {
    list(c(column, -1), NULL, NULL, NULL, NULL, c(decrease, 0))
  }, columns, decreases)
  model_numbers(structure(list(trees = trees, var.names = unlist(names)), class = "gbm"), type)
}
