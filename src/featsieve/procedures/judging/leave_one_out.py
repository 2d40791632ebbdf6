"""Leave-one-out losses of sets of units, for two models that need no run per row.

The squared distances of a set are those of its members added up, so one table per unit serves all
sets. Ridge regression with the kernel exp(−Σ (x_j − x'_j)² / 2d) of a set of d columns: for
G = (K + λI)⁻¹ the residual of row i, predicted from the others, is (G y)_i / G_ii. Nearest
neighbours: a row is not a neighbour of itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import local

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import slices
from featsieve.linalg.lapack import factor_in_place, invert_in_place, solve_in_place
from featsieve.procedures.judging.judges import squared_distances
from featsieve.procedures.judging.rows import RowSample, encoded_units, judged_targets
from featsieve.runtime.pool import shared_map, single_threaded_blas

N_NEIGHBORS = 5
SETS_AT_ONCE = 8  # per thread: the clock is looked at in between
ROWS_AT_ONCE = 64  # whose neighbours are looked for: their distances stay in the cache


class LeaveOneOut:
    """Squared errors of the rows of a sample, from units of a pool; sets are positions in it."""

    def __init__(
        self, sample: RowSample, pool: IntArray, penalty: float, *, neighbors: bool = False
    ) -> None:
        table, owner = encoded_units(sample)
        self.pool = pool
        self.weight = sample.weight
        self._n_jobs = sample.source.n_jobs
        self._distances = [squared_distances(*[table[:, owner == unit]] * 2) for unit in pool]
        self._widths = np.array([max(np.count_nonzero(owner == unit), 1) for unit in pool])
        targets = np.concatenate([part for _, part in judged_targets(sample)], axis=1)
        self._targets = targets - targets.mean(axis=0)
        least = len(table) ** 2 * np.finfo(np.float64).eps  # less is lost in rounding
        self._penalty = max(penalty, least)
        self._neighbors = neighbors
        self._upper = np.triu(np.ones((len(table), len(table))))
        self._here = local()

    def losses(self, positions: Sequence[int]) -> FloatArray:
        """One squared error per row; with ``neighbors`` the mean of both models."""
        return next(self.each([positions]))

    def each(self, sets: Sequence[Sequence[int]], base: Sequence[int] = ()) -> Iterator[FloatArray]:
        """The losses of each set together with the base, side by side on threads."""
        shared = self._add(np.zeros_like(self._upper), base)

        def of_set(positions: Sequence[int]) -> FloatArray:
            distances, room = self._room()
            np.copyto(distances, shared)
            width = self._widths[[*base, *positions]].sum()
            ridge = self._ridge(self._add(distances, positions), width, room)
            return 0.5 * (ridge + self._nearest(distances)) if self._neighbors else ridge

        with single_threaded_blas():  # small matrices: threads would wait for each other
            for some in slices(len(sets), SETS_AT_ONCE * self._n_jobs):
                yield from shared_map(of_set, sets[some], self._n_jobs)

    def mean(self, losses: FloatArray) -> float:
        return float(np.average(losses, weights=self.weight))

    def spread(self, losses: FloatArray) -> float:
        """The standard error of the mean over the rows."""
        weight = np.ones(len(losses)) if self.weight is None else self.weight
        deviations = weight * (losses - self.mean(losses))
        return float(np.sqrt((deviations**2).sum()) / weight.sum())

    def _room(self) -> tuple[FloatArray, FloatArray]:
        """Two tables for each thread: new ones would come from the system each time."""
        if not hasattr(self._here, "room"):
            self._here.room = np.empty_like(self._upper), np.empty_like(self._upper)
        return self._here.room

    def _add(self, distances: FloatArray, positions: Sequence[int]) -> FloatArray:
        for position in positions:
            distances += self._distances[position]
        return distances

    def _ridge(self, distances: FloatArray, width: int, room: FloatArray) -> FloatArray:
        K = np.divide(distances, -2.0 * width, out=room)
        np.exp(K, out=K)
        K[np.diag_indices_from(K)] += self._penalty
        K *= self._upper
        factor_in_place(K)
        solved = np.array(self._targets.T, order="C")
        solve_in_place(K, solved)
        invert_in_place(K)
        residuals = solved / np.einsum("ij,ij->i", K, K)
        return np.asarray((residuals**2).sum(axis=0))

    def _nearest(self, distances: FloatArray) -> FloatArray:
        n = len(distances)
        k = min(N_NEIGHBORS, n - 1)
        distances[np.diag_indices_from(distances)] = np.inf
        nearest = np.empty((n, k), dtype=np.intp)
        for rows in slices(n, ROWS_AT_ONCE):
            nearest[rows] = np.argpartition(distances[rows], k - 1, axis=1)[:, :k]
        residuals = self._targets - self._targets[nearest].mean(axis=1)
        return np.asarray((residuals**2).sum(axis=1))
