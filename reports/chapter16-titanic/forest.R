# titanic_rf of section 4.2.2: it votes for a class, so it predicts a share of votes.
set.seed(1313)
train$survived <- factor(train$survived)
randomForest::randomForest(
  survived ~ class + gender + age + sibsp + parch + fare + embarked,
  data = train
)
