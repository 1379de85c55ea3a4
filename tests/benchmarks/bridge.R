# What the benchmark of the bridge asks of R.

nrow_of <- function(x) NROW(x)

# The rounds of DALEX or vip with a model that costs nothing: what R does by itself.
free <- function(object, newdata, ...) numeric(nrow(newdata))
parts_alone <- function(...) dalex_parts(..., predict = free)
permute_alone <- function(...) vip_permute(..., predict = free)

resident_kb <- function() {
  line <- grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line))
}
