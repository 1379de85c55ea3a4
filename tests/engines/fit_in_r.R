# Evaluates code that fits a model to `d` and saves what it returns.
fit_and_save <- function(d, code, file) {
  saveRDS(eval(parse(text = code), list2env(list(d = d), parent = globalenv())), file)
}

number_of <- function(d, code) {
  eval(parse(text = code), list2env(list(d = d), parent = globalenv()))
}
