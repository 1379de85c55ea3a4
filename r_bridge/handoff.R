# Objects of vip and DALEX made from numbers, as data only.

# The first part of an object that is not data, with its path; "" if there is none.
live_part <- function(object, at = "object") {
  plain <- c("NULL", "logical", "integer", "double", "complex", "character", "raw")
  if (!typeof(object) %in% c(plain, "list")) return(paste(typeof(object), "at", at))
  carried <- attributes(object)
  carried$names <- NULL
  inner <- c(carried, if (is.list(object)) unclass(object))
  for (n in seq_along(inner)) {
    where <- paste0(at, "$", names(inner)[n])
    fault <- live_part(inner[[n]], where)
    if (nzchar(fault)) return(fault)
  }
  ""
}

# The aggregated profiles of DALEX::model_profile(), of numbers or of categories. Partial
# profiles are sorted by their points, whatever their variables.
#
# x       the points, as numbers or as text with their levels
# method  "partial" or "accumulated"
profile_object <- function(variables, x, yhat, label, mean_prediction, method,
                           levels = NULL) {
  if (!is.null(levels)) x <- factor(x, levels)
  object <- data.frame(`_vname_` = variables, `_label_` = rep(label, length(yhat)),
                       `_x_` = x, `_yhat_` = yhat, `_ids_` = rep(0, length(yhat)),
                       check.names = FALSE, stringsAsFactors = FALSE)
  if (method == "partial") object <- object[order(object$`_x_`), ]
  attr(object, "row.names") <- .set_row_names(nrow(object))
  attr(object, "mean_prediction") <- mean_prediction
  class(object) <- c("aggregated_profiles_explainer",
                     paste0(method, "_dependence_explainer"), "data.frame")
  object
}

make_object <- function(kind, parts) {
  makers <- list(vi = vi_object, parts = parts_object, profile = profile_object,
                 rows = function(table) table)
  do.call(makers[[kind]], parts)
}

# Writes an object, unless it contains more than data; returns the offending part.
handoff_write <- function(kind, parts, file) {
  object <- make_object(kind, parts)
  fault <- live_part(object)
  if (!nzchar(fault)) saveRDS(object, file, version = 3L)
  fault
}

# Whether a file contains the object that these numbers make.
handoff_holds <- function(kind, parts, file) {
  identical(readRDS(file), make_object(kind, parts))
}

# The columns of an object without its other attributes.
handoff_table <- function(kind, parts) {
  object <- make_object(kind, parts)
  columns <- lapply(stats::setNames(nm = names(object)), function(name) unclass(object)[[name]])
  structure(columns, class = "data.frame", row.names = .set_row_names(nrow(object)))
}

writes_parquet <- function() requireNamespace("nanoparquet", quietly = TRUE)

# Writes that table as Parquet, and returns whether it is read back unchanged.
handoff_parquet <- function(kind, parts, file) {
  table <- handoff_table(kind, parts)
  nanoparquet::write_parquet(table, file)
  back <- as.data.frame(nanoparquet::read_parquet(file))
  identical(as.list(back), as.list(table))
}
