# The classes of models that can be audited, and how each predicts.

# The columns of a model with terms. An offset outside the formula uses columns of the rows too.
terms_features <- function(m) {
  unique(c(all.vars(stats::delete.response(stats::terms(m))), all.vars(m$call$offset)))
}
terms_types <- function(m) attr(stats::terms(m), "dataClasses")
no_classes <- function(m) NULL

# The class names of 0 and 1, if a model has none of its own.
zero_one <- c("0", "1")

refuse_offset <- function(m, who) {
  if (!is.null(attr(m$terms, "offset"))) stop(who, " leaves its offset out")
}

# Survival models are refused: no target of an audit is censored.
refuse_survival <- function(is_of_survival) {
  if (is_of_survival) {
    stop("it is a model of survival, and an audit needs one number or class for each row and a ",
         "target that is not censored. Say by a predict function what it shall predict, such as ",
         "the probability of an event before a stated time, and give as target whether that ",
         "event had happened by then, of rows that were followed so long")
  }
}

all_numeric <- function(names) stats::setNames(rep("numeric", length(names)), names)

# The column names of a matrix, or the number of its columns if they have no names.
columns_or_count <- function(matrix) {
  if (is.null(colnames(matrix))) ncol(matrix) else colnames(matrix)
}

# The classes of a binomial model: the levels of its response, if it kept them.
glm_classes <- function(m) {
  if (!m$family$family %in% c("binomial", "quasibinomial")) return(NULL)
  response <- if (is.null(m$model)) NULL else stats::model.response(m$model)
  if (!is.factor(response)) {
    # Without the levels it is unknown which of the two it predicts.
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
# An ordered factor has levels, and is treated as one category.
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
  # It stores the two values of a numeric response too, as if they were levels.
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

# predict.svm uses the columns of factors by position, whatever their levels.
check_svm_columns <- function(m, data) {
  if (is.null(m$terms)) return(invisible())
  terms <- stats::delete.response(stats::terms(m))
  columns <- colnames(stats::model.matrix(terms, stats::model.frame(terms, data)))
  own_columns <- colnames(m$SV)
  # svm changes some column names as data.frame does.
  if (!identical(make.names(columns, TRUE), make.names(own_columns, TRUE))) {
    stop(other_columns(own_columns, columns))
  }
}
other_columns <- function(own_columns, columns) {
  paste0("it was fitted to the columns ", toString(own_columns), ", but is given ",
         toString(columns), ": levels were others, or in another order")
}

gam_classes <- function(m) {
  if (!is.null(m$call$offset)) stop("predict.gam leaves out an offset outside the formula")
  name <- m$family$family
  refuse_survival(name == "Cox PH")
  if (name == "multinom") return(as.character(0:max(m$y)))
  if (grepl("^Ordered Categorical", name)) return(as.character(seq_len(max(m$y))))
  if (is.list(m$formula)) stop("its family '", name, "' predicts several numbers for each row")
  glm_classes(m)
}
gam_types <- function(m) {
  vapply(m$var.summary, function(x) {
    if (is.ordered(x)) "ordered" else if (is.factor(x)) "factor" else "numeric"
  }, "")
}

# The penalty of the predictions; with cross-validation, the package's default.
glmnet_penalty <- function(m) {
  if (inherits(m, "cv.glmnet")) "lambda.1se" else min(m$lambda)
}
glmnet_note <- function(m) {
  if (inherits(m, "cv.glmnet")) {
    return(paste0("It predicts with s = \"lambda.1se\" (", signif(m$lambda.1se, 4L),
                  "), as predict.cv.glmnet does."))
  }
  paste0("It predicts with s = ", signif(min(m$lambda), 4L), ", the smallest of its ",
         length(m$lambda), " penalties, as DALEX and vip do.")
}
glmnet_fit <- function(m) if (is.null(m$glmnet.fit)) m else m$glmnet.fit
glmnet_features <- function(m) {
  beta <- glmnet_fit(m)$beta
  rownames(if (is.list(beta)) beta[[1L]] else beta)
}
glmnet_classes <- function(m) {
  fit <- glmnet_fit(m)
  if (isTRUE(fit$offset)) stop("its offset is no column: predict.glmnet needs it as newoffset")
  refuse_survival(inherits(fit, "coxnet"))
  if (inherits(fit, "mrelnet")) stop("it has several responses")
  if (!is.null(fit$classnames)) return(fit$classnames)
  if (isTRUE(fit$family$family %in% c("binomial", "quasibinomial"))) zero_one
}

discriminant_features <- function(m) {
  if (is.null(m$terms)) columns_or_count(m$means) else terms_features(m)
}

# The levels of a factor are the column names of its table of counts.
bayes_levels <- function(m) {
  levels <- lapply(m$tables, colnames)
  levels[!vapply(levels, identical, NA, c("FALSE", "TRUE"))]
}

ksvm_classes <- function(m) {
  if (m@type == "one-svc") stop("it finds outliers")
  if (grepl("svr$", m@type)) return(NULL)
  if (is.null(kernlab::prob.model(m)[[1L]])) {
    stop("it was fitted without probabilities. Fit it again with prob.model = TRUE")
  }
  as.character(m@lev)
}
ksvm_columns <- function(m) if (is.list(m@xmatrix)) m@xmatrix[[1L]] else m@xmatrix

# predict of ksvm uses the columns of factors by position, whatever their levels.
check_ksvm_columns <- function(m, data) {
  if (is.null(m@terms)) return(as.matrix(data))
  columns <- colnames(stats::model.matrix(stats::delete.response(m@terms), data))
  own_columns <- colnames(ksvm_columns(m))
  if (!identical(columns, own_columns)) stop(other_columns(own_columns, columns))
  data
}

# The classes of a fit to a matrix, which has the names of its classes or none.
nnet_matrix_classes <- function(m) {
  if (m$n[3L] == 1L) return(if (m$entropy) zero_one)
  if (!m$softmax && !m$entropy) stop("it has several responses")
  classes <- colnames(m$fitted.values)
  if (is.null(classes)) stop("the columns of the response that it was fitted to have no names")
  classes
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
  checks_levels = TRUE,
  predict = function(m, data) {
    check_svm_columns(m, data)
    if (m$type > 2L) return(stats::predict(m, data))
    predictions <- stats::predict(m, data, probability = TRUE)
    attr(predictions, "probabilities")[, m$levels, drop = FALSE]
  }
)

discriminant_kind <- list(
  package = "MASS", features = discriminant_features,
  types = function(m) {
    if (is.null(m$terms)) all_numeric(colnames(m$means)) else terms_types(m)
  },
  levels = function(m) m$xlevels, classes = function(m) rownames(m$means),
  judges_missing = FALSE, predict = function(m, data) stats::predict(m, data)$posterior
)
gam_kind <- list(
  package = "mgcv", features = function(m) all.vars(m$pred.formula), types = gam_types,
  levels = function(m) c(lapply(Filter(is.factor, m$var.summary), levels)),
  classes = gam_classes, judges_missing = FALSE,
  predict = function(m, data) stats::predict(m, data, type = "response")
)
glmnet_kind <- list(
  package = "glmnet", features = glmnet_features,
  types = function(m) all_numeric(glmnet_features(m)), levels = function(m) NULL,
  classes = glmnet_classes, judges_missing = FALSE, note = glmnet_note,
  predict = function(m, data) {
    answer <- stats::predict(m, data.matrix(data), s = glmnet_penalty(m), type = "response")
    if (length(dim(answer)) == 3L) answer[, , 1L] else answer
  }
)

# One entry per class that can be audited, by `kind_name` of the model.
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
    # Without a seed it takes one from R's stream.
    draws = TRUE,
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
  ),
  nnet = list(
    package = "nnet", features = function(m) m$n[1L], types = function(m) NULL,
    levels = function(m) NULL, classes = nnet_matrix_classes, judges_missing = FALSE,
    predict = function(m, data) stats::predict(m, data.matrix(data), type = "raw")
  ),
  gam = gam_kind,
  bam = gam_kind,
  glmnet = glmnet_kind,
  cv.glmnet = glmnet_kind,
  cv.relaxed = glmnet_kind,
  loess = utils::modifyList(linear_kind, list(predict = function(m, data) {
    predictions <- stats::predict(m, data)
    if (anyNA(predictions)) {
      stop("predict.loess has no answer for ", sum(is.na(predictions)), " rows outside the range ",
           "of those it was fitted to. Leave them out, or fit it with ",
           "control = loess.control(surface = \"direct\")")
    }
    predictions
  })),
  nls = utils::modifyList(linear_kind, list(
    features = function(m) names(m$dataClasses), types = function(m) m$dataClasses
  )),
  polr = utils::modifyList(linear_kind, list(
    package = "MASS",
    classes = function(m) {
      refuse_offset(m, "predict.polr")
      m$lev
    },
    predict = function(m, data) stats::predict(m, data, type = "probs")
  )),
  lda = discriminant_kind,
  qda = discriminant_kind,
  naiveBayes = list(
    package = "e1071", features = function(m) names(m$tables),
    types = function(m) {
      are_flags <- vapply(lapply(m$tables, colnames), identical, NA, c("FALSE", "TRUE"))
      is_number <- vapply(bayes_levels(m)[names(m$tables)], is.null, NA)
      ifelse(are_flags, "logical", ifelse(is_number, "numeric", "factor"))
    },
    levels = bayes_levels, classes = function(m) names(m$apriori), judges_missing = TRUE,
    predict = function(m, data) stats::predict(m, data, type = "raw")
  ),
  ksvm = list(
    package = "kernlab",
    features = function(m) {
      if (is.null(m@terms)) return(columns_or_count(ksvm_columns(m)))
      all.vars(stats::delete.response(m@terms))
    },
    types = function(m) if (!is.null(m@terms)) attr(m@terms, "dataClasses"),
    levels = function(m) NULL, classes = ksvm_classes, judges_missing = FALSE,
    checks_levels = TRUE,
    predict = function(m, data) {
      data <- check_ksvm_columns(m, data)
      kernlab::predict(m, data, type = if (grepl("svr$", m@type)) "response" else "probabilities")
    }
  )
)

survival_kinds <- local({
  kind <- list(package = "stats", classes = function(m) refuse_survival(TRUE))
  names <- c("coxph", "coxph.penal", "survreg", "survreg.penal", "survfit", "aareg", "cph", "psm",
             "flexsurvreg")
  stats::setNames(rep(list(kind), length(names)), names)
})
