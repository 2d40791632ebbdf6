"""The path of the lasso, with its error.

From right to left the penalty grows and columns of the diabetes data leave the linear model. Below,
the squared error in cross-validation, with one standard error around it.
"""

from sklearn.datasets import load_diabetes

from featsieve import LassoSelector
from featsieve.plots import PathDisplay


def main():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = LassoSelector(n_features_to_select="auto", cv=5).fit(X, y)
    print("smallest error with:", ", ".join(selector.get_feature_names_out()))
    return PathDisplay.from_estimator(selector)


if __name__ == "__main__":
    main().figure_.savefig("lasso_path.png")
