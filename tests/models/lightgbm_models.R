# Wrote tests/reference/lightgbm.json with R's lightgbm: models as lgb.save() writes
# them, and what R predicts for rows with missing values, zeros and unmet levels.
#   Rscript lightgbm_models.R lightgbm.json
library(lightgbm)
library(jsonlite)
path <- commandArgs(TRUE)[1]

set.seed(16)
n <- 400
X <- cbind(
    size = round(rnorm(n), 3),
    age = round(rexp(n), 3) * rbinom(n, 1, 0.7), # many zeros
    town = sample(0:39, n, TRUE),                # more levels than one word of 32 bits
    kind = sample(0:2, n, TRUE)
)
X[sample(n, 60), "size"] <- NA
score <- with(as.data.frame(X),
    ifelse(is.na(size), 0.5, size) - age + (town %% 3 == 0) + 2 * (kind == 1))
y <- score + rnorm(n) / 5
few <- seq_len(60)
rows <- X[few, ]
rows[1:3, "town"] <- c(77, -1, NA)
rows[4:6, "kind"] <- c(NA, 9, 2.7)
rows[7:9, "age"] <- c(NA, 1e-40, -1e-40)

ask <- function(id, y, parameters, categories = c("town", "kind"), rounds = 6) {
    base <- list(num_threads = 1, verbose = -1, min_data_in_leaf = 5, num_leaves = 8,
        min_data_per_group = 5, cat_smooth = 1)
    parameters <- modifyList(base, parameters)
    data <- lgb.Dataset(X, label = y, categorical_feature = categories,
        params = parameters)
    model <- lgb.train(parameters, data, nrounds = rounds)
    file <- tempfile()
    lgb.save(model, file)
    list(id = id, model = paste(readLines(file), collapse = "\n"),
        prediction = predict(lgb.load(file), rows))
}
third <- as.integer(cut(y, quantile(y, 0:3 / 3), include.lowest = TRUE)) - 1
cases <- list(
    ask("regression", y, list(objective = "regression")),
    ask("numbers", y, list(objective = "regression"), categories = NULL),
    ask("zero_as_missing", y, list(objective = "regression", zero_as_missing = TRUE),
        categories = NULL),
    ask("no_missing", y, list(objective = "regression", use_missing = FALSE)),
    ask("l1", y, list(objective = "regression_l1")),
    ask("square_root", y, list(objective = "regression", reg_sqrt = TRUE)),
    ask("poisson", pmax(round(y + 2), 0), list(objective = "poisson")),
    ask("forest", y, list(objective = "regression", boosting = "rf",
        bagging_freq = 1, bagging_fraction = 0.7)),
    ask("one_leaf", y, list(objective = "regression", min_data_in_leaf = 300)),
    ask("binary", as.numeric(y > 0), list(objective = "binary")),
    ask("sigmoid", as.numeric(y > 0), list(objective = "binary", sigmoid = 0.5)),
    ask("cross_entropy", as.numeric(y > 0), list(objective = "cross_entropy")),
    ask("multiclass", third, list(objective = "multiclass", num_class = 3), rounds = 3),
    ask("one_against_all", third, list(objective = "multiclassova", num_class = 3),
        rounds = 3)
)
content <- list(
    about = paste("Models of R's lightgbm as lgb.save writes them, and its predictions",
        "for rows; made by tests/models/lightgbm_models.R. Levels and cells of rows",
        "that are null are missing."),
    made_with = list(R = R.version.string,
        lightgbm = as.character(packageVersion("lightgbm"))),
    columns = colnames(X),
    rows = rows,
    cases = cases
)
writeLines(toJSON(content, digits = NA, auto_unbox = TRUE, na = "null"), path)
