# Starting an audit: the model and its rows become files, beside them an audit.toml.

importance_audit <- function(model, data, y, train = NULL, train_y = NULL,
                             predict_function = NULL, engines = "DALEX",
                             n_repeats = 10, seed = 1, positive_class = NULL,
                             name = class(model)[1], folder = tempfile("audit-"),
                             pdf = FALSE, command = find_command()) {
  force(name)
  is_explainer <- inherits(model, "explainer")
  if (is_explainer) {
    if (missing(data)) data <- model$data
    if (missing(y)) y <- model$y
    if (is.null(data) || is.null(y)) {
      stop("the explainer has no ", if (is.null(data)) "data" else "y", ". Give both to ",
           "DALEX::explain, or to importance_audit(explainer, data, y).", call. = FALSE)
    }
    if (missing(name) && length(model$label) == 1) name <- model$label
    # 0 and 1 are numbers, unless the explainer says otherwise.
    classifies <- identical(model$model_info$type, "classification")
    if (is.null(positive_class) && classifies && all(y %in% 0:1)) positive_class <- 1
  }
  if (!is_explainer && (missing(data) || missing(y))) {
    stop("importance_audit(model, data, y) needs the rows of the audit: a data frame with the ",
         "columns that the model reads, and their target. Only an explainer of DALEX::explain ",
         "brings its own.", call. = FALSE)
  }
  check_rows(data, y)
  if (!is.null(train)) check_rows(train, train_y)
  if (dir.exists(folder) && length(dir(folder))) {
    stop("folder '", folder, "' is not empty. Name another one.", call. = FALSE)
  }
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  target <- utils::tail(make.unique(c(names(data), "target")), 1)
  files <- list(test = "rows.rds", model = "model.rds")
  saveRDS(with_target(data, y, target), file.path(folder, "rows.rds"))
  if (!is.null(train)) {
    files$train <- "train.rds"
    saveRDS(with_target(train, train_y, target), file.path(folder, "train.rds"))
  }
  inner <- if (is_explainer) model$model else model
  if (!is_explainer && is.null(predict_function)) {
    check_formula(model)
    predict_function <- method_of_session(model)
  }
  session <- list(packages = packages_of_session(inner))
  if (!is.null(predict_function)) {
    model <- list(model = model, predict = match.fun(predict_function))
    class(model) <- "importanceaudit_model"
    session <- c(session, predictions_of(model$predict, inner, data))
    script <- "function(model, data) model$predict(model$model, data)"
    writeLines(script, file.path(folder, "predict.R"))
  } else if (is_explainer) {
    known <- if (identical(data, model$data)) model$y_hat
    session <- c(session, predictions_of(model$predict_function, inner, data, known))
  }
  # Of an R6 object the caller's own would get the attribute.
  if (!is.environment(model)) attr(model, "importanceaudit_session") <- session
  saveRDS(model, file.path(folder, "model.rds"))
  lines <- toml_lines(
    folder, files, target = target, y = y, name = name, engines = engines,
    n_repeats = n_repeats, seed = seed, positive_class = positive_class,
    has_script = !is.null(predict_function)
  )
  writeLines(enc2utf8(lines), file.path(folder, "audit.toml"), useBytes = TRUE)
  summary <- run_command(command, folder, pdf)
  read_audit(summary$folder, summary)
}

# What a function predicts in this session for some of the rows of the audit, or what an
# explainer says it did, with the rows and how far two answers are apart: the audit asks an
# R of its own, in which methods, variables and options of this session are gone.
predictions_of <- function(predict, model, data, known = NULL) {
  rows <- utils::head(data, 1000)
  ask <- function() {
    answer <- tryCatch(predict(model, rows), error = function(e) {
      stop("the model does not predict the rows in this session: ", conditionMessage(e),
           call. = FALSE)
    })
    if (is.data.frame(answer)) as.matrix(answer) else answer
  }
  first <- ask()
  if (!is.numeric(first)) return(NULL)  # the audit says what it must be
  noise <- max(0, abs(as.vector(first) - as.vector(ask())), na.rm = TRUE)
  if (NROW(known) == nrow(data)) {
    first <- if (length(dim(known)) == 2) known[seq_len(nrow(rows)), ] else utils::head(known, 1000)
  }
  list(rows = rows, predictions = as.vector(first), noise = noise)
}

# The first of the methods of predict for the classes of a model, by its class.
predict_methods <- function(model) {
  methods <- lapply(class(model), function(class) {
    utils::getS3method("predict", class, optional = TRUE, envir = globalenv())
  })
  Filter(Negate(is.null), methods)
}

# The method that answers for a model, if it is no package's: then it is saved with it.
method_of_session <- function(model) {
  own <- predict_methods(model)
  if (length(own) && !isNamespace(topenv(environment(own[[1]])))) own[[1]]
}

# The packages that are attached, and those whose methods predict for a model.
packages_of_session <- function(model) {
  homes <- lapply(predict_methods(model), function(method) topenv(environment(method)))
  homes <- vapply(Filter(isNamespace, homes), getNamespaceName, "")
  always <- c("base", getOption("defaultPackages"), "importanceaudit")
  list(attached = setdiff(.packages(), always), loaded = setdiff(homes, always))
}

# The functions that a formula calls must be a package's: others are not saved with it.
check_formula <- function(model) {
  formula <- tryCatch(stats::formula(model), error = function(e) NULL)
  called <- setdiff(all.names(formula), all.vars(formula))
  is_own <- vapply(called, exists, NA, envir = globalenv(), inherits = FALSE)
  if (any(is_own)) {
    stop("the formula of the model calls ", toString(called[is_own]), ", which this session ",
         "defines and which is not saved with the model. Give predict_function = ",
         "function(model, data) ..., with ", toString(called[is_own]), " inside it.",
         call. = FALSE)
  }
}

check_rows <- function(data, y) {
  if (!is.data.frame(data)) {
    stop("data must be a data frame; it is of class '", class(data)[1], "'.", call. = FALSE)
  }
  if (length(y) != nrow(data)) {
    stop("data has ", nrow(data), " rows and y ", length(y), " values: they must be ",
         "as many.", call. = FALSE)
  }
}

# Logical values and texts are classes, as factors are.
with_target <- function(data, y, target) {
  data <- as.data.frame(data)
  data[[target]] <- if (is.logical(y) || is.character(y)) factor(y) else y
  data
}

task_of <- function(y) {
  if (is.numeric(y)) return("regression")
  if (nlevels(factor(y)) == 2) "binary" else "multiclass"
}

# A string or a vector of strings of JSON is one of TOML.
quoted <- function(x, one = TRUE) {
  as.character(jsonlite::toJSON(if (one) jsonlite::unbox(x) else x))
}

toml_lines <- function(folder, files, target, y, name, engines, n_repeats, seed,
                       positive_class, has_script) {
  digest <- function(file) quoted(sha256_of(file.path(folder, file)))
  rows <- function(file) paste0("{ rds = ", quoted(file), ", sha256 = ", digest(file), " }")
  task <- if (is.null(positive_class)) task_of(y) else "binary"
  if (task == "binary" && is.null(positive_class)) positive_class <- levels(factor(y))[2]
  c(
    paste("seed =", format(seed, scientific = FALSE)),
    "", "[data]",
    paste("train =", if (is.null(files$train)) "{}" else rows(files$train)),
    paste("test =", rows(files$test)),
    paste("target =", quoted(target)),
    paste("task =", quoted(task)),
    if (task == "binary") paste("positive_class =", class_value(positive_class)),
    "", "[[models]]",
    paste("name =", quoted(name)),
    paste("file =", quoted(files$model)),
    paste("sha256 =", digest(files$model)),
    if (has_script) 'predict = "predict.R"',
    "", "[[importance]]",
    'method = "permutation"',
    paste("n_repeats =", format(n_repeats, scientific = FALSE)),
    paste("engines =", quoted(engines, one = FALSE))
  )
}

class_value <- function(value) {
  if (is.numeric(value)) format(value) else quoted(as.character(value))
}

# Base R has no SHA-256 before version 4.5.
sha256_of <- function(file) {
  own <- get0("sha256sum", asNamespace("tools"), inherits = FALSE)
  if (!is.null(own)) return(unname(own(file)))
  tools <- list(sha256sum = character(), shasum = c("-a", "256"))
  for (tool in names(tools)) {
    if (nzchar(Sys.which(tool))) {
      answer <- system2(tool, c(tools[[tool]], shQuote(normalizePath(file))), stdout = TRUE)
      return(sub("^\\\\?([0-9a-f]{64}).*", "\\1", answer))
    }
  }
  stop("neither R 4.5 nor the command sha256sum is here, so the digest of '", file,
       "' is not known.", call. = FALSE)
}

find_command <- function() path.expand(Sys.getenv("IMPORTANCE_AUDIT", "importance-audit"))

# What the words of the command, which are about audit.toml, mean in R.
advice <- function(said) {
  if (grepl('predict = "predict.R"', said, fixed = TRUE)) {
    return(paste0("\nIn R: importance_audit(model, data, y, predict_function = ",
                  "function(model, data) ...), which is that script."))
  }
  ""
}

# The JSON that `importance-audit run --json` prints, as a list.
run_command <- function(command, folder, pdf) {
  if (!nzchar(Sys.which(command))) {
    stop("the command '", command, "' was not found. Say where it is:\n",
         "  Sys.setenv(IMPORTANCE_AUDIT = \"/path/to/importance-audit\")\n",
         "In a checkout of importance-audit it is .venv/bin/importance-audit, once ",
         "'make report' has run there in a terminal.", call. = FALSE)
  }
  messages <- tempfile()
  on.exit(unlink(messages))
  arguments <- c("run", "--json", if (!pdf) "--no-pdf", shQuote(normalizePath(folder)))
  printed <- suppressWarnings(
    system2(command, arguments, stdout = TRUE, stderr = messages)
  )
  summary <- tryCatch(
    jsonlite::fromJSON(paste(printed, collapse = "\n")),
    error = function(e) NULL
  )
  if (is.null(summary$folder)) {
    said <- c(summary$faults, readLines(messages, warn = FALSE))
    said <- paste(unlist(said), collapse = "\n")
    stop("the audit in '", folder, "' made no run:\n", said, advice(said), call. = FALSE)
  }
  summary
}
