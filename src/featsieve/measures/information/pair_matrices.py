"""Matrices of the information of all pairs of columns; H = log n − Σ n log n / n throughout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from featsieve.measures.information.pair_sums import PairSource
from featsieve.schema import FloatArray, IntArray

# (pair, triple, columns i, columns j) to n · information.
Term = Callable[[FloatArray, FloatArray, IntArray, IntArray], FloatArray]


def conditional_matrix(sums: PairSource) -> FloatArray:
    """I(X_j; Y | X_i) = H(X_i, X_j) + H(X_i, Y) − H(X_i) − H(X_i, X_j, Y); I(X_i; Y) for i = j."""
    counts = sums.counts
    given = counts.class_sums - counts.column_sums

    def term(pair: FloatArray, triple: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        return (triple - pair) - given[i][:, None]

    return _matrix(sums, term, counts.information, symmetric=False)


def mutual_matrix(sums: PairSource) -> FloatArray:
    """I(X_i; X_j) = H(X_i) + H(X_j) − H(X_i, X_j); H(X_i) for i = j."""
    counts = sums.counts
    alone = counts.column_sums
    level = counts.total * np.log(counts.total)

    def term(pair: FloatArray, triple: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        return (level + pair - alone[j]) - alone[i][:, None]

    return _matrix(sums, term, counts.entropies, symmetric=True)


def _matrix(sums: PairSource, term: Term, diagonal: FloatArray, *, symmetric: bool) -> FloatArray:
    Q = np.empty((len(diagonal), len(diagonal)))

    def consume(rows: IntArray, columns: IntArray, pair: FloatArray, triple: FloatArray) -> None:
        tile = term(pair, triple, rows, columns)
        Q[_cross(rows, columns)] = tile
        if rows is not columns:
            other = tile.T if symmetric else term(pair.T, triple.T, columns, rows)
            Q[_cross(columns, rows)] = other

    sums.all_pairs(consume)
    Q /= sums.counts.total
    np.maximum(Q, 0.0, out=Q)
    np.fill_diagonal(Q, diagonal)
    return Q


def _cross(rows: IntArray, columns: IntArray) -> Any:
    first, second = _block(rows), _block(columns)
    if isinstance(first, slice) or isinstance(second, slice):
        return first, second
    return np.ix_(first, second)


def _block(columns: IntArray) -> slice | IntArray:
    """A slice where the columns are consecutive, which is much faster to write to."""
    first, last = int(columns[0]), int(columns[-1])
    return slice(first, last + 1) if last - first + 1 == len(columns) else columns
