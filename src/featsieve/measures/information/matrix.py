"""The information of all pairs of units at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.measures.information.pair_sums import PairSource

# (pair, triple) to n · information, up to parts that depend on one column only.
Term = Callable[[FloatArray, FloatArray], FloatArray]


def conditional_matrix(sums: PairSource) -> FloatArray:
    """I(X_j; Y | X_i) = H(X_i, X_j) + H(X_i, Y) − H(X_i) − H(X_i, X_j, Y); I(X_i; Y) for i = j."""
    counts = sums.counts
    given = counts.class_sums - counts.column_sums
    return _matrix(sums, lambda pair, triple: triple - pair, given, None, counts.information)


def mutual_matrix(sums: PairSource) -> FloatArray:
    """I(X_i; X_j) = H(X_i) + H(X_j) − H(X_i, X_j); H(X_i) for i = j."""
    counts = sums.counts
    level = counts.total * counts.log_total
    alone = counts.column_sums
    return _matrix(sums, lambda pair, triple: pair + level, alone, alone, counts.entropies)


def _matrix(
    sums: PairSource,
    term: Term,
    of_row: FloatArray,
    of_column: FloatArray | None,
    diagonal: FloatArray,
) -> FloatArray:
    """(term − of_row[i] − of_column[j]) / n for all i and j, never below 0."""
    Q = np.empty((len(diagonal), len(diagonal)))
    total = sums.counts.total

    def put(rows: IntArray, columns: IntArray, tile: FloatArray) -> None:
        information = tile - of_row[rows][:, None]
        if of_column is not None:
            information -= of_column[columns]
        information /= total
        Q[_cross(rows, columns)] = np.maximum(information, 0.0, out=information)

    def consume(rows: IntArray, columns: IntArray, pair: FloatArray, triple: FloatArray) -> None:
        tile = term(pair, triple)
        put(rows, columns, tile)
        if rows is not columns:
            put(columns, rows, tile.T)

    sums.all_pairs(consume)
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
