"""The l0-norm machine by l2-AROM (Weston et al. 2003): train, multiply the columns, train again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.svm.dual import Solver
from featsieve.procedures.svm.rows import (
    Problem,
    Rows,
    loop_result,
    one_vs_rest,
    problems_of,
    read_rows,
)
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first

SMALL = 1e-3  # of the largest factor: the unit is dropped
SETTLED = 1e-4  # no factor moves by more: the next loop would not change the answer


@dataclass(frozen=True)
class ZeroNormMachine:
    """A procedure; see :class:`featsieve.L0SVM` for the parameters."""

    C: float = 1.0
    max_iter: int = 20
    tol: float = 1e-3
    standardize: bool = True

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        assert k is not None  # only a procedure that counts by itself gets None
        rows, y = read_rows(engine, gram_matrices=4, standardize=self.standardize)
        solver = Solver(engine.monitor, self.tol)
        training = Training(problems_of(y, one_vs_rest), self.C, solver, engine.n_jobs)
        scores, left = np.zeros(rows.n_units), np.arange(rows.n_units)
        factors: FloatArray = np.ones(rows.n_units)
        trace: list[float] = []
        for loop in range(1, self.max_iter + 1):
            weights, objective = training.weights(rows, rescaled(rows, factors))
            before, factors = factors, relative(factors * weights)
            scores[left] = factors
            trace.append(objective)
            yield loop_result(best_first(scores), scores, k, trace)
            kept = surviving(factors, k)
            settled = float(np.abs(factors - relative(before)).max()) <= SETTLED
            if len(kept) <= k or settled:
                break
            rows, left, factors = rows.of_units(kept), left[kept], factors[kept]
            engine.monitor.tick("multiplying", loop, self.max_iter)
        solver.warn("L0SVM")


@dataclass(frozen=True)
class Training:
    """One linear machine per problem on columns that are multiplied by a factor per unit."""

    problems: list[Problem]
    C: float
    solver: Solver
    n_jobs: int = 1

    def weights(self, rows: Rows, factors: FloatArray) -> tuple[FloatArray, float]:
        """√Σ w² of each unit over its columns and all problems, and the objective of training."""
        scaled = rows.X * factors[rows.unit_of]
        gram = scaled @ scaled.T
        coef, objective = np.zeros((len(self.problems), rows.n_samples)), 0.0
        programs = [(gram, problem.sign) for problem in self.problems]
        duals = self.solver.soft_margins(programs, self.C, self.n_jobs)
        for at, (problem, dual) in enumerate(zip(self.problems, duals, strict=True)):
            coef[at], objective = dual.alpha * problem.sign, objective - dual.value
        return np.sqrt(rows.per_unit(((coef @ scaled) ** 2).sum(axis=0))), objective


def rescaled(rows: Rows, factors: FloatArray) -> FloatArray:
    """The mean squared length of a row stays the number of columns.

    A hard margin does not depend on this; a soft one would let all factors shrink to 0.
    """
    lengths = rows.per_unit(np.einsum("ij,ij->j", rows.X, rows.X)) / rows.n_samples
    total = float(lengths @ factors**2)
    return factors * np.sqrt(rows.n_units / total) if total > 0 else factors


def relative(factors: FloatArray) -> FloatArray:
    top = float(factors.max())
    return factors / top if top > 0 else factors


def surviving(factors: FloatArray, k: int) -> IntArray:
    """Ascending positions of the factors that are not small, k at least."""
    order = best_first(factors)
    return np.sort(order[: max(k, int((factors > SMALL).sum()))])
