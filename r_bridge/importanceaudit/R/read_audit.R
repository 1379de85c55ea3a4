# Reading an audit: the tables of a run folder as data frames.

read_audit <- function(folder, summary = NULL) {
  run <- run_folder(folder)
  files <- list.files(file.path(run, "tables"), "[.]csv$", full.names = TRUE)
  tables <- lapply(files, utils::read.csv, check.names = FALSE, encoding = "UTF-8")
  names(tables) <- sub("[.]csv$", "", basename(files))
  if (is.null(tables$importances)) {
    stop("'", run, "' has no tables/importances.csv: nothing was measured.", call. = FALSE)
  }
  # What the command said is not stored; the findings of a run read later say it too.
  failures <- tables$findings$message[tables$findings$severity == "failure"]
  report <- file.path(run, "report.html")
  structure(
    list(
      importances = mean_importances(tables$importances),
      findings = tables$findings,
      agreement = tables$agreement,
      tables = tables,
      verdict = summary$verdict,
      reason = if (is.null(summary)) failures else c(summary$reason, unlist(summary$faults)),
      folder = run,
      report = if (file.exists(report)) report
    ),
    class = "importance_audit"
  )
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
mean_importances <- function(rounds) {
  of <- c("model", "method", "engine", "of", "loss", "positive_class", "split", "entry")
  of <- c(intersect(of, names(rounds)), "feature")
  text <- function(column) ifelse(is.na(column), "", as.character(column))
  key <- do.call(paste, c(lapply(rounds[of], text), sep = "\r"))
  groups <- split(rounds$value, factor(key, unique(key)))
  out <- rounds[!duplicated(key), of, drop = FALSE]
  out$importance <- vapply(groups, mean, 0, USE.NAMES = FALSE)
  out$std <- vapply(groups, stats::sd, 0, USE.NAMES = FALSE)
  out$n_repeats <- lengths(groups, use.names = FALSE)
  measurement <- sub("\r[^\r]*$", "", unique(key))
  descending <- function(x) rank(-x, ties.method = "min", na.last = "keep")
  out$rank <- stats::ave(out$importance, measurement, FUN = descending)
  rownames(out) <- NULL
  out
}

print.importance_audit <- function(x, n = 5, ...) {
  if (!is.null(x$verdict)) cat("Audit: ", x$verdict, "\n", sep = "")
  if (length(x$reason)) cat("Because: ", paste(x$reason, collapse = "\n"), "\n", sep = "")
  ours <- x$importances[x$importances$engine == "python", ]
  leading <- ours[order(ours$model, ours$loss, ours$rank), ]
  leading <- leading[!is.na(leading$rank) & leading$rank <= n, ]
  if (nrow(leading)) {
    print(leading[c("model", "method", "loss", "feature", "importance", "std")],
          row.names = FALSE, digits = 4)
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
  ours <- x$importances[x$importances$engine == "python", ]
  one <- ours[ours$model == ours$model[1] & ours$method == ours$method[1] &
                ours$loss == ours$loss[1], ]
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
