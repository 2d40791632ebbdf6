"""The nearest rows of each row; rows that are equal in all columns are one point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.runtime.ordering import TIE_TOLERANCE

LOOKED_AT = 3  # a point itself, its nearest, and the next, which shows whether they tie


def dense_codes(values: FloatArray, look: Callable[[], object] = bool) -> IntArray:
    """Equal rows have equal numbers 0, 1, …; ``look`` at the clock, for there may be many columns.

    >>> dense_codes(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]])).tolist()
    [1, 0, 1]
    """
    if values.shape[1] == 1:
        return np.asarray(np.unique(values[:, 0], return_inverse=True)[1], dtype=np.intp)
    codes = np.zeros(len(values), dtype=np.intp)
    for column in values.T:
        look()
        codes = joined_codes(codes, np.unique(column, return_inverse=True)[1])
    return codes


def joined_codes(first: IntArray, second: IntArray) -> IntArray:
    """Numbers for pairs of numbers."""
    if int(first.max(initial=-1)) + 1 == len(first):
        return first  # no two rows are equal
    keys = first * (int(second.max(initial=0)) + 1) + second
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.intp)


@dataclass(frozen=True)
class Points:
    """The distinct points among the rows: ``codes`` says which one each row is."""

    codes: IntArray

    @cached_property
    def sizes(self) -> IntArray:
        return np.bincount(self.codes)

    @cached_property
    def order(self) -> IntArray:
        """The rows, point by point."""
        return np.argsort(self.codes, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @property
    def are_rows(self) -> bool:
        """No two rows are equal."""
        return len(self.sizes) == len(self.codes)

    def alone(self) -> IntArray:
        return np.flatnonzero(self.sizes[self.codes] == 1)

    def repeated(self) -> IntArray:
        return np.flatnonzero(self.sizes[self.codes] > 1)


def nearest_points(values: FloatArray, points: Points) -> tuple[IntArray, IntArray]:
    """Rows that equal no other, each with its nearest point, or with all that are equally near."""
    rows = points.alone()
    if not len(rows) or len(points.sizes) == 1:
        nothing = np.empty(0, dtype=np.intp)
        return nothing, nothing
    distinct = values[points.order[points.starts]]
    search = _on_a_line if distinct.shape[1] == 1 else _in_space
    queries, near = search(distinct, points.codes[rows])
    return rows[queries], near


def _in_space(points: FloatArray, queries: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs (position in ``queries``, nearest other point); more are looked at where all tie."""
    from scipy.spatial import cKDTree

    tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
    parts: list[tuple[IntArray, IntArray]] = []
    open_ = np.arange(len(queries))
    k = LOOKED_AT
    while len(open_):
        k = min(k, len(points))
        distances, near = tree.query(points[queries[open_]], k=k)
        distances = np.where(near == queries[open_][:, None], np.inf, distances)
        more = _ties(distances)[:, -1] & (k < len(points))
        rows, others = _tied(distances[~more], near[~more])
        parts.append((open_[~more][rows], others))
        open_ = open_[more]
        k *= 4
    return np.concatenate([r for r, _ in parts]), np.concatenate([o for _, o in parts])


def _on_a_line(points: FloatArray, queries: IntArray) -> tuple[IntArray, IntArray]:
    values = points[:, 0]
    order = np.argsort(values, kind="stable")
    position = np.empty(len(order), dtype=np.intp)
    position[order] = np.arange(len(order))
    sides = position[queries][:, None] + np.array([-1, 1])
    inside = (sides >= 0) & (sides < len(order))
    near = order[np.clip(sides, 0, len(order) - 1)]
    distances = np.where(inside, np.abs(values[near] - values[queries][:, None]), np.inf)
    return _tied(distances, near)


def _ties(distances: FloatArray) -> BoolArray:
    return np.asarray(distances <= distances.min(axis=1, keepdims=True) * (1 + TIE_TOLERANCE))


def _tied(distances: FloatArray, near: IntArray) -> tuple[IntArray, IntArray]:
    rows, columns = np.nonzero(_ties(distances))
    return rows, near[rows, columns]


def k_nearest_pairs(points: FloatArray, k: int) -> tuple[IntArray, IntArray]:
    """Each row with its k nearest other rows."""
    from scipy.spatial import cKDTree

    n = len(points)
    width = min(k + 1, n)
    _, near = cKDTree(points, balanced_tree=False).query(points, k=width)
    near = near.reshape(n, width)
    is_self = near == np.arange(n)[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # behind more equal rows than were looked at
    return np.repeat(np.arange(n), width - 1), near[~is_self]
