"""Multinomial regression under the clock: the limit is looked at for each gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from featsieve.arrays import FloatArray, IntArray
from featsieve.runtime.progress import SILENT, Monitor

MOST_ITERATIONS = 200


@dataclass(frozen=True)
class Regression:
    """One row of coefficients and an intercept per class; with two classes the first has zeros."""

    coefficients: FloatArray
    intercept: FloatArray

    def logits(self, X: FloatArray) -> FloatArray:
        return X @ self.coefficients.T + self.intercept


@dataclass(frozen=True)
class _Likelihood:
    X: FloatArray
    indicators: FloatArray  # rows × classes
    penalty: float

    def regression(self, flat: FloatArray) -> Regression:
        n_classes = self.indicators.shape[1]
        parameters = np.zeros((n_classes, self.X.shape[1] + 1))
        parameters[-self.n_free :] = flat.reshape(self.n_free, -1)
        return Regression(parameters[:, :-1], parameters[:, -1])

    @property
    def n_free(self) -> int:
        """Classes with parameters of their own."""
        n_classes = self.indicators.shape[1]
        return n_classes if n_classes > 2 else 1

    def loss_and_gradient(self, flat: FloatArray) -> tuple[float, FloatArray]:
        n, model = len(self.X), self.regression(flat)
        logarithms = log_softmax(model.logits(self.X), axis=1)
        loss = -float(np.vdot(self.indicators, logarithms)) / n
        loss += 0.5 * self.penalty / n * float(np.vdot(model.coefficients, model.coefficients))
        residual = (np.exp(logarithms) - self.indicators)[:, -self.n_free :] / n
        slope = residual.T @ self.X + self.penalty / n * model.coefficients[-self.n_free :]
        return loss, np.column_stack([slope, residual.sum(axis=0)]).ravel()


def fit_regression(
    X: FloatArray,
    codes: IntArray,
    *,
    penalty: float = 1.0,
    tol: float = 1e-4,
    monitor: Monitor = SILENT,
) -> Regression:
    """The likeliest, less half of ``penalty`` times all squared coefficients.

    As scikit-learn's LogisticRegression with C = 1/penalty. ``codes`` are 0, 1, …, each of which
    occurs.
    """
    from scipy.optimize import minimize

    n_classes = int(codes.max()) + 1
    likelihood = _Likelihood(X, np.eye(n_classes)[codes], penalty)

    def watched(flat: FloatArray) -> tuple[float, FloatArray]:
        monitor.check()
        return likelihood.loss_and_gradient(flat)

    start = np.zeros(likelihood.n_free * (X.shape[1] + 1))
    options = {
        "maxiter": MOST_ITERATIONS,
        "maxls": 50,
        "gtol": tol,
        "ftol": 64 * np.finfo(np.float64).eps,
    }
    solution = minimize(watched, start, jac=True, method="L-BFGS-B", options=options)
    return likelihood.regression(np.asarray(solution.x))
