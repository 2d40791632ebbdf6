"""The group lasso on a working set: block descent, made faster by extrapolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featsieve.kernels.lasso import descend
from featsieve.schema import FloatArray, IntArray

SWEEPS_AN_ITERATE = 8
ITERATES = 5
MOST_ROUNDS = 500
RIDGE = 1e-12


@dataclass(frozen=True)
class BlockProblem:
    """Minimise ½ tr(B'GB) − tr(B'C) + Σ_g penalty_g ‖B_g‖."""

    gram: FloatArray
    target: FloatArray
    starts: IntArray
    steps: FloatArray
    penalty: FloatArray

    def solve(self, coef: FloatArray, tol: float) -> FloatArray:
        """From ``coef``, until a sweep moves nothing by more than ``tol``."""
        for _ in range(MOST_ROUNDS):
            iterates = [coef]
            for _ in range(ITERATES):
                coef, converged = self._sweep(coef, tol)
                if converged:
                    return coef
                iterates.append(coef)
            guess = extrapolate(iterates)
            coef = guess if self.objective(guess) < self.objective(coef) else coef
        return coef

    def _sweep(self, coef: FloatArray, tol: float) -> tuple[FloatArray, bool]:
        coef = coef.copy()
        slope = np.ascontiguousarray(self.target - self.gram @ coef)
        done = descend(
            self.gram, slope, coef, self.starts, self.steps, self.penalty, tol, SWEEPS_AN_ITERATE
        )
        return coef, done < SWEEPS_AN_ITERATE

    def objective(self, coef: FloatArray) -> float:
        norms = np.sqrt(np.add.reduceat((coef**2).sum(axis=1), self.starts[:-1]))
        smooth = (coef * (self.gram @ coef / 2 - self.target)).sum()
        return float(smooth + self.penalty @ norms)


def extrapolate(iterates: list[FloatArray]) -> FloatArray:
    """Anderson's combination of the iterates of a linear recursion, whose steps nearly cancel."""
    points = np.array([point.ravel() for point in iterates])
    moves = np.diff(points, axis=0)
    products = moves @ moves.T
    products += RIDGE * np.trace(products) * np.eye(len(products))
    weights = np.linalg.solve(products, np.ones(len(products)))
    return np.ascontiguousarray((weights / weights.sum() @ points[1:]).reshape(iterates[0].shape))
