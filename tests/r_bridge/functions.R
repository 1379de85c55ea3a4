# Functions of R that the tests of the bridge call.

echo <- function(x) x
value_of <- function(code) {
  eval(parse(text = code, encoding = "UTF-8"), new.env(parent = globalenv()))
}
is_the_same <- function(x, code) {
  identical(x, value_of(code), num.eq = FALSE, single.NA = FALSE)
}
frames_of <- function(package) {
  shelf <- new.env()
  sets <- unique(sub(".*\\((.*)\\)$", "\\1", utils::data(package = package)$results[, 3]))
  utils::data(list = sets, package = package, envir = shelf)
  all <- mget(sort(ls(shelf)), envir = shelf)
  lapply(Filter(is.data.frame, all), function(d) { attr(d, "row.names") <- seq_len(nrow(d)); d })
}

ask <- function(data, predict) predict(NULL, data)
ask_and_swallow <- function(data, predict) {
  for (i in 1:2) try(predict(NULL, data), silent = TRUE)
  "fine"
}
ask_with_extras <- function(data, predict) {
  cbind(predict(NULL, data), predict(object = 1, newdata = data, type = "response"))
}
ask_often <- function(data, times, predict) {
  for (i in seq_len(times)) answer <- predict(NULL, data)
  answer
}
ask_each <- function(frames, predict) {
  for (frame in frames) answer <- predict(NULL, frame)
  answer
}
ask_changed <- function(data, change, predict) {
  changed <- switch(change,
    moved = rev(data),
    level = { data$g <- factor("new"); data }, halves = { data$n <- data$n / 2; data },
    doubles = { data$n <- as.double(data$n); data },
    text = { data$g <- as.character(data$g); data }, kind = { data$n <- "a"; data },
    matrix = as.matrix(data["n"]), rows = data[c(2, 2, 1), ],
    relevelled = { data$g <- factor(data$g, levels = rev(levels(data$g))); data }
  )
  predict(NULL, changed)
}
ask_changed_and_swallow <- function(data, change, predict) {
  try(ask_changed(data, change, predict), silent = TRUE)
  "fine"
}
# Every 11th allocation collects; from call to call it is another one.
ask_under_gctorture <- function(data, times, predict) {
  for (i in 1:3) predict(NULL, data)  # until R has compiled it, which takes long
  gctorture2(11L)
  on.exit(gctorture2(0L))
  for (i in seq_len(times)) answer <- predict(NULL, data)
  answer
}

complain <- function(times) for (i in seq_len(times)) warning("careful ", i)
talk <- function() {
  for (i in 1:2) { message("hello ", i); cat("a"); message("on"); cat("b\n"); print(i) }
}
fail <- function(text) stop(text)
fail_with_words <- function(text) {
  stop(structure(class = c("error", "condition"), list(message = text, call = NULL)))
}
fail_deeply <- function() { inner <- function(x) stop("too deep"); inner(1) }
fail_with_condition <- function() {
  stop(structure(class = c("special", "error", "condition"),
                 list(message = "special words", call = NULL)))
}
fail_on_exit <- function() { on.exit(stop("at the end")); 1 }
recurse <- function(n) {
  options(expressions = 5e5L)  # R's own limit on depth comes too early to show anything
  on.exit(options(expressions = 5000L))
  deeper <- function(n) deeper(n + 1)
  deeper(n)
}
draw <- function(seed) { set.seed(seed); stats::runif(1) }
read_input <- function() list(readline("? "), { browser(); 1 })
choose <- function() utils::menu(c("a", "b"))
shout <- function(text) system(paste("echo", text))
print_much <- function() for (i in 1:1000) cat(strrep("x", 10000L), "\n")
allocate <- function(n) numeric(n)
facts <- function() {
  list(l10n_info()[["UTF-8"]], Sys.getlocale("LC_COLLATE"), Sys.getenv("TZ"),
       sort(c("_", "a", "B", "A")), make.names("\u00e9"), RNGkind())
}
leave_in_the_global_environment <- function() assign("mailbox", 1, globalenv())
look_into_the_mailbox <- function() mailbox
spread <- function(x) sd(x)
replace_a_function <- function() echo <<- NULL

say_and <- function(fifo, what) {
  if (nzchar(fifo)) cat("here\n", file = fifo)
  switch(what, loop = repeat NULL, sleep = Sys.sleep(600), quit = quit(status = 5),
         kill = tools::pskill(Sys.getpid(), 9L), segv = tools::pskill(Sys.getpid(), 11L),
         stubborn = repeat tryCatch(repeat NULL, interrupt = function(i) NULL))
}
ask_and_quit <- function(data, predict) {
  try(predict(NULL, data), silent = TRUE)
  quit(status = 5)
}
start_sleeper <- function() system("sleep 600 > /dev/null & echo $!", intern = TRUE)
