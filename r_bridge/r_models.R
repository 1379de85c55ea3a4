# Fitted R models, held by the digest of the bytes they were read from.

held_models <- new.env()

# Reads a model from a file and holds it. A list with its class, the version of the
# package that predicts for it and R's own version; or with package_is_there = FALSE; or
# with found, what the file holds that is no model.
hold_model <- function(sha256, file, package_of) {
  model <- readRDS(file)
  kind <- class(model)[1L]
  if (!kind %in% names(package_of)) return(list(found = class(model)))
  package <- package_of[[kind]]
  if (!requireNamespace(package, quietly = TRUE)) {
    return(list(package = package, package_is_there = FALSE))
  }
  assign(sha256, model, envir = held_models)
  list(
    package = package,
    package_is_there = TRUE,
    package_version = as.character(utils::packageVersion(package)),
    r_class = class(model)
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
