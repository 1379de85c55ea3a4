# Fitted R models, held by the digest of the bytes they were read from.

held_models <- new.env()

# The row of a model in `model_kinds` or `own_kinds`; NULL if its class is unknown.
kind_of <- function(model) {
  name <- if (inherits(model, "Learner")) "Learner" else class(model)[1L]
  c(model_kinds, own_kinds)[[name]]
}

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
  assign(sha256, model, envir = held_models)
  list(
    package = package,
    package_version = utils::packageDescription(package)$Version,
    r_version = paste(R.version$major, R.version$minor, sep = "."),
    saved_by = infoRDS(file)$writer_version,
    r_class = class(object)
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

# How far a model predicts from what it predicted in the session that saved it, with the
# largest prediction, how far two answers are apart, and for how many rows. A list, empty
# if nobody knows: `importance_audit` saves predictions with a model, DALEX with an explainer.
distance_to_session <- function(model) {
  object <- if (inherits(model, "scripted_model")) model$model else model
  session <- attr(object, "importanceaudit_session")
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

# A forest of ranger with the levels of its factors, which it forgets unless it orders
# them; the script may have made others of those it was given.
with_training_levels <- function(model, scope) {
  if (class(model)[1L] != "ranger" || !is.call(model$call)) return(model)
  call <- match.call(ranger::ranger, model$call)
  rows <- if (is.null(call$x)) call$data else call$x
  rows <- tryCatch(eval(rows, scope), error = function(e) NULL)
  names <- model$forest$independent.variable.names
  if (!is.data.frame(rows) || !all(names %in% names(rows))) return(model)
  texts <- function(x) if (is.factor(x) || is.character(x)) levels(as.factor(x))
  attr(model, "training_levels") <- lapply(as.list(rows)[names], texts)
  model
}

# What an audit must know of a model: the columns it reads in its own order; the levels
# of those it knows to be factors; which of these are ordered; which it knows to be
# numbers, or texts; its classes (NULL for a regression); whether missing values are for it to
# judge; how it was made. `rows` are two that it can predict, and of the model of a script
# their columns are those that it reads.
describe_model <- function(model, task, rows) {
  kind <- kind_of(model)
  has_own_predict <- isTRUE(kind$has_own_predict)
  classes <- if (has_own_predict) kind$classes(model, rows, task) else kind$classes(model)
  features <- if (is.null(rows)) kind$features(model) else names(rows)
  if (!length(features)) stop("it does not name the columns that it reads")
  types <- kind$types(model)
  levels <- Filter(is.character, as.list(kind$levels(model)))
  list(
    features = features,
    levels = levels[names(levels) %in% features],
    ordered = c(character(), names(types)[types == "ordered"]),
    numbers = c(character(), names(types)[types %in% c("numeric", "logical")]),
    texts = c(character(), names(types)[types == "character"]),
    classes = classes,
    judges_missing = kind$judges_missing,
    call = if (is.call(model$call)) paste(trimws(deparse(model$call)), collapse = " ") else ""
  )
}

# The predictions for two rows or more: a vector, or a matrix with a column per class.
predict_model <- function(model, data) {
  kind <- kind_of(model)
  predictions <- kind$predict(model, data)
  if (isTRUE(kind$has_own_predict)) return(unname(plain_predictions(predictions)))
  classes <- kind$classes(model)
  if (is.null(classes)) return(as.vector(predictions))
  if (is.null(dim(predictions)) || ncol(predictions) == 1L) {
    predictions <- cbind(1 - as.vector(predictions), as.vector(predictions))
  }
  dimnames(predictions) <- list(NULL, classes)
  predictions
}

# Of a model with terms.
# An offset outside the formula is read from the rows too.
terms_features <- function(m) {
  unique(c(all.vars(stats::delete.response(stats::terms(m))), all.vars(m$call$offset)))
}
terms_types <- function(m) attr(stats::terms(m), "dataClasses")
no_classes <- function(m) NULL

# The classes of 0 and 1, where a model was told no names.
zero_one <- c("0", "1")

refuse_offset <- function(m, who) {
  if (!is.null(attr(m$terms, "offset"))) stop(who, " leaves its offset out")
}

# No target of an audit is censored, whatever a model was told.
refuse_survival <- function(is_of_survival) {
  if (is_of_survival) {
    stop("it is a model of survival, which is not supported: it predicts no number or class ",
         "for each row")
  }
}

# Of a binomial model: the levels of its response, if it kept them.
glm_classes <- function(m) {
  if (!m$family$family %in% c("binomial", "quasibinomial")) return(NULL)
  response <- if (is.null(m$model)) NULL else stats::model.response(m$model)
  if (!is.factor(response)) {
    # Without them nobody can say which of the two it predicts.
    if (is.null(response) && terms_types(m)[1L] %in% c("factor", "ordered")) {
      stop("it was fitted to a factor with model = FALSE, which drops its levels")
    }
    return(zero_one)
  }
  if (nlevels(response) != 2L) {
    stop("it tells the first of ", nlevels(response), " levels from all others")
  }
  levels(response)
}

forest_classes <- function(m) {
  if (is.null(m$forest)) stop("it was grown with keep.forest = FALSE")
  if (m$type == "unsupervised") stop("it was grown without a response")
  if (m$type == "classification") m$classes
}
# An ordered factor has levels and counts as one category.
forest_types <- function(m) {
  is_factor <- vapply(m$forest$xlevels, is.character, NA)
  ifelse(is_factor, ifelse(m$forest$ncat == 1L, "ordered", "factor"), "numeric")
}

ranger_classes <- function(m) {
  if (is.null(m$forest)) stop("it was grown with write.forest = FALSE")
  if (m$treetype == "Regression") return(NULL)
  refuse_survival(m$treetype == "Survival")
  if (m$treetype != "Probability estimation") {
    stop("it is a forest for ", m$treetype, ": grow it with probability = TRUE")
  }
  values <- m$forest$class.values
  if (is.null(m$forest$levels)) as.character(values) else m$forest$levels[sort(values)]
}

gbm_classes <- function(m) {
  name <- m$distribution$name
  if (!is.null(attr(m$Terms, "offset"))) stop("predict.gbm leaves its offset out")
  if (name %in% c("bernoulli", "adaboost")) return(zero_one)
  if (name == "multinomial") return(m$classes)
  refuse_survival(name == "coxph")
  if (!name %in% c("gaussian", "laplace", "tdist", "poisson", "quantile")) {
    stop("its distribution '", name, "' predicts no response")
  }
}

rpart_classes <- function(m) {
  refuse_offset(m, "predict.rpart")
  refuse_survival(m$method == "exp")
  if (!m$method %in% c("anova", "poisson", "class")) {
    stop("its method '", m$method, "' predicts no response")
  }
  if (m$method == "class") attr(m, "ylevels")
}

nnet_classes <- function(m) {
  if (is.null(m$lev) && m$n[length(m$n)] > 1L) stop("it has several responses")
  if (is.null(m$lev) && m$entropy) zero_one else m$lev
}

earth_classes <- function(m) {
  if (is.character(m$levels)) return(m$levels)
  if (is.logical(m$levels)) return(zero_one)
  # It keeps the two values of numbers too, as if they were levels.
  if (ncol(m$coefficients) > 1L) stop("it has several responses")
  family <- m$glm.list[[1L]]$family$family
  if (identical(family, "binomial")) zero_one
}

svm_classes <- function(m) {
  if (m$type == 2L) stop("it finds outliers")
  if (m$type > 2L) return(NULL)
  if (!m$compprob) stop("it was fitted with probability = FALSE")
  m$levels
}

# predict.svm takes the columns of factors by their place, whatever their levels.
check_svm_columns <- function(m, data) {
  if (is.null(m$terms)) return(invisible())
  terms <- stats::delete.response(stats::terms(m))
  columns <- colnames(stats::model.matrix(terms, stats::model.frame(terms, data)))
  own_columns <- colnames(m$SV)
  # svm gives some columns the names that a data.frame would.
  if (!identical(make.names(columns, TRUE), make.names(own_columns, TRUE))) {
    stop("it was fitted to the columns ", toString(own_columns), ", but is given ",
         toString(columns), ": levels were others, or in another order")
  }
}

linear_kind <- list(
  package = "stats", features = terms_features, types = terms_types,
  levels = function(m) m$xlevels, classes = no_classes, judges_missing = FALSE,
  predict = function(m, data) stats::predict(m, data)
)
glm_kind <- utils::modifyList(linear_kind, list(
  classes = glm_classes,
  predict = function(m, data) stats::predict(m, data, type = "response")
))
forest_kind <- list(
  package = "randomForest", features = function(m) names(m$forest$xlevels),
  types = forest_types, levels = function(m) m$forest$xlevels,
  classes = forest_classes, judges_missing = FALSE,
  predict = function(m, data) {
    stats::predict(m, data, type = if (m$type == "regression") "response" else "prob")
  }
)
nnet_kind <- utils::modifyList(linear_kind, list(
  package = "nnet", classes = nnet_classes,
  predict = function(m, data) stats::predict(m, data, type = "raw")
))
svm_kind <- list(
  package = "e1071", features = function(m) colnames(m$SV), types = function(m) NULL,
  levels = function(m) NULL, classes = svm_classes, judges_missing = FALSE,
  predict = function(m, data) {
    check_svm_columns(m, data)
    if (m$type > 2L) return(stats::predict(m, data))
    predictions <- stats::predict(m, data, probability = TRUE)
    attr(predictions, "probabilities")[, m$levels, drop = FALSE]
  }
)

# One row per class that can be audited, by the first class of the model.
model_kinds <- list(
  lm = linear_kind,
  aov = linear_kind,
  rlm = utils::modifyList(linear_kind, list(package = "MASS")),
  glm = glm_kind,
  negbin = utils::modifyList(glm_kind, list(package = "MASS")),
  randomForest = forest_kind,
  randomForest.formula = utils::modifyList(
    forest_kind, list(features = terms_features, types = terms_types)
  ),
  ranger = list(
    package = "ranger", features = function(m) m$forest$independent.variable.names,
    types = function(m) NULL,
    levels = function(m) {
      own <- m$forest$covariate.levels
      if (is.null(own)) attr(m, "training_levels") else own
    },
    classes = ranger_classes, judges_missing = TRUE,
    # Without a seed it draws one from R's stream.
    predict = function(m, data) {
      stats::predict(m, data = data, num.threads = 1, seed = 1)$predictions
    }
  ),
  gbm = list(
    package = "gbm", features = function(m) m$var.names,
    types = function(m) {
      is_factor <- vapply(m$var.levels, is.character, NA)
      stats::setNames(ifelse(is_factor, "factor", "numeric"), m$var.names)
    },
    levels = function(m) stats::setNames(m$var.levels, m$var.names),
    classes = gbm_classes, judges_missing = TRUE,
    predict = function(m, data) {
      predictions <- stats::predict(m, data, n.trees = m$n.trees, type = "response")
      if (length(dim(predictions)) == 3L) predictions[, , 1L] else predictions
    }
  ),
  rpart = utils::modifyList(linear_kind, list(
    package = "rpart", levels = function(m) attr(m, "xlevels"),
    classes = rpart_classes, judges_missing = TRUE,
    predict = function(m, data) {
      stats::predict(m, data, type = if (m$method == "class") "prob" else "vector")
    }
  )),
  nnet.formula = nnet_kind,
  multinom = utils::modifyList(nnet_kind, list(
    classes = function(m) {
      refuse_offset(m, "predict.multinom")
      if (is.null(m$lev)) stop("its response is a matrix of counts") else m$lev
    },
    predict = function(m, data) stats::predict(m, data, type = "probs")
  )),
  earth = utils::modifyList(linear_kind, list(
    package = "earth", features = function(m) m$namesx,
    types = function(m) attr(m$terms, "dataClasses"), classes = earth_classes,
    predict = function(m, data) stats::predict(m, data, type = "response")
  )),
  svm = svm_kind,
  svm.formula = utils::modifyList(
    svm_kind, list(features = terms_features, types = terms_types)
  )
)
