command <- Sys.getenv("IMPORTANCE_AUDIT", "importance-audit")
skip_without <- function(package = NULL) {
  skip_if(!nzchar(Sys.which(command)), "the command importance-audit is not installed")
  if (!is.null(package)) skip_if_not_installed(package)
}
fit <- lm(mpg ~ wt + hp + qsec, mtcars, subset = 1:20)
rest <- mtcars[21:32, ]
x <- rest[c("wt", "hp", "qsec")]

test_that("the questions of Python are asked from R, and answered as objects", {
  skip_without()
  half <- rep(1:2, 6)
  audit <- importance_audit(
    fit, x, rest$mpg, engines = character(), n_repeats = 3, losses = c("rmse", "mae"),
    methods = list("permutation", list(method = "sage", n_repeats = 2), "vint",
                   list(method = "permutation", n_rows = 6)),
    groups = list(size = c("wt", "hp")), labels = c(wt = "Weight \"1000 lbs\""), weights = half,
    by = list(half = factor(half)), minutes = 30
  )
  all <- audit$importances
  asked <- unique(all[c("method", "of", "loss", "n_repeats")])
  expect_equal(sum(asked$method != "vint"), 8)  # two methods of features and groups, by two losses
  expect_equal(unique(asked$n_repeats[asked$method == "permutation"]), 3)
  expect_equal(unique(asked$n_repeats[asked$method == "sage" & asked$of == "features"]), 2)
  expect_equal(unique(asked$of[asked$method == "vint"]), "pairs")
  expect_setequal(unique(audit$tables$segment_performance$segment), "half")
  gap <- rest$mpg - predict(fit, x)
  baseline <- audit$tables$importances$baseline[audit$tables$importances$loss == "mae" &
    audit$tables$importances$method == "permutation"]
  expect_equal(baseline[1], weighted.mean(abs(gap), half))
  expect_false(any(audit$findings$check %in% c("scored_on_training_rows",
                                               "predict_side_effects")))

  short <- summary(audit)
  expect_equal(nrow(short$measurements), max(all$measurement))
  expect_output(print(short), "permutation.*wt, hp, qsec")
  leading <- importanceaudit:::leading_measurement(all)
  vi <- as_vi(audit)
  expect_s3_class(vi, "vi")
  expect_equal(vi$Importance, sort(leading$importance, decreasing = TRUE))
  expect_equal(dim(attr(vi, "raw_scores")), c(3, 3))
  parts <- as_model_parts(audit)
  means <- parts[parts$permutation == 0, ]
  expect_equal(means$dropout_loss[means$variable == "_full_model_"], 0)
  expect_equal(sort(means$dropout_loss[means$variable %in% names(x)]), sort(leading$importance))
  expect_false(anyNA(parts$dropout_loss))
  is_rmse <- all$method == "permutation" & all$of == "features" & all$loss == "rmse"
  second <- as_model_parts(audit, unique(all$measurement[is_rmse])[2])
  # The target was permuted in the draws of the first entry.
  expect_true(all(is.na(second$dropout_loss) == (second$variable == "_baseline_")))
  of_sage <- all$measurement[all$method == "sage"][1]
  expect_error(as_model_parts(audit, of_sage), "no permutation importance with a loss")
  expect_equal(attr(as_vi(audit, of_sage), "type"), "sage")
  expect_error(as_vi(audit, 99), "measurement must be one of those in x\\$importances, 1, 2")
  expect_error(as_vi(fit), "it is of class 'lm'")
  written <- tempfile(fileext = ".csv")
  expect_equal(nrow(write_importance(vi, written)), 9)
  skip_if_not_installed("ggplot2")
  picture <- plot(audit, type = "ggplot")
  expect_s3_class(picture, "ggplot")
  expect_equal(levels(picture$data$feature), rev(vi$Variable))
})

test_that("a model that keeps its rows says how many of the evaluation rows they are", {
  skip_without()
  audit <- importance_audit(fit, mtcars[names(x)], mtcars$mpg, engines = character(),
                            n_repeats = 2)
  found <- audit$findings[audit$findings$check == "scored_on_training_rows", ]
  expect_equal(found$message,
               "20 of the 32 evaluation rows are equal to rows that the model was fitted on.")
  expect_equal(found$remedy, "Give data and y of rows that it was not fitted on.")
})

test_that("a matrix is taken as its columns, and predict_function gets one", {
  skip_without()
  asked_for <- function(model, data) {
    stopifnot(is.matrix(data))
    as.vector(cbind(1, data) %*% model)
  }
  audit <- importance_audit(coef(fit), as.matrix(x), rest$mpg, engines = character(),
                            predict_function = asked_for, n_repeats = 2, name = "by hand")
  expect_equal(unique(audit$tables$importances$baseline),
               sqrt(mean((rest$mpg - predict(fit, x))^2)))
})

test_that("an explainer takes the rows of the call", {
  skip_without("DALEX")
  explainer <- DALEX::explain(fit, label = "bare", verbose = FALSE)  # has the target too
  expect_error(importance_audit(explainer, y = mtcars$mpg[1:20]), paste(
    "column 'mpg' of explainer$data is the target of the model. Give data without it:",
    'explainer$data[names(explainer$data) != "mpg"].'
  ), fixed = TRUE)
  audit <- importance_audit(explainer, x, rest$mpg, engines = character(), n_repeats = 2)
  expect_equal(unique(audit$importances$model), "bare")
})

test_that("a column with the values of the target is named, whatever it is called", {
  found <- "column 'price' of data has the value of y in every row, and is measured as a feature."
  warned <- function(y) importanceaudit:::warn_of_target(data.frame(x, price = rest$mpg), y)
  expect_warning(warned(rest$mpg), found, fixed = TRUE)
  expect_silent(warned(rev(rest$mpg)))
  explainer <- structure(list(data = data.frame(x, price = rest$mpg), y = rest$mpg),
                         class = "explainer")
  expect_warning(try(importance_audit(explainer, command = "no-such"), silent = TRUE), found,
                 fixed = TRUE)
})

test_that("a predict that warns is a finding", {
  skip_without()
  noisy <- function(model, data) {
    warning("far from what I know")
    as.vector(predict(model, data))
  }
  suppressWarnings(
    audit <- importance_audit(fit, x, rest$mpg, engines = character(), n_repeats = 2,
                              predict_function = noisy)
  )
  found <- audit$findings[audit$findings$check == "predict_side_effects", ]
  expect_identical(found$message,
                   "Predict warns (1 warning for 12 rows): far from what I know")
})

test_that("what is no number for each row is refused before the audit", {
  refused <- function(change) {
    conditionMessage(expect_error(importance_audit(
      fit, x, rest$mpg, predict_function = function(model, data) change(predict(model, data))
    )))
  }
  rule <- "and must return numbers: one for each row"
  expect_match(refused(as.character), paste0("an object of class 'character', ", rule))
  expect_match(refused(as.list), paste0("an object of class 'list', ", rule))
  expect_match(refused(factor), paste0("an object of class 'factor', ", rule))
  rule <- ", for 12 rows. It must return one prediction for each row."
  expect_equal(refused(mean), paste0("predict_function returns a vector of length 1", rule))
  expect_equal(refused(function(p) cbind(p, p)[-1, ]),
               paste0("predict_function returns a matrix whose number of rows is 11", rule))
})

test_that("a wrong question is named with what it may be", {
  said <- function(...) {
    conditionMessage(expect_error(importance_audit(fit, x, rest$mpg, ..., command = "no-such")))
  }
  expect_match(said(methods = 3), 'methods must be names such as "permutation", or a list')
  expect_match(said(losses = c("rmse", "rmse")), 'losses must be names such as "rmse", each once')
  expect_match(said(groups = c("wt", "hp")), "groups must be a list of columns by name")
  expect_equal(said(groups = list(a = "cyl")), paste(
    "groups names 'cyl', which is no column of data; those are 'wt', 'hp', 'qsec'."
  ))
  expect_match(said(labels = "Weight"), "labels must be texts by column, such as")
  expect_match(said(minutes = 0), "minutes must be a number above 0, or NULL; 0 was given.")
  expect_match(said(by = "cyl"), "by names 'cyl', which is no column of data")
  expect_match(said(by = list(cyl = 1:3)), 'column "cyl" of by has 3 values and data 12 rows')
  expect_match(said(by = list(wt = 1:12)), "by and data both have a column 'wt'")
  expect_match(said(weights = -1), "weights must be numbers from 0 on")
  expect_match(said(weights = 1:3), "weights has 3 values, and there are 12 rows")
  expect_match(said(weights = 1:12, train = mtcars[1:20, names(x)], train_y = mtcars$mpg[1:20]),
               "weights and train are given: give train_weights too")
  expect_match(said(train_weights = 1:3), "train_weights are given: give weights and train too")
  expect_error(importance_audit(fit, data.frame(a = 1:6000), factor(rep(1:3000, 2))),
               "y has 3000 classes and 6000 rows, so each prediction has 18 000 000 numbers")
})

test_that("a target of 0 and 1 has two classes if the model says so, and numbers if not", {
  skip_without("mgcv")
  d <- data.frame(a = sin(1:90), b = cos(2 * 1:90))
  d$y <- as.numeric(d$a + sin(7 * 1:90) > 0)
  losses_of <- function(model) {
    audit <- importance_audit(model, d[61:90, c("a", "b")], d$y[61:90], n_repeats = 2,
                              engines = character())
    unique(audit$importances$loss)
  }
  expect_equal(losses_of(mgcv::gam(y ~ s(a) + b, binomial, d[1:60, ])), "one_minus_auc")
  expect_equal(losses_of(lm(y ~ a + b, d[1:60, ])), "rmse")
  says <- importanceaudit:::has_classes_zero_one
  expect_true(says(MASS::lda(y ~ a + b, d)))
  expect_true(says(rpart::rpart(factor(y) ~ a + b, d)))
  expect_false(says(MASS::lda(factor(y, labels = c("no", "yes")) ~ a + b, d)))
  expect_false(says(function(x) x))
})

test_that("the R of the audit looks for packages where this session does", {
  skip_if(!nzchar(Sys.which("sh")))
  command <- tempfile()
  writeLines(c("#!/bin/sh", "printf '{\"folder\": \"%s\"}' \"$R_LIBS\""), command)
  Sys.chmod(command)
  before <- Sys.getenv("R_LIBS")
  summary <- importanceaudit:::run_command(command, tempdir(), FALSE)
  expect_equal(summary$folder, paste(.libPaths(), collapse = .Platform$path.sep))
  expect_equal(Sys.getenv("R_LIBS"), before)
})

test_that("numbers have a decimal point whatever the session prints", {
  before <- options(OutDec = ",")
  on.exit(options(before))
  expect_equal(importanceaudit:::toml_value(0.5), "0.5")
  expect_equal(importanceaudit:::class_text(1.5), "1.5")
})
