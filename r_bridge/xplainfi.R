# Calls xplainfi for quantities that the audit computes in Python. Every argument that affects a
# number is passed: none is left to a default of xplainfi.
#
# data     the features only, a plain data frame
# predict  function(object, newdata, ...) that returns one number per row, or a matrix with
#          one column per class; the model itself is never sent to R
# test     "t", "wilcoxon" or "binomial" to run this test of the row losses too, NULL for none
# classes  the names of those columns, NULL for numbers
#
# xplainfi uses mlr3 for predictions and losses, so that predict and loss become a learner and a
# measure of mlr3. One number per row is a regression in mlr3, even if it is a probability.
# A trained learner draws no random numbers. mlr3 breaks ties of classes at random, and
# probabilities are tied if equal to 1e-5 of the larger; a learner that returns the most probable
# class itself leaves no ties.

# The loss of every group in every repeat, one column each, in a further column the loss without
# permutation, and then the columns of `tested`.
#
# within  "none", "gaussian" or "neighbours"
xplainfi_permutation <- function(data, y, predict, groups, loss, seed, n_repeats, within,
                                 n_neighbours, test = NULL, classes = NULL) {
  plain <- named_in_order(data, predict)
  arguments <- c(question_of(plain, y, loss, classes, test), n_repeats = n_repeats)
  task <- arguments$task
  groups <- lapply(groups[order(names(groups), method = "radix")], plain$names_of)
  names <- sprintf("group%d", seq_along(groups))
  if (all(lengths(groups) == 1)) {
    names <- unlist(groups, use.names = FALSE)
    arguments$features <- names
  } else {
    arguments$groups <- stats::setNames(groups, names)
  }
  if (within == "gaussian") {
    arguments$sampler <- xplainfi::ConditionalGaussianSampler$new(task)
  } else if (within == "neighbours") {
    arguments$sampler <- xplainfi::ConditionalKNNSampler$new(task, k = n_neighbours)
  }
  method <- if (within == "none") xplainfi::PFI else xplainfi::CFI
  asked <- do.call(method$new, arguments)
  start_stream(seed)
  asked$compute()
  scores <- as.data.frame(asked$scores())
  losses <- vapply(names, function(name) {
    of_name <- scores[scores$feature == name, ]
    of_name$loss_post[order(of_name$iter_repeat)]
  }, numeric(n_repeats))
  losses <- matrix(losses, ncol = n_repeats, byrow = TRUE)
  cbind(losses, scores$loss_baseline[1], tested(asked, "cpi", test, names))
}

# The contribution of every feature to the reduction of the loss, one row per order of the
# features and one column per feature, sorted by name. xplainfi keeps the mean after each order.
#
# background  "rows", or "gaussian" for values drawn conditionally on the known ones
# tolerance   0 for all orders
xplainfi_sage <- function(data, y, predict, loss, seed, n_repeats, background, n_background,
                          tolerance, classes = NULL) {
  plain <- named_in_order(data, predict)
  arguments <- c(question_of(plain, y, loss, classes), list(
    n_permutations = n_repeats, n_samples = n_background, batch_size = 50000L,
    early_stopping = tolerance > 0 && n_repeats > 10, se_threshold = max(tolerance, 1e-9),
    min_permutations = min(10L, n_repeats), check_interval = 1L
  ))
  method <- xplainfi::MarginalSAGE
  if (background == "gaussian") {
    arguments$sampler <- xplainfi::ConditionalGaussianSampler$new(arguments$task)
    method <- xplainfi::ConditionalSAGE
  }
  start_stream(seed)
  asked <- do.call(method$new, arguments)
  asked$compute()
  means <- as.data.frame(asked$convergence_history)
  sums <- vapply(names(plain$data)[order(names(plain$data))], function(name) {
    of_name <- means[means$feature == name, ]
    of_name <- of_name[order(of_name$n_permutations), ]
    of_name$importance * of_name$n_permutations
  }, numeric(max(means$n_permutations)))
  sums <- matrix(sums, ncol = length(plain$data))
  sums - rbind(0, sums[-nrow(sums), , drop = FALSE])
}

# The loss of every group in a refit without its columns, then that of the refit with all, and
# then the columns of `tested`. Python fits the models, on the rows and columns that mlr3 passes
# to a learner; the values are not sent to R.
#
# y          of the training rows, followed by the evaluation rows
# predict    called with all rows of a fit: "row" is an index into y, "is_fitted" whether it is a
#            training row, and "without" the group that is left out, 0 for none
# n_columns  groups contain positions of columns
xplainfi_refits <- function(y, n_fitted, n_columns, predict, groups, loss, test = NULL,
                            classes = NULL) {
  columns <- sprintf("column%08d", seq_len(n_columns))
  groups <- lapply(groups, function(places) columns[unlist(places)])
  refit <- function(task, fit) {
    left <- setdiff(columns, fit$columns)
    without <- if (length(left)) which(vapply(groups, setequal, NA, left)) else 0L
    is_fitted <- rep(c(TRUE, FALSE), c(length(fit$rows), task$nrow))
    asked <- data.frame(row = c(fit$rows, task$row_ids), is_fitted, without = without)
    answer <- predict(NULL, asked)
    if (is.matrix(answer)) answer[!is_fitted, , drop = FALSE] else answer[!is_fitted]
  }
  values <- matrix(0, length(y), n_columns, dimnames = list(NULL, columns))
  task <- task_of(as.data.frame(values), y, classes)
  split <- mlr3::rsmp("custom")
  split$instantiate(task, list(seq_len(n_fitted)), list(seq_along(y)[-seq_len(n_fitted)]))
  arguments <- list(
    task = task, learner = learner_of(refit, classes), resampling = split,
    measure = measure_of(loss, classes, test)
  )
  if (all(lengths(groups) == 1)) {
    names <- unlist(groups, use.names = FALSE)
    asked <- do.call(xplainfi::LOCO$new, c(arguments, list(features = names)))
  } else {
    names <- sprintf("group%d", seq_along(groups))
    arguments$groups <- stats::setNames(groups, names)
    asked <- do.call(xplainfi::WVIM$new, c(arguments, direction = "leave-out"))
  }
  asked$compute(store_models = FALSE)
  scores <- as.data.frame(asked$scores())
  at <- match(names, scores$feature)
  c(scores$loss_post[at], scores$loss_baseline[1], tested(asked, "lei", test, names))
}

# The results of xplainfi's own one-sided test, one row per name: the statistic, the p-value, the
# mean difference ("lei": the median) and the standard error. Its warnings are suppressed: they
# are about ties, and that the test is valid for conditional draws only, as the card states.
tested <- function(asked, ci_method, test, names) {
  if (is.null(test)) {
    return(NULL)
  }
  table <- as.data.frame(suppressWarnings(asked$importance(
    ci_method = ci_method, test = test, alternative = "greater", p_adjust = "none"
  )))
  columns <- c("statistic", "p.value", "importance", "se")
  as.matrix(table[match(names, table$feature), columns])
}

# The task, the learner, the measure and the resampling for xplainfi, as named arguments.
question_of <- function(plain, y, loss, classes, test = NULL) {
  task <- task_of(plain$data, y, classes)
  of_rows <- function(task, fit) {
    plain$predict(as.data.frame(task$data(cols = names(plain$data))))
  }
  learner <- learner_of(of_rows, classes)
  learner$train(task)
  list(
    task = task, learner = learner, measure = measure_of(loss, classes, test),
    resampling = xplainfi::rsmp_all_test(task)
  )
}

task_of <- function(data, y, classes) {
  options(xplain.verbose = FALSE, xplain.sequential = TRUE, xplain.progress = FALSE)
  for (name in c("mlr3", "bbotk")) lgr::get_logger(name)$set_threshold("warn")
  rows <- cbind(data, target = as_observed(y, classes))
  if (is.null(classes)) {
    mlr3::as_task_regr(rows, target = "target")
  } else {
    mlr3::as_task_classif(rows, target = "target")
  }
}

# The data under names that sort like their own, byte by byte: mlr3 sorts columns by name, and
# does not allow every name.
named_in_order <- function(data, predict) {
  own <- names(data)
  plain <- sprintf("column%08d", order(order(own, method = "radix")))
  list(
    data = stats::setNames(data, plain),
    predict = function(newdata) predict(NULL, stats::setNames(newdata[plain], own)),
    names_of = function(columns) plain[match(unlist(columns), own)]
  )
}

# of_rows  function(task, fit) that predicts the rows of a task; fit holds the rows and columns
#          that the learner was trained on
learner_of <- function(of_rows, classes) {
  types <- c("numeric", "integer", "logical", "factor", "ordered")
  train <- function(task) list(rows = task$row_ids, columns = task$feature_names)
  regression <- R6::R6Class("AuditedModel",
    inherit = mlr3::LearnerRegr,
    public = list(initialize = function() {
      super$initialize("audited", feature_types = types, properties = "missings")
    }),
    private = list(
      .train = function(task) train(task),
      .predict = function(task) list(response = as.vector(of_rows(task, self$model)))
    )
  )
  classification <- R6::R6Class("AuditedModel",
    inherit = mlr3::LearnerClassif,
    public = list(initialize = function() {
      super$initialize("audited",
        feature_types = types, predict_types = c("response", "prob"),
        properties = c("multiclass", "twoclass", "missings")
      )
      self$predict_type <- "prob"
    }),
    private = list(
      .train = function(task) train(task),
      .predict = function(task) {
        prob <- of_rows(task, self$model)
        colnames(prob) <- unlist(classes)
        likeliest <- unlist(classes)[likeliest_of(prob)]
        list(prob = prob, response = factor(likeliest, unlist(classes)))
      }
    )
  )
  if (is.null(classes)) regression$new() else classification$new()
}

# xplainfi stores the losses of rows; they are requested only for a test.
measure_of <- function(loss, classes, test) {
  parent <- if (is.null(classes)) mlr3::MeasureRegr else mlr3::MeasureClassif
  predicted <- if (is.null(classes)) "response" else "prob"
  apply_to <- function(loss, prediction) loss(prediction$truth, prediction[[predicted]])
  of_all <- loss_named(loss)
  measure <- R6::R6Class("AuditedLoss",
    inherit = parent,
    public = list(initialize = function() {
      super$initialize("loss",
        range = c(-Inf, Inf), minimize = TRUE, predict_type = predicted,
        properties = if (is.null(test)) character() else "obs_loss"
      )
    }),
    private = list(
      .score = function(prediction, ...) apply_to(of_all, prediction),
      .obs_loss = function(prediction, ...) apply_to(row_losses[[loss]], prediction)
    )
  )
  measure$new()
}
