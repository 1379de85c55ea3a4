# Which faults the installed packages have: one line per fault, its name and TRUE or FALSE.
# The faults are those of pipeline/engines/avoided_defects.py.

set.seed(1, "Mersenne-Twister", "Inversion", "Rejection")
rows <- data.frame(x1 = runif(40), x2 = runif(40), x3 = runif(40))
y <- rows$x1 + 2 * rows$x2
model <- structure(list(), class = "m")
by_hand <- function(object, newdata) newdata$x1 + 2 * newdata$x2
mse <- function(truth, estimate) mean((truth - estimate)^2)
has <- function(package) requireNamespace(package, quietly = TRUE)
say <- function(id, fault) cat(id, isTRUE(fault), "\n")

if (has("vip")) {
  vi <- function(predict = by_hand, ...) {
    vip::vi(model,
      method = "permute", train = rows, target = y, metric = mse,
      smaller_is_better = TRUE, pred_wrapper = predict, nsim = 2, ...
    )
  }
  ranked <- vi(rank = TRUE, sort = FALSE)
  say("VIP-RANK", ranked$Importance[ranked$Variable == "x2"] != 1)
  zero <- function(object, newdata) rep(NaN, nrow(newdata))
  say("VIP-NA", nrow(vi(zero)) == 0)
  flat <- function(object, newdata) rep(1, nrow(newdata))
  say("VIP-SCALE", all(is.nan(vi(flat, scale = TRUE)$Importance)))
}

if (has("vip") && has("yardstick")) {
  # P(second level), and no event level given: the loss of a good model is bad.
  yes <- factor(rows$x1 > 0.5, c(FALSE, TRUE))
  scored <- suppressWarnings(vip::vi_permute(model,
    train = rows, target = yes, metric = "logloss",
    pred_wrapper = function(object, newdata) newdata$x1, nsim = 5
  ))
  say("VIP-EVENT", scored$Importance[scored$Variable == "x1"] < 0)
}

if (has("yardstick")) {
  say("YARDSTICK-NA", yardstick::rmse_vec(c(1, 2, 3), c(1, 2, NaN)) == 0)
  truth <- factor(c("a", "b", "b"))
  p <- c(0.9, 0.4, 0.2)
  weighted <- yardstick::brier_class_vec(truth, p, case_weights = c(1, 1, 8))
  say("YARDSTICK-WEIGHTS", abs(weighted - (0.01 + 0.16 + 8 * 0.04) / 10) > 1e-6)
  no_level <- yardstick::brier_class_vec(truth, 1 - p, event_level = "second")
  say("YARDSTICK-BRIER", abs(no_level - (0.01 + 0.16 + 0.04) / 3) > 1e-6)
}

if (has("pdp")) {
  whole <- data.frame(k = c(1L, 2L, 10L), z = 1:3)
  grid <- pdp::partial(model,
    pred.var = "k", train = whole, type = "regression",
    pred.fun = function(object, newdata) mean(newdata$k)
  )$k
  say("PDP-INTGRID", identical(as.numeric(grid), c(1, 5, 10)))
  fit <- stats::glm((rows$x1 + runif(40) > 1) ~ x1, "binomial", rows)
  at <- data.frame(x1 = c(0.2, 0.8))
  curve <- pdp::partial(fit, pred.var = "x1", train = rows, pred.grid = at)$yhat
  halves <- as.numeric(stats::predict(fit, at)) / 2
  say("PDP-HALFLOGIT", all.equal(abs(curve), abs(halves)))
}

if (has("fastshap")) {
  mixed <- data.frame(a = c(1 / 3, 2 / 3, 1e6 / 3), g = factor(c("a", "b", "a")))
  seen <- c()
  look <- function(object, newdata) {
    seen <<- c(seen, newdata$a)
    newdata$a
  }
  invisible(fastshap::explain(model,
    feature_names = "a", X = mixed, nsim = 1, pred_wrapper = look
  ))
  say("FASTSHAP-TEXT", !all(seen %in% mixed$a))
}

if (has("DALEX") && has("ingredients")) {
  explained <- function(data = rows, y = NULL, predict = by_hand, ...) {
    DALEX::explain(model,
      data = data, y = y, predict_function = predict, label = "m", verbose = FALSE,
      model_info = list(package = "p", ver = "1", type = "regression"), ...
    )
  }
  many <- rows[rep(1:40, 30), ]
  asked <- 0
  counted <- function(object, newdata) {
    asked <<- nrow(newdata)
    by_hand(object, newdata)
  }
  quiet <- explained(many, rep(y, 30), counted, precalculate = FALSE)
  rmse <- DALEX::loss_root_mean_square
  invisible(DALEX::model_parts(quiet, B = 1, loss_function = rmse))
  say("DALEX-N1000", asked == 1000)
  say("DALEX-ACC", DALEX::loss_accuracy(c(1, 0, 1), c(1, 0, 1)) == 1)
  half <- matrix(0.5, 3, 2)
  half[1, ] <- c(1e-9, 1 - 1e-9)
  xent <- DALEX::loss_cross_entropy(factor(c("a", "b", "a")), half)
  say("DALEX-XENT", all.equal(xent, -log(1e-4) - 2 * log(0.5)))
  profile <- function(center) {
    set.seed(1)
    suppressWarnings(DALEX::model_profile(quiet,
      variables = "x1", N = 30, type = "accumulated", center = center,
      variable_splits = list(x1 = c(0, 0.5, 1))
    ))$agr_profiles$`_yhat_`
  }
  say("DALEX-CENTER", identical(profile(FALSE), profile(TRUE)))
  fails <- function(object, newdata) stop("no")
  say("DALEX-SILENT", tryCatch(
    is.null(explained(y = y, predict = fails)$y_hat),
    error = function(e) FALSE
  ))
  told <- FALSE
  listens <- function(object, newdata, more = FALSE) {
    told <<- told || more
    by_hand(object, newdata)
  }
  invisible(ingredients::feature_importance(model,
    data = rows, y = y, predict_function = listens, B = 1, more = TRUE
  ))
  say("ING-DOTS", !told)
}

if (has("xplainfi")) {
  options(xplain.verbose = FALSE, xplain.sequential = TRUE)
  lgr::get_logger("mlr3")$set_threshold("warn")
  task <- mlr3::as_task_regr(cbind(rows, y = y + rows$x3 / 9), target = "y")
  learner <- mlr3::lrn("regr.rpart")$train(task)
  ask <- function(method, ...) {
    method$new(task, learner, mlr3::msr("regr.mse"),
      resampling = xplainfi::rsmp_all_test(task), ...
    )
  }
  normal <- xplainfi::ConditionalGaussianSampler$new(task)
  asked <- ask(xplainfi::CFI, sampler = normal, relation = "ratio", n_repeats = 1)
  asked$compute()
  say("XPLAINFI-RELATION", min(asked$importance()$importance) < 0.5)
  grouped <- ask(xplainfi::PFI, groups = list(a = c("x1", "x2")), n_repeats = 1)
  grouped$compute()
  invisible(utils::capture.output(shown <- try(print(grouped), silent = TRUE)))
  say("XPLAINFI-PRINT", inherits(shown, "try-error"))
  sums <- mlr3::as_task_regr(cbind(rows, x4 = rows$x1 + rows$x2, y = y), target = "y")
  drawn <- xplainfi::ConditionalGaussianSampler$new(sums)$sample("x3")
  say("XPLAINFI-COLLINEAR", all(is.na(drawn$x3)))
  learner$reset()
  loco <- try(ask(xplainfi::LOCO)$compute(), silent = TRUE)
  say("XPLAINFI-LOCO", inherits(loco, "try-error"))
}
