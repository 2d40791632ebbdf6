"""Mutual information from nearest neighbours, without bins (Kraskov 2004; Ross 2014)."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.special import digamma

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.measures.information.counts import Correction, JointCounts, information
from featsieve.protocols import Engine
from featsieve.runtime.progress import Monitor


def ksg_information(
    x: FloatArray,
    y: FloatArray,
    *,
    n_neighbors: int = 3,
    discrete_x: bool = False,
    discrete_y: bool = False,
) -> float:
    """I(X; Y) in nats; a pair of numbers by Kraskov's first estimator, a mixed pair by Ross's.

    Nothing is scaled, no noise is added, rows with a missing cell are left out; never below 0.
    """
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    if discrete_x and discrete_y:
        return information(JointCounts.of([_labels(x), _labels(y)]))
    if discrete_x or discrete_y:
        numbers, labels = (y, x) if discrete_x else (x, y)
        return _mixed(numbers, _labels(labels), n_neighbors)
    return _continuous(x, y, n_neighbors)


def _continuous(x: FloatArray, y: FloatArray, n_neighbors: int) -> float:
    """ψ(n) + ψ(k) − ⟨ψ(n_x + 1) + ψ(n_y + 1)⟩ (Kraskov 2004, eq. 8)."""
    from scipy.spatial import KDTree

    k = min(n_neighbors, len(x) - 1)
    points = np.stack((x, y), axis=1)
    distances: Any = KDTree(points).query(points, k + 1, p=np.inf)[0]
    radius = np.nextafter(distances[:, -1], 0)
    near = digamma(count_within(x, x, radius)) + digamma(count_within(y, y, radius))
    return max(0.0, float(digamma(len(x)) + digamma(k) - near.mean()))


def _mixed(numbers: FloatArray, labels: IntArray, n_neighbors: int) -> float:
    """ψ(n) + ⟨ψ(k)⟩ − ⟨ψ(n_label)⟩ − ⟨ψ(m)⟩ over labels that occur twice (Ross 2014)."""
    counts = np.bincount(labels)[labels]
    numbers, labels, counts = numbers[counts > 1], labels[counts > 1], counts[counts > 1]
    if not len(numbers):
        return 0.0
    radius = np.empty(len(numbers))
    neighbours = np.minimum(n_neighbors, counts - 1)
    for label in np.unique(labels):
        own = labels == label
        radius[own] = np.nextafter(kth_distance(numbers[own], int(neighbours[own][0])), 0)
    near = count_within(numbers, numbers, radius)
    mean = np.mean(digamma(neighbours) - digamma(counts) - digamma(near))
    return max(0.0, float(digamma(len(numbers)) + mean))


def kth_distance(values: FloatArray, k: int) -> FloatArray:
    """Distance of each number to its k-th nearest other one.

    >>> kth_distance(np.array([0.0, 1.0, 3.0]), 1).tolist()
    [1.0, 1.0, 2.0]
    """
    order = np.argsort(values, kind="stable")
    padded = np.pad(values[order], k, constant_values=(-np.inf, np.inf))
    n, middle = len(values), padded[k : k + len(values)]
    # The k nearest lie in a window of k + 1 consecutive numbers; its wider side is the distance.
    windows = [
        np.maximum(middle - padded[s : s + n], padded[s + k : s + k + n] - middle)
        for s in range(k + 1)
    ]
    distance = np.empty(n)
    distance[order] = np.min(windows, axis=0)
    return distance


def count_within(values: FloatArray, centres: FloatArray, radius: FloatArray) -> IntArray:
    """How many values lie within ``radius`` of each centre, by the differences themselves.

    A bound such as centre + radius is rounded, which would move values at the very edge.
    """
    ordered = np.sort(values)
    low = np.searchsorted(ordered, centres - radius, side="left")
    high = np.searchsorted(ordered, centres + radius, side="right")
    padded = np.pad(ordered, 1, constant_values=(-np.inf, np.inf))
    while (wider := centres - padded[low] <= radius).any():
        low -= wider
    while (narrower := centres - padded[low + 1] > radius).any():
        low += narrower
    while (wider := padded[high + 1] - centres <= radius).any():
        high += wider
    while (narrower := padded[high] - centres > radius).any():
        high -= narrower
    return high - low


def _labels(values: FloatArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1].reshape(-1)


class BoundKSG:
    """Neighbour estimates of an engine's columns; a group scores what its best column scores."""

    def __init__(
        self, engine: Engine, n_neighbors: int, *, normalized: bool, correction: Correction
    ) -> None:
        if normalized:
            raise InputError(
                "estimator='ksg' has no entropies to normalise by; use estimator='binned'."
            )
        if correction is not None:
            raise InputError(
                f"estimator='ksg' has no bins, so correction={correction!r} is not possible; use "
                "estimator='binned', or correction=None."
            )
        _check_neighbors(n_neighbors)
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self._engine = engine
        self._n_neighbors = n_neighbors

    def scores(self) -> FloatArray:
        self._output_scores = self._all_scores()
        return self._output_scores.mean(axis=0)

    def report(self) -> dict[str, Any]:
        return {"output_scores": self._output_scores}

    def _all_scores(self) -> FloatArray:
        engine = self._engine
        y = _scaled(np.asarray(engine.take(columns=np.arange(1))[1], dtype=float))
        by_column = engine.map_columns(
            lambda X, columns: np.array(
                [self._outputs(x, int(c), y) for x, c in zip(X.T, columns, strict=True)]
            )
        )
        groups = engine.schema.groups
        if groups is not None:
            by_column = np.array([by_column[list(columns)].max(axis=0) for columns in groups])
        return by_column.T

    def _outputs(self, x: FloatArray, column: int, y: FloatArray) -> list[float]:
        schema = self._engine.schema
        discrete = column in schema.categories
        n_infinite = np.count_nonzero(np.isinf(x))
        if n_infinite:
            raise InputError(
                f"column {schema.names[column]!r} has {n_infinite} infinite cells, and "
                "estimator='ksg' needs distances; drop those rows, fill them in, or use "
                "estimator='binned'."
            )
        values = x if discrete else _scaled(x[:, None])[:, 0]
        return [
            ksg_information(
                values,
                output,
                n_neighbors=self._n_neighbors,
                discrete_x=discrete,
                discrete_y=self._engine.target.is_classification,
            )
            for output in y.T
        ]


def _scaled(values: FloatArray) -> FloatArray:
    """Columns with deviation 1, so that neither side of a pair decides the distances alone."""
    known = [column[~np.isnan(column)] for column in values.T]
    deviation = np.array([np.std(column) if len(column) else 0.0 for column in known])
    return values / np.where(deviation > 0, deviation, 1.0)


def _check_neighbors(n_neighbors: Any) -> None:
    whole = isinstance(n_neighbors, numbers.Integral) and not isinstance(n_neighbors, bool)
    if not whole or n_neighbors < 1:
        raise InputError(
            f"n_neighbors={n_neighbors!r} is not possible; give a whole number from 1."
        )
