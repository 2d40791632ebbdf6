"""The second moments of a table, from its Gram matrix or from its rows: one face for both."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path, lars_path_gram

from featsieve.moments import ColumnMoments, GramMoments, column_moments
from featsieve.schema import FloatArray, IntArray

LarsMethod = Literal["lasso", "lar"]


class Table(Protocol):
    """Columns x about their means against outputs y, all moments divided by the total weight."""

    @property
    def columns(self) -> ColumnMoments: ...

    @property
    def output_mean(self) -> FloatArray: ...

    @property
    def slope(self) -> FloatArray:
        """X'Y: one row a column, one column an output."""
        ...

    def gram(self, columns: IntArray) -> FloatArray:
        """X'X of these columns."""
        ...

    def residual_slope(self, coef: FloatArray, active: IntArray) -> FloatArray:
        """X'(Y − X coef), where ``coef`` has one row for each active column."""
        ...

    def residual_variance(self, coef: FloatArray, active: IntArray) -> FloatArray:
        """Mean square of Y − X coef about its mean, one number an output."""
        ...

    def through(self, basis: Any) -> Table:
        """The same table with columns ``X basis``; ``basis`` is a sparse matrix."""
        ...

    def lars(self, method: LarsMethod, alpha_min: float, max_iter: int) -> Any:
        """scikit-learn's path for the first output: alphas, and coefficients (columns × alphas)."""
        ...


@dataclass(frozen=True)
class GramTable:
    """From co-deviations that were summed over blocks of rows."""

    columns: ColumnMoments
    output_mean: FloatArray
    squares: FloatArray
    slope: FloatArray
    output_squares: FloatArray

    @classmethod
    def of_moments(cls, moments: GramMoments, n_columns: int) -> Self:
        m, weight = n_columns, moments.weight
        mean, product = moments.mean, moments.product / (weight or 1.0)
        columns = ColumnMoments(weight, mean[:m], weight * np.diagonal(product)[:m])
        return cls(
            columns, mean[m:], product[:m, :m], product[:m, m:], np.diagonal(product)[m:].copy()
        )

    def gram(self, columns: IntArray) -> FloatArray:
        return np.ascontiguousarray(self.squares[np.ix_(columns, columns)])

    def residual_slope(self, coef: FloatArray, active: IntArray) -> FloatArray:
        return self.slope - self.squares[:, active] @ coef

    def residual_variance(self, coef: FloatArray, active: IntArray) -> FloatArray:
        explained = 2 * self.slope[active] - self.gram(active) @ coef
        return np.maximum(self.output_squares - (coef * explained).sum(axis=0), 0.0)

    def through(self, basis: Any) -> GramTable:
        squares = np.ascontiguousarray((basis.T @ (basis.T @ self.squares).T).T)
        return GramTable(
            _columns_through(self.columns, basis, np.diagonal(squares)),
            self.output_mean,
            squares,
            basis.T @ self.slope,
            self.output_squares,
        )

    def lars(self, method: LarsMethod, alpha_min: float, max_iter: int) -> Any:
        with _quiet():
            alphas, _, coefs = lars_path_gram(
                self.slope[:, 0],
                self.squares,
                n_samples=1,
                method=method,
                alpha_min=alpha_min,
                max_iter=max_iter,
            )
        return alphas, coefs


@dataclass(frozen=True)
class RowTable:
    """From the rows themselves, centred and weighted by the root of their share."""

    columns: ColumnMoments
    output_mean: FloatArray
    X: FloatArray
    Y: FloatArray

    @classmethod
    def of_rows(cls, X: FloatArray, Y: FloatArray, weight: FloatArray) -> Self:
        columns, outputs = column_moments(X, weight), column_moments(Y, weight)
        root = np.sqrt(weight / (weight.sum() or 1.0))[:, None]
        return cls(columns, outputs.mean, (X - columns.mean) * root, (Y - outputs.mean) * root)

    @property
    def slope(self) -> FloatArray:
        return self.X.T @ self.Y

    def gram(self, columns: IntArray) -> FloatArray:
        chosen = self.X[:, columns]
        return np.ascontiguousarray(chosen.T @ chosen)

    def residual_slope(self, coef: FloatArray, active: IntArray) -> FloatArray:
        return self.X.T @ (self.Y - self.X[:, active] @ coef)

    def residual_variance(self, coef: FloatArray, active: IntArray) -> FloatArray:
        residual = self.Y - self.X[:, active] @ coef
        return np.asarray((residual**2).sum(axis=0))

    def through(self, basis: Any) -> RowTable:
        X = np.ascontiguousarray((basis.T @ self.X.T).T)
        deviation = np.einsum("ij,ij->j", X, X)
        columns = _columns_through(self.columns, basis, deviation)
        return RowTable(columns, self.output_mean, X, self.Y)

    def lars(self, method: LarsMethod, alpha_min: float, max_iter: int) -> Any:
        # scikit-learn divides by the number of rows, which the weights have done already.
        n_rows = len(self.X)
        with _quiet():
            alphas, _, coefs = lars_path(
                self.X,
                self.Y[:, 0],
                Gram=None,
                method=method,
                alpha_min=alpha_min / n_rows,
                max_iter=max_iter,
            )
        return alphas * n_rows, coefs


def _columns_through(columns: ColumnMoments, basis: Any, variance: FloatArray) -> ColumnMoments:
    return ColumnMoments(columns.weight, basis.T @ columns.mean, columns.weight * variance)


class _quiet(warnings.catch_warnings):  # noqa: N801 - reads as a word where it is used
    """A column that repeats others cannot enter: scikit-learn drops it and warns; we count it."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        warnings.simplefilter("ignore", ConvergenceWarning)
        return entered


def mean_squared_error(
    coef: FloatArray, active: IntArray, *, trained: Table, tested: Table
) -> float:
    """Of the model that ``trained`` centred, on the rows of ``tested``; mean over the outputs."""
    if not tested.columns.weight or not trained.columns.weight:
        return float("nan")
    shift = (tested.columns.mean - trained.columns.mean)[active]
    bias = tested.output_mean - trained.output_mean - shift @ coef
    return float(np.mean(tested.residual_variance(coef, active) + bias**2))
