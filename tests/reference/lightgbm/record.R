# Writes models of R's lightgbm as text up to the end of their trees, and what it predicts for rows with missing
# values, zeros and levels that training did not meet, as hexadecimal numbers:
#   Rscript record.R models.json
library(lightgbm)
library(jsonlite)
path <- commandArgs(TRUE)[1]

set.seed(7)
n <- 500
X <- cbind(
    size = round(rnorm(n), 2),                   # ties
    age = round(rexp(n), 2) * rbinom(n, 1, 0.7), # many zeros
    town = sample(0:69, n, TRUE),                # three words of 32 bits
    kind = sample(0:2, n, TRUE),
    same = 1
)
X[sample(n, 80), "size"] <- NA
X[sample(n, 20), "kind"] <- NA
score <- ifelse(is.na(X[, "size"]), 0.5, X[, "size"]) - X[, "age"] +
    (X[, "town"] %% 3 == 0) + 2 * (X[, "kind"] %in% 1)
y <- score + rnorm(n) / 5
rows <- X[1:80, ]
rows[1:8, "town"] <- c(77, -1, NA, 95, 96, -0.5, 2.7, 1e6)
rows[9:12, "kind"] <- c(NA, 9, -3, 0.5)
rows[13:20, "age"] <- c(NA, 1e-40, -1e-40, 1e-34, -1e-34, -5, 1e9, 0)
weights <- rexp(n)
hexadecimal <- function(x) matrix(sprintf("%a", x), NROW(x))

ask <- function(id, y, parameters, categories = c("town", "kind"), rounds = 6) {
    base <- list(num_threads = 1, verbose = -1, min_data_in_leaf = 4, num_leaves = 9,
        min_data_per_group = 4, cat_smooth = 1, seed = 1, deterministic = TRUE)
    parameters <- modifyList(base, parameters)
    data <- lgb.Dataset(X, label = y, weight = weights,
        categorical_feature = categories, params = parameters)
    file <- tempfile()
    lgb.save(lgb.train(parameters, data, nrounds = rounds), file)
    lines <- readLines(file)
    lines <- lines[seq_len(match("end of trees", lines))]
    list(id = id, model = paste(lines, collapse = "\n"),
        prediction = hexadecimal(predict(lgb.load(file), rows)))
}
of <- function(objective, ...) list(objective = objective, ...)
positive <- exp(y / 3)
nine <- as.integer(cut(y, quantile(y, 0:9 / 9), include.lowest = TRUE)) - 1
cases <- list(
    ask("regression", y, of("regression")),
    ask("numbers", y, of("regression"), categories = NULL),
    ask("zero_as_missing", y, of("regression", zero_as_missing = TRUE)),
    ask("no_missing", y, of("regression", use_missing = FALSE)),
    ask("forest", y, of("regression", boosting = "rf", bagging_freq = 1,
        bagging_fraction = 0.7)),
    ask("dart", y, of("regression", boosting = "dart", drop_rate = 0.4)),
    ask("goss", y, of("regression", data_sample_strategy = "goss")),
    ask("l1", y, of("regression_l1")),
    ask("huber", y, of("huber")),
    ask("quantile", y, of("quantile", alpha = 0.8)),
    ask("square_root", y, of("regression", reg_sqrt = TRUE)),
    ask("poisson", round(positive), of("poisson")),
    ask("gamma", positive, of("gamma")),
    ask("tweedie", positive, of("tweedie")),
    ask("one_leaf", y, of("regression", min_data_in_leaf = 400)),
    ask("binary", as.numeric(y > 0), of("binary")),
    ask("sigmoid", as.numeric(y > 0), of("binary", sigmoid = 0.7)),
    ask("cross_entropy", plogis(y), of("cross_entropy")),
    ask("multiclass", nine, of("multiclass", num_class = 9), rounds = 2),
    ask("one_against_all", nine, of("multiclassova", num_class = 9, sigmoid = 0.7),
        rounds = 2),
    ask("forest_of_classes", nine, of("multiclass", num_class = 9, boosting = "rf",
        bagging_freq = 1, bagging_fraction = 0.7), rounds = 2),
    ask("linear", y, of("regression", linear_tree = TRUE), categories = NULL)
)
content <- list(
    made_with = list(R = R.version.string,
        lightgbm = as.character(packageVersion("lightgbm"))),
    columns = colnames(X),
    rows = hexadecimal(rows),
    cases = cases
)
writeLines(toJSON(content, auto_unbox = TRUE), path)
