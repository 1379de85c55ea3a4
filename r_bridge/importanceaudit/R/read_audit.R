# Reading an audit: the tables of a run folder as data frames.

read_audit <- function(folder, summary = NULL) {
  require_that(is_one_text(folder), "folder", folder, "the path of one folder")
  run <- run_folder(folder)
  files <- list.files(file.path(run, "tables"), "[.]csv$", full.names = TRUE)
  tables <- lapply(files, read_table)
  names(tables) <- sub("[.]csv$", "", basename(files))
  if (is.null(tables$importances)) {
    stop("'", run, "' has no tables/importances.csv: nothing was measured.", call. = FALSE)
  }
  report <- file.path(run, "report.html")
  if (is.null(summary)) summary <- stored_summary(run, tables$findings)
  structure(
    list(
      importances = mean_importances(tables$importances),
      findings = tables$findings,
      agreement = tables$agreement,
      tables = tables,
      verdict = summary$verdict,
      reason = c(summary$reason, unlist(summary$faults)),
      folder = run,
      report = if (file.exists(report)) report
    ),
    class = "importance_audit"
  )
}

# The columns that are text in every table: names in the data may look like numbers.
of_texts <- c(
  "accepted_until", "adjustment", "aggregator", "approved_by", "asked", "cause", "check",
  "claim", "classes", "column", "control", "definition", "dtype", "due", "encoder", "engine",
  "engine_a", "engine_b", "engine_version", "entry", "estimator", "evidence", "farthest",
  "feature", "feature_a", "feature_b", "features", "first_feature", "form", "group", "judge",
  "key", "kind", "leader_a", "leader_b", "level", "levels", "library", "look", "loss", "loss_a",
  "loss_b", "measure", "message", "method", "missing_verdict", "model", "model_a", "model_b",
  "must", "name", "of", "options", "origin", "over", "owner", "parameters", "positive_class",
  "predictions_sha256", "protocol", "ranked_by", "reading", "reason", "reasons", "remedy",
  "response", "role", "route", "scale", "script", "script_sha256", "second_feature", "segment",
  "set_by", "severity", "sha256", "source", "split", "state", "statistic", "step", "stream",
  "subject", "target", "task", "test", "unit", "verdict"
)

read_table <- function(file) {
  table <- utils::read.csv(file, check.names = FALSE, encoding = "UTF-8",
                           colClasses = "character", na.strings = character())
  # An apostrophe prevents spreadsheets from evaluating text that begins like a formula.
  table[] <- lapply(table, sub, pattern = "^'('*[=+@\t\r-])", replacement = "\\1")
  is_text <- names(table) %in% c(of_texts, if ("category" %in% table$kind) "grid")
  table[!is_text] <- lapply(table[!is_text], utils::type.convert, na.strings = character(),
                            as.is = TRUE)
  table
}

# The verdict of a stored run and its reason, from its summary, or from the findings about
# failures.
stored_summary <- function(run, findings) {
  file <- file.path(run, "summary.txt")
  lines <- if (file.exists(file)) readLines(file, warn = FALSE, encoding = "UTF-8")
  verdict <- sub("^.*: ", "", utils::head(lines, 1))
  reason <- sub("^reason: ", "", grep("^reason: ", lines, value = TRUE))
  if (!length(reason)) reason <- findings$message[findings$severity == "failure"]
  list(verdict = if (length(verdict)) verdict, reason = reason)
}

# A run folder, or the newest one of an audit.
run_folder <- function(folder) {
  if (dir.exists(file.path(folder, "tables"))) return(normalizePath(folder))
  runs <- sort(list.dirs(file.path(folder, "runs"), recursive = FALSE))
  runs <- runs[dir.exists(file.path(runs, "tables"))]
  if (!length(runs)) stop("'", folder, "' holds no run of an audit.", call. = FALSE)
  normalizePath(utils::tail(runs, 1))
}

# The columns that identify a measurement.
fields_of <- function(rounds) {
  setdiff(names(rounds), c("feature", "repeat", "raw", "baseline", "value"))
}

# Whether a row is the first of its feature in a measurement.
is_first_of <- function(rounds) {
  text <- function(column) ifelse(is.na(column), "", as.character(column))
  fields <- do.call(paste, c(lapply(rounds[fields_of(rounds)], text), sep = "\r"))
  n <- nrow(rounds)
  changed <- function(x) x[-1] != x[-n]
  is_first <- c(n > 0, changed(fields) | changed(rounds$feature))[seq_len(n)]
  if (!is.null(rounds$`repeat`)) is_first <- is_first | rounds$`repeat` == 1
  list(is_first = is_first, fields = fields)
}

# The measurement of each row, numbered from 1.
#
# A measurement is a sequence of rows that are equal in every field. Options are not columns of
# the table, so two measurements may have equal fields; then the second begins where a feature
# appears again.
measurement_of <- function(rounds) {
  found <- is_first_of(rounds)
  first <- which(found$is_first)
  measurement <- integer(length(first))
  seen <- character()
  for (i in seq_along(first)) {
    feature <- rounds$feature[first[i]]
    begins <- i == 1 || found$fields[first[i]] != found$fields[first[i - 1]] || feature %in% seen
    measurement[i] <- if (begins) max(measurement) + 1L else measurement[i - 1]
    seen <- c(if (!begins) seen, feature)
  }
  measurement[cumsum(found$is_first)]
}

# One row for each measurement and feature: mean and standard deviation over repeats.
mean_importances <- function(rounds) {
  is_first <- is_first_of(rounds)$is_first
  first <- which(is_first)
  measurement <- measurement_of(rounds)[first]
  groups <- split(seq_len(nrow(rounds)), cumsum(is_first))
  out <- cbind(measurement = measurement,
               rounds[first, c(fields_of(rounds), "feature"), drop = FALSE])
  over <- function(statistic) {
    vapply(groups, function(rows) statistic(rounds[rows, ]), 0, USE.NAMES = FALSE)
  }
  out$importance <- over(importance_of)
  out$std <- over(spread_of)
  out$n_repeats <- lengths(groups, use.names = FALSE)
  descending <- function(x) rank(-x, ties.method = "min", na.last = "keep")
  out$rank <- stats::ave(out$importance, measurement, FUN = descending)
  rownames(out) <- NULL
  out
}

# Whether ratios are pooled: a ratio of means instead of a mean of ratios.
is_pooled <- function(rows) {
  identical(rows$form[1], "ratio") && identical(rows$aggregator[1], "pooled")
}

importance_of <- function(rows) {
  if (is_pooled(rows)) return(mean(rows$raw) / mean(rows$baseline))
  if (identical(rows$aggregator[1], "median")) return(stats::median(rows$value))
  mean(rows$value)
}

spread_of <- function(rows) {
  if (!is_pooled(rows)) return(stats::sd(rows$value))
  stats::sd(rows$raw - importance_of(rows) * rows$baseline) / mean(rows$baseline)
}

# The measurement that the report shows first: ours, preferably of a model and of features.
leading_measurement <- function(importances) {
  ours <- importances[importances$engine == "python", ]
  of_model <- !is.na(ours$model) & nzchar(as.character(ours$model))
  if (any(of_model)) ours <- ours[of_model, ]
  if (any(ours$of == "features")) ours <- ours[ours$of == "features", ]
  ours[ours$measurement == ours$measurement[1], ]
}

print.importance_audit <- function(x, n = 5, ...) {
  if (!is.null(x$verdict)) cat("Audit: ", x$verdict, "\n", sep = "")
  if (length(x$reason)) cat("Because: ", paste(x$reason, collapse = "\n"), "\n", sep = "")
  leading <- leading_measurement(x$importances)
  leading <- leading[order(leading$rank), ]
  leading <- leading[!is.na(leading$rank) & leading$rank <= n, ]
  if (nrow(leading)) {
    print(leading[c("model", "method", "loss", "feature", "importance", "std")],
          row.names = FALSE, digits = 4)
    n_others <- length(setdiff(x$importances$measurement, leading$measurement))
    if (n_others) cat("Other measurements: ", n_others, ", in $importances\n", sep = "")
  } else {
    cat("No importance was measured in Python.\n")
  }
  if (!is.null(x$report)) cat("Report: ", x$report, "\n", sep = "")
  temporary <- normalizePath(tempdir(), mustWork = FALSE)
  if (startsWith(x$folder, temporary)) {
    cat("R removes it when this session ends. importance_audit(..., folder = \"my-audit\") ",
        "keeps it.\n", sep = "")
  }
  invisible(x)
}

as.data.frame.importance_audit <- function(x, ...) x$importances

# One line for each measurement, with its leading features, and the findings by severity.
summary.importance_audit <- function(object, n = 3, ...) {
  by <- split(object$importances, object$importances$measurement)
  lines <- lapply(by, function(one) {
    one <- one[order(one$rank), ]
    leading <- utils::head(one$feature[!is.na(one$rank)], n)
    shown <- intersect(c("measurement", "model", "method", "of", "engine", "loss"), names(one))
    cbind(one[1, shown], features = nrow(one), leading = toString(leading))
  })
  structure(
    list(verdict = object$verdict, reason = object$reason,
         measurements = do.call(rbind, c(unname(lines), make.row.names = FALSE)),
         findings = object$findings[c("severity", "subject", "message")],
         agreement = if (!is.null(object$agreement)) table(object$agreement$verdict)),
    class = "summary.importance_audit"
  )
}

print.summary.importance_audit <- function(x, ...) {
  if (!is.null(x$verdict)) cat("Audit: ", x$verdict, "\n", sep = "")
  if (length(x$reason)) cat("Because: ", paste(x$reason, collapse = "\n"), "\n", sep = "")
  print(x$measurements, row.names = FALSE)
  if (length(x$agreement)) {
    cat("Pairs of results: ", toString(paste(x$agreement, names(x$agreement))), "\n", sep = "")
  }
  lines <- sprintf("%s (%s): %s", x$findings$severity, x$findings$subject, x$findings$message)
  if (length(lines)) cat("Findings:\n", paste0("  ", lines, "\n"), sep = "")
  invisible(x)
}

plot.importance_audit <- function(x, type = c("base", "ggplot"), measurement = NULL, ...) {
  type <- match.arg(type)
  one <- if (is.null(measurement)) leading_measurement(x$importances) else
    x$importances[x$importances$measurement %in% measurement, ]
  if (!any(is.finite(one$importance))) {
    if (!is.null(measurement)) measured_in(x, measurement)
    stop("there is nothing to plot: no importance was measured in Python.\n",
         paste(x$reason, collapse = "\n"), call. = FALSE)
  }
  one <- one[order(one$importance), ]
  title <- paste0(one$model[1], ": ", one$method[1], ", ", one$loss[1])
  if (type == "ggplot") return(ggplot_of(one, title))
  graphics::dotchart(one$importance, labels = one$feature, main = title,
                     xlab = "importance", ...)
  invisible(x)
}

utils::globalVariables(c("importance", "feature", "low", "high"))

# The same plot as a ggplot2 object, with the standard deviation over the repeats.
ggplot_of <- function(one, title) {
  if (!requireNamespace("ggplot2", quietly = TRUE)) {
    stop("type = \"ggplot\" needs the package ggplot2. Run install.packages(\"ggplot2\"), or ",
         "plot with type = \"base\".", call. = FALSE)
  }
  one$feature <- factor(one$feature, one$feature)
  std <- ifelse(is.na(one$std), 0, one$std)
  one$low <- one$importance - std
  one$high <- one$importance + std
  ggplot2::ggplot(one, ggplot2::aes(x = importance, y = feature)) +
    ggplot2::geom_segment(ggplot2::aes(x = low, xend = high, yend = feature)) +
    ggplot2::geom_point() + ggplot2::labs(title = title, y = NULL)
}
