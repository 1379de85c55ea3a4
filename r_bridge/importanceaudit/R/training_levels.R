# Adds the levels of factors to a ranger forest, which stores them only if it orders them. They
# are taken from the data frame in its call: one of a script, which may have changed the levels,
# or one of a session. The bridge uses this function too.
with_training_levels <- function(model, scope) {
  if (class(model)[1L] != "ranger" || !is.call(model$call)) return(model)
  call <- match.call(ranger::ranger, model$call)
  rows <- if (is.null(call$x)) call$data else call$x
  rows <- tryCatch(eval(rows, scope), error = function(e) NULL)
  names <- model$forest$independent.variable.names
  # A different object may have that name by now.
  is_same <- is.data.frame(rows) && all(names %in% names(rows)) && nrow(rows) == model$num.samples
  if (!is_same) return(model)
  texts <- function(x) if (is.factor(x) || is.character(x)) levels(as.factor(x))
  attr(model, "training_levels") <- lapply(as.list(rows)[names], texts)
  model
}
