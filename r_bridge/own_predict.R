# Models that say themselves how they predict: explainers of DALEX, what caret, tidymodels
# and mlr3 train, and any model with a function of the user. `own_kinds` adds their rows
# to `model_kinds`. The columns they read are those of a data frame, their prototype.

# A model with the function of a script, which must end in function(model, data).
with_predict_script <- function(model, script) {
  predict <- evaluate_script(script, new.env(parent = globalenv()))
  if (!is.function(predict) || length(formals(predict)) < 2L) {
    stop("its last value is no function of a model and a data frame")
  }
  structure(list(model = model, predict = predict), class = "scripted_model")
}

type_of_column <- function(x) {
  if (is.ordered(x)) return("ordered")
  if (is.factor(x)) return("factor")
  if (is.numeric(x)) "numeric" else class(x)[1L]
}

# Answers as a vector, or as a matrix whose columns are named by the classes. What is no
# number is refused: as.vector would turn classes into texts, and lists into what they hold.
plain_predictions <- function(answer) {
  given <- class(answer)[1L]
  if (is.data.frame(answer)) answer <- as.matrix(answer)
  if (is.list(answer) || !(is.numeric(answer) || is.logical(answer))) {
    stop("its predict function returns an object of class '", given, "', and must return ",
         "numbers: one for each row, of two classes the probability of the second, of more ",
         "classes a matrix whose columns have their names", call. = FALSE)
  }
  if (length(dim(answer)) == 3L && dim(answer)[3L] == 1L) answer <- answer[, , 1L]
  if (length(dim(answer)) != 2L) return(as.vector(answer))
  if (ncol(answer) == 1L) as.vector(answer) else answer
}

# The classes of a model of which only its answer for two rows tells.
classes_of_answer <- function(answer, task) {
  answer <- plain_predictions(answer)
  if (is.matrix(answer)) {
    if (is.null(colnames(answer))) stop("the columns of its predictions have no names")
    return(colnames(answer))
  }
  if (task == "binary") zero_one
}

# The package that predicts for a class, as far as its method of `predict` is known.
package_of_class <- function(classes) {
  if (!is.null(attr(classes, "package"))) return(attr(classes, "package"))  # of S4
  for (class in classes) {
    method <- utils::getS3method("predict", class, optional = TRUE)
    if (!is.null(method)) return(environmentName(topenv(environment(method))))
  }
  "base"
}

explainer_package <- function(m) {
  package <- as.character(m$model_info$package)[1L]
  # For a class that it does not know, DALEX has a sentence in its place.
  if (grepl("^[A-Za-z][A-Za-z0-9.]+$", package)) package else package_of_class(class(m$model))
}

# The names that a function reads and that are not here.
names_not_here <- function(f) {
  if (!requireNamespace("codetools", quietly = TRUE)) return(character())
  names <- tryCatch(codetools::findGlobals(f), error = function(e) character())
  Filter(function(name) !exists(name, environment(f)), names)
}

# What a function of the user answers; it may read what was not saved with it, or ask a
# method that is not here.
first_answer <- function(answer, predict) {
  tryCatch(answer, error = function(e) {
    call <- conditionCall(e)
    lacks_method <- is.call(call) && identical(call[[1L]], quote(UseMethod))
    if (!lacks_method && !length(names_not_here(predict))) stop(e)
    stop(conditionMessage(e), ". If its predict function reads variables or functions of the ",
         "session in which it was saved, write them into the function, or name their package ",
         "(package::name): they are not saved with it", call. = FALSE)
  })
}

# The function of the user in what `importance_audit` saves, else that of a script.
scripted_classes <- function(m, rows, task) {
  own <- m$model
  predict <- if (inherits(own, "importanceaudit_model")) own$predict else m$predict
  types <- scripted_types(m)[names(rows)]
  rows[types %in% "character"] <- lapply(rows[types %in% "character"], as.character)
  rows[types %in% "logical"] <- lapply(rows[types %in% "logical"], as.logical)
  classes_of_answer(first_answer(m$predict(own, rows), predict), task)
}

# The types of the columns that it met in the session that saved it, as far as they are known.
scripted_types <- function(m) {
  vapply(as.list(session_of(m)$rows), type_of_column, "")
}

explainer_classes <- function(m, rows, task) {
  answer <- first_answer(
    m$predict_function(m$model, m$data[1:2, , drop = FALSE]), m$predict_function
  )
  classes <- classes_of_answer(answer, task)
  if (identical(classes, zero_one) && is.factor(m$y) && nlevels(m$y) == 2L) levels(m$y) else classes
}

# caret predicts classes, or with type "prob" a data frame of probabilities.
# Without classProbs = TRUE some methods have them all the same; others stop, or give NA.
caret_classes <- function(m, rows, task) {
  if (m$modelType != "Classification") return(NULL)
  if (!is.function(m$modelInfo$prob)) stop("its method '", m$method, "' has no probabilities")
  if (!isTRUE(m$control$classProbs)) {
    answer <- tryCatch(
      stats::predict(m, rows_like(m$ptype), type = "prob"), error = function(e) NA
    )
    if (anyNA(answer)) {
      stop("it was trained without probabilities of classes. Train it again with trControl = ",
           "trainControl(classProbs = TRUE)")
    }
  }
  as.vector(m$levels)
}

# Two rows of the columns of a prototype: zeros, or the first level.
rows_like <- function(prototype) {
  columns <- lapply(prototype, function(x) {
    if (is.factor(x)) factor(rep(levels(x)[1L], 2L), levels(x), ordered = is.ordered(x))
    else if (is.character(x)) c("", "")
    else if (is.logical(x)) c(FALSE, FALSE)
    else c(0, 0)
  })
  as.data.frame(columns, optional = TRUE)
}

# tidymodels names columns .pred, or .pred_ and the class.
workflow_classes <- function(m, rows, task) {
  fit <- workflows::extract_fit_parsnip(m)
  refuse_survival(identical(fit$spec$mode, "censored regression"))
  fit$lvl
}
workflow_predictions <- function(m, data) tidy_predictions(m, data, workflow_classes(m))
tidy_predictions <- function(m, data, classes) {
  if (is.null(classes)) return(stats::predict(m, data)[[".pred"]])
  stats::predict(m, data, type = "prob")[paste0(".pred_", classes)]
}

# A fit of parsnip alone keeps no columns where its engine takes a formula: then the engine's
# own fit knows them, or else all that models are given may be read.
parsnip_features <- function(m) {
  if (length(m$preproc$x_var)) return(m$preproc$x_var)
  if (!is.null(m$preproc$terms)) return(all.vars(stats::delete.response(m$preproc$terms)))
  kind <- kind_of(m$fit)
  if (is.null(kind)) TRUE else kind$features(m$fit)
}
parsnip_classes <- function(m, rows, task) {
  refuse_survival(identical(m$spec$mode, "censored regression"))
  m$lvl
}

learner_classes <- function(m, rows, task) {
  if (m$task_type == "regr") return(NULL)
  refuse_survival(m$task_type == "surv")
  if (m$predict_type != "prob") {
    stop("its predict_type is '", m$predict_type, "'. Set it to 'prob' and train it again")
  }
  m$state$train_task$class_names
}
learner_prototype <- function(m) {
  task <- m$state$train_task
  if (is.null(task)) stop("it is not trained")
  # The task has no rows any more, but each column's type and levels.
  info <- as.data.frame(task$col_info)
  columns <- lapply(task$feature_names, function(name) {
    row <- info[info$id == name, ]
    levels <- row$levels[[1L]]
    switch(row$type, factor = factor(levels = levels),
           ordered = factor(levels = levels, ordered = TRUE),
           character = character(), numeric())
  })
  stats::setNames(columns, task$feature_names)
}

own_kind <- function(package, prototype, classes, predict) {
  list(
    package = package, classes = classes, predict = predict,
    features = function(m) names(prototype(m)),
    types = function(m) vapply(as.list(prototype(m)), type_of_column, ""),
    levels = function(m) lapply(Filter(is.factor, as.list(prototype(m))), levels),
    # A function of the user may know what to do.
    judges_missing = TRUE, has_own_predict = TRUE
  )
}

# By class; of a learner of mlr3 the first class is one of many.
own_kinds <- list(
  explainer = own_kind(
    explainer_package, function(m) m$data, explainer_classes,
    function(m, data) m$predict_function(m$model, data)
  ),
  train = own_kind(
    "caret", function(m) m$ptype, caret_classes,
    function(m, data) {
      type <- if (m$modelType == "Classification") "prob" else "raw"
      stats::predict(m, data, type = type, na.action = stats::na.pass)
    }
  ),
  workflow = own_kind(
    "workflows", function(m) workflows::extract_mold(m)$blueprint$ptypes$predictors,
    workflow_classes, workflow_predictions
  ),
  model_fit = list(
    package = "parsnip", features = parsnip_features, types = function(m) NULL,
    levels = function(m) NULL, classes = parsnip_classes,
    predict = function(m, data) tidy_predictions(m, data, m$lvl),
    judges_missing = TRUE, has_own_predict = TRUE
  ),
  Learner = own_kind(
    "mlr3", learner_prototype, learner_classes,
    function(m, data) {
      answer <- m$predict_newdata(data)
      if (m$task_type == "regr") answer$response else answer$prob
    }
  ),
  scripted_model = list(
    package = function(m) package_of_class(class(m$model)), classes = scripted_classes,
    # Python knows the columns of the rows, and the levels of the audit.
    features = function(m) character(), types = scripted_types, levels = function(m) NULL,
    predict = function(m, data) m$predict(m$model, data),
    judges_missing = TRUE, has_own_predict = TRUE
  )
)
