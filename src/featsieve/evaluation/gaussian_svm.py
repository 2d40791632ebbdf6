"""SVC and SVR with a Gaussian kernel, their C and width chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.errors import InputError

MOST_STEPS = 50_000  # a machine that has not converged by then is judged as it is
MEDIAN_ROWS = 2000  # the median distance of more rows is that of a sample


def dealt_folds(y: Array, n_folds: int, *, classes: bool, seed: int = 0) -> IntArray:
    """The fold of each row: rows are dealt out in turn, class after class.

    Unlike scikit-learn's, these folds exist for any class sizes.

    >>> dealt_folds(np.array([0, 0, 0, 0, 1]), 2, classes=True).tolist().count(0)
    3
    """
    order = np.random.default_rng(seed).permutation(len(y))
    if classes:
        order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


class GaussianSVM(BaseEstimator):
    """A support vector machine that tunes itself, on distances computed once.

    Parameters
    ----------
    task : "classification" or "regression"
    C : penalties to try
    widths : widths σ to try, in exp(−d²/2σ²)
    width_unit : "median" (multiples of the median distance of the training rows) or "absolute"
    cv : folds for the choice; a single pair of C and width needs none
    random_state : how rows are dealt to the folds

    Attributes
    ----------
    C_, sigma_ : the choice
    cv_errors_ : error of each fold at the choice (error rate, or mean squared error of the
        standardised target); their mean is optimistic, because the choice minimises it

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1]])
    >>> GaussianSVM(C=(100.0,), widths=(1.0,)).fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        *,
        task: str = "classification",
        C: Sequence[float] = (0.1, 1.0, 10.0, 100.0, 1000.0),
        widths: Sequence[float] = (0.25, 0.5, 1.0, 2.0),
        width_unit: Literal["median", "absolute"] = "median",
        cv: int = 5,
        random_state: int = 0,
    ) -> None:
        self.task = task
        self.C = C
        self.widths = widths
        self.width_unit = width_unit
        self.cv = cv
        self.random_state = random_state

    @property
    def _classes(self) -> bool:
        return self.task == "classification"

    def fit(self, X: Any, y: Any) -> Self:
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        if not len(self.C) or not len(self.widths):
            raise InputError("C and widths must hold at least one number each.")
        self.centre_ = 0.0 if self._classes else float(y.mean())
        self.spread_ = 1.0 if self._classes else float(y.std()) or 1.0
        target = y if self._classes else (y - self.centre_) / self.spread_
        unit = median_distance(X) if self.width_unit == "median" else 1.0
        sigmas = [unit * width for width in self.widths]
        self.C_, self.sigma_, self.cv_errors_ = self._choose(X, target, sigmas)
        self.only_ = target[0] if len(np.unique(target)) == 1 else None
        if self.only_ is None:
            model = _machine(self._classes, self.C_, gamma=1.0 / (2.0 * self.sigma_**2))
            self.model_ = _fitted(model, X, target)
        return self

    def predict(self, X: Any) -> Array:
        X = np.asarray(X, dtype=np.float64)
        alone = self.only_ is not None
        answer = np.full(len(X), self.only_) if alone else self.model_.predict(X)
        return answer if self._classes else self.centre_ + self.spread_ * answer

    def _choose(
        self, X: FloatArray, y: Array, sigmas: Sequence[float]
    ) -> tuple[float, float, FloatArray]:
        """The pair with the least mean error; of ties the widest kernel and the smallest C."""
        if len(sigmas) * len(self.C) == 1:
            return float(self.C[0]), sigmas[0], np.empty(0)
        n_folds, seed = min(self.cv, len(y)), self.random_state
        folds = dealt_folds(y, n_folds, classes=self._classes, seed=seed)
        squares = squareform(pdist(X, "sqeuclidean"))
        best: tuple[float, float, FloatArray] | None = None
        for sigma in sorted(sigmas, reverse=True):
            kernel = np.exp(squares / (-2.0 * sigma**2))
            for C, errors in self._grid_errors(kernel, y, folds):
                if best is None or errors.mean() < best[2].mean() - 1e-12:
                    best = (C, sigma, errors)
        assert best is not None
        return best

    def _grid_errors(
        self, kernel: FloatArray, y: Array, folds: IntArray
    ) -> Iterator[tuple[float, FloatArray]]:
        parts = []
        for fold in range(folds.max() + 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            parts.append(
                (kernel[np.ix_(train, train)], y[train], kernel[np.ix_(test, train)], test)
            )
        for C in sorted(self.C):
            errors = [
                _error(self._classes, _answer(self._classes, C, seen, labels, unseen), y[test])
                for seen, labels, unseen, test in parts
            ]
            yield float(C), np.array(errors)


def _machine(classes: bool, C: float, **options: Any) -> Any:
    from sklearn.svm import SVC, SVR

    return (SVC if classes else SVR)(C=C, max_iter=MOST_STEPS, **options)


def _answer(classes: bool, C: float, seen: FloatArray, labels: Array, unseen: FloatArray) -> Array:
    if classes and len(np.unique(labels)) == 1:
        return np.full(len(unseen), labels[0])
    machine = _fitted(_machine(classes, C, kernel="precomputed"), seen, labels)
    return np.asarray(machine.predict(unseen))


def _fitted(machine: Any, X: FloatArray, y: Array) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(X, y)


def _error(classes: bool, answer: Array, truth: Array) -> float:
    return float(np.mean(answer != truth if classes else (answer - truth) ** 2))


def median_distance(X: FloatArray) -> float:
    """Of pairs i < j; of those that differ where most are equal, and 1 where all are.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    if len(X) > MEDIAN_ROWS:
        X = X[np.random.default_rng(0).choice(len(X), MEDIAN_ROWS, replace=False)]
    distances = pdist(X)
    middle = float(np.median(distances)) if len(distances) else 0.0
    if middle > 0:
        return middle
    positive = distances[distances > 0]
    return float(np.median(positive)) if len(positive) else 1.0
