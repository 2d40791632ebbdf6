"""The nearest row of each row, and what ties with it."""

from __future__ import annotations

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.runtime.ordering import TIE_TOLERANCE

MOST_TIES = 16
NEAREST_LOOKED_AT = 4


def dense_codes(values: FloatArray) -> IntArray:
    """Equal rows have equal numbers 0, 1, …"""
    if values.shape[1] == 1:
        return np.asarray(np.unique(values[:, 0], return_inverse=True)[1], dtype=np.intp)
    codes = np.zeros(len(values), dtype=np.intp)
    for column in values.T:
        codes = joined_codes(codes, np.unique(column, return_inverse=True)[1])
    return codes


def joined_codes(first: IntArray, second: IntArray) -> IntArray:
    """Numbers for pairs of numbers."""
    keys = first * (int(second.max(initial=0)) + 1) + second
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.intp)


def nearest_pairs(
    points: FloatArray, codes: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Rows and their nearest other rows; of ties up to 16 at random, so that a row may come often.

    ``codes`` number the distinct points. Equal rows are each other's nearest.
    """
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    repeated = np.flatnonzero(sizes[codes] > 1)
    twins = _members(repeated, codes, order, starts, sizes, rng, leave_out=True)
    single = np.flatnonzero(sizes[codes] == 1)
    if not len(single) or len(sizes) == 1:
        return twins
    representatives = order[starts]
    rows, near = _nearest_points(points[representatives], codes[single])
    near_rows = _members(single[rows], near, order, starts, sizes, rng, leave_out=False)
    return np.concatenate([twins[0], near_rows[0]]), np.concatenate([twins[1], near_rows[1]])


def _members(
    rows: IntArray,
    codes: IntArray,
    order: IntArray,
    starts: IntArray,
    sizes: IntArray,
    rng: np.random.Generator,
    *,
    leave_out: bool,
) -> tuple[IntArray, IntArray]:
    """Each row with the members of a point: all if they are few, else some at random."""
    if not len(rows):
        return rows, rows
    points = codes[rows] if leave_out else codes
    width = min(MOST_TIES, int(sizes[points].max()))
    available = sizes[points]
    if leave_out:
        position = np.empty(len(order), dtype=np.intp)
        position[order] = np.arange(len(order))
        first = position[rows] - starts[points]  # the row itself; others come after it, in a circle
        available = available - 1
    else:
        first = np.zeros(len(rows), dtype=np.intp)
    steps = np.arange(1 if leave_out else 0, width + (1 if leave_out else 0))
    steps = np.broadcast_to(steps, (len(rows), len(steps)))
    many = available > width
    if many.any():
        drawn = rng.integers(np.iinfo(np.int64).max, size=steps.shape) % available[:, None]
        steps = np.where(many[:, None], drawn + (1 if leave_out else 0), steps)
    allowed = steps < available[:, None] + (1 if leave_out else 0)
    members = order[starts[points][:, None] + (first[:, None] + steps) % sizes[points][:, None]]
    row_of = np.broadcast_to(rows[:, None], members.shape)
    return row_of[allowed], members[allowed]


def _nearest_points(points: FloatArray, queries: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs (position in ``queries``, nearest other point), several where distances tie."""
    if points.shape[1] == 1:
        return _nearest_on_a_line(points[:, 0], queries)
    from scipy.spatial import cKDTree

    tree = cKDTree(points, balanced_tree=False)
    k = min(1 + NEAREST_LOOKED_AT, len(points))
    distances, near = tree.query(points[queries], k=k)
    distances = np.where(near == queries[:, None], np.inf, distances)
    return _tied(distances, near)


def _nearest_on_a_line(values: FloatArray, queries: IntArray) -> tuple[IntArray, IntArray]:
    order = np.argsort(values, kind="stable")
    position = np.empty(len(order), dtype=np.intp)
    position[order] = np.arange(len(order))
    sides = position[queries][:, None] + np.array([-1, 1])
    inside = (sides >= 0) & (sides < len(order))
    near = order[np.clip(sides, 0, len(order) - 1)]
    distances = np.where(inside, np.abs(values[near] - values[queries][:, None]), np.inf)
    return _tied(distances, near)


def _tied(distances: FloatArray, near: IntArray) -> tuple[IntArray, IntArray]:
    least = distances.min(axis=1, keepdims=True)
    rows, columns = np.nonzero(distances <= least * (1 + TIE_TOLERANCE))
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
