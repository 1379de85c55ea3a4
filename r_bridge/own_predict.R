# Models with a predict function of their own: explainers of DALEX, models trained by caret,
# tidymodels and mlr3, and any model with a user's function. `own_kinds` extends `model_kinds`.
# The columns that such a model uses are those of a data frame, its prototype.

# A model with the function from a script, which must end in function(model, data).
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

# Predictions as a vector, or as a matrix with the classes as column names. Other types are
# refused: as.vector would turn classes into text, and lists into their elements.
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

# The classes of a model, known only from its predictions for two rows.
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
  if (!is.null(attr(classes, "package"))) return(attr(classes, "package"))  # an S4 class
  for (class in classes) {
    method <- utils::getS3method("predict", class, optional = TRUE)
    if (!is.null(method)) return(environmentName(topenv(environment(method))))
  }
  "base"
}

explainer_package <- function(m) {
  package <- as.character(m$model_info$package)[1L]
  # For an unknown class, DALEX has a sentence instead of a package name.
  if (grepl("^[A-Za-z][A-Za-z0-9.]+$", package)) package else package_of_class(class(m$model))
}

# The global names in a function that do not exist in this session.
names_not_here <- function(f) {
  if (!requireNamespace("codetools", quietly = TRUE)) return(character())
  names <- tryCatch(codetools::findGlobals(f), error = function(e) character())
  Filter(function(name) !exists(name, environment(f)), names)
}

# The first predictions of a user's function; an error mentions variables, functions and methods
# that were not saved with it.
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

# The classes from the user's function saved by `importance_audit`, or from a script's function.
scripted_classes <- function(m, rows, task) {
  own <- m$model
  predict <- if (inherits(own, "importanceaudit_model")) own$predict else m$predict
  types <- scripted_types(m)[names(rows)]
  rows[types %in% "character"] <- lapply(rows[types %in% "character"], as.character)
  rows[types %in% "logical"] <- lapply(rows[types %in% "logical"], as.logical)
  classes_of_answer(first_answer(m$predict(own, rows), predict), task)
}

# The types of the columns in the session that saved the model, as far as they are known.
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
# Without classProbs = TRUE some methods have probabilities too; others stop, or return NA.
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

# Two rows with the columns of a prototype: zeros, or the first level.
rows_like <- function(prototype) {
  columns <- lapply(prototype, function(x) {
    if (is.factor(x)) factor(rep(levels(x)[1L], 2L), levels(x), ordered = is.ordered(x))
    else if (is.character(x)) c("", "")
    else if (is.logical(x)) c(FALSE, FALSE)
    else c(0, 0)
  })
  as.data.frame(columns, optional = TRUE)
}

# Columns of tidymodels are named .pred, or .pred_ and the class.
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

# A parsnip fit stores no columns if its engine takes a formula. Then they are taken from the
# engine's own fit; if that is of an unknown kind, all columns given to models may be used.
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
  # The task has no rows any more, but still the type and levels of each column.
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
    # A user's function may handle missing values.
    judges_missing = TRUE, has_own_predict = TRUE
  )
}

# By class; a learner of mlr3 has many classes, and "Learner" is one of them.
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
    # Python provides the columns of the rows, and the levels of the audit.
    features = function(m) character(), types = scripted_types, levels = function(m) NULL,
    predict = function(m, data) m$predict(m$model, data),
    judges_missing = TRUE, has_own_predict = TRUE
  )
)
