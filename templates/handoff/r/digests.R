# The digests by which the audit knows files, rows and predictions.

sha256_of <- function(file) {
  if (getRversion() >= "4.5") return(unname(getExportedValue("tools", "sha256sum")(file)))
  if (has("digest")) return(digest::digest(file = file, algo = "sha256"))
  stop("R before 4.5 computes no SHA-256. Run: install.packages(\"digest\")", call. = FALSE)
}

# The digest of what `write` writes to the connection that it is given.
sha256_of_bytes <- function(write) {
  path <- tempfile()
  on.exit(unlink(path))
  connection <- file(path, "wb")
  tryCatch(write(connection), finally = close(connection))
  sha256_of(path)
}

# Little-endian bytes of doubles, every NaN and NA with the same bits.
double_bytes <- function(x) {
  bytes <- matrix(writeBin(as.double(x), raw(), endian = "little"), nrow = 8L)
  bytes[, is.na(x)] <- as.raw(c(0, 0, 0, 0, 0, 0, 0xf8, 0x7f))
  as.vector(bytes)
}

# Whole numbers as 64 bits: two halves of 32. The largest half that R lacks is its NA.
whole_bytes <- function(x) {
  high <- floor(x / 2^32)
  low <- x - high * 2^32
  halves <- rbind(ifelse(low >= 2^31, low - 2^32, low), high)
  writeBin(suppressWarnings(as.integer(halves)), raw(), endian = "little")
}

column_bytes <- function(x, kind) {
  switch(kind,
    category = writeBin(ifelse(is.na(x), 0L, as.integer(x)) - 1L, raw(), endian = "little"),
    boolean = as.raw(x),
    integer = whole_bytes(x),
    double_bytes(x)
  )
}

# Of columns with their kinds, the target, the weights, the task and the classes; each
# part follows its length in 64 bits.
rows_sha256 <- function(data, kinds, y, weights, task, classes) {
  text <- function(x) charToRaw(enc2utf8(x))
  of_column <- function(name) {
    levels <- if (kinds[[name]] == "category") lapply(levels(data[[name]]), text)
    c(list(text(name), text(kinds[[name]])), levels,
      list(column_bytes(data[[name]], kinds[[name]])))
  }
  parts <- c(unlist(lapply(names(data), of_column), recursive = FALSE),
             list(double_bytes(y), double_bytes(weights)), lapply(c(task, classes), text))
  sha256_of_bytes(function(connection) {
    for (part in parts) {
      writeBin(c(length(part), 0L), connection, endian = "little")
      writeBin(part, connection)
    }
  })
}

# Of predictions to seven digits of the largest, as the README defines it.
predictions_sha256 <- function(predictions) {
  table <- unname(as.matrix(predictions))
  largest <- max(abs(table), 0)
  exponent <- if (largest > 0) floor(log10(largest)) - 6 else 0
  # The power for tiny numbers can be larger than any double.
  up <- min(max(-exponent, 0), 308)
  rest <- max(-exponent - up, 0)
  whole <- round(table * 10^up * 10^rest / 10^max(exponent, 0)) + 0
  lines <- apply(matrix(sprintf("%.0f", whole), nrow(table)), 1L, paste, collapse = " ")
  head <- sprintf("predictions %d %d %d", nrow(table), ncol(table), as.integer(exponent))
  sha256_of_bytes(function(connection) writeLines(c(head, lines), connection, sep = "\n"))
}
