# apartments_svm of section 4.5.3: a radial kernel with the defaults of e1071.
e1071::svm(
  m2.price ~ construction.year + surface + floor + no.rooms + district,
  data = train
)
