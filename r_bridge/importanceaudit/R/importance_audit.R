# Starting an audit: writes the model, its rows and an audit.toml to files.

importance_audit <- function(model, data, y, train = NULL, train_y = NULL,
                             predict_function = NULL, engines = "DALEX",
                             methods = "permutation", losses = NULL, groups = NULL,
                             n_repeats = 10, seed = 1, positive_class = NULL,
                             weights = NULL, train_weights = NULL, by = NULL, labels = NULL,
                             minutes = NULL, name = model_name(model),
                             folder = tempfile("audit-"), pdf = FALSE,
                             command = find_command()) {
  is_model <- !is.null(model) || !is.null(predict_function)
  require_that(is_model, "model", model, "a fitted model")
  force(name)
  check_arguments(predict_function, engines, n_repeats, seed, positive_class, name, folder,
                  pdf, command)
  repeats <- if (!missing(n_repeats)) n_repeats
  is_explainer <- inherits(model, "explainer")
  if (is_explainer) {
    if (missing(data)) data <- model$data
    if (missing(y)) y <- model$y
    # The audited columns are those given; in explainers of lm, DALEX includes the target.
    if (!identical(data, model$data)) model[c("data", "y_hat")] <- list(data, NULL)
    if (is.null(data) || is.null(y)) {
      stop("the explainer has no ", if (is.null(data)) "data" else "y", ". Give both to ",
           "DALEX::explain, or to importance_audit(explainer, data, y).", call. = FALSE)
    }
    if (missing(name) && length(model$label) == 1) name <- model$label
  }
  if (!is_explainer && (missing(data) || missing(y))) {
    stop("importance_audit(model, data, y) needs the rows of the audit: a data frame with the ",
         "columns that the model reads, and their target. Only an explainer of DALEX::explain ",
         "brings its own.", call. = FALSE)
  }
  y <- as_target(y, "y")
  is_matrix <- is_matrix_of(data)
  data <- as_rows(data)
  check_rows(data, y)
  if (is_explainer) check_response(model$model, data, "explainer$data") else
    check_response(model, data, "data")
  warn_of_target(data, y)
  if (is.null(train) != is.null(train_y)) {
    stop("train and train_y must be given together: the rows that the model was fitted to, ",
         "and their target.", call. = FALSE)
  }
  if (!is.null(train)) {
    train_y <- as_target(train_y, "train_y")
    train <- as_rows(train)
    check_rows(train, train_y, "train", "train_y")
    check_same_columns(train, data)
  }
  # 0 and 1 are numbers, unless the model has them as classes.
  is_zero_one <- is.numeric(y) && all(y %in% 0:1)
  if (is.null(positive_class) && is_zero_one && is_of_zero_one(model)) positive_class <- 1
  check_positive_class(positive_class, y)
  check_classes(y)
  check_questions(methods, losses, groups, labels, minutes, names(data))
  by <- check_by(by, data)
  check_weights(weights, nrow(data), "weights")
  check_train_weights(train_weights, weights, train)
  if (dir.exists(folder) && length(dir(folder))) {
    stop("folder '", folder, "' is not empty. Name another one.", call. = FALSE)
  }
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  named <- make.unique(c(names(data), names(by$columns), "target", "weights"))
  target <- utils::tail(named, 2)[1]
  weights_column <- if (!is.null(weights)) utils::tail(named, 1)
  files <- list(test = "rows.rds", model = "model.rds")
  rows <- with_target(data, y, target)
  rows[names(by$columns)] <- by$columns
  rows[weights_column] <- weights
  saveRDS(rows, file.path(folder, "rows.rds"))
  if (!is.null(train)) {
    files$train <- "train.rds"
    rows <- with_target(train, train_y, target)
    rows[weights_column] <- train_weights
    saveRDS(rows, file.path(folder, "train.rds"))
  }
  inner <- if (is_explainer) model$model else model
  if (!is_explainer && is.null(predict_function)) {
    check_formula(model)
    predict_function <- method_of_session(model)
    model <- with_training_levels(model, parent.frame())
  }
  session <- list(packages = packages_of_session(inner))
  if (!is.null(predict_function)) {
    predict_function <- match.fun(predict_function)
    if (is_matrix) predict_function <- of_matrix(predict_function)
    model <- list(model = model, predict = predict_function)
    class(model) <- "importanceaudit_model"
    session <- c(session, predictions_of(model$predict, inner, data))
    script <- "function(model, data) model$predict(model$model, data)"
    writeLines(script, file.path(folder, "predict.R"))
  } else if (is_explainer) {
    session <- c(session, predictions_of(model$predict_function, inner, data, model$y_hat))
  }
  # The attribute would be set on the caller's own R6 object.
  if (!is.environment(model)) attr(model, "importanceaudit_session") <- session
  saveRDS(model, file.path(folder, "model.rds"))
  lines <- toml_lines(
    folder, files, target = target, y = y, name = name, seed = seed,
    positive_class = positive_class, has_script = !is.null(predict_function),
    weights = weights_column, by = by, labels = labels, groups = groups, minutes = minutes,
    entries = entries_of(methods, losses, engines, n_repeats, repeats, groups)
  )
  writeLines(enc2utf8(lines), file.path(folder, "audit.toml"), useBytes = TRUE)
  summary <- run_command(command, folder, pdf)
  read_audit(summary$folder, summary)
}

# The default name of a model in the report.
model_name <- function(model) {
  if (inherits(model, "glmnet")) return("glmnet")
  if (inherits(model, "model_fit")) return(class(model$spec)[1])
  if (inherits(model, "Learner")) model$id else class(model)[1]
}

# Converts a predict function of a matrix to one of a data frame.
of_matrix <- function(predict) {
  wrapped <- function(model, data) predict(model, as.matrix(data))
  environment(wrapped) <- list2env(list(predict = predict), parent = baseenv())
  wrapped
}

is_matrix_of <- function(data) is.matrix(data) || inherits(data, "Matrix")

# A matrix, sparse or not, as a data frame; without column names they are V1, V2, ...
as_rows <- function(data) {
  if (inherits(data, "Matrix")) data <- methods::as(data, "matrix")
  if (is.matrix(data)) as.data.frame(data) else data
}

# The predictions of a function in this session for some rows of the audit, or those stored in an
# explainer, with the rows and the difference of two predictions. The audit predicts in a
# separate R, without the methods, variables and options of this session.
predictions_of <- function(predict, model, data, known = NULL) {
  # A fresh copy for each call: predict may change its data by reference.
  rows <- function() utils::head(data, 1000)
  ask <- function() {
    answer <- tryCatch(predict(model, rows()), error = function(e) {
      stop("the model does not predict the rows in this session: ", conditionMessage(e),
           call. = FALSE)
    })
    if (is.data.frame(answer)) as.matrix(answer) else answer
  }
  first <- ask()
  if (is.list(first) || !is.numeric(first) && !is.logical(first)) {
    stop("predict_function returns an object of class '", class(first)[1], "', and must return ",
         "numbers: one for each row, of two classes the probability of the second, of more ",
         "classes a matrix whose columns have their names.", call. = FALSE)
  }
  if (NROW(first) != nrow(rows())) {
    what <- if (length(dim(first))) "a matrix whose number of rows is" else "a vector of length"
    stop("predict_function returns ", what, " ", NROW(first), ", for ", nrow(rows()), " rows. It ",
         "must return one prediction for each row.", call. = FALSE)
  }
  noise <- max(0, abs(as.vector(first) - as.vector(ask())), na.rm = TRUE)
  if (NROW(known) == nrow(data)) {
    some <- seq_len(min(1000, nrow(data)))
    first <- if (length(dim(known)) == 2) known[some, ] else known[some]
  }
  list(rows = rows(), predictions = as.vector(first), noise = noise)
}

# The predict methods for the classes of a model, by class.
predict_methods <- function(model) {
  methods <- lapply(class(model), function(class) {
    utils::getS3method("predict", class, optional = TRUE, envir = globalenv())
  })
  Filter(Negate(is.null), methods)
}

# The predict method of a model, if it is not in a package: then it is saved with the model.
method_of_session <- function(model) {
  own <- predict_methods(model)
  if (length(own) && !isNamespace(topenv(environment(own[[1]])))) own[[1]]
}

# The attached packages, and those with predict methods for a model.
packages_of_session <- function(model) {
  homes <- lapply(predict_methods(model), function(method) topenv(environment(method)))
  homes <- vapply(Filter(isNamespace, homes), getNamespaceName, "")
  always <- c("base", getOption("defaultPackages"), "importanceaudit")
  list(attached = setdiff(.packages(), always), loaded = setdiff(homes, always))
}

# Functions in a formula must come from packages: others are not saved with it.
check_formula <- function(model) {
  formula <- tryCatch(stats::formula(model), error = function(e) NULL)
  called <- setdiff(all.names(formula), all.vars(formula))
  is_own <- vapply(called, exists, NA, envir = globalenv(), mode = "function", inherits = FALSE)
  if (any(is_own)) {
    stop("the formula of the model calls ", toString(called[is_own]), ", which this session ",
         "defines and which is not saved with the model. Give predict_function = ",
         "function(model, data) ..., with ", toString(called[is_own]), " inside it.",
         call. = FALSE)
  }
}

# The target must not be a column of the rows if the model was fitted on it.
check_response <- function(model, data, data_is) {
  formula <- tryCatch(stats::formula(model), error = function(e) NULL)
  response <- if (length(formula) == 3) setdiff(all.vars(formula[[2]]), all.vars(formula[[3]]))
  if (any(response %in% names(data))) {
    column <- response[response %in% names(data)][1]
    stop("column '", column, "' of ", data_is, " is the target of the model. Give data without ",
         "it: ", data_is, "[names(", data_is, ") != \"", column, "\"].", call. = FALSE)
  }
}

# A target under another name, or without a formula, is recognised by its values.
warn_of_target <- function(data, y) {
  is_target <- vapply(data, function(x) isTRUE(all(as.vector(x) == as.vector(y))), NA)
  if (any(is_target)) {
    warning("column ", toString(shQuote(names(data)[is_target])), " of data has the value of y in ",
            "every row, and is measured as a feature. If it is the target, give data without it.",
            call. = FALSE)
  }
}

check_same_columns <- function(train, data) {
  lacking <- setdiff(names(data), names(train))
  more <- setdiff(names(train), names(data))
  if (length(c(lacking, more))) {
    stop("train and data must have the same columns; ",
         if (length(lacking)) paste0("train has no ", toString(shQuote(lacking)), ". "),
         if (length(more)) paste0("data has no ", toString(shQuote(more)), ". "),
         "Leave out of both what is no feature.", call. = FALSE)
  }
}

# Whether a model predicts the probability of 1 for a target of 0 and 1.
is_of_zero_one <- function(model) {
  if (inherits(model, "explainer")) return(identical(model$model_info$type, "classification"))
  is_binomial <- function(family) {
    is.list(family) && isTRUE(family$family %in% c("binomial", "quasibinomial"))
  }
  switch(
    class(model)[1],
    gbm = isTRUE(model$distribution$name %in% c("bernoulli", "adaboost")),
    ranger = identical(model$treetype, "Probability estimation"),
    nnet.formula = isTRUE(as.logical(model$entropy)) && is.null(model$lev),
    earth = is_binomial(model$glm.list[[1]]$family),
    is.list(model) && is_binomial(model$family) || has_classes_zero_one(model)
  )
}

# Whether a model stores 0 and 1 as its classes in one of the usual places.
has_classes_zero_one <- function(model) {
  said <- if (isS4(model)) list(attr(model, "lev")) else if (is.list(model)) {
    list(model$lev, model$levels, model$classes, names(model$apriori), rownames(model$means),
         attr(model, "ylevels"), model$classnames, model$glmnet.fit$classnames)
  }
  any(vapply(said, setequal, NA, c("0", "1")))
}

# A value as deparsed by R, cut if long.
shown <- function(value) {
  text <- paste(deparse(value, nlines = 1), collapse = "")
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

require_that <- function(fits, argument, value, rule) {
  if (!isTRUE(fits)) {
    stop(argument, " must be ", rule, "; ", shown(value), " was given.", call. = FALSE)
  }
}

is_one_text <- function(x) is.character(x) && length(x) == 1 && !is.na(x) && grepl("\\S", x)

is_whole <- function(x, least, most) {
  is.numeric(x) && length(x) == 1 && !is.na(x) && x >= least && x <= most && x == round(x)
}

r_engines <- c("DALEX", "vip", "hstats", "iml", "pdp", "xplainfi")

check_arguments <- function(predict_function, engines, n_repeats, seed, positive_class, name,
                            folder, pdf, command) {
  is_function <- is.null(predict_function) || is.function(predict_function)
  require_that(is_function, "predict_function", predict_function,
               "a function of the model and a data frame, or NULL")
  are_engines <- is.character(engines) && all(engines %in% r_engines) && !anyDuplicated(engines)
  require_that(are_engines, "engines", engines,
               paste0("names among ", paste0('"', r_engines, '"', collapse = ", "),
                      ", each once, or character() for none"))
  require_that(is_whole(n_repeats, 1, 1e6), "n_repeats", n_repeats,
               "a whole number from 1 to 1000000")
  require_that(is_whole(seed, 0, 2^31 - 1), "seed", seed, "a whole number from 0 to 2147483647")
  is_class <- is.atomic(positive_class) && length(positive_class) == 1 && !is.na(positive_class)
  require_that(is.null(positive_class) || is_class, "positive_class", positive_class,
               "one class of y, or NULL")
  require_that(is_one_text(name), "name", name, "one text that is not blank")
  require_that(is_one_text(folder), "folder", folder, "the path of one folder")
  require_that(isTRUE(pdf) || isFALSE(pdf), "pdf", pdf, "TRUE or FALSE")
  require_that(is_one_text(command), "command", command, "one command, or its path")
}

# The class names of a target in the audit.
classes_of <- function(y) {
  if (is.numeric(y)) vapply(sort(unique(y)), class_text, "") else levels(factor(y))
}

class_text <- function(value) {
  if (!is.numeric(value)) return(as.character(value))
  format(value, scientific = FALSE, digits = 15, decimal.mark = ".")
}

# Every prediction has a number for each row and class, and an audit makes hundreds of them.
check_classes <- function(y) {
  n_classes <- if (is.numeric(y)) 1 else length(unique(y))
  if (length(y) * n_classes > 5e6) {
    stop("y has ", n_classes, " classes and ", length(y), " rows, so each prediction has ",
         format(length(y) * n_classes, big.mark = " "), " numbers; an audit takes at most ",
         "5 000 000. Give fewer rows or classes, or y as numbers if it is one.", call. = FALSE)
  }
}

check_positive_class <- function(positive_class, y) {
  if (is.null(positive_class)) return(invisible())
  classes <- classes_of(y)
  if (length(classes) > 2) {
    stop("positive_class is for a target of two classes, and y has ", length(classes),
         " different values. Leave positive_class out.", call. = FALSE)
  }
  require_that(class_text(positive_class) %in% classes, "positive_class", positive_class,
               paste("one of the classes of y,", paste(shQuote(classes), collapse = " and ")))
}

# The target as a vector. A matrix or data frame with one column is that column: for example,
# R's lm(scale(y) ~ x) is a model of a vector.
as_target <- function(y, argument) {
  refuse <- function(...) stop(argument, " ", ..., call. = FALSE)
  if (inherits(y, "Surv")) {
    refuse("is a survival target (Surv), and models of survival are not supported: a target ",
           "is one number or class for each row.")
  }
  if (length(dim(y)) > 1) {
    if (length(dim(y)) > 2 || ncol(y) != 1) {
      refuse("has ", prod(dim(y)[-1]), " columns, and a target has one: give one column of ",
             argument, ", and a model that predicts this column alone.")
    }
    y <- if (is.data.frame(y)) y[[1]] else as.vector(y)
  }
  if (!is.numeric(y) && !is.factor(y) && !is.character(y) && !is.logical(y)) {
    refuse("must be numbers, or classes as a factor, texts or logical values; it is of class '",
           class(y)[1], "'.")
  }
  is_bad <- is.na(y) | (is.numeric(y) & !is.finite(if (is.numeric(y)) y else 0))
  if (any(is_bad)) {
    n <- sum(is_bad)
    refuse("is missing or infinite in ", n, " of ", length(y), " rows. Leave ",
           if (n == 1) "that row" else "those rows", " out.")
  }
  if (length(y) > 1 && length(unique(y)) == 1) {
    refuse("has the same value in all ", length(y), " rows, and an audit needs rows of ",
           "different values.")
  }
  y
}

check_rows <- function(data, y, data_is = "data", y_is = "y") {
  if (!is.data.frame(data)) {
    stop(data_is, " must be a data frame or a matrix; it is of class '", class(data)[1], "'.",
         call. = FALSE)
  }
  if (is_one_text(y) && y %in% names(data)) {
    stop(y_is, " is the name of a column of ", data_is, ", and must be its values: give ", data_is,
         "$", y, ", and ", data_is, " without it.", call. = FALSE)
  }
  if (length(y) != nrow(data)) {
    stop(data_is, " has ", nrow(data), " rows and ", y_is, " ", length(y), " values: they ",
         "must be as many.", call. = FALSE)
  }
  if (!nrow(data)) stop(data_is, " has no rows.", call. = FALSE)
  is_bad <- is.na(names(data)) | !nzchar(names(data)) | duplicated(names(data))
  if (!ncol(data) || any(is_bad)) {
    stop("the columns of ", data_is, " must have names, each another one; they are ",
         shown(names(data)), ".", call. = FALSE)
  }
  for (column in names(data)) check_column(data[[column]], column, data_is)
}

check_column <- function(x, column, data_is) {
  refuse <- function(...) {
    stop("column ", shown(column), " of ", data_is, " ", ..., call. = FALSE)
  }
  if (length(dim(x)) > 1) {
    refuse("is a matrix, as scale() makes one. Fit the model to its columns as vectors, such as ",
           "as.vector(scale(x)), and give ", data_is, " with them.")
  }
  if (is.factor(x) && anyNA(levels(x))) {
    refuse("is a factor with NA among its levels, as addNA() makes one. Name that level, such as ",
           "levels(x)[is.na(levels(x))] <- \"missing\", and fit the model to it.")
  }
  if (inherits(x, "difftime")) {
    refuse("holds differences of times (difftime). Fit the model to numbers, such as ",
           "as.numeric(x, units = \"days\"), and give ", data_is, " with them.")
  }
  is_time <- inherits(x, c("Date", "POSIXct"))
  if (!is.numeric(x) && !is.factor(x) && !is.character(x) && !is.logical(x) && !is_time) {
    refuse("is of class '", class(x)[1], "', and must hold numbers, a factor, texts or logical ",
           "values. Leave it out if the model does not read it.")
  }
}

# Logical and character targets become factors.
with_target <- function(data, y, target) {
  data <- as.data.frame(data)
  data[[target]] <- if (is.logical(y) || is.character(y)) factor(y) else y
  data
}

# Base R before version 4.5 has no SHA-256.
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

# The JSON that `importance-audit run --json` prints, as a list.
run_command <- function(command, folder, pdf) {
  if (!nzchar(Sys.which(command))) {
    stop("the command '", command, "' was not found. Say where it is:\n",
         "  Sys.setenv(IMPORTANCE_AUDIT = \"/path/to/importance-audit\")\n",
         "In a checkout of importance-audit it is .venv/bin/importance-audit, once ",
         "'make report' has run there in a terminal.", call. = FALSE)
  }
  messages <- tempfile()
  before <- Sys.getenv("R_LIBS")
  # The R of the audit must find the packages of this session, for example with renv.
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  on.exit({
    unlink(messages)
    Sys.setenv(R_LIBS = before)
  })
  arguments <- c("run", "--json", "--quiet", "--asked-by", "r", if (!pdf) "--no-pdf",
                 shQuote(normalizePath(folder)))
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
    stop("the audit in '", folder, "' made no run. The arguments are written there as ",
         "audit.toml:\n", said, call. = FALSE)
  }
  summary
}
