"""What a judge sees of a table: numbers on one scale, and indicators of states."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from featsieve.arrays import Array, FloatArray
from featsieve.input.columns import categorical_by_dtype, numeric_values
from featsieve.input.tables import is_frame, is_sparse
from featsieve.schema import power_of_two


class TableEncoder(TransformerMixin, BaseEstimator):
    """Standardised numbers with gaps at the median, and one indicator per state of a category.

    Takes what a selector hands out: an array, a sparse matrix or a dataframe. A state that was not
    there in ``fit`` is all zeros.

    Parameters
    ----------
    standardize : bool, default=True

    Examples
    --------
    >>> TableEncoder().fit_transform([[1.0], [3.0], [float("nan")]]).ravel().round(2).tolist()
    [-1.22, 1.22, 0.0]
    """

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, X: Any, y: Any = None) -> Self:
        categorical = set(categorical_by_dtype(X)) if is_frame(X) else set()
        self.states_ = {
            j: np.unique(column[~_is_gap(column)])
            for j, column in enumerate(_columns(X, categorical))
            if j in categorical
        }
        numbers = self._numbers(X)
        self.medians_ = np.nan_to_num(_median(numbers))
        filled = np.where(np.isnan(numbers), self.medians_, numbers)
        largest = np.abs(filled).max(axis=0, initial=0.0)
        self.units_ = power_of_two(np.where(largest > 0, largest, 1.0))  # squares do not overflow
        scaled = filled * self.units_
        spread = scaled.std(axis=0)
        self.means_, self.scales_ = scaled.mean(axis=0), np.where(spread > 0, spread, 1.0)
        return self

    def transform(self, X: Any) -> FloatArray:
        numbers = self._numbers(X)
        filled = np.where(np.isnan(numbers), self.medians_, numbers)
        if not self.standardize:
            return filled
        return (filled * self.units_ - self.means_) / self.scales_

    def _numbers(self, X: Any) -> FloatArray:
        """Every column as floats, a categorical one as its indicators."""
        parts = []
        for j, column in enumerate(_columns(X, set(self.states_))):
            if j in self.states_:
                parts.append((column[:, None] == self.states_[j]).astype(np.float64))
            else:
                parts.append(np.asarray(column, dtype=np.float64)[:, None])
        return np.concatenate(parts, axis=1)


def _columns(X: Any, categorical: set[int]) -> list[Array]:
    if not is_frame(X):
        dense = X.toarray() if is_sparse(X) else np.asarray(X)
        return list(dense.T)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    return [
        np.array(series.to_list(), dtype=object).astype(str)
        if j in categorical
        else numeric_values(series)
        for j, series in enumerate(frame.iter_columns())
    ]


def _is_gap(states: Array) -> Array:
    return np.isin(states, ["None", "nan", "<NA>"])


def _median(numbers: FloatArray) -> FloatArray:
    """Of each column without its gaps; NaN where there is nothing else."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column of gaps alone
        return np.asarray(np.nanmedian(numbers, axis=0))
