# One round trip of every supported type, for the command doctor.

# Returns the data as received, their predictions, and a sample of their rows.
trial <- function(data, predict, seed) {
  start_stream(seed)
  list(data = data, predictions = predict(NULL, data), sample = sample(nrow(data)) - 1L)
}
