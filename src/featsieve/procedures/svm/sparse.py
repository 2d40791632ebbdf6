"""The linear machine with an l1 penalty (Zhu et al. 2003; squared hinge loss): path and choice.

min Σ_g p_g ‖B_g‖ + C Σ max(0, 1 − y f(x))² over all two-class problems, f(x) = x'b + b₀ with b₀
free. Group g is one unit in all problems. In the penalty α = 1/(2C) this is
½ Σ max(0, 1 − y f(x))² + α Σ_g p_g ‖B_g‖."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.hinge import descend_hinge
from featsieve.procedures.lasso.paths import extrapolate
from featsieve.procedures.svm.rows import Problem, Rows
from featsieve.runtime.progress import Monitor

CELLS_PER_PIECE = 20_000_000  # rows × columns × problems: some hundredths of a second
MOST_ROUNDS = 500
SWEEPS_AN_ITERATE = 8
ITERATES = 5
NEW_UNITS = 10


@dataclass(frozen=True)
class Model:
    """A minimiser: coefficients (columns × problems), intercepts and the violation left."""

    coef: FloatArray
    intercept: FloatArray
    violation: float


@dataclass(frozen=True)
class PenalisedHinge:
    """The problem at any penalty, on a working set that grows until no other unit wants in."""

    rows: Rows
    problems: list[Problem]
    monitor: Monitor
    tol: float
    standardized: bool = True

    @cached_property
    def sign(self) -> FloatArray:
        return np.array([problem.sign for problem in self.problems])

    @cached_property
    def by_unit(self) -> IntArray:
        return np.argsort(self.rows.unit_of, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        sizes = np.bincount(self.rows.unit_of, minlength=self.rows.n_units)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)

    @cached_property
    def curvature(self) -> FloatArray:
        """The largest eigenvalue of each unit's X'X."""
        if self.rows.is_plain:
            return self.squares
        return np.array([self._top(unit) for unit in range(self.rows.n_units)])

    @cached_property
    def squares(self) -> FloatArray:
        """The squared norm of each column."""
        return np.asarray(np.einsum("ij,ij->j", self.rows.X, self.rows.X))

    def _top(self, unit: int) -> float:
        self.monitor.check()
        columns = self.rows.X[:, self.columns_of(unit)]
        small = columns if columns.shape[0] < columns.shape[1] else columns.T
        return float(np.linalg.eigvalsh(small @ small.T)[-1])

    def columns_of(self, unit: int) -> IntArray:
        return self.by_unit[self.starts[unit] : self.starts[unit + 1]]

    @cached_property
    def weights(self) -> FloatArray:
        """The root of a unit's size: its total variance if standardised, else its columns."""
        sizes = np.diff(self.starts).astype(np.float64)
        if not self.standardized:
            return np.sqrt(sizes)
        variance = self.rows.per_unit(self.squares) / self.rows.n_samples
        return np.sqrt(np.where(variance > 0, variance, sizes))

    def norms(self, coef: FloatArray) -> FloatArray:
        """One per unit, over its columns and all problems."""
        return np.sqrt(self.rows.per_unit((coef**2).sum(axis=1)))

    @cached_property
    def largest_penalty(self) -> float:
        """From here on every coefficient is 0, and the intercept is the mean sign."""
        return float(self.pull(self.empty()).max())

    def empty(self) -> Model:
        shape = (self.rows.X.shape[1], len(self.problems))
        return Model(np.zeros(shape), self.sign.mean(axis=1), 0.0)

    def solve(self, penalty: float, start: Model) -> Model:
        """A minimiser. Copies may share a coefficient in any way: the first one gets all of it."""
        working = np.flatnonzero(self.norms(start.coef) > 0)
        model = start
        while True:
            model = self._descend(working, penalty, model)
            excess = self.pull(model) / penalty
            excess[working] = excess[self.rows.is_copy] = 0.0
            entering = np.flatnonzero(excess > 1 + self.tol)
            if not len(entering):
                return model
            first = np.argsort(-excess[entering], kind="stable")[: NEW_UNITS + len(working)]
            working = np.sort(np.concatenate([working, entering[first]]))

    def _slack(self, model: Model) -> FloatArray:
        active = np.flatnonzero(model.coef.any(axis=1))
        decision = (self.rows.X[:, active] @ model.coef[active] + model.intercept).T
        return np.ascontiguousarray(1.0 - self.sign * decision)

    def pull(self, model: Model) -> FloatArray:
        """The penalty at which each unit's slope would let it in."""
        residual = self.sign * np.maximum(self._slack(model), 0.0)
        return self.norms((residual @ self.rows.X).T) / self.weights

    def objective(self, model: Model, C: float) -> float:
        loss = float((np.maximum(self._slack(model), 0.0) ** 2).sum())
        return C * loss + float(self.weights @ self.norms(model.coef))

    def _descend(self, working: IntArray, penalty: float, model: Model) -> Model:
        """The intercept is one more block, without a penalty."""
        columns = self.by_unit[np.isin(self.rows.unit_of[self.by_unit], working)]
        problem = WorkingSet(
            np.vstack([self.rows.X.T[columns], np.ones(self.rows.n_samples)]),
            self.sign,
            np.concatenate([[0], np.cumsum([*np.diff(self.starts)[working], 1])]).astype(np.intp),
            1.0 / np.maximum([*self.curvature[working], self.rows.n_samples], 1e-300),
            np.array([*(penalty * self.weights[working]), 0.0]),
        )
        coef = np.vstack([model.coef[columns], model.intercept])
        coef, violation = problem.solve(coef, self.tol * penalty, self.monitor)
        full = np.zeros_like(model.coef)
        full[columns] = coef[:-1]
        return Model(full, coef[-1], violation / penalty)


@dataclass(frozen=True)
class WorkingSet:
    """Minimise ½ Σ max(0, 1 − y f)² + Σ_g limit_g ‖B_g‖ over a few columns."""

    columns: FloatArray
    sign: FloatArray
    starts: IntArray
    step: FloatArray
    limit: FloatArray

    def solve(self, coef: FloatArray, tol: float, monitor: Monitor) -> tuple[FloatArray, float]:
        """Until a sweep changes no slope by more than ``tol``; and by how much the last one did."""
        cells = self.columns.size * len(self.sign)
        for done in range(1, MOST_ROUNDS + 1):
            iterates = [coef]
            for _ in range(ITERATES):
                coef, worst = self._sweep(coef, tol)
                if worst <= tol or np.array_equal(coef, iterates[-1]):  # or rounding hides more
                    return coef, worst
                iterates.append(coef)
            guess = extrapolate(iterates)
            coef = guess if self.objective(guess) < self.objective(coef) else coef
            if done * cells * ITERATES * SWEEPS_AN_ITERATE % CELLS_PER_PIECE < cells:
                monitor.tick("descending", done, MOST_ROUNDS)
        return coef, worst

    def _sweep(self, coef: FloatArray, tol: float) -> tuple[FloatArray, float]:
        coef, slack = coef.copy(), self._slack(coef)
        _, worst = descend_hinge(
            self.columns,
            self.sign,
            slack,
            coef,
            self.starts,
            self.step,
            self.limit,
            tol,
            SWEEPS_AN_ITERATE,
        )
        return coef, worst

    def _slack(self, coef: FloatArray) -> FloatArray:
        return np.ascontiguousarray(1.0 - self.sign * (coef.T @ self.columns))

    def objective(self, coef: FloatArray) -> float:
        norms = np.sqrt(np.add.reduceat((coef**2).sum(axis=1), self.starts[:-1]))
        loss = float((np.maximum(self._slack(coef), 0.0) ** 2).sum())
        return 0.5 * loss + float(self.limit @ norms)
