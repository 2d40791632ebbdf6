"""How many columns does a linear classifier need?

The error of the same linear model on the breast cancer data after three selectors, each fitted
inside the folds. With one or two columns the choice matters most.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import L1SVM, SVMRFE, PearsonRanking
from featsieve.plots import ErrorCurveDisplay

COUNTS = [1, 2, 4, 8, 16]


def main():
    X, y = load_breast_cancer(return_X_y=True)
    errors = {}
    for method in (PearsonRanking, L1SVM, SVMRFE):
        curve = []
        for count in COUNTS:
            model = LogisticRegression(C=1.0)
            steps = make_pipeline(StandardScaler(), method(n_features_to_select=count), model)
            curve.append(1 - cross_val_score(steps, X, y, cv=3))
        errors[method.__name__] = np.array(curve)
        print(f"{method.__name__:15}", " ".join(f"{e.mean():.3f}" for e in curve))
    return ErrorCurveDisplay.from_result(COUNTS, errors)


if __name__ == "__main__":
    main().figure_.savefig("svm_error_curve.png")
