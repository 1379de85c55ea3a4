# Returns the value of a user's script, which can use the variables in `scope`. Every script
# starts with the same random stream and cannot change options permanently.
evaluate_script <- function(script, scope) {
  before <- options()
  on.exit(options(before))
  RNGkind("Mersenne-Twister", "Inversion", "Rejection")
  set.seed(1)
  eval(parse(text = script, keep.source = FALSE), scope)
}
