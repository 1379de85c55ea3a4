# Checks the questions of an audit and writes them as audit.toml.

# The arguments that a method accepts; Python validates every other key.
takes_repeats <- c("permutation", "drop_column", "permute_refit", "shapley_refit",
                   "random_subspace", "random_subspace_permutation", "stratified_impact",
                   "stratified_importance", "shapley", "sage", "h_statistic", "vint",
                   "pd_importance")
takes_losses <- c("permutation", "oob_permutation", "drop_column", "permute_refit",
                  "shapley_refit", "random_subspace", "random_subspace_permutation", "sage")
of_pairs <- "vint"
of_features_alone <- c("model_specific", "partial_dependence", "curve_importance", "curve_impact",
                       "stratified_importance", "stratified_impact", "gradient_sensitivity",
                       "lowess_r2", "anova", "auc", "spearman", "pca", "mrmr", "relieff")

are_texts <- function(x) is.character(x) && length(x) && !anyNA(x) && all(grepl("\\S", x))
are_named <- function(x) length(names(x)) == length(x) && are_texts(names(x)) &&
  !anyDuplicated(names(x))

check_questions <- function(methods, losses, groups, labels, minutes, columns) {
  is_entry <- function(x) is_one_text(x) ||
    is.list(x) && are_named(x) && is_one_text(x$method)
  are_methods <- are_texts(methods) ||
    is.list(methods) && length(methods) && all(vapply(methods, is_entry, NA))
  require_that(are_methods, "methods", methods, paste(
    'names such as "permutation", or a list of them and of lists such as',
    'list(method = "sage", n_repeats = 5)'
  ))
  require_that(is.null(losses) || are_texts(losses) && !anyDuplicated(losses), "losses", losses,
               'names such as "rmse", each once, or NULL for the usual one')
  are_groups <- is.list(groups) && are_named(groups) && all(vapply(groups, are_texts, NA))
  require_that(is.null(groups) || are_groups, "groups", groups,
               'a list of columns by name, such as list(size = c("height", "weight")), or NULL')
  are_labels <- are_texts(labels) && are_named(labels)
  require_that(is.null(labels) || are_labels, "labels", labels,
               'texts by column, such as c(bmi = "Body mass index"), or NULL')
  is_time <- is.numeric(minutes) && length(minutes) == 1 && is.finite(minutes) && minutes > 0
  require_that(is.null(minutes) || is_time, "minutes", minutes, "a number above 0, or NULL")
  refuse_absent("groups", unlist(groups), columns)
  refuse_absent("labels", setdiff(names(labels), names(groups)), columns)
}

refuse_absent <- function(argument, named, columns) {
  absent <- setdiff(named, columns)
  if (length(absent)) {
    stop(argument, " names ", toString(shQuote(absent)), ", which is no column of data; those are ",
         toString(shQuote(columns)), ".", call. = FALSE)
  }
}

# The columns that define segments: their names, and values that are not columns of data.
check_by <- function(by, data) {
  if (is.null(by)) return(NULL)
  if (is.character(by)) {
    require_that(are_texts(by), "by", by, "names of columns, or columns by name")
    refuse_absent("by", by, names(data))
    return(list(names = by))
  }
  require_that(is.list(by) && are_named(by), "by", by,
               "names of columns of data, or other columns by name as a data frame or list")
  both <- intersect(names(by), names(data))
  if (length(both)) {
    stop("by and data both have a column ", toString(shQuote(both)), ". Name it, or give the ",
         "other one another name.", call. = FALSE)
  }
  for (column in names(by)) {
    if (length(by[[column]]) != nrow(data)) {
      stop("column ", shown(column), " of by has ", length(by[[column]]), " values and data ",
           nrow(data), " rows: they must be as many.", call. = FALSE)
    }
    check_column(by[[column]], column, "by")
  }
  list(names = names(by), columns = as.list(by))
}

check_weights <- function(weights, n_rows, argument) {
  if (is.null(weights)) return(invisible())
  are_weights <- is.numeric(weights) && all(is.finite(weights)) && all(weights >= 0)
  require_that(are_weights, argument, weights, "numbers from 0 on, one for each row, or NULL")
  if (length(weights) != n_rows) {
    stop(argument, " has ", length(weights), " values, and there are ", n_rows, " rows: they must ",
         "be as many.", call. = FALSE)
  }
}

check_train_weights <- function(train_weights, weights, train) {
  if (is.null(train_weights) == (is.null(weights) || is.null(train))) {
    return(check_weights(train_weights, nrow(train), "train_weights"))
  }
  stop(if (is.null(train_weights)) "weights and train are given: give train_weights too" else
    "train_weights are given: give weights and train too",
    ", so that both have one weight for each row.", call. = FALSE)
}

# One list for each [[importance]]: one per method, and one for groups if the method supports them.
entries_of <- function(methods, losses, engines, n_repeats, repeats, groups) {
  entries <- lapply(methods, function(asked) {
    own <- if (is.list(asked)) asked else list(method = asked)
    method <- own$method
    usual <- list(method = method)
    if (method %in% of_pairs) usual$of <- "pairs"
    if (method %in% takes_repeats) usual$n_repeats <- repeats
    if (method == "permutation") usual$n_repeats <- n_repeats
    if (method %in% takes_losses && length(losses)) usual$losses <- as.list(losses)
    usual$engines <- as.list(engines)
    entry <- utils::modifyList(usual, own)
    takes_groups <- is.null(own$of) && !method %in% c(of_pairs, of_features_alone)
    of_groups <- if (length(groups) && takes_groups) list(c(entry, of = "groups"))
    c(list(entry), of_groups)
  })
  do.call(c, entries)
}

task_of <- function(y) {
  if (is.numeric(y)) return("regression")
  if (nlevels(factor(y)) == 2) "binary" else "multiclass"
}

# JSON strings and arrays of strings are valid TOML.
quoted <- function(x, one = TRUE) {
  as.character(jsonlite::toJSON(if (one) jsonlite::unbox(x) else x))
}

# An R value in TOML: one text, number or logical value, or a list or longer vector of these.
toml_value <- function(x) {
  if (is.list(x) || length(x) != 1) {
    return(paste0("[", paste(vapply(x, toml_value, ""), collapse = ", "), "]"))
  }
  if (is.character(x)) return(quoted(x))
  if (is.logical(x)) return(tolower(x))
  # Independent of options(OutDec).
  if (x == round(x)) format(x, scientific = FALSE) else
    format(x, digits = 15, decimal.mark = ".")
}

# Lines "key = value"; column names may be any text.
toml_table <- function(values) {
  is_bare <- grepl("^[A-Za-z0-9_-]+$", names(values))
  keys <- ifelse(is_bare, names(values), vapply(names(values), quoted, ""))
  paste(keys, "=", vapply(values, toml_value, ""), recycle0 = TRUE)
}

toml_lines <- function(folder, files, target, y, name, seed, positive_class, has_script,
                       weights, by, labels, groups, minutes, entries) {
  digest <- function(file) quoted(sha256_of(file.path(folder, file)))
  rows <- function(file) paste0("{ rds = ", quoted(file), ", sha256 = ", digest(file), " }")
  task <- if (is.null(positive_class)) task_of(y) else "binary"
  if (task == "binary" && is.null(positive_class)) positive_class <- levels(factor(y))[2]
  data <- list(target = target, task = task, weights = weights, segments = as.list(by$names),
               exclude = as.list(names(by$columns)))
  model <- list(name = name, file = files$model)
  c(
    paste("seed =", format(seed, scientific = FALSE)),
    "", "[data]",
    paste("train =", if (is.null(files$train)) "{}" else rows(files$train)),
    paste("test =", rows(files$test)),
    toml_table(Filter(length, data)),
    if (task == "binary") paste("positive_class =", class_value(positive_class)),
    if (length(groups)) c("", "[groups]", toml_table(lapply(groups, as.list))),
    if (length(labels)) c("", "[labels]", toml_table(as.list(labels))),
    if (length(minutes)) c("", "[limits]", toml_table(list(minutes = minutes))),
    "", "[[models]]", toml_table(model), paste("sha256 =", digest(files$model)),
    if (has_script) 'predict = "predict.R"',
    unlist(lapply(entries, function(entry) c("", "[[importance]]", toml_table(entry))))
  )
}

# Whole numbers are numbers in TOML too; other numeric classes are written as text.
class_value <- function(value) {
  text <- class_text(value)
  if (is.numeric(value) && value == round(value)) text else quoted(text)
}

