# Models of every class that can be audited, and what their own packages predict.

model_data <- function() {
  set.seed(1)
  d <- data.frame(x = rnorm(80), n = 1:80)
  d$g <- factor(sample(c("b", "a", "c"), 80, TRUE), levels = c("b", "a", "c"))
  d$o <- factor(sample(c("lo", "mid", "hi"), 80, TRUE), levels = c("lo", "mid", "hi"),
                ordered = TRUE)
  d$y <- d$x + as.integer(d$g) + d$n / 40 + rnorm(80)
  d$z <- factor(ifelse(d$y + rnorm(80) > 3, "yes", "no"), levels = c("no", "yes"))
  d$k <- cut(d$y + rnorm(80), 3, labels = c("v", "u", "w"))
  d
}

fit_every_class <- function(folder) {
  d <- model_data()
  d$b <- as.integer(d$z) - 1L
  x <- d[c("x", "n", "g", "o")]
  numbers <- as.matrix(d[c("x", "n")])
  options(warn = -1)
  set.seed(1)
  models <- list(
    lm = lm(y ~ o + g * x + log(n), d),
    aov = aov(y ~ g + x, d),
    rlm = MASS::rlm(y ~ x + n + g, d),
    negbin = MASS::glm.nb(n ~ x + g, d),
    glm = glm(z ~ x + n + g + o, binomial, d),
    glm01 = glm(b ~ x + g, binomial, d),
    poisson = glm(n ~ x + g, poisson, d),
    forest = randomForest::randomForest(y ~ x + n + g + o, d, ntree = 9),
    forest_x = randomForest::randomForest(x, d$k, ntree = 9),
    forest2 = randomForest::randomForest(z ~ x + n + g, d, ntree = 9),
    ranger = ranger::ranger(y ~ x + n + g + o, d, num.trees = 9, seed = 1),
    ranger_order = ranger::ranger(y ~ x + g, d, num.trees = 9, seed = 1,
                                  respect.unordered.factors = "order"),
    # From the last row on, so that it meets the second class first.
    ranger_k = ranger::ranger(k ~ x + n + g, d[80:1, ], probability = TRUE, num.trees = 9,
                              respect.unordered.factors = "partition", seed = 1),
    gbm = gbm::gbm(y ~ x + n + g + o, "gaussian", d, n.trees = 9, n.minobsinnode = 3),
    gbm01 = gbm::gbm(b ~ x + g, "bernoulli", d, n.trees = 9, n.minobsinnode = 3),
    gbm_k = gbm::gbm(k ~ x + g, "multinomial", d, n.trees = 9, n.minobsinnode = 3),
    rpart = rpart::rpart(y ~ x + n + g + o, d),
    rpart_k = rpart::rpart(k ~ x + n + g, d),
    nnet = nnet::nnet(y ~ x + g, d, size = 2, linout = TRUE, trace = FALSE),
    nnet2 = nnet::nnet(z ~ x + g, d, size = 2, trace = FALSE),
    nnet_k = nnet::nnet(k ~ x + g + o, d, size = 2, trace = FALSE),
    multinom = nnet::multinom(k ~ x + g, d, trace = FALSE),
    multinom2 = nnet::multinom(z ~ x + g + o, d, trace = FALSE),
    svm = e1071::svm(y ~ x + g + o, d),
    svm_poly = e1071::svm(y ~ poly(x, 2) + g * n, d),
    svm_x = e1071::svm(x[c("x", "n")], d$y),
    svm_k = e1071::svm(k ~ x + g, d, probability = TRUE),
    svm2 = e1071::svm(z ~ x + g, d, probability = TRUE),
    loess = loess(y ~ x + n, d),
    nls = nls(y ~ a * x + b * log(n), d, start = list(a = 1, b = 1)),
    polr = MASS::polr(ordered(k) ~ x + g, d),
    lda = MASS::lda(k ~ x + n + g, d),
    lda_x = MASS::lda(numbers, d$k),
    qda = MASS::qda(z ~ x + n, d),
    bayes = e1071::naiveBayes(k ~ x + g, d),
    bayes2 = e1071::naiveBayes(x[c("x", "g")], d$z),
    nnet_x = nnet::nnet(numbers, d$y, size = 2, linout = TRUE, trace = FALSE),
    nnet_xk = nnet::nnet(numbers, nnet::class.ind(d$k), size = 2, softmax = TRUE, trace = FALSE)
  )
  # As functions, because their packages need not be here.
  more <- list(
    earth = list(
      earth = function() earth::earth(y ~ x + n + g, d),
      earth2 = function() earth::earth(z ~ x + g, d, glm = list(family = binomial)),
      earth_x = function() earth::earth(x[c("x", "g")], d$y)
    ),
    mgcv = list(
      gam = function() mgcv::gam(y ~ s(x, by = g, k = 4) + g + s(n, k = 3), data = d),
      gam2 = function() mgcv::gam(z ~ s(x, k = 3) + g + offset(n / 80), binomial, d),
      bam = function() mgcv::bam(y ~ s(x, k = 4) + s(g, bs = "re"), data = d),
      gam_codes = function() {
        codes <- transform(d, codes = as.integer(k) - 1)
        mgcv::gam(list(codes ~ s(x), ~ s(x)), mgcv::multinom(K = 2), codes)
      }
    ),
    glmnet = list(
      glmnet = function() glmnet::glmnet(numbers, d$y),
      glmnet2 = function() glmnet::glmnet(numbers, d$z, "binomial"),
      glmnet_k = function() glmnet::glmnet(numbers, d$k, "multinomial"),
      glmnet_poisson = function() glmnet::glmnet(numbers, d$n, "poisson"),
      glmnet_glm = function() glmnet::glmnet(numbers, d$b, binomial()),
      cv_glmnet = function() glmnet::cv.glmnet(numbers, d$y),
      cv_relaxed = function() glmnet::cv.glmnet(numbers, d$y, relax = TRUE),
      cv_glmnet_k = function() glmnet::cv.glmnet(numbers, d$k, family = "multinomial")
    ),
    kernlab = list(
      ksvm = function() kernlab::ksvm(y ~ x + n + g, d),
      ksvm_x = function() kernlab::ksvm(numbers, d$y),
      ksvm2 = function() kernlab::ksvm(z ~ x + g, d, prob.model = TRUE),
      ksvm_k = function() kernlab::ksvm(k ~ x + n, d, prob.model = TRUE)
    )
  )
  for (package in names(more)) {
    if (requireNamespace(package, quietly = TRUE)) {
      models <- c(models, lapply(more[[package]], function(fit) fit()))
    }
  }
  for (name in names(models)) {
    saveRDS(models[[name]], file.path(folder, paste0(name, ".rds")))
  }
}

# A logical column with missing cells, of which rpart and naiveBayes take note.
with_flags <- function() {
  d <- transform(model_data(), flag = y > 2)
  d$flag[c(3L, 40L)] <- NA
  d
}
fit_to_flags <- function(folder) {
  d <- with_flags()
  saveRDS(rpart::rpart(y ~ x + flag, d), file.path(folder, "rpart_flags.rds"))
  saveRDS(e1071::naiveBayes(z ~ x + flag, d), file.path(folder, "bayes_flags.rds"))
}

# Of values that are no columns: those of R, and of the function that fitted a model.
fit_to_values <- function(folder) {
  d <- model_data()
  knots <- c(-0.5, 0.5)
  formula <- y ~ poly(x, 2, raw = T) + sin(2 * pi * n / 7) + splines::bs(x, knots = knots)
  short <- function(formula, fit, file, ...) saveRDS(fit(formula, d, ...), file.path(folder, file))
  short(formula, stats::lm, "lm_values.rds")
  short(z ~ sin(pi * x) + I(n * 2), stats::glm, "glm_values.rds", family = stats::binomial)
  short(y ~ sin(pi * x) + n, rpart::rpart, "rpart_values.rds", maxdepth = 1)
}

save_what_is_no_model <- function(folder) {
  save_as <- function(object, name) saveRDS(object, file.path(folder, name))
  d <- model_data()
  big <- rnorm(1e5)
  save_as(function(x) x + big[1], "closure.rds")
  save_as(list(1), "list.rds")
  save_as(structure(list(), class = "absent"), "absent.rds")
  save_as(new.env(), "environment.rds")
  save_as(structure(list(), class = "lm"), "fake.rds")
  save_as(ranger::ranger(k ~ x, d, num.trees = 2), "votes.rds")
  censored <- data.frame(time = d$y - min(d$y) + 1, status = 1, x = d$x)
  save_as(ranger::ranger(survival::Surv(time, status) ~ ., censored, num.trees = 2),
          "survival.rds")
  save_as(rpart::rpart(survival::Surv(time, status) ~ ., censored), "survival_tree.rds")
  save_as(glm(z ~ x, binomial, d, model = FALSE), "no_levels.rds")
  save_as(rpart::rpart(y ~ x + offset(n), d), "offset.rds")
  save_as(nnet::multinom(z ~ x + offset(n), d, trace = FALSE), "offset_k.rds")
  save_as(nnet::nnet(cbind(y, n) ~ x, d, size = 1, trace = FALSE), "responses.rds")
  if (requireNamespace("earth", quietly = TRUE)) {
    save_as(earth::earth(d["x"], d[c("y", "n")]), "responses_of_earth.rds")
  }
  save_as(nnet::nnet(as.matrix(d["x"]), d$y, size = 1, trace = FALSE), "no_names.rds")
  save_as(survival::coxph(survival::Surv(time, status) ~ x, censored), "coxph.rds")
  save_as(survival::survreg(survival::Surv(time, status) ~ x, censored), "survreg.rds")
  save_as(methods::new("externalptr"), "pointer.rds")
  promise <- new.env()
  delayedAssign("later", stop("forced"), assign.env = promise)
  save_as(promise, "promise.rds")
}

# One more row, for a package that is nowhere.
model_kinds$absent <- list(package = "no.such.package")

draw_after_prediction <- function(model, data) {
  set.seed(1)
  predict_model(model, data)
  stats::runif(1)
}

# One column for each class in the order of the audit, of two that of the second alone.
columns <- function(p) {
  if (length(dim(p)) < 2L || ncol(p) == 1L) return(as.vector(p))
  if (ncol(p) == 2L) return(as.vector(p[, 2L]))
  if (setequal(colnames(p), c("v", "u", "w"))) p <- p[, c("v", "u", "w")]
  unname(p)
}

answer_of_glmnet <- function(model, data, ...) {
  fit <- if (is.null(model$glmnet.fit)) model else model$glmnet.fit
  beta <- if (is.list(fit$beta)) fit$beta[[1L]] else fit$beta
  p <- predict(model, as.matrix(data[rownames(beta)]), type = "response", ...)
  if (length(dim(p)) == 3L) columns(p[, , 1L]) else as.vector(p)
}

# What a user of R would type.
own_prediction <- function(model, data) {
  if (inherits(model, "glmnet")) {
    return(answer_of_glmnet(model, data, s = min(model$lambda)))
  }
  if (inherits(model, "cv.glmnet")) return(answer_of_glmnet(model, data))
  if (class(model)[1L] == "svm") data <- data[colnames(model$SV)]
  number <- function(...) as.vector(stats::predict(model, data, ...))
  class_of <- function(...) {
    p <- stats::predict(model, data, ...)
    if (is.null(dim(p)) || ncol(p) == 1L) as.vector(p) else
      if (ncol(p) == 2L) as.vector(p[, "yes"]) else unname(p[, c("v", "u", "w")])
  }
  switch(class(model)[1L],
    lm = , aov = , rlm = number(), glm = , negbin = number(type = "response"),
    randomForest = , randomForest.formula = if (model$type == "regression") number() else
      class_of(type = "prob"),
    ranger = {
      p <- predict(model, data, num.threads = 1, seed = 1)$predictions
      if (is.matrix(p)) unname(p[, c("v", "u", "w")]) else p
    },
    gbm = {
      p <- predict(model, data, n.trees = 9, type = "response")
      if (length(dim(p)) == 3L) unname(p[, c("v", "u", "w"), 1L]) else p
    },
    loess = , nls = number(), gam = , bam = columns(predict(model, data, type = "response")),
    polr = columns(predict(model, data, type = "probs")),
    lda = , qda = {
      names <- if (is.null(model$terms)) colnames(model$means) else names(data)
      columns(predict(model, data[names])$posterior)
    },
    naiveBayes = columns(predict(model, data, type = "raw")),
    nnet = columns(predict(model, as.matrix(data[c("x", "n")]))),
    ksvm = {
      names <- if (is.null(model@terms)) c("x", "n") else names(data)
      type <- if (model@type == "C-svc") "probabilities" else "response"
      columns(kernlab::predict(model, if (is.null(model@terms)) as.matrix(data[names]) else data,
                               type = type))
    },
    rpart = if (model$method == "class") class_of(type = "prob") else number(),
    nnet.formula = if (is.null(model$lev)) number() else class_of(type = "raw"),
    multinom = class_of(type = "probs"), earth = class_of(type = "response"),
    svm = , svm.formula = if (model$type == 3L) number() else {
      p <- attr(predict(model, data, probability = TRUE), "probabilities")
      if (ncol(p) == 2L) as.vector(p[, "yes"]) else unname(p[, c("v", "u", "w")])
    }
  )
}
