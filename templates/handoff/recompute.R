# Asks DALEX, and vip if it is installed, in R alone what the audit asked of a model that was
# fitted in R, and writes their answers ready for [[supplied]] in audit.toml.
#
#   Rscript recompute.R MODEL.rds [ROWS] [NAME]
#
# MODEL.rds  the file that the audit loaded, or the model that its R script fits
# ROWS       .rds or .csv: the table in which row_numbers.csv counts, or the evaluation rows
#            alone; rows.rds of this folder by default
# NAME       the name of the model, where the SHA-256 of its file does not tell it

# The folder of this script, wherever R was started.
here <- local({
  files <- unlist(lapply(sys.frames(), function(frame) frame$ofile))
  if (!length(files)) {
    files <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  }
  if (length(files)) dirname(gsub("~+~", " ", files[length(files)], fixed = TRUE)) else "."
})
for (name in c("tables", "digests", "losses", "scripts", "own_predict", "model_kinds",
               "r_models", "write_importance")) {
  source(file.path(here, "r", paste0(name, ".R")))
}
fail <- function(...) stop(..., call. = FALSE)
say <- function(...) cat(sprintf(...), "\n", sep = "")
short <- function(digest) substr(digest, 1L, 16L)

# ---- which model
models <- table_of("models.csv", "character")
of_r <- models[models$fitted_in == "R", ]

model_of <- function(file, name) {
  if (!nrow(of_r)) {
    fail("All models of this audit were fitted in Python, and R cannot predict with them. ",
         "Compare the printed numbers: importances.csv and rounds.csv, which read.R ",
         "recomputes.")
  }
  if (is.na(file)) fail("No model was given. Run: Rscript recompute.R MODEL.rds [ROWS] [NAME]")
  if (!is.na(name)) {
    if (name %in% setdiff(models$model, of_r$model)) {
      fail("Model '", name, "' was fitted in Python, and R cannot predict with it. Compare ",
           "its printed numbers: importances.csv and rounds.csv, which read.R recomputes.")
    }
    at <- match(name, of_r$model)
  } else {
    if (!file.exists(file)) fail("There is no file ", file, ". Give the .rds of the model.")
    at <- match(sha256_of(file), of_r$sha256)
    if (is.na(at) && nrow(of_r) == 1L) at <- 1L
  }
  if (is.na(at)) {
    fail(if (is.na(name)) paste(file, "is none of the files that the audit loaded.") else
           paste0("There is no model '", name, "'."),
         " The models of R are: ", paste(of_r$model, collapse = ", "),
         ". Give the file that it loaded, or the name as the third argument.")
  }
  as.list(of_r[at, ])
}

read_model <- function(file, script) {
  model <- tryCatch(readRDS(file), error = function(e) {
    fail(file, " cannot be read: ", conditionMessage(e), ". Give the .rds of the model.")
  })
  if (nzchar(script)) {
    lines <- readLines(file.path(here, script), encoding = "UTF-8")
    model <- with_predict_script(model, paste(lines, collapse = "\n"))
  }
  kind <- kind_of(model)
  if (is.null(kind)) {
    fail(file, " holds an object of class ", class(model)[1L], ", which is no model that the ",
         "audit knows.")
  }
  package <- if (is.function(kind$package)) kind$package(model) else kind$package
  if (!has(package)) {
    fail("Package ", package, " predicts for this model and is not installed. Run: ",
         "install.packages(\"", package, "\")")
  }
  model
}

# ---- which rows
evaluation <- as.list(table_of("evaluation.csv", "character"))
n_rows <- as.integer(evaluation$rows)
has_columns <- file.exists(file.path(here, "columns.csv"))
columns <- if (has_columns) table_of("columns.csv", "character")
kind_of_column <- function(name) columns$kind[match(name, columns$column)]
levels_of <- function(name) columns$level[columns$column == name]
classes <- if (has_columns && evaluation$task != "regression") levels_of(evaluation$target)

read_rows <- function(file) {
  if (is.na(file)) file <- file.path(here, "rows.rds")
  if (!file.exists(file)) {
    fail("There is no file ", file, ". Give the rows as the second argument: the table of the ",
         "audit (", evaluation$source, "), or a hand-off made with --rows.")
  }
  is_rds <- grepl("[.]rds$", file, ignore.case = TRUE)
  table <- if (is_rds) as.data.frame(readRDS(file)) else
    # As texts: what they mean is in columns.csv, and R would make 1 of 01 and TRUE of T.
    utils::read.csv(file, check.names = FALSE, encoding = "UTF-8", colClasses = "character",
                    na.strings = character())
  if (nrow(table) == n_rows) return(table)
  numbers <- if (has_columns) table_of("row_numbers.csv")$row
  if (is.null(numbers) || max(numbers) > nrow(table)) {
    fail(file, " has ", nrow(table), " rows; the audit evaluated ", n_rows, " of ",
         evaluation$source, ". Give that table, or these rows alone.")
  }
  table[numbers, , drop = FALSE]
}

# A column as the audit typed it.
typed <- function(name, table) {
  x <- table[[name]]
  if (is.null(x)) {
    fail("The rows have no column '", name, "'. Give the table that the audit read (",
         evaluation$source, "), or a hand-off made with --rows.")
  }
  text <- if (is.logical(x)) tolower(x) else as.character(x)
  # Of flags with missing cells the audit makes the numbers 0 and 1.
  flags <- match(tolower(text), c("false", "true")) - 1
  switch(kind_of_column(name),
    category = factor(text, levels_of(name), ordered = is.ordered(x)),
    boolean = flags == 1,
    integer = if (all(abs(number(text)) < 2^31)) as.integer(text) else number(text),
    class = class_codes(text, levels_of(name)),
    number = if (is.numeric(x)) as.numeric(x) else ifelse(is.na(flags), number(text), flags)
  )
}

# From 0. A class that is a number or a flag may be written otherwise than the audit names it.
class_codes <- function(text, levels) {
  codes <- match(text, levels)
  values <- tolower(utils::type.convert(text, as.is = TRUE))
  ifelse(is.na(codes), match(values, levels), codes) - 1
}

# The columns that are audited, the target in numbers, and whether they are known to be
# those of the audit, bit by bit.
prepare_rows <- function(table) {
  if (!has_columns) {
    fail("This folder does not say which columns the rows have: they could not be read again ",
         "when it was made. Make the hand-off where the data are; of an audit started in Python, by ",
         "importance_audit.load(run).handoff(folder, X, y).")
  }
  of_role <- function(...) unique(columns$column[columns$role %in% c(...)])
  data <- lapply(stats::setNames(nm = of_role("feature", "unread")), typed, table)
  data <- structure(data, class = "data.frame", row.names = .set_row_names(n_rows))
  y <- typed(evaluation$target, table)
  weights <- of_role("weights")
  weights <- if (length(weights)) table[[weights]] else rep(1, n_rows)
  digest <- rows_sha256(data, vapply(names(data), kind_of_column, ""), y, weights,
                        evaluation$task, classes)
  list(data = data, y = y, inputs = of_role("feature"), is_same = digest == evaluation$sha256)
}

# ---- what the model predicts

# A predict function may draw: ranger's takes a seed from R's stream. What DALEX and vip draw
# after it must be what they drew in the audit, where R predicts in a stream of its own.
beside_stream <- function(answer) {
  before <- globalenv()$.Random.seed
  on.exit(if (!is.null(before)) assign(".Random.seed", before, globalenv()))
  force(answer)
}

predict_of <- function(model, rows) {
  two <- if (inherits(model, "scripted_model")) rows$data[c(1L, 1L), rows$inputs, drop = FALSE]
  facts <- describe_model(model, evaluation$task, two)
  as_model_saw <- function(x, name) {
    if (name %in% facts$texts) return(as.character(x))
    if (name %in% facts$logicals && all(x %in% c(0, 1, NA))) return(as.logical(x))
    levels <- facts$levels[[name]]
    if (is.null(levels)) return(x)
    factor(as.character(x), levels, ordered = name %in% facts$ordered)
  }
  own <- unlist(facts$classes)
  labels <- if (setequal(own, classes)) classes else as.character(seq_along(classes) - 1L)
  at <- match(labels, own)
  function(data) {
    seen <- data[facts$features]
    seen[] <- Map(as_model_saw, seen, names(seen))
    answer <- beside_stream(predict_model(model, seen))
    if (is.null(classes)) return(as.numeric(answer))
    if (is.null(dim(answer))) answer <- cbind(1 - answer, answer)
    if (length(classes) == 2L) return(as.numeric(answer[, at[2L]]))
    matrix(answer[, at], ncol = length(at), dimnames = list(NULL, classes))
  }
}

# ---- what is asked
ask_dalex <- function(question, rows, predict) {
  explainer <- DALEX::explain(
    structure(list(), class = "audited_model"), data = rows$data, y = rows$observed,
    predict_function = function(object, newdata) predict(newdata), label = question$model,
    model_info = list(package = "recompute.R", ver = "1", type = "regression"),
    precalculate = FALSE, verbose = FALSE
  )
  loss <- if (nzchar(question$dalex_loss)) getExportedValue("DALEX", question$dalex_loss) else
    loss_named(question$loss)
  alone <- all(lengths(question$columns) == 1L)
  start_stream(question$seed)
  DALEX::model_parts(
    explainer, loss_function = loss, type = "raw", B = question$n_repeats, N = question$n_rows,
    variables = if (alone) unlist(question$columns),
    variable_groups = if (!alone) question$columns
  )
}

ask_vip <- function(question, rows, predict) {
  loss <- loss_named(question$loss)
  start_stream(question$seed)
  vip::vi_permute(
    structure(list(), class = "audited_model"), feature_names = names(question$columns),
    train = rows$data, target = rows$observed,
    metric = function(truth, estimate) loss(truth, estimate), smaller_is_better = TRUE,
    type = if (question$form == "ratio") "ratio" else "difference", keep = TRUE,
    nsim = question$n_repeats, sample_size = question$n_rows,
    pred_wrapper = function(object, newdata) predict(newdata)
  )
}

questions_of <- function(model) {
  table <- table_of("questions.csv", "character")
  table <- table[table$model == model, ]
  lapply(split(table, factor(table$question, unique(table$question))), function(rows) {
    facts <- as.list(rows[1L, ])
    numbers <- c("n_repeats", "n_rows", "seed")
    facts[numbers] <- lapply(facts[numbers], function(text) if (nzchar(text)) as.numeric(text))
    facts$columns <- split(rows$column, factor(rows$feature, unique(rows$feature)))
    facts
  })
}

# ---- how far the rounds of a package are from those that the audit drew in the same order
importances <- table_of("importances.csv")
rounds <- table_of("rounds.csv")

# The audit has the losses of DALEX, and of vip the importances.
gap_to_audit <- function(question, package, object) {
  is_same <- importances$method == "permutation" & grepl(paste0("^", package), importances$stream)
  for (name in c("model", "of", "loss", "options", "n_repeats", "seed")) {
    is_same <- is_same & importances[[name]] == question[[name]]
  }
  if (package == "vip") is_same <- is_same & importances$form == question$form
  record <- importances$record[is_same][1L]
  if (is.na(record)) return("the audit drew in another order, so these are other rounds")
  mine <- rounds[rounds$record == record, ]
  key <- function(name, round) paste(name, round, sep = "\r")
  asked <- key(mine$feature, mine[["repeat"]])
  if (package == "vip") {
    theirs <- vi_table(object)
    at <- match(asked, key(theirs$feature, theirs[["repeat"]]))
    theirs <- theirs$value[at]
    own <- number(mine$value)
  } else {
    theirs <- if (question$n_repeats == 1) object else object[object$permutation > 0, ]
    theirs <- theirs$dropout_loss[match(asked, key(theirs$variable, pmax(theirs$permutation, 1)))]
    own <- number(mine$raw)
  }
  gap <- max(abs(own - theirs)) / max(abs(number(mine$raw)), .Machine$double.xmin)
  sprintf("largest gap to record %d of the audit: %.1e", record, gap)
}

# What the audit measured of a model, and no question here is about.
not_asked <- function(model, questions) {
  ours <- importances[importances$model == model & importances$engine == "python", ]
  key <- function(x) paste(x$of, x$loss, x$options, sep = "\r")
  is_asked <- ours$method == "permutation" & key(ours) %in% vapply(questions, key, "")
  left <- ours[!is_asked & !duplicated(ours$record), ]
  sprintf("%s of %s (record %d)", left$method, left$of, left$record)
}

# ---- what is written
toml_text <- function(text) {
  text <- gsub("([\"\\\\])", "\\\\\\1", enc2utf8(text))
  paste0("\"", gsub("[[:cntrl:]]", " ", text), "\"")
}

block_of <- function(question, package, file, digest) {
  facts <- c(
    file = toml_text(file.path("recomputed", file)),
    sha256 = toml_text(sha256_of(file.path(here, "recomputed", file))),
    package = toml_text(package),
    version = toml_text(as.character(utils::packageVersion(package))),
    by = toml_text(paste("recompute.R in", R.version.string)),
    date = toml_text(format(Sys.Date())),
    model = toml_text(question$model),
    predictions_sha256 = toml_text(digest),
    method = toml_text("permutation"),
    of = if (question$of != "features") toml_text(question$of),
    loss = toml_text(question$loss),
    form = if (package == "vip" && question$form == "ratio") toml_text("ratio"),
    n_repeats = format(question$n_repeats),
    n_rows = if (!is.null(question$n_rows)) format(question$n_rows),
    seed = format(question$seed, scientific = FALSE)
  )
  c("[[supplied]]", paste(names(facts), "=", facts), "")
}

save_answer <- function(question, package, object, digest) {
  name <- gsub("[^A-Za-z0-9]+", "-", paste(question$model, question$of, question$loss))
  file <- sprintf("%s-%03d-%s.csv", package, as.integer(question$question), substr(name, 1L, 60L))
  path <- file.path(here, "recomputed", file)
  saveRDS(object, sub("csv$", "rds", path), version = 3L)
  write_importance(object, path)
  block_of(question, package, file, digest)
}

recompute <- function(question, rows, predict, digest) {
  blocks <- character()
  about <- sprintf("%s of %s, %d rounds%s, seed %.0f", question$loss, question$of,
                   as.integer(question$n_repeats),
                   if (is.null(question$n_rows)) "" else sprintf(" of %.0f rows", question$n_rows),
                   question$seed)
  if (has("DALEX")) {
    object <- ask_dalex(question, rows, predict)
    blocks <- c(blocks, save_answer(question, "DALEX", object, digest))
    say("DALEX %s: %s; %s.", utils::packageVersion("DALEX"), about,
        gap_to_audit(question, "DALEX", object))
  }
  if (has("vip") && all(lengths(question$columns) == 1L)) {
    object <- ask_vip(question, rows, predict)
    blocks <- c(blocks, save_answer(question, "vip", object, digest))
    say("vip %s: %s; %s.", utils::packageVersion("vip"), about,
        gap_to_audit(question, "vip", object))
  }
  blocks
}

main <- function(file, rows_file, name) {
  about <- model_of(file, name)
  if (!has("DALEX") && !has("vip")) {
    fail("Neither DALEX nor vip is installed. Run: install.packages(\"DALEX\"), or set ",
         "R_LIBS to the folder that has them.")
  }
  questions <- questions_of(about$model)
  if (!length(questions)) {
    fail("The audit asks nothing of model '", about$model, "' that DALEX or vip can be asked: ",
         "permutation importance of rows without weights.")
  }
  model <- read_model(file, about$predict_script)
  say("Model '%s': %s.", about$model, about$library)
  rows <- prepare_rows(read_rows(rows_file))
  predict <- predict_of(model, rows)
  digest <- predictions_sha256(predict(rows$data))
  known <- if (rows$is_same) "are those of the audit" else
    "are others, or differ in last digits"
  if (digest != about$predictions_sha256) {
    fail("The predictions are not those of the audit: their digest is ", short(digest),
         ", not ", short(about$predictions_sha256), ". The rows ", known, ". Give the model ",
         "that the audit loaded", if (!rows$is_same) paste0(", and ", evaluation$source), ".")
  }
  say("%d rows, which %s. The predictions are those of the audit.", n_rows, known)
  rows$observed <- as_observed(rows$y, if (length(classes) > 2L) classes)
  dir.create(file.path(here, "recomputed"), showWarnings = FALSE)
  blocks <- unlist(lapply(questions, recompute, rows, predict, digest))
  if (!has("vip")) say("vip is not installed and was not asked.")
  if (!has("DALEX")) say("DALEX is not installed and was not asked.")
  left <- not_asked(about$model, questions)
  if (length(left)) {
    say("Not recomputed, because only permutation among all rows is asked here: %s.",
        paste(left, collapse = "; "))
  }
  toml <- sprintf("supplied-%02d-%s.toml", match(about$model, models$model),
                  gsub("[^A-Za-z0-9]+", "-", about$model))
  connection <- file(file.path(here, "recomputed", toml), "wb")
  tryCatch(writeLines(enc2utf8(blocks), connection, useBytes = TRUE), finally = close(connection))
  say("Copy %s beside audit.toml, and paste %s into it.", file.path(here, "recomputed"), toml)
}

arguments <- commandArgs(trailingOnly = TRUE)[1:3]
main(arguments[1L], arguments[2L], arguments[3L])
