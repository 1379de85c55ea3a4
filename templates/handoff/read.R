# Reads the objects of this folder, draws them, and computes every mean again.
#
#   Rscript read.R            from any folder; needs R alone, and draws what vip and DALEX
#                             are installed for

# The folder of this script, wherever R was started.
here <- local({
  files <- unlist(lapply(sys.frames(), function(frame) frame$ofile))
  if (!length(files)) {
    files <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  }
  if (length(files)) dirname(gsub("~+~", " ", files[length(files)], fixed = TRUE)) else "."
})
source(file.path(here, "r", "tables.R"))

importances <- table_of("importances.csv")
rounds <- table_of("rounds.csv")
objects <- table_of("objects.csv")

# ---- every importance from what was measured in each repeat
values_of <- function(record, feature) {
  mine <- rounds[rounds$record == record & rounds$feature == feature, ]
  facts <- importances[importances$record == record, ][1L, ]
  raw <- number(mine$raw)
  baseline <- number(mine$baseline)
  pooled <- facts$aggregator == "pooled"
  switch(facts$form,
    difference = raw - baseline,
    ratio = raw / if (pooled) mean(baseline) else baseline,
    absolute = abs(raw),
    raw = raw
  )
}

gap <- function(a, b, size) {
  both <- is.finite(a) & is.finite(b)
  if (any(both != (is.finite(a) | is.finite(b)))) return(Inf)
  if (!any(both)) return(0)
  max(abs(a - b)[both]) / max(size, .Machine$double.xmin)
}

check <- function(record) {
  table <- importances[importances$record == record, ]
  values <- lapply(table$feature, function(name) values_of(record, name))
  mine <- rounds$record == record
  size <- c(number(rounds$raw[mine]), number(rounds$baseline[mine]))
  size <- max(abs(size[is.finite(size)]), 0)
  means <- vapply(values, mean, 0)
  found <- gap(means, number(table$importance), size)
  pooled <- table$aggregator[1L] == "pooled" && table$form[1L] == "ratio"
  if (!pooled && length(values[[1L]]) > 1L && nzchar(table$stream[1L])) {
    found <- max(found, gap(vapply(values, stats::sd, 0), number(table$std), size))
  }
  of_record <- objects[objects$record == record, ]
  for (n in seq_len(nrow(of_record))) {
    object <- unclass(readRDS(file.path(here, of_record$file[n])))
    names_of <- if (of_record$class[n] == "vi") object$Variable else object$variable
    told <- if (of_record$class[n] == "vi") object$Importance else object$dropout_loss
    told <- told[match(table$feature, names_of)]
    if (of_record$class[n] != "vi") {
      # DALEX holds the mean loss against that of the rows as they are, mean by mean.
      full <- object$dropout_loss[match("_full_model_", object$variable)]
      shown <- table$form[1L]
      if (shown == "difference") told <- told - full
      if (shown == "ratio") told <- told / full
      missing <- !is.finite(means)
      told[missing] <- means[missing]
    }
    found <- max(found, gap(means, as.numeric(told), size))
  }
  found
}

gaps <- vapply(unique(importances$record), check, 0)
cat(sprintf("%d records computed again from %d measurements; largest gap %.1e\n",
            length(gaps), nrow(rounds), max(gaps, 0)))
if (any(gaps > 1e-9)) {
  stop("A number is not met, first in record ", unique(importances$record)[gaps > 1e-9][1L])
}

# ---- every object drawn by its own package
draw <- function(file, class, told) {
  object <- readRDS(file.path(here, file))
  if (class == "vi" && utils::packageVersion("vip") < "0.5") {
    shown <- vip::vip(object, num_features = nrow(object))
    print(shown + ggplot2::labs(title = told))
  } else if (class == "vi") {
    # Base graphics would turn the names upright, and leave out those without room.
    kept <- graphics::par(las = 1, mar = c(5, 11, 4, 1))
    on.exit(graphics::par(kept))
    vip::vip(object, num_features = nrow(object))
    graphics::title(main = told, cex.main = 0.9)
  } else {
    print(graphics::plot(object) + ggplot2::labs(title = told, subtitle = NULL))
  }
}

# What a page shows, as the tables name it: record, model, method, loss and who measured.
told_of <- function(row) {
  record <- if (row$record == 0) "" else paste("record", row$record)
  asked <- if (nzchar(row$of)) paste(row$method, "of", row$of) else row$method
  facts <- c(record, row$model, asked, row$loss, row$engine)
  paste(strwrap(paste(facts[nzchar(facts)], collapse = ", "), 50), collapse = "\n")
}

lines_of_vip <- if (!has("vip")) "none" else
  if (utils::packageVersion("vip") < "0.5") "vi-0.4" else "vi-0.5"
with_dalex <- has("DALEX") && has("ingredients")
folder <- sub("/.*", "", objects$file)
drawn <- objects[folder == lines_of_vip | (folder == "DALEX" & with_dalex), ]
if (nrow(drawn)) {
  grDevices::pdf(file.path(here, "plots.pdf"), width = 7, height = 5)
  for (n in seq_len(nrow(drawn))) {
    draw(drawn$file[n], drawn$class[n], told_of(drawn[n, ]))
  }
  invisible(grDevices::dev.off())
}
pages <- sprintf("plots.pdf has a page for each of the %d objects that an installed package draws",
                 nrow(drawn))
none <- "No object is drawn, which the numbers do not need: no installed package draws these"
cat(sprintf("%s (vip: %s; DALEX with ingredients: %s)\n", if (nrow(drawn)) pages else none,
            if (has("vip")) as.character(utils::packageVersion("vip")) else "not installed",
            if (with_dalex) as.character(utils::packageVersion("DALEX")) else "not installed"))
