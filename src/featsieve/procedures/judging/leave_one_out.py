"""Leave-one-out losses of sets of units, for two models that need no run per row.

The squared distances of a set are those of its members added up, so one table per unit serves all
sets. Ridge regression with the kernel exp(−Σ (x_j − x'_j)² / 2d) of a set of d columns: for
G = (K + λI)⁻¹ the residual of row i, predicted from the others, is (G y)_i / G_ii. Nearest
neighbours: a row is not a neighbour of itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_solve, cholesky, lapack

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.judging.judges import squared_distances
from featsieve.procedures.judging.rows import RowSample, encoded_units, judged_targets
from featsieve.runtime.pool import single_threaded_blas

N_NEIGHBORS = 5


class LeaveOneOut:
    """Squared errors of the rows of a sample, from units of a pool; sets are positions in it."""

    def __init__(
        self, sample: RowSample, pool: IntArray, penalty: float, *, neighbors: bool = False
    ) -> None:
        table, owner = encoded_units(sample)
        self.pool = pool
        self.weight = sample.weight
        self._distances = [squared_distances(*[table[:, owner == unit]] * 2) for unit in pool]
        self._widths = np.array([max(np.count_nonzero(owner == unit), 1) for unit in pool])
        targets = np.concatenate([part for _, part in judged_targets(sample)], axis=1)
        self._targets = targets - targets.mean(axis=0)
        least = len(table) ** 2 * np.finfo(np.float64).eps  # less is lost in rounding
        self._penalty = max(penalty, least)
        self._neighbors = neighbors

    def losses(self, positions: Sequence[int]) -> FloatArray:
        """One squared error per row; with ``neighbors`` the mean of both models."""
        distances = sum((self._distances[p] for p in positions), np.zeros_like(self._distances[0]))
        with single_threaded_blas():  # small matrices: threads would wait for each other
            ridge = self._ridge(distances / self._widths[list(positions)].sum())
        return 0.5 * (ridge + self._nearest(distances)) if self._neighbors else ridge

    def mean(self, losses: FloatArray) -> float:
        return float(np.average(losses, weights=self.weight))

    def spread(self, losses: FloatArray) -> float:
        """The standard error of the mean over the rows."""
        weight = np.ones(len(losses)) if self.weight is None else self.weight
        deviations = weight * (losses - self.mean(losses))
        return float(np.sqrt((deviations**2).sum()) / weight.sum())

    def _ridge(self, distances: FloatArray) -> FloatArray:
        K = np.exp(-0.5 * distances)
        K[np.diag_indices_from(K)] += self._penalty
        factor = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
        solved = cho_solve((factor, True), self._targets, check_finite=False)
        inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
        residuals = solved / np.diag(inverse)[:, None]
        return np.asarray((residuals**2).sum(axis=1))

    def _nearest(self, distances: FloatArray) -> FloatArray:
        k = min(N_NEIGHBORS, len(distances) - 1)
        distances[np.diag_indices_from(distances)] = np.inf
        nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
        residuals = self._targets - self._targets[nearest].mean(axis=1)
        return np.asarray((residuals**2).sum(axis=1))
