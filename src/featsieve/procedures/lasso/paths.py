"""Paths of the lasso and of least angle regression, and the choice of a point on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.compiled.lasso import descend
from featsieve.procedures.lasso.lars import LarsLimits, lars_knots, without_rounding
from featsieve.procedures.lasso.tables import Basis, LarsMethod, Table
from featsieve.runtime.ordering import first_of_copies
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor

SWEEPS_PER_ITERATE = 8
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
            self.gram, slope, coef, self.starts, self.steps, self.penalty, tol, SWEEPS_PER_ITERATE
        )
        return coef, done < SWEEPS_PER_ITERATE

    def objective(self, coef: FloatArray) -> float:
        norms = np.sqrt(np.add.reduceat((coef**2).sum(axis=1), self.starts[:-1]))
        smooth = (coef * (self.gram @ coef / 2 - self.target)).sum()
        return float(smooth + self.penalty @ norms)


def extrapolate(iterates: list[FloatArray]) -> FloatArray:
    """Anderson's combination of the iterates of a linear recursion, whose steps nearly cancel."""
    points = np.array([point.ravel() for point in iterates])
    moves = np.diff(points, axis=0)
    products = moves @ moves.T
    total = float(np.trace(products))
    if not 0.0 < total < np.inf:  # nothing moves any more
        return iterates[-1]
    products = products / total + RIDGE * np.eye(len(products))
    weights = np.linalg.solve(products, np.ones(len(products)))
    return np.ascontiguousarray((weights / weights.sum() @ points[1:]).reshape(iterates[0].shape))


N_ALPHAS = 100
TALL_RATIO, WIDE_RATIO = 1e-4, 1e-2  # smallest penalty of a grid over the largest
EXACT, ROUGH = 1e-11, 1e-6  # of the largest coefficient: for the path, for errors of folds
SLOPE_TOLERANCE = 1e-9
NEW_BLOCKS = 10
SAME_KEY = 1e-9  # of the largest: keys of copies differ by rounding
SAME_SPACE = 1e-12  # cosines of copies differ from 1 by rounding
COLUMNS_AT_ONCE = 1024


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

    P-LECTURE's algorithms 1 and 2: at most as many knots as columns enter and leave, and a
    straight line between two of them.
    """

    alphas: FloatArray
    coefs: FloatArray

    @classmethod
    def of(
        cls,
        table: Table,
        method: LarsMethod,
        limits: LarsLimits = LarsLimits(),  # noqa: B008 - frozen
        monitor: Monitor = SILENT,
    ) -> LarsPath:
        alphas, coefs = lars_knots(table, method, limits, monitor)
        return cls(alphas, coefs[:, :, None])

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
        return np.array(list(self._along()))

    def until(self, count: int) -> GroupPath:
        """The same without the penalties past the first that has so many units."""
        for done, coef in enumerate(self._along(), start=1):
            if np.count_nonzero(without_rounding(self.basis.norms(coef))) >= count:
                return replace(self, alphas=self.alphas[:done])
        return self

    def _along(self) -> Iterator[FloatArray]:
        for done, alpha in enumerate(self.alphas, start=1):
            yield self.at(float(alpha))
            self.monitor.tick("path", done, len(self.alphas))

    def at(self, alpha: float) -> FloatArray:
        if alpha not in self._known:
            with single_threaded_blas():  # threads would wait for each other: short products
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
        columns, starts = self.table.columns, self.basis.starts
        tops = (columns.deviation / columns.weight)[starts[:-1]]
        for block in np.flatnonzero(self.basis.sizes > 1):
            gram = self.table.gram(np.arange(starts[block], starts[block + 1]))
            tops[block] = watched_call(np.linalg.eigvalsh, gram, self.monitor)[-1]
        return 1.0 / np.maximum(tops, np.finfo(np.float64).tiny)

    @cached_property
    def _is_copy(self) -> BoolArray:
        """Units that fit what an earlier one fits, at the same penalty: it gets all the weight,
        which they could share in any way (rounding would decide in which)."""
        key = self.basis.norms(self._mixture())
        first = first_of_copies(key / (key.max(initial=0.0) or 1.0), self._same_space, SAME_KEY)
        return np.asarray(first != np.arange(len(first)))

    def _mixture(self) -> FloatArray:
        """X'Xr for a random r of the size of coefficients: copies have the same size in it."""
        r = np.random.default_rng(0).normal(size=(len(self._slope), 1))
        r *= np.abs(self._slope).max() * self._steps.min()  # else X'Y would drown X'Xr
        total = np.zeros((len(r), self._slope.shape[1]))
        for start in range(0, len(r), COLUMNS_AT_ONCE):
            columns: IntArray = np.arange(start, min(start + COLUMNS_AT_ONCE, len(r)))
            total += self._slope - self.table.residual_slope(r[columns], columns)
            self.monitor.check()
        return total

    def _same_space(self, a: int, b: int) -> bool:
        first, second = (self.basis.coordinates_of(np.array([unit])) for unit in (a, b))
        n = len(first)
        if n != len(second):
            return False
        gram = self.table.gram(np.concatenate([first, second]))
        size, other = np.linalg.norm(gram[:n, :n]), np.linalg.norm(gram[n:, n:])
        is_parallel = np.linalg.norm(gram[:n, n:]) >= (1.0 - SAME_SPACE) * size
        return bool(is_parallel and abs(size - other) <= SAME_SPACE * size)

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
            excess[self._is_copy] = 0.0
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


CountRule = Literal["exact", "nearest"]
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
        return without_rounding(self.basis.norms(coef))

    @cached_property
    def path_sizes(self) -> FloatArray:
        """One row for each point of the path."""
        return self.sizes(self.path.coefs)

    def count(self, coef: FloatArray) -> int:
        return int(np.count_nonzero(self.sizes(coef)))

    def penalty(self, coef: FloatArray) -> float:
        """Σ_g penalty_g ‖B_g‖: the t of the constraint form."""
        return float(self.sizes(coef) @ self.basis.penalty)

    def alpha_for_count(self, k: int, rule: CountRule) -> float:
        return self._nearest(k) if rule == "nearest" else self._exact(k)

    def alpha_for_radius(self, radius: float) -> float:
        """The lasso in constraint form: the size falls steadily with α."""
        return self._boundary(lambda sizes: sizes @ self.basis.penalty > radius, lower=False)

    def _exact(self, k: int) -> float:
        """The first penalty with k units; where the path jumps over k, the first with more."""
        return self._boundary(
            lambda sizes: np.count_nonzero(sizes, axis=-1) >= k,
            lambda sizes: np.count_nonzero(sizes) == k,
            lower=True,
        )

    def _boundary(
        self,
        reached: Callable[[FloatArray], Any],
        good: Callable[[FloatArray], bool] = lambda sizes: False,
        *,
        lower: bool,
    ) -> float:
        """Where ``reached`` turns true as α falls, by bisection from the path's own points.

        Ends early at a ``good`` point; otherwise on the side where it is (``lower``) or is not.
        Both take the sizes of the units; ``reached`` at one point or, by row, at many.
        """
        above, below = self._bracket(reached)
        for _ in range(HALVINGS):
            if good(self.sizes(self.path.at(below))) or above - below <= SAME_ALPHA * above:
                break
            middle = float(np.sqrt(above * below)) if below > 0 else above / 2
            if reached(self.sizes(self.path.at(middle))):
                below = middle
            else:
                above = middle
        return below if lower else above

    def _bracket(self, reached: Callable[[FloatArray], Any]) -> tuple[float, float]:
        """The last penalty where it is not yet, and the first where it is (or the smallest)."""
        alphas, is_reached = self.path.alphas, reached(self.path_sizes)
        first = int(np.argmax(is_reached)) if is_reached.any() else len(alphas)
        return float(alphas[max(first - 1, 0)]), float(alphas[min(first, len(alphas) - 1)])

    def _nearest(self, k: int) -> float:
        """The P-LSMI authors' rule: of 100 penalties the one nearest to k units."""
        grid = alpha_grid(float(self.path.alphas[0]), wide=self.wide)
        counts = np.array([self.count(self.path.at(float(alpha))) for alpha in grid])
        return float(grid[np.argmin(np.abs(counts - k))])

    def first_alpha(self) -> FloatArray:
        """The penalty at which each unit first has a coefficient; 0 if it never has."""
        is_inside = self.path_sizes > 0
        return np.where(is_inside.any(axis=0), self.path.alphas[is_inside.argmax(axis=0)], 0.0)
