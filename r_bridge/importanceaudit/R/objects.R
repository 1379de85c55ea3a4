# Objects of the classes of vip and DALEX, made from the numbers of an audit. The bridge uses the
# same functions for hand-offs.

as_vi <- function(x, measurement = NULL) {
  one <- measured_in(x, measurement)
  vi_object(one$features, one$values, one$facts$method, "0.5")
}

as_model_parts <- function(x, measurement = NULL) {
  one <- measured_in(x, measurement)
  if (one$facts$method != "permutation" || !one$facts$form %in% c("difference", "ratio", "raw")) {
    stop("measurement ", one$facts$measurement, " is no permutation importance with a loss of its ",
         "own in each round (method '", one$facts$method, "', form '", one$facts$form, "'). ",
         "as_vi takes any.", call. = FALSE)
  }
  y_permuted <- losses_of_permuted_y(x, one$facts)
  if (length(y_permuted) != ncol(one$raw)) y_permuted <- rep(NA_real_, ncol(one$raw))
  parts_object(one$features, one$raw, one$baseline, y_permuted, one$facts$form,
               one$facts$model, one$facts$loss)
}

# The loss with y permuted in each round. It belongs to the draws of our first result for the same
# question; a later result with other options has other draws.
losses_of_permuted_y <- function(x, facts) {
  table <- x$tables$y_permuted
  is_same <- function(rows, names) Reduce(`&`, lapply(names, function(n) rows[[n]] %in% facts[[n]]))
  question <- c("model", "of", "loss")
  ours <- x$importances[x$importances$engine == "python" & x$importances$method == "permutation", ]
  same <- ours[is_same(ours, question), ]
  first <- same[1, ]
  if (is.null(table) || !is_same(first, c("stream", "seed"))) return(NULL)
  next_one <- same$measurement[same$measurement > first$measurement & same$stream == first$stream]
  if (any(next_one <= facts$measurement)) return(NULL)
  table$value[is_same(table, question)]
}

# A measurement with its numbers, one row for each feature and one column for each repeat; by
# default the first one, as in print.
measured_in <- function(x, measurement) {
  if (!inherits(x, "importance_audit")) {
    stop("x must be what importance_audit or read_audit returns; it is of class '", class(x)[1],
         "'.", call. = FALSE)
  }
  known <- unique(x$importances$measurement)
  if (is.null(measurement)) measurement <- leading_measurement(x$importances)$measurement[1]
  require_that(length(measurement) == 1 && measurement %in% known, "measurement", measurement,
               paste("one of those in x$importances,", toString(known)))
  rounds <- x$tables$importances
  rounds <- rounds[measurement_of(rounds) == measurement, ]
  features <- unique(rounds$feature)
  by_repeat <- function(name) {
    matrix(rounds[[name]], length(features), byrow = TRUE, dimnames = list(features, NULL))
  }
  list(features = features, values = by_repeat("value"), raw = unname(by_repeat("raw")),
       baseline = by_repeat("baseline")[1, ], facts = x$importances[
         x$importances$measurement == measurement, ][1, ])
}

# The mean of each row, rounded as by R's `mean`.
means_of <- function(rounds) unname(apply(rounds, 1L, mean))

# An object as returned by vi(), in its order. The raw scores keep the requested order.
#
# values  one row per feature, one column per repeat
# line    "0.4" or "0.5": the version line of vip for its class
vi_object <- function(features, values, type, line) {
  columns <- list(Variable = features, Importance = means_of(values))
  if (ncol(values) > 1L) columns$StDev <- unname(apply(values, 1L, stats::sd))
  order_of <- order(columns$Importance, decreasing = TRUE)
  object <- lapply(columns, `[`, order_of)
  attr(object, "row.names") <- .set_row_names(length(features))
  attr(object, "type") <- type
  if (ncol(values) > 1L) {
    dimnames(values) <- list(features, paste0("permutation_", seq_len(ncol(values))))
    attr(object, "raw_scores") <- values
  }
  tibble <- if (line == "0.4") c("tbl_df", "tbl")
  class(object) <- c("vi", tibble, "data.frame")
  object
}

# An object as returned by DALEX::model_parts(): the means over the rounds, losses ascending and
# without missing values, then each round as drawn.
#
# losses            one row per variable, one column per round
# full, y_permuted  one number per round
parts_object <- function(variables, losses, full, y_permuted, form, label, loss_name) {
  names_of <- function(inner) c("_full_model_", inner, "_baseline_")
  rounds <- rbind(full, losses, y_permuted)
  means <- means_of(rounds)
  inner <- means[1L + seq_along(variables)]
  ascending <- order(inner, na.last = NA)
  mean_full <- means[1L]
  values <- c(mean_full, inner[ascending], means[length(means)])
  variable <- names_of(variables[ascending])
  round <- rep(0, length(values))
  if (ncol(losses) > 1L) {
    values <- c(values, as.vector(rounds))
    variable <- c(variable, rep(names_of(variables), ncol(losses)))
    round <- c(round, rep(as.numeric(seq_len(ncol(losses))), each = nrow(rounds)))
  }
  if (form == "difference") values <- values - mean_full
  if (form == "ratio") values <- values / mean_full
  object <- data.frame(variable = variable, permutation = round, dropout_loss = values,
                       label = rep(label, length(values)), stringsAsFactors = FALSE)
  attr(object, "B") <- as.numeric(ncol(losses))
  attr(object, "loss_name") <- loss_name
  class(object) <- c("model_parts", "feature_importance_explainer", "data.frame")
  object
}
