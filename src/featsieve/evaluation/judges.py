"""Models that judge selected columns: each paper's own, and two of another kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.pipeline import make_pipeline

from featsieve.arrays import Array
from featsieve.errors import InputError
from featsieve.evaluation.encoding import TableEncoder
from featsieve.evaluation.gaussian_svm import GaussianSVM
from featsieve.input.parameters import brief, check_choice


@dataclass(frozen=True)
class Judge:
    """A model for either task, behind an encoder of tables; ``words`` say what it is."""

    name: str
    words: str
    model: Callable[[str], Any]

    def make(self, task: str) -> Any:
        """A new estimator with fit and predict."""
        return make_pipeline(TableEncoder(), self.model(task))


class FewerNeighbours(BaseEstimator):
    """Nearest neighbours that take all rows where there are fewer than they want."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> Self:
        wanted = min(self.model.n_neighbors, len(y))
        self.model_ = clone(self.model).set_params(n_neighbors=wanted).fit(X, y)
        return self

    def predict(self, X: Any) -> Array:
        return np.asarray(self.model_.predict(X))


def _linear_svm(task: str) -> Any:
    from sklearn.svm import LinearSVC, LinearSVR

    if task == "classification":
        return LinearSVC(dual=False, random_state=0)
    return LinearSVR(dual=False, loss="squared_epsilon_insensitive", random_state=0)


def _neighbours(task: str) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    model = KNeighborsClassifier if task == "classification" else KNeighborsRegressor
    return FewerNeighbours(model(n_neighbors=5))


def _trees(task: str) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    model = ExtraTreesClassifier if task == "classification" else ExtraTreesRegressor
    return model(n_estimators=100, random_state=0)


def _tuned_svm(task: str) -> Any:
    if task == "classification":
        return GaussianSVM()
    return GaussianSVM(task=task, C=(0.1, 1.0, 10.0, 100.0))  # a larger C costs most of the time


def _median_svm(task: str) -> Any:
    return GaussianSVM(task=task, C=(100.0,), widths=(1.0,))


def _width_one_svm(task: str) -> Any:
    return GaussianSVM(task=task, widths=(1.0,), width_unit="absolute")


_ALL = (
    Judge(
        "svm",
        "SVC or SVR, Gaussian kernel, C and width by 5-fold cross-validation "
        "(Jitkrittum et al. 2013)",
        _tuned_svm,
    ),
    Judge(
        "linear_svm",
        "linear SVM with squared loss, C = 1, one class against the rest "
        "(Venkateswara et al. 2015)",
        _linear_svm,
    ),
    Judge(
        "svm_width_1",
        "SVC or SVR, Gaussian kernel of width 1, C by 5-fold cross-validation "
        "(Masaeli et al. 2010)",
        _width_one_svm,
    ),
    Judge(
        "svm_median",
        "SVC or SVR, Gaussian kernel, the median distance as width, C = 100 (Song et al. 2007)",
        _median_svm,
    ),
    Judge("knn", "the 5 nearest neighbours", _neighbours),
    Judge("trees", "100 extremely randomised trees", _trees),
)
JUDGES: dict[str, Judge] = {judge.name: judge for judge in _ALL}
METRICS = ("error_rate", "unexplained", "rmse")


def make_judge(judge: Any, task: str) -> Any:
    """An estimator out of a judge's name, or the estimator as given.

    Examples
    --------
    >>> make_judge("knn", "classification").fit([[0.0], [1.0]] * 3, [0, 1] * 3).predict([[0.9]])
    array([1])
    """
    if isinstance(judge, str):
        return JUDGES[check_choice("judge", judge, JUDGES, also="an estimator")].make(task)
    if isinstance(judge, type) or not (hasattr(judge, "fit") and hasattr(judge, "predict")):
        raise InputError(
            f"judge={judge!r} has no fit and predict; give an estimator or one of "
            f"{', '.join(JUDGES)}."
        )
    if is_regressor(judge) if task == "classification" else is_classifier(judge):
        wanted = "a classifier" if task == "classification" else "a regressor"
        raise InputError(f"judge={brief(judge)} does not fit the task {task!r}; give {wanted}.")
    return judge


def prediction_error(metric: str, truth: Array, answer: Array, centre: float = 0.0) -> float:
    """Of the rows of a test fold.

    "error_rate", "rmse", or "unexplained": squared errors as a share of those of ``centre``, the
    mean of the training rows (which needs no variance in the fold, unlike 1 − R²).

    Examples
    --------
    >>> prediction_error("unexplained", np.array([1.0, 3.0]), np.array([1.0, 2.0]), centre=2.0)
    0.5
    """
    if metric == "error_rate":
        return float(np.mean(truth != answer))
    squares = float(np.mean((truth - answer) ** 2))
    if metric == "rmse":
        return squares**0.5
    total = float(np.mean((truth - centre) ** 2))
    if total == 0.0:
        return 0.0 if squares == 0.0 else np.inf
    return squares / total
