# Data sets of R packages as data frames; other objects are refused with their class.

# The names of the data sets of a package; "beaver1 (beavers)" is object beaver1 in file
# beavers.
data_sets_of <- function(package) {
  listed <- utils::data(package = package)$results[, "Item"]
  object <- sub(" \\(.*$", "", listed)
  data.frame(
    object = object,
    file = ifelse(grepl("\\(", listed), sub("^.*\\((.*)\\)$", "\\1", listed), object)
  )
}

# A list with the table; or with class, if the object is something else; or with data_sets, the
# available ones. package_is_there is FALSE if the package is not installed.
read_data_set <- function(package, name) {
  if (!requireNamespace(package, quietly = TRUE)) return(list(package_is_there = FALSE))
  sets <- data_sets_of(package)
  if (name %in% getNamespaceExports(package)) {
    object <- getExportedValue(package, name)
  } else if (name %in% sets$object) {
    loaded <- new.env()
    utils::data(list = sets$file[sets$object == name][1L], package = package,
                envir = loaded)
    object <- loaded[[name]]
  } else {
    return(list(package_is_there = TRUE, data_sets = sets$object))
  }
  c(list(package_is_there = TRUE), as_table(object))
}

# A list with the table, or with class, if the object is something else.
as_table <- function(object) {
  if (is.data.frame(object) || is.matrix(object) && !is.table(object)) {
    list(table = as.data.frame(object))
  } else if (is.table(object)) {
    list(table = as.data.frame(object, responseName = "count"))
  } else {
    list(class = class(object)[1L])
  }
}

# The same, for the content of a file.
read_table_file <- function(file) as_table(readRDS(file))

# The same, for the value of a script, or for its element with the name `part`.
read_table_script <- function(script, part) {
  value <- evaluate_script(script, new.env(parent = globalenv()))
  as_table(if (part %in% names(value) && !is.data.frame(value)) value[[part]] else value)
}
