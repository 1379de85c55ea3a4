# What vip and DALEX return themselves, saved, and the numbers it is made of.

own_rows <- function() {
  data.frame(a = c(1, 2, 3, 4, 5, 6, 7, 8), b = c(2.5, 1, 4, 3, 6, 5, 8, 7),
             g = factor(rep(c("u", "v"), 4)), y = c(1.1, 3.1, 2, 5.2, 4, 7, 6.3, 9))
}

own_explainer <- function() {
  rows <- own_rows()
  DALEX::explain(stats::lm(y ~ ., rows), data = rows[1:3], y = rows$y, label = "m",
                 verbose = FALSE)
}

own_parts <- function(file, form, rounds) {
  asked <- function(type, rounds) {
    set.seed(1)
    DALEX::model_parts(own_explainer(), N = NULL, B = rounds, type = type,
                       loss_function = DALEX::loss_root_mean_square)
  }
  saveRDS(asked(form, rounds), file)
  raw <- asked("raw", rounds)
  if (rounds > 1) raw <- raw[raw$permutation > 0, ]
  loss_of <- function(name) raw$dropout_loss[raw$variable == name]
  list(losses = t(sapply(c("a", "b", "g"), loss_of)), full = loss_of("_full_model_"),
       y_permuted = loss_of("_baseline_"))
}

own_profile <- function(file, variables, method) {
  own <- DALEX::model_profile(own_explainer(), variables = variables, N = NULL,
    type = method,
    variable_type = if (identical(variables, "g")) "categorical" else "numerical"
  )$agr_profiles
  saveRDS(own, file)
  list(feature = own$`_vname_`, x = own$`_x_`, yhat = own$`_yhat_`,
       mean_prediction = attr(own, "mean_prediction"))
}

# vip 0.4 leaves stray names on its numbers, which ours do not have.
own_vi <- function(file, rounds) {
  rows <- own_rows()
  set.seed(2)
  own <- vip::vi(stats::lm(y ~ ., rows), method = "permute", train = rows[1:3],
    feature_names = c("a", "b", "g"), target = rows$y, nsim = rounds, keep = TRUE,
    metric = function(truth, estimate) sqrt(mean((truth - estimate)^2)),
    smaller_is_better = TRUE,
    pred_wrapper = function(object, newdata) unname(stats::predict(object, newdata)))
  names(own$Importance) <- NULL
  if (rounds > 1) names(own$StDev) <- NULL
  saveRDS(own, file)
  scores <- attr(own, "raw_scores")
  if (is.null(scores)) scores <- matrix(own$Importance[match(c("a", "b", "g"), own$Variable)])
  list(values = scores, line = substr(as.character(utils::packageVersion("vip")), 1, 3))
}

refuses_live <- function(value) live_part(structure(list(1), extra = list(inner = value)))

live_closure <- function() refuses_live(function(x) x)
live_environment <- function() refuses_live(globalenv())
live_call <- function() refuses_live(y ~ x)
live_pointer <- function() refuses_live(methods::getClass("externalptr")@prototype)
