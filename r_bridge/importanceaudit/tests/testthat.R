library(testthat)
library(importanceaudit)

test_check("importanceaudit")
