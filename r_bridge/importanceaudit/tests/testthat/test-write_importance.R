written <- function(x) {
  file <- tempfile(fileext = ".csv")
  write_importance(x, file)
  utils::read.csv(file, check.names = FALSE, encoding = "UTF-8")
}

scores_of_vip <- function(raw = matrix(c(3, 0.1, 4, 1 / 3), 2), importance = rowMeans(raw)) {
  rownames(raw) <- c("wt", "hp")
  structure(
    list(Variable = c("hp", "wt"), Importance = rev(importance), StDev = c(1, 1)),
    raw_scores = raw, row.names = 1:2, class = c("vi", "data.frame")
  )
}

test_that("the raw scores of vip are written repeat by repeat, in the order of its table", {
  table <- written(scores_of_vip())
  expect_equal(table$feature, c("hp", "wt", "hp", "wt"))
  expect_equal(table$`repeat`, c(1, 1, 2, 2))
  expect_equal(table$value, c(0.1, 3, 1 / 3, 4))
})

test_that("numbers are written with all their digits", {
  file <- tempfile(fileext = ".csv")
  write_importance(scores_of_vip(), file)
  expect_equal(readLines(file)[c(1, 4)],
               c("feature,repeat,value", "\"hp\",2,0.33333333333333331"))
})

test_that("importances of one repeat have no raw scores", {
  once <- structure(list(Variable = "wt", Importance = 2), row.names = 1L,
                    class = c("vi", "data.frame"))
  expect_equal(unclass(written(once)$value), 2)
})

test_that("means alone, and scores that were scaled, are refused", {
  means <- scores_of_vip()
  attr(means, "raw_scores") <- NULL
  expect_error(written(means), "means over its repeats alone. Ask vip with keep = TRUE")
  scaled <- scores_of_vip(importance = c(100, 0))
  expect_error(written(scaled), "not the means of its repeats: they were scaled or ranked")
})

test_that("a text that a spreadsheet would run is no formula, and quotes are doubled", {
  odd <- structure(list(Variable = c("=cmd()", "a \"b\", \u00a3"), Importance = c(NA, -Inf)),
                   row.names = 1:2, class = c("vi", "data.frame"))
  table <- written(odd)
  expect_equal(table$feature, c("'=cmd()", "a \"b\", \u00a3"))
  expect_equal(table$value, c(NA, -Inf))
})

test_that("the losses of DALEX are written round by round, without their means", {
  skip_if_not_installed("DALEX")
  explainer <- DALEX::explain(lm(mpg ~ wt + hp, mtcars), mtcars[c("wt", "hp")], mtcars$mpg,
                              verbose = FALSE)
  parts <- DALEX::model_parts(explainer, B = 3, type = "raw")
  table <- written(parts)
  rounds <- parts[parts$permutation > 0, ]
  expect_equal(table$feature, rounds$variable)
  expect_equal(table$`repeat`, rounds$permutation)
  expect_equal(table$value, rounds$dropout_loss)
  one <- written(DALEX::model_parts(explainer, B = 1))
  expect_equal(one$`repeat`, rep(1, 4))
  profile <- DALEX::model_profile(explainer, variables = "wt")
  points <- written(profile)
  expect_equal(names(points), c("feature", "x", "value"))
  expect_equal(points$value, profile$agr_profiles$`_yhat_`)
  expect_equal(written(profile$agr_profiles), points)
  expect_error(written(DALEX::model_profile(explainer, type = "accumulated")),
               "x holds accumulated profiles, and an audit compares partial ones")
  two <- rbind(parts, transform(parts, label = "other"))
  expect_error(written(two), "about more than one model or group \\(lm, other\\)")
})

test_that("another class is refused by its name", {
  expect_error(written(mtcars), "it is of class data.frame")
})
