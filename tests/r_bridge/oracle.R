# A second way into R that shares nothing with the bridge: plain R, raw columns over a
# socket. It is slow and does one thing at a time.
#
#     Rscript --vanilla oracle.R <port>        with the token in ORACLE_TOKEN
#
# text     int32 length, UTF-8 bytes; length -1 is NA
# column   text name, text kind, text detail; levels of a factor; values
# frame    int32 number of rows, int32 number of columns, columns

line <- socketConnection("127.0.0.1", as.integer(commandArgs(TRUE)[1]),
                         blocking = TRUE, open = "r+b", timeout = 60)

get_int <- function(n = 1L) readBin(line, "integer", n, 4L, endian = "little")
put_int <- function(x) writeBin(as.integer(x), line, endian = "little")
get_text <- function() {
  n <- get_int()
  if (n < 0L) return(NA_character_)
  text <- rawToChar(readBin(line, "raw", n))
  Encoding(text) <- "UTF-8"
  text
}
put_text <- function(text) {
  if (is.na(text)) return(put_int(-1L))
  bytes <- charToRaw(enc2utf8(text))
  put_int(length(bytes))
  writeBin(bytes, line)
}
get_texts <- function(n) vapply(seq_len(n), function(i) get_text(), "")
put_texts <- function(texts) for (text in texts) put_text(text)

get_column <- function(n) {
  kind <- get_text()
  detail <- get_text()
  if (kind %in% c("factor", "ordered")) levels <- get_texts(get_int())
  x <- if (kind %in% c("integer", "factor", "ordered", "logical")) {
    get_int(n)
  } else if (kind == "character") {
    get_texts(n)
  } else {
    readBin(line, "double", n, 8L, endian = "little")
  }
  switch(kind,
    logical = as.logical(x),
    factor = structure(x, levels = levels, class = "factor"),
    ordered = structure(x, levels = levels, class = c("ordered", "factor")),
    Date = structure(x, class = "Date"),
    POSIXct = structure(x, class = c("POSIXct", "POSIXt"), tzone = detail),
    difftime = structure(x, class = "difftime", units = detail),
    x
  )
}
get_frame <- function() {
  n <- get_int()
  columns <- list()
  for (i in seq_len(get_int())) {
    name <- get_text()
    columns <- c(columns, stats::setNames(list(get_column(n)), name))
  }
  structure(columns, names = names(columns), class = "data.frame", row.names = .set_row_names(n))
}

put_column <- function(x) {
  kind <- intersect(c("ordered", "factor", "Date", "POSIXct", "difftime"), class(x))
  kind <- if (length(kind)) kind[1L] else typeof(x)
  put_text(kind)
  put_text(switch(kind, POSIXct = attr(x, "tzone"), difftime = attr(x, "units"), ""))
  if (is.factor(x)) {
    put_int(nlevels(x))
    put_texts(levels(x))
  }
  if (is.character(x)) {
    put_texts(x)
  } else if (is.double(x)) {
    writeBin(as.vector(unclass(x)), line, endian = "little")
  } else {
    put_int(as.vector(unclass(x)))
  }
}
put_frame <- function(frame) {
  put_int(nrow(frame))
  put_int(ncol(frame))
  for (name in names(frame)) {
    put_text(name)
    put_column(frame[[name]])
  }
}

ask_predict <- function(object, newdata) {
  put_text("predict")
  put_frame(newdata)
  readBin(line, "double", get_int(), 8L, endian = "little")
}
parts <- function(data, y, seed, n_repeats) {
  explainer <- DALEX::explain(structure(list(), class = "m"), data = data, y = y,
    predict_function = ask_predict, precalculate = FALSE, verbose = FALSE, label = "m",
    model_info = list(package = "p", ver = "1", type = "regression"))
  set.seed(seed)
  DALEX::model_parts(explainer, DALEX::loss_root_mean_square, type = "raw",
                     variables = names(data), B = n_repeats, N = NULL)
}

put_text(Sys.getenv("ORACLE_TOKEN"))
repeat switch(get_text(),
  keep = {
    frame <- get_frame()
    saveRDS(frame, get_text())
  },
  give = put_frame(readRDS(get_text())),
  parts = {
    data <- get_frame()
    y <- get_frame()$y
    drawn <- get_int(2L)
    scores <- parts(data, y, drawn[1L], drawn[2L])
    put_text("scores")
    put_frame(structure(scores[c("variable", "permutation", "dropout_loss")], class = "data.frame"))
  },
  break
)
