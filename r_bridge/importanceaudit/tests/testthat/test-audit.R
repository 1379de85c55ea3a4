command <- Sys.getenv("IMPORTANCE_AUDIT", "importance-audit")
skip_without <- function(package = NULL) {
  skip_if(!nzchar(Sys.which(command)), "the command importance-audit is not installed")
  if (!is.null(package)) skip_if_not_installed(package)
}
rmse <- function(observed, predicted) sqrt(mean((observed - predicted)^2))

test_that("a linear model is audited and its numbers come back", {
  skip_without()
  fit <- lm(mpg ~ wt + hp + qsec, mtcars)
  x <- mtcars[c("wt", "hp", "qsec")]
  audit <- importance_audit(fit, x, mtcars$mpg, engines = character(), n_repeats = 3)
  expect_setequal(audit$importances$feature, names(x))
  expect_equal(unique(audit$importances$n_repeats), 3)
  rounds <- audit$tables$importances
  expect_equal(unique(rounds$baseline), rmse(mtcars$mpg, fitted(fit)))
  expect_equal(unique(audit$tables$performance$split), "test")  # the others are unknown
  expect_true(file.exists(audit$report))
  expect_false(file.exists(file.path(audit$folder, "report.pdf")))
  again <- read_audit(dirname(dirname(audit$folder)))
  expect_equal(again$importances, audit$importances)
  expect_output(print(audit), "wt.*R removes it when this session ends")
})

test_that("DALEX repeats the numbers of an explainer", {
  skip_without("DALEX")
  skip_if_not_installed("randomForest")
  set.seed(1)
  fit <- randomForest::randomForest(mpg ~ wt + hp + qsec, mtcars, ntree = 20)
  x <- mtcars[c("wt", "hp", "qsec")]
  explainer <- DALEX::explain(fit, x, mtcars$mpg, verbose = FALSE)
  audit <- importance_audit(explainer, n_repeats = 2)
  expect_equal(audit$agreement$verdict, "replayed")
  by_engine <- split(audit$importances, audit$importances$engine)
  expect_setequal(names(by_engine), c("DALEX", "python"))
})

test_that("an explainer of 0 and 1 is audited as a classifier", {
  skip_without("DALEX")
  fit <- glm(am ~ wt + hp, binomial, mtcars)
  explainer <- DALEX::explain(fit, mtcars[c("wt", "hp")], mtcars$am, verbose = FALSE)
  audit <- importance_audit(explainer, engines = character(), n_repeats = 2)
  expect_equal(unique(audit$importances$loss), "one_minus_auc")
})

test_that("classes are those of a factor, and a function predicts for any class", {
  skip_without()
  y <- factor(ifelse(mtcars$am == 1, "manual", "automatic"))
  model <- structure(list(slope = -2), class = "mine")
  predict_mine <- function(model, data) plogis(6 + model$slope * data$wt)
  audit <- importance_audit(
    model, mtcars[c("wt", "hp")], y, predict_function = predict_mine,
    engines = character(), n_repeats = 2, pdf = TRUE
  )
  expect_true(file.exists(file.path(audit$folder, "report.pdf")))
  values <- audit$importances
  expect_equal(values$importance[values$feature == "hp"], rep(0, sum(values$feature == "hp")))
  expect_equal(unique(values$positive_class), "manual")
})

baseline_of <- function(audit) unique(audit$tables$importances$baseline)
halved <- function(object, newdata, ...) {
  0.5 * stats::predict.lm(structure(object, class = "lm"), newdata)
}
environment(halved) <- globalenv()
x <- mtcars[c("wt", "hp", "qsec")]
fit_halved <- function() {
  fit <- lm(mpg ~ wt + hp + qsec, mtcars)
  class(fit) <- c("halved", "lm")
  fit
}

test_that("an explainer whose model has another predict in the audit's R is refused", {
  skip_without("DALEX")
  registerS3method("predict", "halved", halved, envir = globalenv())
  explainer <- DALEX::explain(fit_halved(), x, mtcars$mpg, verbose = FALSE)
  audit <- importance_audit(explainer, engines = character(), n_repeats = 2)
  gap <- max(abs(explainer$y_hat))  # lm predicts twice as much
  expect_match(audit$reason[1], "predicts otherwise in a fresh R", fixed = TRUE)
  expect_match(audit$reason[1], paste("by up to", signif(gap, 3), "for 32 rows"), fixed = TRUE)
  expect_equal(nrow(audit$importances), 0)
})

test_that("a method of predict that the session defines is saved with its model", {
  skip_without()
  registerS3method("predict", "halved", halved, envir = globalenv())
  fit <- fit_halved()
  audit <- importance_audit(fit, x, mtcars$mpg, engines = character(), n_repeats = 2)
  expect_equal(baseline_of(audit), rmse(mtcars$mpg, halved(fit, x)))
})

test_that("a model predicts with the packages that the session has attached", {
  skip_without()
  skip_if_not_installed("rpart")
  library(splines)
  on.exit(detach("package:splines"))
  fit <- lm(mpg ~ bs(wt) + hp, mtcars)
  audit <- importance_audit(fit, x, mtcars$mpg, engines = character(), n_repeats = 2)
  expect_equal(baseline_of(audit), rmse(mtcars$mpg, fitted(fit)))
  # Its method of predict is in a package that the other R has not loaded.
  tree <- rpart::rpart(mpg ~ wt + hp, mtcars)
  audit <- importance_audit(tree, x, mtcars$mpg, engines = character(), n_repeats = 2,
                            predict_function = function(m, d) as.vector(predict(m, d)))
  expect_equal(baseline_of(audit), rmse(mtcars$mpg, predict(tree, x)))
})

test_that("a formula that calls a function of the session is refused before the audit", {
  assign("squared_here", function(x) x^2, globalenv())
  on.exit(rm(squared_here, envir = globalenv()))
  fit <- lm(mpg ~ squared_here(wt), mtcars)
  expect_error(importance_audit(fit, x, mtcars$mpg, command = "no-such"),
               "calls squared_here, which this session defines")
})

test_that("a forest of ranger has the levels that it was fitted to, as its call says", {
  skip_if_not_installed("ranger")
  with_training_levels <- importanceaudit:::with_training_levels
  rows <- data.frame(g = factor(rep(c("b", "a", "c"), 20), c("b", "a", "c")), y = rep(c(0, 9, 1), 20))
  fit <- ranger::ranger(y ~ g, rows[1:40, ], num.trees = 5, seed = 1)
  known <- function(model) attr(with_training_levels(model, parent.frame()), "training_levels")
  expect_equal(known(fit), list(g = c("b", "a", "c")))
  of_others <- local({
    other <- rows
    ranger::ranger(y ~ g, other, num.trees = 5)
  })
  expect_null(known(of_others))
  other <- rows[1:20, ]  # what has that name by now
  expect_null(known(of_others))
  skip_without()
  rest <- rows[41:60, ]
  anew <- data.frame(g = as.character(rest$g))
  audit <- importance_audit(fit, anew, rest$y, engines = character(), n_repeats = 2)
  expect_equal(unique(audit$tables$importances$baseline),
               rmse(rest$y, predict(fit, rest)$predictions))
  expect_false("assumed_levels" %in% audit$findings$check)
})

test_that("an offset outside the formula is read from the rows, as one inside it", {
  skip_without()
  rows <- data.frame(a = sin(1:60), exposure = 1 + (1:60 %% 5))
  y <- round(rows$exposure * exp(0.3 * rows$a))
  inside <- glm(y ~ a + offset(log(exposure)), poisson, rows)
  beside <- glm(y ~ a, poisson, rows, offset = log(exposure))
  audits <- lapply(list(inside, beside), importance_audit, rows, y,
                   engines = character(), n_repeats = 2)
  expect_equal(baseline_of(audits[[2]]), rmse(y, fitted(beside)))
  expect_equal(audits[[1]]$importances, audits[[2]]$importances)
  expect_setequal(audits[[2]]$importances$feature, c("a", "exposure"))
})

test_that("a wrong argument is named with what it may be", {
  fit <- lm(mpg ~ wt + hp, mtcars)
  said <- function(..., y = mtcars$mpg) {
    call <- function(...) importance_audit(fit, mtcars[c("wt", "hp")], y, ..., command = "no-such")
    conditionMessage(expect_error(call(...)))
  }
  whole <- "n_repeats must be a whole number from 1 to 1000000; "
  expect_equal(said(n_repeats = c(1, 2)), paste0(whole, "c(1, 2) was given."))
  expect_equal(said(n_repeats = NA), paste0(whole, "NA was given."))
  expect_equal(said(n_repeats = 1.5), paste0(whole, "1.5 was given."))
  expect_equal(said(engines = NULL), paste0(
    'engines must be names among "DALEX", "vip", "hstats", "iml", "pdp", "xplainfi", each once, ',
    "or character() for none; NULL was given."
  ))
  expect_match(said(engines = "dalex"), 'for none; "dalex" was given.', fixed = TRUE)
  text <- "name must be one text that is not blank; "
  expect_equal(said(name = c("a", "b")), paste0(text, 'c("a", "b") was given.'))
  expect_equal(said(name = NULL), paste0(text, "NULL was given."))
  expect_equal(said(seed = "a"),
               'seed must be a whole number from 0 to 2147483647; "a" was given.')
  expect_equal(said(pdf = NA), "pdf must be TRUE or FALSE; NA was given.")
  expect_equal(said(folder = NULL), "folder must be the path of one folder; NULL was given.")
  expect_equal(said(predict_function = 3), paste(
    "predict_function must be a function of the model and a data frame, or NULL;",
    "3 was given."
  ))
  expect_equal(said(positive_class = c("a", "b"), y = factor(mtcars$am)),
               'positive_class must be one class of y, or NULL; c("a", "b") was given.')
  expect_equal(said(positive_class = "7", y = factor(mtcars$am)),
               "positive_class must be one of the classes of y, '0' and '1'; \"7\" was given.")
  expect_match(said(positive_class = 1), "y has 25 different values. Leave positive_class out.")
  expect_match(said(train = mtcars["wt"]), "train and train_y must be given together")
  same <- "train and data must have the same columns;"
  other <- function(columns) said(train = mtcars[columns], train_y = mtcars$mpg)
  expect_equal(other("wt"), paste(
    same, "train has no 'hp'. Leave out of both what is no feature."
  ))
  expect_equal(other(c("am", "wt")), paste(
    same, "train has no 'hp'. data has no 'am'. Leave out of both what is no feature."
  ))
  expect_error(importance_audit(fit, mtcars, mtcars$mpg, command = c("a", "b")),
               'command must be one command, or its path; c("a", "b") was given.', fixed = TRUE)
})

class_value <- importanceaudit:::class_value
as_target <- importanceaudit:::as_target
check_rows <- importanceaudit:::check_rows

test_that("the target among the columns of data is refused, and named", {
  refused <- 'column \'mpg\' of data is the target of the model. Give data without it: data[names(data) != "mpg"].'
  for (fit in list(lm(mpg ~ ., mtcars), lm(log(mpg) ~ wt, mtcars), rpart::rpart(mpg ~ ., mtcars))) {
    expect_error(importance_audit(fit, mtcars, mtcars$mpg), refused, fixed = TRUE)
  }
  # A column may be part of the target and a feature as well.
  rate <- lm(mpg / wt ~ wt + hp, mtcars)
  expect_null(importanceaudit:::check_response(rate, mtcars[c("wt", "hp")], "data"))
})

test_that("a whole number is a class however R writes it", {
  expect_equal(class_value(1e5), "100000")
  expect_equal(class_value(1), "1")
  expect_equal(class_value(0.5), '"0.5"')
  expect_equal(class_value("yes"), '"yes"')
})

test_that("a target is one vector, also as a column of a matrix", {
  expect_equal(as_target(scale(mtcars$mpg), "y"), as.vector(scale(mtcars$mpg)))
  expect_equal(as_target(mtcars["mpg"], "y"), mtcars$mpg)
  expect_error(as_target(as.matrix(mtcars[1:2]), "y"), paste(
    "y has 2 columns, and a target has one: give one column of y, and a model that",
    "predicts this column alone."
  ), fixed = TRUE)
  expect_error(as_target(structure(cbind(1:3, 1), class = "Surv"), "train_y"), paste(
    "train_y is a survival target (Surv), and models of survival are not supported: a",
    "target is one number or class for each row."
  ), fixed = TRUE)
  expect_error(as_target(as.list(1:3), "y"), "texts or logical values; it is of class 'list'.")
  expect_error(as_target(c(1, NA, Inf), "y"),
               "y is missing or infinite in 2 of 3 rows. Leave those rows out.")
  expect_error(as_target(c(1, 1, 1), "y"), "y has the same value in all 3 rows")
})

test_that("a column that is no vector of values is named", {
  refused <- function(x) {
    rows <- data.frame(a = 1:2)
    rows$b <- x
    conditionMessage(expect_error(check_rows(rows, 1:2)))
  }
  expect_match(refused(scale(1:2)), 'column "b" of data is a matrix, as scale() makes one.',
               fixed = TRUE)
  expect_match(refused(addNA(c("u", NA))), paste(
    'column "b" of data is a factor with NA among its levels, as addNA() makes one. Name that',
    "level, such as"
  ), fixed = TRUE)
  expect_match(refused(as.difftime(1:2, units = "mins")), paste(
    'column "b" of data holds differences of times (difftime). Fit the model to numbers, such as'
  ), fixed = TRUE)
  expect_match(refused(list(1, 2)), "column \"b\" of data is of class 'list', and must hold")
  expect_error(check_rows(data.frame(a = 1, a = 2, check.names = FALSE), 1), "must have names")
})

test_that("a model of a scaled target is audited", {
  skip_without()
  fit <- lm(scale(mpg) ~ wt + hp + qsec, mtcars)
  audit <- importance_audit(fit, x, scale(mtcars$mpg), engines = character(), n_repeats = 2)
  expect_equal(baseline_of(audit), rmse(as.vector(scale(mtcars$mpg)), fitted(fit)))
})

test_that("a binomial model of 0 and 1 is audited as a classifier", {
  skip_without()
  fit <- glm(am ~ wt + hp, binomial, mtcars)
  audit <- importance_audit(fit, mtcars[c("wt", "hp")], mtcars$am, engines = character(),
                            n_repeats = 2)
  expect_equal(unique(audit$importances$loss), "one_minus_auc")
  expect_equal(unique(audit$importances$positive_class), "1")
})

test_that("what cannot be audited is said", {
  x <- mtcars[c("wt", "hp")]
  expect_error(importance_audit(lm(mpg ~ wt, mtcars), as.list(x), mtcars$mpg),
               "data must be a data frame or a matrix; it is of class 'list'.", fixed = TRUE)
  expect_error(importance_audit(lm(mpg ~ wt, mtcars), x, mtcars$mpg[-1]),
               "data has 32 rows and y 31 values: they must be as many.", fixed = TRUE)
  expect_error(importance_audit(lm(mpg ~ wt, mtcars), x, mtcars$mpg, command = "no-such"),
               "the command 'no-such' was not found.", fixed = TRUE)
  expect_error(importance_audit(lm(mpg ~ wt, mtcars)), "needs the rows of the audit")
  no_target <- structure(list(data = x, y = NULL), class = "explainer")
  expect_error(importance_audit(no_target), "the explainer has no y. Give both to")
  expect_error(read_audit(tempdir()), "holds no run of an audit")
  expect_error(read_audit(NULL), "folder must be the path of one folder; NULL was given.",
               fixed = TRUE)
  expect_error(importance_audit(NULL, x, mtcars$mpg, command = "no-such"),
               "model must be a fitted model; NULL was given.", fixed = TRUE)
  skip_without()
  expect_error(importance_audit(list(), x, mtcars$mpg, engines = character()),
               "must be of a class that can be audited.*Say how it predicts: .*predict_function = ")
  reads_session <- function(model, data) twice * data$wt
  environment(reads_session) <- globalenv()
  expect_error(importance_audit(list(), x, mtcars$mpg, predict_function = reads_session),
               "does not predict the rows in this session: object 'twice' not found")
  assign("twice", 2, globalenv())
  on.exit(rm(twice, envir = globalenv()))
  expect_error(importance_audit(list(), x, mtcars$mpg, predict_function = reads_session,
                                engines = character()),
               "object 'twice' not found.*write them into the function")
})

# Of a model that answers so many calls, of which two are in this session.
audit_that_fails_after <- function(n, failure = quote(stop("no answer today"))) {
  asked <- tempfile()
  fails_later <- eval(bquote(function(model, data) {
    cat("x", file = .(asked), append = TRUE)
    if (file.size(.(asked)) > .(n)) .(failure)
    predict(model, data)
  }))
  importance_audit(lm(mpg ~ wt, mtcars), mtcars["wt"], mtcars$mpg, n_repeats = 2,
                   predict_function = fails_later, engines = character())
}

test_that("a model that fails while its sessions are compared is named, and no fault of ours", {
  skip_without()
  stopped <- "The audit stopped in the step 'checks of lm': "
  advice <- paste(" Make sure that the model predicts these rows in a new session of R,",
                  "with the packages that this one has attached.")
  expect_equal(audit_that_fails_after(4)$reason, paste0(
    stopped, "Model 'lm' cannot predict the rows that it was saved with. R says: ",
    "no answer today.", advice
  ))
  dies <- quote(tools::pskill(Sys.getpid(), 9))
  expect_equal(audit_that_fails_after(4, dies)$reason, paste0(
    stopped, "R ended during the call of model 'lm', with signal SIGKILL (out of memory?).", advice
  ))
})

test_that("an audit whose model fails prints why, and has nothing to plot", {
  skip_without()
  audit <- audit_that_fails_after(5)
  expect_output(print(audit), paste0("Audit: not established\nBecause: .*no answer today.*",
                                     "No importance was measured in Python[.]\nReport: "))
  expect_error(plot(audit), "nothing to plot: no importance was measured.*no answer today")
  expect_equal(audit$reason, paste(
    "The checks of predict failed: Model 'lm' cannot predict the rows; importanceaudit_model",
    "says: no answer today. Make sure that the model predicts these rows in a new session of R,",
    "with the packages that this one has attached."
  ))
  again <- read_audit(audit$folder)
  expect_equal(again[c("verdict", "reason")], audit[c("verdict", "reason")])
  expect_output(print(again), "^Audit: not established\nBecause: ")
})

test_that("an interrupted run that is read later says that it was", {
  tables <- file.path(tempfile(), "tables")
  dir.create(tables, recursive = TRUE)
  columns <- c("model", "method", "engine", "loss", "feature", "value")
  writeLines(paste(columns, collapse = ","), file.path(tables, "importances.csv"))
  said <- "The audit was interrupted in the step 'permutation of features, lm'."
  findings <- data.frame(severity = c("info", "failure"), message = c("Other words.", said))
  write.csv(findings, file.path(tables, "findings.csv"), row.names = FALSE)
  audit <- read_audit(dirname(tables))
  expect_equal(audit$reason, said)
  expect_output(print(audit), paste0("Because: ", said, "\nNo importance"), fixed = TRUE)
  expect_error(plot(audit), said, fixed = TRUE)
})

test_that("a report that could not be written is said", {
  tables <- file.path(tempfile(), "tables")
  dir.create(tables, recursive = TRUE)
  rows <- data.frame(model = "m", method = "permutation", engine = "python", loss = "rmse",
                     feature = c("a", "b"), value = 1:2)
  write.csv(rows, file.path(tables, "importances.csv"), row.names = FALSE)
  summary <- list(verdict = "confirmed", reason = "All agree.", faults = list("No report."))
  expect_output(print(read_audit(dirname(tables), summary)),
                "Because: All agree.\nNo report.\n", fixed = TRUE)
})

test_that("the mean and rank of each measurement are its own", {
  rounds <- data.frame(
    model = "m", engine = rep(c("python", "DALEX"), each = 4), loss = "rmse",
    feature = rep(c("a", "a", "b", "b"), 2), value = c(1, 3, 5, 7, 9, 9, 1, 1)
  )
  means <- importanceaudit:::mean_importances(rounds)
  expect_equal(means$importance, c(2, 6, 9, 1))
  expect_equal(means$rank, c(2, 1, 1, 2))
  expect_equal(means$std, c(sqrt(2), sqrt(2), 0, 0))
})

test_that("measurements in the draws of two engines are never one", {
  tables <- file.path(tempfile(), "tables")
  dir.create(tables, recursive = TRUE)
  rounds <- data.frame(
    model = "m", method = "permutation", engine = "python", of = "features", loss = "rmse",
    stream = rep(c("numpy", "DALEX", "vip"), each = 4), feature = rep(c("a", "b"), each = 2),
    "repeat" = 1:2, value = c(0.04, 0.05, 0, 0, 0.037, 0.039, 0, 0, 0.06, 0.062, 0, 0),
    check.names = FALSE
  )
  write.csv(rounds, file.path(tables, "importances.csv"), row.names = FALSE)
  audit <- read_audit(dirname(tables))
  of_a <- audit$importances[audit$importances$feature == "a", ]
  expect_equal(of_a$importance, c(0.045, 0.038, 0.061))
  expect_equal(of_a$n_repeats, c(2, 2, 2))
  expect_equal(of_a$measurement, 1:3)
  expect_equal(audit$importances$rank, rep(1:2, 3))
  printed <- capture.output(print(audit))
  expect_equal(sum(grepl("rmse", printed)), 2)
  expect_true(any(grepl("rmse +a +0.045", printed)))
  expect_true("Other measurements: 2, in $importances" %in% printed)
  drawn <- tempfile(fileext = ".pdf")
  grDevices::pdf(drawn)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(audit))
  expect_equal(importanceaudit:::leading_measurement(audit$importances)$stream,
               c("numpy", "numpy"))
})

test_that("measurements that differ in options only are two, whatever their repeats", {
  rounds <- data.frame(
    model = "m", engine = "python", loss = "rmse", feature = c("a", "b", "a", "a", "b", "b"),
    "repeat" = c(1, 1, 1, 2, 1, 2), value = c(1, 2, 10, 12, 20, 22), check.names = FALSE
  )
  means <- importanceaudit:::mean_importances(rounds)
  expect_equal(means$importance, c(1, 2, 11, 21))
  expect_equal(means$measurement, c(1, 1, 2, 2))
})

test_that("a measurement is aggregated as its record is", {
  rounds <- data.frame(
    model = "m", engine = "python", form = rep(c("ratio", "difference"), each = 3),
    aggregator = rep(c("pooled", "median"), each = 3), feature = "a", "repeat" = 1:3,
    raw = c(2, 6, 4, 9, 9, 9), baseline = c(1, 2, 3, 0, 0, 0), value = c(2, 3, 4 / 3, 1, 2, 9),
    check.names = FALSE
  )
  means <- importanceaudit:::mean_importances(rounds)
  expect_equal(means$importance, c(2, 2))
  expect_equal(means$std, c(stats::sd(c(0, 2, -2)) / 2, stats::sd(c(1, 2, 9))))
})

test_that("names that look like numbers, missing values or formulas are read as they are", {
  tables <- file.path(tempfile(), "tables")
  dir.create(tables, recursive = TRUE)
  write_lines <- function(name, ...) writeLines(c(...), file.path(tables, name))
  features <- c("NA", "01", "1000.10", "T", "'=sum", "'-log10 p")
  write_lines(
    "importances.csv",
    "model,method,engine,of,loss,form,positive_class,feature,raw,baseline,value",
    paste0("m,permutation,python,features,rmse,difference,01,", features, ",7,1,", 6:1)
  )
  write_lines("segment_performance.csv", "segment,kind,level,value", "region,category,NA,-1.5",
              "region,category,1e2,NaN")
  write_lines("effects.csv", "feature,kind,grid,value", "a,category,01,1", "a,category,02,2")
  audit <- read_audit(dirname(tables))
  names <- sub("^'", "", features)
  expect_equal(audit$importances$feature, names)
  expect_equal(audit$importances$importance, 6:1)
  expect_equal(unique(audit$importances$positive_class), "01")
  expect_equal(as_vi(audit)$Variable, names)
  expect_equal(audit$tables$segment_performance$level, c("NA", "1e2"))
  expect_equal(audit$tables$segment_performance$value, c(-1.5, NaN))
  expect_equal(audit$tables$effects$grid, c("01", "02"))
})
