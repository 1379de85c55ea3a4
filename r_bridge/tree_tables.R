# The trees of a fitted model in the fields of its own package, as one vector for each field,
# tree after tree. Or a list with `none`: a sentence that says why they do not reproduce the
# package's predictions. Columns are numbered from 0 in the order of `describe_model`.
model_trees <- function(model) {
  model_tables[[class(model)[1L]]](model)
}

# One field of a list of trees.
join_field <- function(trees, field) unlist(lapply(trees, `[[`, field))

# The numbers of the columns with these names.
column_numbers <- function(model, names) {
  match(names, model_kinds[[class(model)[1L]]]$features(model)) - 1L
}

of_other_terms <- list(none = "Its formula has terms that are not columns.")

ranger_tables <- function(model) {
  forest <- model$forest
  if (!is.null(forest$dependent.varID)) {
    return(list(none = "It was grown by a ranger before 0.11.5."))
  }
  list(
    n_nodes = lengths(forest$split.varIDs),
    left = join_field(forest$child.nodeIDs, 1L),
    right = join_field(forest$child.nodeIDs, 2L),
    column = unlist(forest$split.varIDs),
    split = unlist(forest$split.values),
    is_ordered = forest$is.ordered,
    shares = unlist(forest$terminal.class.counts), # for leaves only
    class_order = if (!is.null(forest$class.values)) order(forest$class.values)
  )
}

forest_tables <- function(model) {
  forest <- model$forest
  if (!is.null(model$coefs)) return(list(none = "It corrects its predictions for bias."))
  columns <- column_numbers(model, names(forest$ncat))
  if (anyNA(columns)) return(of_other_terms)
  in_tree <- as.vector(outer(seq_len(forest$nrnodes), forest$ndbigtree, `<=`))
  nodes_of <- function(field) as.vector(field)[in_tree]
  below <- forest$treemap
  list(
    n_nodes = forest$ndbigtree,
    left = nodes_of(if (is.null(below)) forest$leftDaughter else below[, 1L, ]),
    right = nodes_of(if (is.null(below)) forest$rightDaughter else below[, 2L, ]),
    is_leaf = nodes_of(forest$nodestatus) == -1L,
    variable = nodes_of(forest$bestvar),
    split = nodes_of(forest$xbestsplit),
    leaf = nodes_of(forest$nodepred),
    columns = columns,
    n_levels = as.integer(forest$ncat),
    n_classes = if (model$type == "classification") forest$nclass
  )
}

gbm_tables <- function(model) {
  list(
    n_nodes = lengths(lapply(model$trees, `[[`, 1L)),
    column = join_field(model$trees, 1L),
    split = join_field(model$trees, 2L),
    left = join_field(model$trees, 3L),
    right = join_field(model$trees, 4L),
    third = join_field(model$trees, 5L),
    weight = join_field(model$trees, 7L),
    ways = unlist(model$c.splits),
    n_ways = lengths(model$c.splits),
    is_factor = vapply(model$var.levels, is.character, NA),
    n_levels = as.integer(model$var.type),
    start = rep_len(model$initF, max(1L, model$num.classes)),
    distribution = model$distribution$name
  )
}

# The first split of a node is the one used; competitors and surrogates follow.
rpart_tables <- function(model) {
  frame <- model$frame
  is_inner <- frame$var != "<leaf>"
  columns <- column_numbers(model, as.character(frame$var))
  # Names in a call that are not columns, such as pi, would be counted as columns.
  read <- attr(stats::delete.response(stats::terms(model)), "variables")
  if (!all(vapply(as.list(read)[-1L], is.name, NA))) return(of_other_terms)
  n_splits <- is_inner + frame$ncompete + frame$nsurrogate
  own_split <- (cumsum(n_splits) - n_splits + 1L)[is_inner]
  of_split <- function(field) replace(numeric(nrow(frame)), is_inner, model$splits[own_split, field])
  number <- as.integer(row.names(frame))
  n_classes <- length(attr(model, "ylevels"))
  list(
    n_columns = length(terms_features(model)),
    is_inner = is_inner,
    column = columns,
    low = match(2 * number, number, 0L),
    high = match(2 * number + 1, number, 0L),
    n_rows = frame$n,
    has_surrogates = frame$nsurrogate > 0L & model$control$usesurrogate > 0L,
    follows_majority = model$control$usesurrogate > 1L,
    n_levels = if (any(is_inner)) of_split("ncat") else 0,
    split = if (any(is_inner)) of_split("index") else 0,
    ways = model$csplit,
    leaf = if (n_classes) {
      unname(frame$yval2[, 1L + n_classes + seq_len(n_classes), drop = FALSE])
    } else {
      frame$yval
    }
  )
}

# By the first class of the model.
model_tables <- list(
  ranger = ranger_tables,
  randomForest = forest_tables,
  randomForest.formula = forest_tables,
  gbm = gbm_tables,
  rpart = rpart_tables
)
