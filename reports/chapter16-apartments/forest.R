# apartments_rf of section 4.5.2, which the book gives as a saved model. R draws as it
# does since version 3.6; forests grown by randomForest 4.7-1.1 predict the same.
set.seed(72)
randomForest::randomForest(
  m2.price ~ construction.year + surface + floor + no.rooms + district,
  data = train
)
