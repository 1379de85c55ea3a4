# titanic_lmr of section 4.2.1 is rms::lrm with a restricted cubic spline of age. The
# same curve by glm: linear beyond the outer of the knots that rms puts at the 5th,
# 27.5th, 50th, 72.5th and 95th percentile of the age of all.
glm(
  survived ~ gender + class + sibsp + parch + fare + embarked +
    splines::ns(age, knots = c(23, 29, 37), Boundary.knots = c(13, 52)),
  data = train, family = binomial()
)
