# Fitted R models, kept under the digest of the bytes they were read from.

held_models <- new.env()

# The name of a model's entry in `model_kinds`, `own_kinds` or `survival_kinds`: its first class,
# except for models with one class for each algorithm.
kind_name <- function(model) {
  shared <- Find(function(name) inherits(model, name), c("Learner", "glmnet", "model_fit"))
  if (is.null(shared)) class(model)[1L] else shared
}

# That entry; NULL if the class is unknown.
kind_of <- function(model) c(model_kinds, own_kinds, survival_kinds)[[kind_name(model)]]

# Reads a model from a file and keeps it, together with the predict function of a script, if
# given. Returns a list with its class, the version of the package that predicts for it, of R, and
# of the R that saved the file; or with missing_package; or with script_error; or with class, that
# of an unknown object, and known_classes.
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
  # Functions that a user's function calls by name must be found.
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

# Attaches and loads the packages of the session that saved a model, as far as they are installed
# here: its predict and its formula may call them.
enter_session <- function(session) {
  for (package in session$packages$loaded) requireNamespace(package, quietly = TRUE)
  for (package in rev(session$packages$attached)) {
    suppressWarnings(suppressPackageStartupMessages(
      require(package, quietly = TRUE, warn.conflicts = FALSE, character.only = TRUE)
    ))
  }
}

# The session that `importance_audit` saved with a model; NULL for other models.
session_of <- function(model) {
  object <- if (inherits(model, "scripted_model")) model$model else model
  attr(object, "importanceaudit_session")
}

# The rows that a model predicted in that session; NULL if any of these columns is missing.
session_rows <- function(model, columns) {
  rows <- session_of(model)$rows
  if (all(columns %in% names(rows))) rows[columns]
}

# The distance of a model's predictions from those in the session that saved it, with the largest
# prediction, the difference of two predictions here, and the number of rows. An empty list if
# none were saved: `importance_audit` saves them with a model, DALEX with an explainer.
# `rows` are those of `session_rows` in the types of the audit.
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
  difference <- function(one, other) {
    if (length(one) != length(other) || any(is.na(one) != is.na(other))) return(Inf)
    max(0, abs(one - other), na.rm = TRUE)
  }
  list(
    distance = difference(known, first), noise = max(session$noise, difference(first, ask())),
    largest = max(0, abs(c(known, first)), na.rm = TRUE), n_rows = nrow(session$rows)
  )
}

# Calls a function of these files with a kept model as its argument `model`. Returns a list with
# the value; it is empty if the model is not there because R was restarted.
with_model <- function(sha256, name, arguments, ...) {
  if (!exists(sha256, held_models, inherits = FALSE)) return(list())
  inputs <- list2env(c(arguments, list(...)), parent = parent.env(environment()))
  assign("model", held_models[[sha256]], envir = inputs)
  # Names instead of values, as in `guard`.
  call <- as.call(c(as.name(name), lapply(ls(inputs, all.names = TRUE), as.name)))
  names(call) <- c("", ls(inputs, all.names = TRUE))
  list(value = eval(call, inputs))
}

# Saves the fitted model that a script returns for the rows.
fit_by_script <- function(script, train, weights, file) {
  scope <- list2env(list(train = train, weights = weights), parent = globalenv())
  model <- with_training_levels(evaluate_script(script, scope), scope)
  saveRDS(model, file, compress = FALSE)
}

# The names in a formula that are values rather than columns: of R itself, such as pi, or of the
# environment of the formula, if that was saved with it (the user's session is not). Only a short
# value inside a call counts; any other name may be a column that the data lack.
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

# The properties of a model that an audit needs:
#   features        the columns it uses, in its own order
#   levels          the levels of the columns known to be factors
#   ordered         those that are ordered
#   numbers, logicals, texts  the columns known to be numbers, of these the logical ones, texts
#   verified        columns whose levels it did not keep, but which it checks or had in its session
#   classes         its classes, NULL for a regression
#   judges_missing  whether missing values are passed to it
#   has_weights     whether its rows have weights, as in an explainer
#   call, note      how it was fitted, and a further sentence for its card
# `rows` are two rows that it can predict; for a model with a script, their columns are those it
# uses. `columns` are those that models are given; a model without column names uses them by
# position.
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
  # For contrasts of ordered factors, the names do not contain the levels.
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

# The first warning of predicting some rows, and the number of all.
warnings_of_predict <- function(model, data) {
  warned <- character()
  utils::capture.output(withCallingHandlers(
    invisible(predict_model(model, data)),
    warning = function(w) {
      warned <<- c(warned, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  ))
  list(warning = c(warned, "")[1L], n_warnings = length(warned))
}

# Whether the package's own predict uses random numbers of R's stream, even if these files pass a
# seed to it.
draws_numbers <- function(model, data) {
  if (isTRUE(kind_of(model)$draws)) return(TRUE)
  set.seed(1)
  before <- globalenv()$.Random.seed
  predict_model(model, data)
  !identical(before, globalenv()$.Random.seed)
}

# How many of these rows are among the training rows that a model keeps in `model` (lm, glm, gam,
# polr), and the share of those that equal another training row. An empty list if it keeps none,
# or its target is on another scale than y.
count_fitted <- function(model, data, y) {
  frame <- if (!isS4(model) && is.list(model)) model$model
  if (!is.data.frame(frame) || inherits(model, names(own_kinds))) return(list())
  terms <- stats::delete.response(stats::terms(model))
  own <- stats::model.response(frame)
  asked <- tryCatch(stats::model.frame(terms, data, na.action = stats::na.pass,
                                       xlev = model$xlevels), error = function(e) NULL)
  # 0 and 1 are codes of the two levels.
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
