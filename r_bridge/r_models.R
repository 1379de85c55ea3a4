# Fitted R models, held by the digest of the bytes they were read from.

held_models <- new.env()

# The name of a model's row in `model_kinds`, `own_kinds` or `survival_kinds`: its first class,
# but for models that have one for each algorithm.
kind_name <- function(model) {
  shared <- Find(function(name) inherits(model, name), c("Learner", "glmnet", "model_fit"))
  if (is.null(shared)) class(model)[1L] else shared
}

# That row; NULL if the class is unknown.
kind_of <- function(model) c(model_kinds, own_kinds, survival_kinds)[[kind_name(model)]]

# Reads a model from a file and holds it, with the function of a script that says how it
# predicts, if there is one. A list with its class, the version of the package that
# predicts for it, R's own and that which saved the file; or with missing_package, or with
# script_error; or with class, that of an object that is no model, and known_classes, what
# would be one.
hold_model <- function(sha256, file, script) {
  model <- object <- readRDS(file)
  enter_session(attr(object, "importanceaudit_session"))
  if (!is.null(script)) {
    model <- tryCatch(with_predict_script(object, script), error = identity)
    if (inherits(model, "error")) return(list(script_error = conditionMessage(model)))
  }
  kind <- kind_of(model)
  if (is.null(kind)) {
    known <- setdiff(names(c(model_kinds, own_kinds)), "scripted_model")
    return(list(class = class(model), known_classes = known))
  }
  package <- if (is.function(kind$package)) kind$package(model) else kind$package
  if (!requireNamespace(package, quietly = TRUE)) return(list(missing_package = package))
  # What a function of the user calls by its name must be found.
  if (isTRUE(kind$has_own_predict)) enter_session(list(packages = list(attached = package)))
  assign(sha256, model, envir = held_models)
  list(
    package = package,
    package_version = utils::packageDescription(package)$Version,
    r_version = paste(R.version$major, R.version$minor, sep = "."),
    saved_by = infoRDS(file)$writer_version,
    r_class = unique(c(if (inherits(object, "glmnet")) "glmnet", class(object)))
  )
}

# Attaches and loads what the session of a model had, so far as it is installed here: its
# predict and its formula may call it.
enter_session <- function(session) {
  for (package in session$packages$loaded) requireNamespace(package, quietly = TRUE)
  for (package in rev(session$packages$attached)) {
    suppressWarnings(suppressPackageStartupMessages(
      require(package, quietly = TRUE, warn.conflicts = FALSE, character.only = TRUE)
    ))
  }
}

# What `importance_audit` saved with a model; NULL of another one.
session_of <- function(model) {
  object <- if (inherits(model, "scripted_model")) model$model else model
  attr(object, "importanceaudit_session")
}

# The rows that a model predicted in that session; NULL if it has not all of these columns.
session_rows <- function(model, columns) {
  rows <- session_of(model)$rows
  if (all(columns %in% names(rows))) rows[columns]
}

# How far a model predicts from what it predicted in the session that saved it, with the
# largest prediction, how far two answers are apart, and for how many rows. A list, empty
# if nobody knows: `importance_audit` saves predictions with a model, DALEX with an explainer.
# `rows` are those of `session_rows` as the audit gives them to the model.
distance_to_session <- function(model, rows = NULL) {
  session <- session_of(model)
  if (!is.null(rows)) session$rows <- rows
  if (is.null(session$predictions)) {
    if (!inherits(model, "explainer") || NROW(model$y_hat) != NROW(model$data)) return(list())
    if (!NROW(model$y_hat)) return(list())
    some <- seq_len(min(1000L, nrow(model$data)))
    known <- as.matrix(model$y_hat)[some, ]
    session <- list(rows = model$data[some, , drop = FALSE], predictions = known, noise = 0)
  }
  predict <- kind_of(model)$predict
  ask <- function() as.vector(plain_predictions(predict(model, session$rows)))
  known <- as.vector(session$predictions)
  first <- ask()
  apart <- function(one, other) {
    if (length(one) != length(other) || any(is.na(one) != is.na(other))) return(Inf)
    max(0, abs(one - other), na.rm = TRUE)
  }
  list(
    distance = apart(known, first), noise = max(session$noise, apart(first, ask())),
    largest = max(0, abs(c(known, first)), na.rm = TRUE), n_rows = nrow(session$rows)
  )
}

# Calls a function of these files with a held model as its argument `model`. A list with
# the value, or an empty one if the model is not held: the R that held it has ended.
with_model <- function(sha256, name, arguments, ...) {
  if (!exists(sha256, held_models, inherits = FALSE)) return(list())
  inputs <- list2env(c(arguments, list(...)), parent = parent.env(environment()))
  assign("model", held_models[[sha256]], envir = inputs)
  # Names and not the values themselves: see `guard`.
  call <- as.call(c(as.name(name), lapply(ls(inputs, all.names = TRUE), as.name)))
  names(call) <- c("", ls(inputs, all.names = TRUE))
  list(value = eval(call, inputs))
}

# Saves the fitted model that a script makes of the rows.
fit_by_script <- function(script, train, weights, file) {
  scope <- list2env(list(train = train, weights = weights), parent = globalenv())
  model <- with_training_levels(evaluate_script(script, scope), scope)
  saveRDS(model, file, compress = FALSE)
}

# Which of these names a formula takes from R itself, such as pi, or from where it was written,
# if that is saved with it: the session of the user is not. Only what stands inside a call and
# is short is such a value; anything else may be a column that the data lack.
values_in_formula <- function(model, names) {
  if (!length(names)) return(character())
  formula <- tryCatch(stats::formula(model), error = function(e) NULL)
  variables <- tryCatch(attr(stats::terms(formula), "variables"), error = function(e) NULL)
  if (is.null(variables)) return(character())
  alone <- as.character(Filter(is.name, as.list(variables)))
  is_value <- function(name) {
    where <- environment(formula)
    while (!is.null(where) && !identical(where, globalenv()) && !identical(where, emptyenv()) &&
             !exists(name, where, inherits = FALSE)) where <- parent.env(where)
    if (is.null(where) || identical(where, globalenv()) || identical(where, emptyenv())) {
      where <- baseenv()
    }
    value <- if (exists(name, where, inherits = FALSE)) get(name, where)
    !is.null(value) && !is.function(value) && NROW(value) < 30L
  }
  Filter(is_value, setdiff(names, alone))
}

# What an audit must know of a model: the columns it reads in its own order; the levels
# of those it knows to be factors; which of these are ordered; which it knows to be
# numbers, which of them logical, or texts; of which columns levels that it did not keep are
# verified: it refuses others, or had them in its session; its classes (NULL for a
# regression); whether missing values are for it to judge; whether its rows have weights, as
# those of an explainer may; how it was made, and what else its card should say. `rows` are two that it can predict, and of the model of a script their
# columns are those that it reads; `columns` are those that models are given, which a model
# without names of columns reads by their place.
describe_model <- function(model, task, rows, columns = names(rows)) {
  kind <- kind_of(model)
  has_own_predict <- isTRUE(kind$has_own_predict)
  classes <- if (has_own_predict) kind$classes(model, rows, task) else kind$classes(model)
  features <- if (is.null(rows)) kind$features(model) else names(rows)
  note <- if (!is.null(kind$note)) kind$note(model) else ""
  if (isTRUE(features)) features <- columns
  if (is.numeric(features)) {
    if (features != length(columns)) {
      stop("it names no columns and reads ", features, " by their place, and the models are ",
           "given ", length(columns), ": ", toString(columns))
    }
    features <- columns
    note <- "It names no columns, and reads those of the data by their place."
  }
  values <- if (is.null(rows)) values_in_formula(model, setdiff(features, columns))
  if (length(values)) {
    features <- setdiff(features, values)
    note <- paste(c(note[nzchar(note)], paste0(
      "Its formula reads ", toString(values), ", no column of the data, as a value of R."
    )), collapse = " ")
  }
  if (!length(features)) stop("it does not name the columns that it reads")
  types <- kind$types(model)
  levels <- Filter(is.character, as.list(kind$levels(model)))
  # Of contrasts of ordered factors the names do not tell the levels.
  verified <- if (isTRUE(kind$checks_levels)) names(types)[types != "ordered"] else
    names(session_of(model)$rows)
  list(
    features = features,
    levels = levels[names(levels) %in% features],
    ordered = c(character(), names(types)[types == "ordered"]),
    numbers = c(character(), names(types)[types %in% c("numeric", "logical")]),
    logicals = c(character(), names(types)[types == "logical"]),
    texts = c(character(), names(types)[types == "character"]),
    verified = c(character(), verified),
    classes = classes,
    judges_missing = kind$judges_missing,
    has_weights = inherits(model, "explainer") && length(unique(model$weights)) > 1L,
    call = call_text(if (isS4(model)) attr(model, "kcall") else model$call),
    note = note
  )
}

call_text <- function(call) {
  if (is.call(call)) paste(trimws(deparse(call)), collapse = " ") else ""
}

# The predictions for two rows or more: a vector, or a matrix with a column per class.
predict_model <- function(model, data) {
  kind <- kind_of(model)
  predictions <- kind$predict(model, data)
  if (isTRUE(kind$has_own_predict)) return(unname(plain_predictions(predictions)))
  classes <- kind$classes(model)
  if (is.null(classes)) return(as.vector(predictions))
  if (length(dim(predictions)) < 2L || ncol(predictions) == 1L) {
    predictions <- cbind(1 - as.vector(predictions), as.vector(predictions))
  }
  dimnames(predictions) <- list(NULL, classes)
  predictions
}

# What predicting some rows does beside: the first warning and the number of them, the first
# line that is printed, and whether a graphics device is left open, which is closed.
side_effects <- function(model, data) {
  warned <- character()
  printed <- utils::capture.output(withCallingHandlers(
    invisible(predict_model(model, data)),  # what it returns is not what it prints
    warning = function(w) {
      warned <<- c(warned, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  ))
  devices <- length(grDevices::dev.list())
  grDevices::graphics.off()
  list(warning = c(warned, "")[1L], n_warnings = length(warned),
       printed = c(printed[nzchar(printed)], "")[1L], devices = devices)
}

# Whether predict of the model's own package takes numbers from R's stream, also where these
# files give it a seed.
draws_numbers <- function(model, data) {
  if (isTRUE(kind_of(model)$draws)) return(TRUE)
  set.seed(1)
  before <- globalenv()$.Random.seed
  predict_model(model, data)
  !identical(before, globalenv()$.Random.seed)
}

# How many rows a model was fitted on, as far as it keeps them in `model` (lm, glm, gam, polr),
# and the share of those that are equal to another one of them. A list, empty if it keeps none,
# or its target is on another scale than y.
count_fitted <- function(model, data, y) {
  frame <- if (!isS4(model) && is.list(model)) model$model
  if (!is.data.frame(frame) || inherits(model, names(own_kinds))) return(list())
  terms <- stats::delete.response(stats::terms(model))
  own <- stats::model.response(frame)
  asked <- tryCatch(stats::model.frame(terms, data, na.action = stats::na.pass,
                                       xlev = model$xlevels), error = function(e) NULL)
  # 0 and 1 are codes of the levels.
  if (is.factor(own) && !is.factor(y)) own <- as.integer(own) - 1L
  if (is.factor(y) && all(own %in% 0:1)) y <- as.integer(y) - 1L
  is_other <- is.null(asked) || !all(names(asked) %in% names(frame)) || NCOL(own) != 1L
  if (is_other || is.factor(y) && !is.factor(own)) return(list())
  digits <- function(x) {
    if (length(dim(x))) return(do.call(paste, lapply(as.data.frame(unclass(x)), digits)))
    if (is.numeric(x) || is.logical(x)) sprintf("%.12g", as.numeric(x)) else as.character(x)
  }
  key <- function(rows, y) do.call(paste, c(lapply(c(rows, list(y)), digits), sep = "\r"))
  fitted <- key(as.list(frame[names(asked)]), as.vector(own))
  list(
    equal = sum(key(as.list(asked), as.vector(y)) %in% fitted),
    share = mean(duplicated(fitted) | duplicated(fitted, fromLast = TRUE))
  )
}
