# Models that say themselves how they predict, and what their own packages say.

own_data <- function() {
  set.seed(2)
  d <- data.frame(x = rnorm(90), n = runif(90))
  d$g <- factor(sample(c("b", "a", "c"), 90, TRUE), levels = c("b", "a", "c"))
  d$y <- d$x + as.integer(d$g) + d$n + rnorm(90) / 4
  d$z <- factor(ifelse(d$y > 2.5, "yes", "no"), levels = c("no", "yes"))
  d$k <- cut(d$y, 3, labels = c("v", "u", "w"))
  d$is_high <- d$n > 0.5
  d$count <- 90:1
  d$size <- factor(ifelse(d$n > 0.6, "hi", "lo"), levels = c("lo", "hi"), ordered = TRUE)
  d
}

learner_for <- function(d, features, target, ...) {
  task <- mlr3::as_task_classif(d[c(features, target)], target = target, ...)
  mlr3::lrn("classif.rpart", predict_type = "prob", minsplit = 4L)$train(task)
}

tree_for <- function(mode) {
  parsnip::set_mode(parsnip::set_engine(parsnip::decision_tree(), "rpart"), mode)
}

fit_own <- function(folder, which) {
  d <- own_data()
  x <- d[c("x", "n", "g")]
  forest <- function(target) {
    set.seed(1)
    randomForest::randomForest(x, d[[target]], ntree = 9)
  }
  z01 <- as.integer(d$z) - 1L
  fits <- list(
    explainer = function() DALEX::explain(lm(y ~ x + n + g, d), x, d$y, verbose = FALSE),
    explainer_2 = function() DALEX::explain(forest("z"), x, z01, verbose = FALSE),
    explainer_f = function() DALEX::explain(forest("z"), x, d$z, verbose = FALSE),
    explainer_k = function() DALEX::explain(forest("k"), x, d$k, verbose = FALSE),
    explainer_own = function() {
      DALEX::explain(structure(list(b = 2), class = "mine"), x, d$y,
                     function(m, data) m$b * data$x, verbose = FALSE)
    },
    explainer_lost = function() {
      explainer <- DALEX::explain(lm(y ~ x, d), x, d$y, verbose = FALSE)
      explainer$predict_function <- as.function(
        alist(m = , data = , lost_slope * data$x), envir = globalenv()
      )
      explainer
    },
    explainer_moved = function() {
      explainer <- DALEX::explain(lm(y ~ x + n + g, d), x, d$y, verbose = FALSE)
      explainer$y_hat[7] <- explainer$y_hat[7] + 1e-6
      explainer
    },
    explainer_weighted = function() {
      DALEX::explain(lm(y ~ x + n + g, d), x, d$y, weights = d$count, verbose = FALSE)
    },
    explainer_silent = function() {
      explainer <- DALEX::explain(lm(y ~ x + n + g, d), x, d$y, verbose = FALSE)
      explainer$y_hat <- NULL
      explainer
    },
    explainer_noisy = function() {
      DALEX::explain(structure(list(b = 2), class = "mine"), x, d$y,
                     function(m, data) m$b * data$x + rnorm(nrow(data)), verbose = FALSE)
    },
    script = function() structure(list(b = 2), class = "mine"),
    script_with_session = function() {
      rows <- data.frame(x, town = ifelse(d$is_high, "x", "y"), stringsAsFactors = FALSE)
      model <- structure(list(of_town = c(y = 1, x = 0), of_g = 1:3), class = "mine")
      known <- d$x + unname(model$of_town[rows$town]) + model$of_g[rows$g]
      session <- list(rows = rows, predictions = known, noise = 0)
      structure(model, importanceaudit_session = session)
    },
    caret = function() {
      caret::train(y ~ x + n + g, d, method = "lm",
                   trControl = caret::trainControl(method = "none"))
    },
    caret_2 = function() {
      caret::train(x, d$z, method = "rpart", tuneGrid = data.frame(cp = 0.01),
                   trControl = caret::trainControl(method = "none", classProbs = TRUE))
    },
    caret_without = function() {
      caret::train(x[c("x", "n")], d$z, method = "svmLinear2",
                   tuneGrid = data.frame(cost = 1),
                   trControl = caret::trainControl(method = "none"))
    },
    caret_all_the_same = function() {
      caret::train(x, d$z, method = "rpart", tuneGrid = data.frame(cp = 0.01),
                   trControl = caret::trainControl(method = "none"))
    },
    workflow = function() {
      spec <- parsnip::set_engine(parsnip::linear_reg(), "lm")
      parsnip::fit(workflows::workflow(y ~ x + n + g, spec), d)
    },
    workflow_k = function() {
      parsnip::fit(workflows::workflow(k ~ x + n + g, tree_for("classification")), d)
    },
    parsnip = function() parsnip::fit(parsnip::linear_reg(), y ~ x + n + g, d),
    parsnip_xy = function() parsnip::fit_xy(tree_for("regression"), x, d$y),
    parsnip_k = function() parsnip::fit(tree_for("classification"), k ~ x + n + g, d),
    kernlab = function() {
      fit <- kernlab::ksvm(y ~ x + n + g, d)
      own <- as.function(alist(m = , data = , predict(m, data)[, 1L]), envir = globalenv())
      explainer <- DALEX::explain(fit, x, d$y, own, verbose = FALSE)
      explainer$y_hat <- NULL # kernlab is not attached here
      explainer
    },
    learner = function() {
      task <- mlr3::as_task_regr(d[c("x", "n", "g", "y")], target = "y")
      mlr3::lrn("regr.rpart")$train(task)
    },
    learner_2 = function() learner_for(d, c("x", "n", "g"), "z", positive = "yes"),
    learner_2n = function() learner_for(d, c("x", "n", "g"), "z", positive = "no"),
    learner_wide = function() {
      learner_for(d, c("x", "g", "is_high", "count", "size"), "z", positive = "no")
    },
    learner_classes = function() {
      task <- mlr3::as_task_classif(d[c("x", "n", "g", "k")], target = "k")
      mlr3::lrn("classif.rpart")$train(task)
    },
    learner_new = function() mlr3::lrn("regr.rpart"),
    learner_k = function() {
      task <- mlr3::as_task_classif(d[c("x", "n", "g", "k")], target = "k")
      mlr3::lrn("classif.rpart", predict_type = "prob")$train(task)
    }
  )
  for (name in which) saveRDS(fits[[name]](), file.path(folder, paste0(name, ".rds")))
  invisible(length(which))
}

# What the packages of each model answer, by their own interface.
own_answer <- function(model, data) {
  classes <- c("v", "u", "w")
  switch(
    class(model)[1L],
    explainer = if (inherits(model$model, "ksvm")) kernlab::predict(model$model, data)[, 1L] else
      unname(predict(model, data)),
    `_lm` = , `_rpart` = if (is.null(model$lvl)) predict(model, data)$.pred else
      unname(as.matrix(predict(model, data, type = "prob")[paste0(".pred_", classes)])),
    scripted_model = 2 * data$x,
    train = if (model$modelType == "Regression") unname(predict(model, data)) else
      predict(model, data, type = "prob")[["yes"]],
    workflow = if (is.null(workflow_classes(model))) predict(model, data)$.pred else
      unname(as.matrix(predict(model, data, type = "prob")[paste0(".pred_", classes)])),
    LearnerRegrRpart = model$predict_newdata(data)$response,
    LearnerClassifRpart = {
      answer <- model$predict_newdata(data)$prob
      if (ncol(answer) == 2L) unname(answer[, "yes"]) else unname(answer[, classes])
    }
  )
}

is_there <- function(package) requireNamespace(package, quietly = TRUE)

# What DALEX measures with an explainer as it was saved, and without its weights.
with_and_without_weights <- function(folder) {
  explainer <- readRDS(file.path(folder, "explainer_weighted.rds"))
  lapply(list(explainer, utils::modifyList(explainer, list(weights = NULL))), function(one) {
    set.seed(1)
    parts <- DALEX::model_parts(one, B = 2, N = NULL)
    profile <- DALEX::model_profile(one, N = NULL)$agr_profiles
    c(parts$dropout_loss, profile$`_yhat_`, unlist(DALEX::model_performance(one)$measures))
  })
}
