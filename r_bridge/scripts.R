# The value of a script of a user, which finds `inputs` by their names. Every script starts
# with the same stream and leaves no option changed.
evaluate_script <- function(script, inputs) {
  before <- options()
  on.exit(options(before))
  RNGkind("Mersenne-Twister", "Inversion", "Rejection")
  set.seed(1)
  eval(parse(text = script, keep.source = FALSE), list2env(inputs, parent = globalenv()))
}
