# A loss of the audit that, in its fifth call, does something to the R that DALEX runs in.
# A file named by an environment variable says what, one line for each time.

calls <- new.env()
calls$n <- 0L

happen <- function(fault) {
  switch(fault,
    quit = quit(status = 5),
    killed = tools::pskill(Sys.getpid(), 9L),
    abort = tools::pskill(Sys.getpid(), 6L),
    loop = { file.create(paste0(Sys.getenv("FAULT"), ".loops")); repeat NULL },
    allocation = numeric(1e13),
    memory = { kept <- list(); repeat kept <- c(kept, list(numeric(1e7) + 1)) },
    flood = for (i in 1:100) cat(strrep("x", 1e6), "\n"),
    warnings = for (i in 1:10000) warning("again"),
    stop("no such fault: ", fault)
  )
}

loss_named <- function(name) {
  calls$n <- 0L
  function(observed, predicted) {
    calls$n <- calls$n + 1L
    file <- Sys.getenv("FAULT")
    if (calls$n == 5L && file.exists(file)) {
      wishes <- readLines(file)
      writeLines(wishes[-1L], file)
      if (length(wishes)) happen(wishes[1L])
    }
    mean(abs(observed - predicted))
  }
}
