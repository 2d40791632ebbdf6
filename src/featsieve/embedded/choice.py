"""Which point of a path is wanted: one with k units, one of given α, or one of given size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from featsieve.embedded.basis import Basis
from featsieve.embedded.paths import Path, alpha_grid
from featsieve.schema import FloatArray

CountRule = Literal["exact", "nearest"]
NONZERO = 1e-10  # of the largest size: what a straight line leaves of a coefficient that is 0
HALVINGS = 100
SAME_ALPHA = 1e-12


@dataclass(frozen=True)
class Chooser:
    """Reads a path in units."""

    path: Path
    basis: Basis
    wide: bool = False

    def sizes(self, coef: FloatArray) -> FloatArray:
        """The norm of each unit's coefficients, rounding taken for 0."""
        norms = self.basis.norms(coef)
        return np.where(norms > NONZERO * norms.max(initial=0.0), norms, 0.0)

    def count(self, coef: FloatArray) -> int:
        return int(np.count_nonzero(self.sizes(coef)))

    def penalty(self, coef: FloatArray) -> float:
        """Σ_g penalty_g ‖B_g‖: the t of the constraint form."""
        return float(self.basis.penalty @ self.sizes(coef))

    def alpha_for_count(self, k: int, rule: CountRule) -> float:
        return self._nearest(k) if rule == "nearest" else self._exact(k)

    def alpha_for_radius(self, radius: float) -> float:
        """The lasso in constraint form: the size falls steadily with α."""
        return self._boundary(lambda coef: self.penalty(coef) > radius, lower=False)

    def _exact(self, k: int) -> float:
        """The first penalty with k units; where the path jumps over k, the first with more."""
        return self._boundary(
            lambda coef: self.count(coef) >= k, lambda coef: self.count(coef) == k, lower=True
        )

    def _boundary(
        self,
        reached: Callable[[FloatArray], bool],
        good: Callable[[FloatArray], bool] = lambda coef: False,
        *,
        lower: bool,
    ) -> float:
        """Where ``reached`` turns true as α falls, by bisection from the path's own points.

        Ends early at a ``good`` point; otherwise on the side where it is (``lower``) or is not.
        """
        above, below = self._bracket(reached)
        for _ in range(HALVINGS):
            if good(self.path.at(below)) or above - below <= SAME_ALPHA * above:
                break
            middle = float(np.sqrt(above * below)) if below > 0 else above / 2
            if reached(self.path.at(middle)):
                below = middle
            else:
                above = middle
        return below if lower else above

    def _bracket(self, reached: Callable[[FloatArray], bool]) -> tuple[float, float]:
        """The last penalty where it is not yet, and the first where it is (or the smallest)."""
        above = float(self.path.alphas[0])
        for alpha in self.path.alphas:
            if reached(self.path.at(float(alpha))):
                return above, float(alpha)
            above = float(alpha)
        return above, above

    def _nearest(self, k: int) -> float:
        """The P-LSMI authors' rule: of 100 penalties the one nearest to k units."""
        grid = alpha_grid(float(self.path.alphas[0]), wide=self.wide)
        counts = np.array([self.count(self.path.at(float(alpha))) for alpha in grid])
        return float(grid[np.argmin(np.abs(counts - k))])

    def first_alpha(self) -> FloatArray:
        """The penalty at which each unit first has a coefficient; 0 if it never has."""
        first = np.zeros(len(self.basis.units))
        for alpha, coef in zip(self.path.alphas, self.path.coefs, strict=True):
            entered = (self.sizes(coef) > 0) & (first == 0)
            first[entered] = alpha
        return first
