# The value of a script of a user, which finds what is in `scope` by its name. Every script
# starts with the same stream and leaves no option changed.
evaluate_script <- function(script, scope) {
  before <- options()
  on.exit(options(before))
  RNGkind("Mersenne-Twister", "Inversion", "Rejection")
  set.seed(1)
  eval(parse(text = script, keep.source = FALSE), scope)
}
