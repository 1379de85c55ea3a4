# Shared by the files of the packages: the start of a random stream, values in the form that R
# packages expect, and the losses of the audit. The losses are written from their definitions, as
# a second implementation of pipeline/records/losses.py. Lower is better; rows are not weighted,
# because neither vip nor DALEX nor iml supports weights.
#
# observed   numbers, 0 and 1, or a factor whose levels are the columns of predicted
# predicted  one number per row, or a matrix with one column per class

# The kinds are set too, since a profile may have changed them.
start_stream <- function(seed) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
}

# Converts the codes 0, 1, ... sent by the bridge to the factor that R packages expect.
as_observed <- function(y, classes) {
  if (is.null(classes)) y else factor(y, seq_along(classes) - 1, unlist(classes))
}

# The points of a grid in the type of the column.
as_points <- function(grid, column) {
  if (is.factor(column)) factor(grid, levels(column)) else grid
}

# The data under names without a special meaning in any package, and predict for them.
plainly_named <- function(data, predict) {
  own <- names(data)
  list(
    data = stats::setNames(data, paste0("column", seq_along(own))),
    predict = function(object, newdata, ...) {
      predict(object, stats::setNames(as.data.frame(newdata), own))
    },
    # The plain names of columns or of groups of columns, given by their own names.
    names_of = function(columns) paste0("column", match(unlist(columns), own))
  )
}

# The index of each score among the distinct ones, from the lowest. Neighbours are tied if they
# differ by at most 1e-12 of the larger of the two: otherwise last bits would decide their order.
# Between 0.5 and 1 the difference is also at most 1e-12 of 1 - p, but always allows rounding.
places_of <- function(predicted) {
  rising <- order(predicted)
  ranked <- predicted[rising]
  before <- ranked[-length(ranked)]
  after <- ranked[-1]
  larger <- pmax(abs(before), abs(after))
  allowed <- 1e-12 * larger
  near_one <- before > 0.5 & after <= 1
  of_rest <- pmax(1e-12 * (1 - before), 2^-50 * larger)
  allowed[near_one] <- of_rest[near_one]
  tied <- before == after | (is.finite(larger) & abs(after - before) <= allowed)
  places <- integer(length(predicted))
  places[rising] <- cumsum(c(TRUE, !tied))
  places
}

# The predicted probability of the observed class.
of_observed <- function(observed, predicted) {
  if (is.matrix(predicted)) {
    predicted[cbind(seq_along(observed), as.integer(observed))]
  } else {
    ifelse(observed == 1, predicted, 1 - predicted)
  }
}

# The unit deviance of each row.
poisson_deviance_of <- function(observed, predicted) {
  surprise <- ifelse(observed == 0, 0, observed * log(observed / predicted))
  2 * (surprise - observed + predicted)
}
gamma_deviance_of <- function(observed, predicted) {
  2 * (observed / predicted - 1 - log(observed / predicted))
}

# The column of the most probable class, the first in ties. R's default choice is random, and
# treats probabilities as tied if equal to 1e-5 of the larger.
likeliest_of <- function(predicted) max.col(predicted, ties.method = "first")

# The codes of the observed and the predicted classes, from 1.
classes_of <- function(observed, predicted) {
  if (is.matrix(predicted)) {
    list(as.integer(observed), likeliest_of(predicted), ncol(predicted))
  } else {
    list(observed + 1, (predicted > 0.5) + 1, 2L)
  }
}

# Precision and recall of one class at each of its probabilities, starting at recall 0.
precision_over_recall <- function(is_event, predicted) {
  cuts <- sort(unique(predicted), decreasing = TRUE)
  n_selected <- vapply(cuts, function(cut) sum(predicted >= cut), 1)
  hits <- vapply(cuts, function(cut) sum(is_event[predicted >= cut]), 1)
  list(recall = c(0, hits / sum(is_event)), precision = c(1, hits / n_selected))
}

# 1 minus the area under that curve, with straight lines or with steps.
one_minus_pr_auc_of <- function(is_event, predicted) {
  curve <- precision_over_recall(is_event, predicted)
  precision <- curve$precision
  1 - sum(diff(curve$recall) * (precision[-1] + precision[-length(precision)])) / 2
}
one_minus_average_precision_of <- function(is_event, predicted) {
  curve <- precision_over_recall(is_event, predicted)
  1 - sum(diff(curve$recall) * curve$precision[-1])
}

# By the Mann-Whitney statistic: average ranks count ties half.
one_minus_auc_of <- function(is_event, predicted) {
  ones <- as.numeric(sum(is_event))
  zeros <- length(is_event) - ones
  above <- sum(rank(places_of(predicted))[is_event]) - ones * (ones + 1) / 2
  1 - above / (ones * zeros)
}

# The mean over classes of a measure of one class against the rest.
against_the_rest <- function(measure, observed, predicted) {
  codes <- as.integer(observed)
  mean(vapply(seq_len(ncol(predicted)), function(k) measure(codes == k, predicted[, k]), 1))
}

# For each class, the share misclassified in it plus the share misclassified in all others.
missed_shares <- function(observed, predicted) {
  classes <- classes_of(observed, predicted)
  vapply(seq_len(classes[[3]]), function(k) {
    is_wrong <- (classes[[2]] == k) != (classes[[1]] == k)
    mean(is_wrong[classes[[1]] == k]) + mean(is_wrong[classes[[1]] != k])
  }, 1)
}

# One number per row; the loss of the same name below is their mean, or follows from it.
row_losses <- list(
  mse = function(observed, predicted) (observed - predicted)^2,
  mae = function(observed, predicted) abs(observed - predicted),
  mape = function(observed, predicted) 100 * abs((observed - predicted) / observed),
  mean_relative_error = function(observed, predicted) {
    abs(observed - predicted) / pmax(abs(observed), 2^-52)
  },
  poisson_deviance = function(observed, predicted) poisson_deviance_of(observed, predicted),
  gamma_deviance = function(observed, predicted) gamma_deviance_of(observed, predicted),
  log_loss = function(observed, predicted) -log(of_observed(observed, predicted)),
  log_loss_clipped = function(observed, predicted) {
    -log(pmax(of_observed(observed, predicted), 2^-52))
  },
  dalex_cross_entropy = function(observed, predicted) {
    -log(pmax(of_observed(observed, predicted), 1e-4))
  },
  brier = function(observed, predicted) {
    if (!is.matrix(predicted)) {
      return((observed - predicted)^2)
    }
    (rowSums(predicted^2) + 1 - 2 * of_observed(observed, predicted)) / 2
  },
  one_minus_accuracy = function(observed, predicted) {
    if (is.matrix(predicted)) {
      as.numeric(likeliest_of(predicted) != as.integer(observed))
    } else {
      as.numeric((predicted > 0.5) != observed)
    }
  }
)
row_losses[c("rmse", "sum_of_squares", "one_minus_r2")] <- row_losses["mse"]
row_losses["negative_log_likelihood"] <- row_losses["log_loss"]

losses <- list(
  rmse = function(observed, predicted) sqrt(mean((observed - predicted)^2)),
  mse = function(observed, predicted) mean((observed - predicted)^2),
  sum_of_squares = function(observed, predicted) sum((observed - predicted)^2),
  mae = function(observed, predicted) mean(abs(observed - predicted)),

  poisson_deviance = function(observed, predicted) {
    mean(poisson_deviance_of(observed, predicted))
  },
  gamma_deviance = function(observed, predicted) mean(gamma_deviance_of(observed, predicted)),
  mape = function(observed, predicted) {
    100 * mean(abs((observed - predicted) / observed))
  },
  mean_relative_error = function(observed, predicted) {
    mean(abs(observed - predicted) / pmax(abs(observed), 2^-52))
  },
  one_minus_r2 = function(observed, predicted) {
    sum((observed - predicted)^2) / sum((observed - mean(observed))^2)
  },

  one_minus_squared_correlation = function(observed, predicted) {
    1 - stats::cor(observed, predicted)^2
  },

  one_minus_pr_auc = function(observed, predicted) {
    if (is.matrix(predicted)) {
      return(against_the_rest(one_minus_pr_auc_of, observed, predicted))
    }
    one_minus_pr_auc_of(observed == 1, predicted)
  },

  one_minus_average_precision = function(observed, predicted) {
    if (is.matrix(predicted)) {
      return(against_the_rest(one_minus_average_precision_of, observed, predicted))
    }
    one_minus_average_precision_of(observed == 1, predicted)
  },

  one_minus_auc = function(observed, predicted) one_minus_auc_of(observed == 1, predicted),
  one_minus_auc_ovr = function(observed, predicted) {
    against_the_rest(one_minus_auc_of, observed, predicted)
  },
  one_minus_auc_ovo = function(observed, predicted) {
    codes <- as.integer(observed)
    mean(utils::combn(ncol(predicted), 2, function(pair) {
      rows <- codes %in% pair
      areas <- vapply(pair, function(k) one_minus_auc_of(codes[rows] == k, predicted[rows, k]), 1)
      mean(areas)
    }))
  },

  log_loss = function(observed, predicted) mean(-log(of_observed(observed, predicted))),
  log_loss_clipped = function(observed, predicted) {
    mean(-log(pmax(of_observed(observed, predicted), 2^-52)))
  },
  negative_log_likelihood = function(observed, predicted) {
    sum(-log(of_observed(observed, predicted)))
  },
  dalex_cross_entropy = function(observed, predicted) {
    sum(-log(pmax(of_observed(observed, predicted), 1e-4)))
  },

  brier = function(observed, predicted) {
    if (!is.matrix(predicted)) {
      return(mean((observed - predicted)^2))
    }
    # sum_k (1{y = k} - p_k)^2 = sum_k p_k^2 + 1 - 2 p_y
    mean(rowSums(predicted^2) + 1 - 2 * of_observed(observed, predicted)) / 2
  },

  one_minus_balanced_accuracy = function(observed, predicted) {
    mean(missed_shares(observed, predicted)) / 2
  },
  one_minus_mean_recall = function(observed, predicted) {
    classes <- classes_of(observed, predicted)
    mean(tapply(classes[[2]] != classes[[1]], classes[[1]], mean))
  },
  one_minus_youden = function(observed, predicted) mean(missed_shares(observed, predicted)),

  one_minus_accuracy = function(observed, predicted) {
    if (is.matrix(predicted)) {
      mean(likeliest_of(predicted) != as.integer(observed))
    } else {
      mean((predicted > 0.5) != observed)
    }
  }
)

loss_named <- function(name) {
  if (is.null(losses[[name]])) {
    stop("Loss must be one of ", toString(names(losses)), ", but ", name, " was given.")
  }
  losses[[name]]
}
