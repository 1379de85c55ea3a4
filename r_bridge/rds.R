# Data sets of R packages as data frames: what cannot be one is named, not guessed.

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

# A list with the table; or with class, what the object is instead; or with data_sets,
# those there are. package_is_there says whether it was asked at all.
read_data_set <- function(package, name) {
  if (!requireNamespace(package, quietly = TRUE)) return(list(package_is_there = FALSE))
  sets <- data_sets_of(package)
  if (name %in% getNamespaceExports(package)) {
    object <- getExportedValue(package, name)
  } else if (name %in% sets$object) {
    shelf <- new.env()
    utils::data(list = sets$file[sets$object == name][1L], package = package,
                envir = shelf)
    object <- shelf[[name]]
  } else {
    return(list(package_is_there = TRUE, data_sets = sets$object))
  }
  c(list(package_is_there = TRUE), as_table(object))
}

# A list with the table, or with class, what the object is instead.
as_table <- function(object) {
  if (is.data.frame(object) || is.matrix(object) && !is.table(object)) {
    list(table = as.data.frame(object))
  } else if (is.table(object)) {
    list(table = as.data.frame(object, responseName = "count"))
  } else {
    list(class = class(object)[1L])
  }
}

# As above, of what a file holds.
read_table_file <- function(file) as_table(readRDS(file))

# As above, of the value of a script, or of that element of it which has the part's name.
read_table_script <- function(script, part) {
  value <- evaluate_script(script, new.env(parent = globalenv()))
  as_table(if (part %in% names(value) && !is.data.frame(value)) value[[part]] else value)
}
