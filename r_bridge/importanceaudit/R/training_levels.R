# A forest of ranger with the levels of its factors, which it forgets unless it orders them. Its
# call says what it was fitted to: a data frame of a script, which may have made other levels of
# those it was given, or of a session. The bridge uses this function too.
with_training_levels <- function(model, scope) {
  if (class(model)[1L] != "ranger" || !is.call(model$call)) return(model)
  call <- match.call(ranger::ranger, model$call)
  rows <- if (is.null(call$x)) call$data else call$x
  rows <- tryCatch(eval(rows, scope), error = function(e) NULL)
  names <- model$forest$independent.variable.names
  # Another object may have that name by now.
  is_same <- is.data.frame(rows) && all(names %in% names(rows)) && nrow(rows) == model$num.samples
  if (!is_same) return(model)
  texts <- function(x) if (is.factor(x) || is.character(x)) levels(as.factor(x))
  attr(model, "training_levels") <- lapply(as.list(rows)[names], texts)
  model
}
