# What the benchmark of R's trees asks of R: one repeat of its own tools, on one thread.

one_thread <- function(object, newdata) {
  predict(object, newdata, num.threads = 1)$predictions
}

dalex_repeat <- function(model, data, y) {
  explainer <- DALEX::explain(
    model, data, y, one_thread, precalculate = FALSE, verbose = FALSE
  )
  loss <- DALEX::loss_root_mean_square
  DALEX::model_parts(explainer, loss_function = loss, B = 1, N = NULL)$dropout_loss
}

vip_repeat <- function(model, data, y) {
  vip::vi_permute(
    model, train = data, target = y, metric = "rmse", pred_wrapper = one_thread, nsim = 1
  )$Importance
}

processor_seconds <- function(model) sum(proc.time()[1:2])

version_of <- function(model, package) as.character(packageVersion(package))
