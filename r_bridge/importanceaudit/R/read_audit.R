# Reading an audit: the tables of a run folder as data frames.

read_audit <- function(folder, summary = NULL) {
  run <- run_folder(folder)
  files <- list.files(file.path(run, "tables"), "[.]csv$", full.names = TRUE)
  tables <- lapply(files, utils::read.csv, check.names = FALSE, encoding = "UTF-8")
  names(tables) <- sub("[.]csv$", "", basename(files))
  if (is.null(tables$importances)) {
    stop("'", run, "' has no tables/importances.csv: nothing was measured.", call. = FALSE)
  }
  report <- file.path(run, "report.html")
  structure(
    list(
      importances = mean_importances(tables$importances),
      findings = tables$findings,
      agreement = tables$agreement,
      tables = tables,
      verdict = summary$verdict,
      reason = if (is.null(summary)) stored_reason(run, tables$findings)
               else c(summary$reason, unlist(summary$faults)),
      folder = run,
      report = if (file.exists(report)) report
    ),
    class = "importance_audit"
  )
}

# Why the verdict of a run read later is what it is: its summary says it, or its findings.
stored_reason <- function(run, findings) {
  file <- file.path(run, "summary.txt")
  lines <- if (file.exists(file)) readLines(file, warn = FALSE, encoding = "UTF-8")
  said <- sub("^reason: ", "", grep("^reason: ", lines, value = TRUE))
  if (length(said)) said else findings$message[findings$severity == "failure"]
}

# A run folder itself, or the newest one of an audit.
run_folder <- function(folder) {
  if (dir.exists(file.path(folder, "tables"))) return(normalizePath(folder))
  runs <- sort(list.dirs(file.path(folder, "runs"), recursive = FALSE))
  runs <- runs[dir.exists(file.path(runs, "tables"))]
  if (!length(runs)) stop("'", folder, "' holds no run of an audit.", call. = FALSE)
  normalizePath(utils::tail(runs, 1))
}

# One row for each measurement and feature: mean and standard deviation over repeats.
#
# A measurement is a run of rows that are equal in every field. Options are no column of the
# table, so two measurements may differ in none; then the second begins where a feature comes
# again.
mean_importances <- function(rounds) {
  of <- setdiff(names(rounds), c("feature", "repeat", "raw", "baseline", "value"))
  text <- function(column) ifelse(is.na(column), "", as.character(column))
  fields <- do.call(paste, c(lapply(rounds[of], text), sep = "\r"))
  n <- nrow(rounds)
  changed <- function(x) x[-1] != x[-n]
  is_first <- c(n > 0, changed(fields) | changed(rounds$feature))[seq_len(n)]
  if (!is.null(rounds$`repeat`)) is_first <- is_first | rounds$`repeat` == 1
  first <- which(is_first)
  measurement <- integer(length(first))
  seen <- character()
  for (i in seq_along(first)) {
    feature <- rounds$feature[first[i]]
    begins <- i == 1 || fields[first[i]] != fields[first[i - 1]] || feature %in% seen
    measurement[i] <- if (begins) max(measurement) + 1L else measurement[i - 1]
    seen <- c(if (!begins) seen, feature)
  }
  groups <- split(seq_len(n), cumsum(is_first))
  out <- cbind(measurement = measurement, rounds[first, c(of, "feature"), drop = FALSE])
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

# A pooled ratio is one of means; of the others, each repeat has its own.
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

# What the report opens with: our first measurement, of a model and of features before others.
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

plot.importance_audit <- function(x, ...) {
  one <- leading_measurement(x$importances)
  if (!any(is.finite(one$importance))) {
    stop("there is nothing to plot: no importance was measured in Python.\n",
         paste(x$reason, collapse = "\n"), call. = FALSE)
  }
  one <- one[order(one$importance), ]
  title <- paste0(one$model[1], ": ", one$method[1], ", ", one$loss[1])
  graphics::dotchart(one$importance, labels = one$feature, main = title,
                     xlab = "importance", ...)
  invisible(x)
}
