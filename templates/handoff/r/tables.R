# The tables of a hand-off as R reads them.

has <- function(package) requireNamespace(package, quietly = TRUE)
number <- function(text) suppressWarnings(as.numeric(text))

table_of <- function(file, classes = c(feature = "character", model = "character")) {
  table <- suppressWarnings(utils::read.csv(
    file.path(here, file), check.names = FALSE, stringsAsFactors = FALSE,
    na.strings = character(), encoding = "UTF-8", colClasses = classes
  ))
  texts <- vapply(table, is.character, TRUE)
  # An apostrophe keeps spreadsheets from running what begins like a formula.
  table[texts] <- lapply(table[texts], sub, pattern = "^'('*[=+@\t\r-])", replacement = "\\1")
  table
}
