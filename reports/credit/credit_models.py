"""The two models of this audit: pipelines of scikit-learn that take missing cells."""

from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


class Boosting(Pipeline):
    """Boosted trees deep enough to learn the training rows by heart.

    A missing number becomes -1, which no column holds, so that a tree can split it off.
    """

    def __init__(self, n_estimators: int = 100, random_state: int | None = None):
        self.n_estimators = n_estimators
        self.random_state = random_state
        blanks = SimpleImputer(strategy="constant", fill_value=-1)
        trees = GradientBoostingClassifier(
            n_estimators=n_estimators,
            max_depth=8,
            min_samples_leaf=10,
            subsample=0.5,
            max_features=8,
            random_state=random_state,
        )
        super().__init__([("blanks", blanks), ("trees", trees)])


class Scorecard(Pipeline):
    """Imputed and scaled numbers and one-hot categories into a logistic regression.

    A missing number becomes the median, beside an indicator that it was missing; levels
    of fewer than `min_frequency` rows share a column, also with those never met.
    """

    def __init__(self, C: float = 0.1, min_frequency: int = 50):
        self.C = C
        self.min_frequency = min_frequency
        numbers = make_pipeline(
            SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
        )
        levels = OneHotEncoder(
            min_frequency=min_frequency, handle_unknown="infrequent_if_exist"
        )
        columns = ColumnTransformer(
            [
                ("levels", levels, make_column_selector(dtype_include="category")),
                ("numbers", numbers, make_column_selector(dtype_exclude="category")),
            ]
        )
        fit = LogisticRegression(C=C, max_iter=2000)
        super().__init__([("columns", columns), ("logistic", fit)])
