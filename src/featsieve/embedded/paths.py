"""Coefficients as a function of the penalty: exact and piecewise linear, or block by block.

Both minimise ½ mean (Y − XB)² + α Σ_g penalty_g ‖B_g‖ over the coordinates of a :class:`Basis`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from featsieve.embedded.basis import Basis
from featsieve.embedded.blocks import BlockProblem
from featsieve.embedded.tables import LarsMethod, Table
from featsieve.progress import SILENT, Monitor
from featsieve.schema import FloatArray, IntArray

N_ALPHAS = 100
TALL_RATIO, WIDE_RATIO = 1e-4, 1e-2  # smallest penalty of a grid over the largest
EXACT, ROUGH = 1e-11, 1e-6  # of the largest coefficient: for the path, for errors of folds
SLOPE_TOLERANCE = 1e-9
NEW_BLOCKS = 10


class Path(Protocol):
    """``alphas`` fall; ``coefs`` has one (coordinates × outputs) matrix for each of them."""

    @property
    def alphas(self) -> FloatArray: ...

    @property
    def coefs(self) -> FloatArray: ...

    def at(self, alpha: float) -> FloatArray: ...


def largest_alpha(table: Table, basis: Basis) -> float:
    """From here on every coefficient is 0."""
    return float((basis.norms(table.slope) / basis.penalty).max())


def alpha_grid(largest: float, *, wide: bool) -> FloatArray:
    return np.geomspace(largest, largest * (WIDE_RATIO if wide else TALL_RATIO), N_ALPHAS)


@dataclass(frozen=True)
class LarsPath:
    """Least angle regression, plain or with the lasso's drops, for one output and single columns.

    P-LECTURE's algorithms 1 and 2 by scikit-learn: at most as many knots as columns enter and
    leave, and a straight line between two of them.
    """

    alphas: FloatArray
    coefs: FloatArray

    @classmethod
    def of(
        cls, table: Table, method: LarsMethod, *, alpha_min: float = 0.0, max_iter: int = 500
    ) -> LarsPath:
        alphas, coefs = table.lars(method, alpha_min, max_iter)
        return cls(np.asarray(alphas), np.ascontiguousarray(coefs.T)[:, :, None])

    def at(self, alpha: float) -> FloatArray:
        after = int(np.searchsorted(-self.alphas, -alpha))  # first knot at or below alpha
        if after == 0 or after == len(self.alphas):
            return self.coefs[min(after, len(self.alphas) - 1)]
        upper, lower = self.alphas[after - 1], self.alphas[after]
        share = (upper - alpha) / (upper - lower)
        return (1 - share) * self.coefs[after - 1] + share * self.coefs[after]


@dataclass(frozen=True)
class GroupPath:
    """Block coordinate descent on a working set that grows until no other block wants to enter."""

    table: Table
    basis: Basis
    alphas: FloatArray
    monitor: Monitor = SILENT
    tolerance: float = EXACT
    _known: dict[float, FloatArray] = field(default_factory=dict)

    @cached_property
    def coefs(self) -> FloatArray:
        found = []
        for done, alpha in enumerate(self.alphas, start=1):
            found.append(self.at(float(alpha)))
            self.monitor.tick("path", done, len(self.alphas))
        return np.array(found)

    def at(self, alpha: float) -> FloatArray:
        if alpha not in self._known:
            self._known[alpha] = self._solve(alpha, self._nearest(alpha))
        return self._known[alpha]

    def _nearest(self, alpha: float) -> FloatArray:
        """The known solution of the nearest penalty: a short way to the wanted one."""
        if not self._known:
            return np.zeros_like(self._slope)
        return self._known[min(self._known, key=lambda known: abs(np.log(known / alpha)))]

    @cached_property
    def _slope(self) -> FloatArray:
        return self.table.slope

    @cached_property
    def _steps(self) -> FloatArray:
        """One over the largest eigenvalue of each block."""
        blocks = np.arange(len(self.basis.units))
        tops = [self._top_eigenvalue(self.basis.coordinates_of(blocks[[b]])) for b in blocks]
        return 1.0 / np.maximum(tops, np.finfo(np.float64).tiny)

    def _top_eigenvalue(self, coordinates: IntArray) -> float:
        if len(coordinates) == 1:
            columns = self.table.columns
            return float(columns.deviation[coordinates[0]] / columns.weight)
        return float(np.linalg.eigvalsh(self.table.gram(coordinates))[-1])

    def _solve(self, alpha: float, start: FloatArray) -> FloatArray:
        coef = start.copy()
        limit = alpha * self.basis.penalty
        working = np.flatnonzero(self.basis.norms(coef) > 0)
        while True:
            coordinates = self.basis.coordinates_of(working)
            coef[coordinates] = self._descend(working, coordinates, coef[coordinates], limit)
            slope = self.table.residual_slope(coef[coordinates], coordinates)
            excess = self.basis.norms(slope) / limit
            excess[working] = 0.0
            entering = np.flatnonzero(excess > 1 + max(SLOPE_TOLERANCE, self.tolerance))
            if not len(entering):
                return coef
            first = np.argsort(-excess[entering], kind="stable")[: NEW_BLOCKS + len(working)]
            working = np.sort(np.concatenate([working, entering[first]]))

    def _descend(
        self, working: IntArray, coordinates: IntArray, coef: FloatArray, limit: FloatArray
    ) -> FloatArray:
        starts = np.concatenate([[0], np.cumsum(self.basis.sizes[working])]).astype(np.intp)
        steps = self._steps[working]
        reach = np.abs(self._slope).max() * steps.max(initial=0.0)
        problem = BlockProblem(
            self.table.gram(coordinates), self._slope[coordinates], starts, steps, limit[working]
        )
        return problem.solve(np.ascontiguousarray(coef), self.tolerance * reach)
