# titanic_gbm of section 4.2.3: 15 000 trees of one split.
set.seed(1313)
gbm::gbm(
  survived ~ class + gender + age + sibsp + parch + fare + embarked,
  data = train, n.trees = 15000, distribution = "bernoulli"
)
