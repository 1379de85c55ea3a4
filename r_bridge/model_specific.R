# Model-specific importances of a fitted R model, read from its own components without vip. The
# result of vip for the same quantity, at the end, is compared with this one.
#
# A result names its terms (a column, a dummy, a coefficient), with one value for each.

# The quantities of a class, the default first, as functions that read them.
quantities_of <- function(model) {
  kind <- Find(function(name) !is.null(readers[[name]]), class(model))
  if (is.null(kind)) list() else readers[[kind]](model)
}

# type  one of the quantities, "" for the default
model_numbers <- function(model, type) {
  quantities <- quantities_of(model)
  if (!length(quantities)) {
    return(list(none = why_none(model)))
  }
  if (!nzchar(type)) type <- names(quantities)[1L]
  if (is.null(quantities[[type]])) {
    return(list(types = as.list(names(quantities))))
  }
  c(list(type = type), quantities[[type]]())
}

# A word for what a model without quantities lacks.
why_none <- function(model) {
  if (inherits(model, "ranger")) return("importance")
  if (inherits(model, "rpart")) return("splits")
  if (inherits(model, "nnet")) return("hidden units")
  "reader"
}

name_values <- function(values) {
  list(terms = as.list(names(values)), values = as.numeric(values))
}

# --- linear models ---------------------------------------------------------------------

# The columns behind every coefficient. A coefficient without columns is a constant; a column in
# an offset is a term without a coefficient.
linear_terms <- function(model) {
  design <- stats::terms(model)
  variables <- lapply(as.list(attr(design, "variables"))[-1L], all.vars)
  uses <- attr(design, "factors") > 0
  of_term <- lapply(seq_along(attr(design, "term.labels")), function(k) {
    as.list(unique(unlist(variables[uses[, k]])))
  })
  place <- attr(stats::model.matrix(model), "assign")
  offsets <- unlist(variables[attr(design, "offset")])
  list(is_term = place > 0, columns = of_term[place[place > 0]], offsets = as.list(offsets))
}

linear <- function(model) {
  report <- function(values, ...) {
    terms <- linear_terms(model)
    estimate <- stats::coef(model)
    list(
      terms = as.list(names(estimate)[terms$is_term]), columns = terms$columns,
      values = as.numeric(abs(values(estimate)))[terms$is_term], offsets = terms$offsets, ...
    )
  }
  list(
    stat = function() {
      V <- stats::vcov(model)
      is_term <- linear_terms(model)$is_term
      estimate <- stats::coef(model)
      report(
        function(estimate) estimate / sqrt(diag(V)[names(estimate)]),
        estimate = as.numeric(estimate[is_term]),
        covariance = unname(V)[is_term, is_term, drop = FALSE]
      )
    },
    raw = function() report(identity)
  )
}

# --- trees -----------------------------------------------------------------------------

OF_PERMUTATION <- c("MeanDecreaseAccuracy", "%IncMSE")

# Out-of-bag increases are divided by their standard errors, which the forest stores as a vector
# or as a column of that name; for a column that no tree uses, both are zero.
forest <- function(model) {
  table <- model$importance
  measures <- intersect(
    colnames(table), c(OF_PERMUTATION, "MeanDecreaseGini", "IncNodePurity")
  )
  plain <- function(name) {
    force(name)
    function() name_values(table[, name])
  }
  scaled <- function(name) {
    function() {
      error <- model$importanceSD
      if (is.matrix(error)) error <- error[, name]
      error[error == 0] <- 1
      name_values(table[, name] / error)
    }
  }
  permuted <- intersect(measures, OF_PERMUTATION)
  usual <- lapply(measures, function(name) {
    if (name %in% permuted) scaled(name) else plain(name)
  })
  names(usual) <- measures
  for (name in permuted) usual[[paste(name, "unscaled")]] <- plain(name)
  usual
}

ranger_stored <- function(model) {
  if (model$importance.mode == "none") {
    return(list())
  }
  stats::setNames(
    list(function() name_values(model$variable.importance)), model$importance.mode
  )
}

# The decrease of the loss at all splits on a column, in percent of the total. The first vector of
# a tree holds the split columns, from 0, and -1 for a leaf; the sixth holds the decrease.
boosting <- function(model) {
  list(relative.influence = function() {
    columns <- factor(unlist(lapply(model$trees, `[[`, 1L)), seq_along(model$var.names) - 1L)
    decrease <- tapply(unlist(lapply(model$trees, `[[`, 6L)), columns, sum)
    decrease[is.na(decrease)] <- 0
    name_values(stats::setNames(100 * decrease / sum(decrease), model$var.names))
  })
}

tree <- function(model) {
  if (is.null(model$variable.importance)) {
    return(list())
  }
  list(GoodnessOfSplit = function() name_values(model$variable.importance))
}

# --- nets and splines ------------------------------------------------------------------

# The weights of the connections into unit `to`, by the unit they come from.
weights_into <- function(model, to) {
  at <- seq.int(model$nconn[to] + 1L, length.out = model$nconn[to + 1L] - model$nconn[to])
  stats::setNames(model$wts[at], model$conn[at])
}

# Units are numbered: 0 is the constant, then inputs, hidden units and outputs.
net_weights <- function(model) {
  inputs <- seq_len(model$n[1L])
  hidden <- model$n[1L] + seq_len(model$n[2L])
  output <- weights_into(model, sum(model$n[1:2]) + 2L)
  W <- vapply(hidden, function(h) {
    unname(weights_into(model, h + 1L)[as.character(inputs)])
  }, numeric(length(inputs)))
  list(
    hidden = matrix(W, length(inputs)),
    output = unname(output[as.character(hidden)]),
    skips = any(as.character(inputs) %in% names(output))
  )
}

net <- function(model) {
  if (model$n[2L] == 0L) {
    return(list())
  }
  inputs <- model$coefnames
  if (is.null(inputs)) inputs <- paste0("X", seq_len(model$n[1L]))
  w <- net_weights(model)
  olden <- function() {
    name_values(stats::setNames(drop(w$hidden %*% w$output), inputs))
  }
  garson <- function() {
    through <- abs(w$hidden %*% diag(w$output, length(w$output)))
    shares <- rowSums(t(t(through) / colSums(through)))
    name_values(stats::setNames(shares / sum(shares), inputs))
  }
  if (model$n[3L] == 1L && !w$skips) {
    list(olden = olden, garson = garson)
  } else {
    list(olden = olden)
  }
}

splines <- function(model) {
  of_type <- function(type) {
    function() {
      table <- earth::evimp(model, trim = FALSE)
      name_values(stats::setNames(table[, type], sub("-unused$", "", rownames(table))))
    }
  }
  sapply(c("nsubsets", "rss", "gcv"), of_type, simplify = FALSE)
}

# By class; the first class of a model that is listed here counts.
readers <- list(
  lm = linear,
  randomForest = forest,
  ranger = ranger_stored,
  gbm = boosting,
  rpart = tree,
  nnet = net,
  earth = splines
)

# --- vip -------------------------------------------------------------------------------

# The arguments of vip for one of our quantities.
vip_arguments <- function(type) {
  if (grepl("^(MeanDecreaseAccuracy|%IncMSE)", type)) {
    list(type = 1L, scale = !endsWith(type, " unscaled"))
  } else if (type %in% c("MeanDecreaseGini", "IncNodePurity")) {
    list(type = 2L)
  } else if (type %in% c("stat", "raw", "olden", "garson", "nsubsets", "rss", "gcv",
                         "relative.influence")) {
    list(type = type)
  } else {
    list()
  }
}

# The same by vip::vi_model: a list with lacks, a missing package; with refuses, vip's error
# message; or with its numbers.
vip_model <- function(model, type) {
  needed <- c("vip", if (type %in% c("olden", "garson")) "NeuralNetTools")
  absent <- Find(function(name) !requireNamespace(name, quietly = TRUE), needed)
  if (!is.null(absent)) {
    return(list(lacks = absent))
  }
  tryCatch(
    {
      answer <- do.call(vip::vi_model, c(list(quote(model)), vip_arguments(type)))
      list(terms = as.list(answer$Variable), values = as.numeric(answer$Importance))
    },
    error = function(refusal) list(refuses = conditionMessage(refusal))
  )
}
