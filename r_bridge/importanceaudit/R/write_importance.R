# Importances and profiles of vip and DALEX as a table for [[supplied]] of audit.toml.
# It needs base R only: source() this file if the package is not installed.

write_importance <- function(x, file) {
  if (inherits(x, "model_profile")) x <- x$agr_profiles
  if (inherits(x, "vi")) {
    table <- vi_table(x)
  } else if (inherits(x, "feature_importance_explainer")) {
    table <- parts_table(x)
  } else if (inherits(x, "aggregated_profiles_explainer")) {
    table <- profile_table(x)
  } else {
    stop("x must be what vip::vi, DALEX::model_parts or DALEX::model_profile returns; it is ",
         "of class ", toString(class(x)), ".", call. = FALSE)
  }
  cells <- lapply(table, as_cells)
  lines <- c(paste(names(cells), collapse = ","), do.call(paste, c(cells, sep = ",")))
  connection <- file(file, "wb")
  on.exit(close(connection))
  writeLines(enc2utf8(lines), connection, useBytes = TRUE)
  invisible(table)
}

# The scores of each repeat, in the order of the importances.
vi_table <- function(x) {
  scores <- attr(x, "raw_scores")
  if (is.null(scores) && "StDev" %in% names(x)) {
    stop("x has the means over its repeats alone. Ask vip with keep = TRUE.", call. = FALSE)
  }
  features <- as.character(x$Variable)
  scores <- if (is.null(scores)) matrix(x$Importance) else scores[features, , drop = FALSE]
  gaps <- abs(unname(rowMeans(scores)) - x$Importance)
  if (any(gaps > 1e-9 * max(abs(scores[is.finite(scores)]), 0), na.rm = TRUE)) {
    stop("the importances of x are not the means of its repeats: they were scaled or ranked. ",
         "Ask vip with scale = FALSE and rank = FALSE.", call. = FALSE)
  }
  data.frame(feature = rep(features, ncol(scores)),
             "repeat" = rep(seq_len(ncol(scores)), each = nrow(scores)),
             value = as.vector(scores), check.names = FALSE)
}

# The losses of each round, with those of the full model and of a permuted target.
parts_table <- function(x) {
  check_one_label(x$label)
  if (any(x$permutation > 0)) x <- x[x$permutation > 0, ]  # round 0 is the mean of the others
  data.frame(feature = x$variable, "repeat" = pmax(x$permutation, 1), value = x$dropout_loss,
             check.names = FALSE)
}

profile_table <- function(x) {
  check_one_label(x$`_label_`)
  if (!inherits(x, "partial_dependence_explainer")) {
    stop("x holds ", sub("_dependence_explainer", "", class(x)[2]), " profiles, and an audit ",
         "compares partial ones. Ask DALEX with type = \"partial\".", call. = FALSE)
  }
  data.frame(feature = x$`_vname_`, x = x$`_x_`, value = x$`_yhat_`)
}

check_one_label <- function(labels) {
  labels <- unique(labels)
  if (length(labels) > 1) {
    stop("x is about more than one model or group (", toString(labels), "). Write each into a ",
         "file of its own.", call. = FALSE)
  }
}

# Numbers with all their digits. An apostrophe prevents spreadsheets from evaluating text that
# begins like a formula; the audit removes it.
as_cells <- function(column) {
  if (is.numeric(column)) return(sprintf("%.17g", column))
  text <- sub("^('*[=+@\t\r-])", "'\\1", column)
  paste0('"', gsub('"', '""', text), '"')
}
