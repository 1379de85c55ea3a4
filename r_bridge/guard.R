# Evaluates one call of a function of the bridge and returns its outcome.

# The text of a call for a message: its first line.
one_line <- function(call) {
  if (is.null(call)) "" else substr(deparse(call, nlines = 1L)[1L], 1L, 200L)
}

# Calls functions$name with the arguments, which are passed as names: a call that contains the
# data is slow to print and is stored with every fit.
# status is "value", "error" or "interrupt"; at most 50 warnings are kept.
guard <- function(name, arguments, functions) {
  inputs <- list2env(arguments, parent = functions)
  call <- as.call(c(as.name(name), lapply(names(arguments), as.name)))
  names(call) <- c("", names(arguments))
  warnings <- messages <- character()
  n_warnings <- 0L

  on_warning <- function(w) {
    n_warnings <<- n_warnings + 1L
    if (n_warnings <= 50L) warnings <<- c(warnings, conditionMessage(w))
    if (!is.null(findRestart("muffleWarning", w))) invokeRestart("muffleWarning")
  }
  on_message <- function(m) {
    if (length(messages) < 50L) messages <<- c(messages, conditionMessage(m))
    if (!is.null(findRestart("muffleMessage", m))) invokeRestart("muffleMessage")
  }

  outcome <- tryCatch(
    withCallingHandlers(
      list(status = "value", value = eval(call, inputs)),
      warning = on_warning, message = on_message
    ),
    error = function(e) list(
      status = "error",
      message = paste(conditionMessage(e), collapse = "\n"),
      call = one_line(conditionCall(e))
    ),
    interrupt = function(i) list(status = "interrupt")
  )
  outcome$warnings <- warnings
  outcome$n_warnings <- n_warnings
  outcome$messages <- messages
  outcome
}

# The predict function that packages call: `raw` returns numbers, or two texts if Python
# failed; further arguments of a package are ignored.
python_predict <- function(raw) {
  function(object, newdata, ...) {
    answer <- raw(newdata)
    if (is.character(answer)) {
      stop(structure(
        class = c("python_error", "error", "condition"),
        list(message = answer[2L], call = NULL)
      ))
    }
    answer
  }
}

# All functions of the given files in one locked environment. Its parent is R's search path
# without the global environment.
load_functions <- function(files) {
  functions <- new.env(parent = parent.env(globalenv()))
  for (file in files) sys.source(file, functions, keep.source = FALSE)
  lockEnvironment(functions, bindings = TRUE)
  functions
}
