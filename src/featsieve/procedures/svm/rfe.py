"""Recursive feature elimination (Guyon et al. 2002): drop the smallest weights, train again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.svm.dual import Solver
from featsieve.procedures.svm.rows import Problem, Rows, one_vs_one, problems_of, read_rows
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first, tie_width
from featsieve.searches.stepwise import round_size

REBUILT_BELOW = 0.75  # share of the units left at which the Gram matrix is computed again
ANSWERS = 32  # complete answers on the way: each costs a sort of the units left


@dataclass(frozen=True)
class RecursiveElimination:
    """A procedure; see :class:`featsieve.SVMRFE` for the parameters."""

    C: float = 1.0
    step: float = 1
    tol: float = 1e-3
    standardize: bool = True

    nesting: ClassVar[Nesting] = "shrinking"

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        assert k is not None  # only a procedure that counts by itself gets None
        rows, y = read_rows(engine, gram_matrices=4, standardize=self.standardize)
        solver = Solver(engine.monitor, self.tol)
        machines = Machines(
            rows, problems_of(y, one_vs_one), self.C * rows.unit * rows.unit, solver
        )
        removals = Removals(np.full(rows.n_units, np.nan), k)
        while True:
            removals.record(machines.units, *machines.scores())
            positions = removals.smallest(self._size(len(machines.units), k))
            if removals.is_due(len(positions)) or engine.monitor.remaining() <= 0:
                yield removals.answer()
            if len(machines.units) == 1:
                solver.warn("SVMRFE")
                return
            removals.remove(positions)
            machines.drop(positions)
            engine.monitor.tick("removing", len(removals.removed), rows.n_units - 1)

    def _size(self, current: int, k: int) -> int:
        """A full round above k, ending at k exactly; one by one below, for the order."""
        return min(round_size(self.step, current), current - k) if current > k else 1


class Machines:
    """Linear machines on the units left; the Gram matrix follows each removal."""

    def __init__(self, rows: Rows, problems: list[Problem], C: float, solver: Solver) -> None:
        self.units: IntArray = np.arange(rows.n_units)
        self._problems, self._C, self._solver = problems, C, solver
        self._rebuild(rows)

    def _rebuild(self, rows: Rows) -> None:
        self._rows, self._left = rows, np.arange(rows.n_units)
        self._gram = rows.X @ rows.X.T

    def scores(self) -> tuple[FloatArray, float]:
        """Σ w² of each unit over its columns and all problems, and the objective of training."""
        coef, objective = np.zeros((len(self._problems), self._rows.n_samples)), 0.0
        for at, problem in enumerate(self._problems):
            K = self._gram[np.ix_(problem.rows, problem.rows)]
            dual = self._solver.soft_margin(K, problem.sign, self._C)
            coef[at, problem.rows] = dual.alpha * problem.sign
            objective -= dual.value
        squares = ((coef @ self._rows.X) ** 2).sum(axis=0)
        return self._rows.per_unit(squares)[self._left], objective

    def drop(self, positions: IntArray) -> None:
        """Subtract what goes; from time to time start again, before rounding adds up."""
        gone = self._rows.columns_of(self._left[positions])
        self.units = np.delete(self.units, positions)
        self._left = np.delete(self._left, positions)
        if len(self._left) < REBUILT_BELOW * self._rows.n_units:
            self._rebuild(self._rows.of_units(self._left))
        else:
            columns = self._rows.X[:, gone]
            self._gram -= columns @ columns.T


@dataclass
class Removals:
    """What is left with its last scores, and what went, first removed first."""

    scores: FloatArray
    k: int
    units: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    removed: list[int] = field(default_factory=list)
    trace: list[float] = field(default_factory=list)
    objective: float | None = None

    def record(self, units: IntArray, scores: FloatArray, objective: float) -> None:
        self.units, self.scores[units] = units, scores
        self.trace.append(objective)
        if len(units) == self.k:
            self.objective = objective

    def smallest(self, size: int) -> IntArray:
        """Positions of the smallest scores; of equals the last goes first."""
        scores = self.scores[self.units]
        if size > 1:
            return best_first(scores)[::-1][:size]
        bottom = float(scores.min())
        return np.flatnonzero(scores <= bottom + tie_width(bottom))[-1:]

    def remove(self, positions: IntArray) -> None:
        self.removed += self.units[positions].tolist()

    def is_due(self, size: int) -> bool:
        """Whether to hand out an answer before the next round removes ``size``."""
        total = len(self.scores)
        done = len(self.removed)
        few_left = len(self.units) <= max(self.k, 1)
        return few_left or done == 0 or done * ANSWERS // total != (done + size) * ANSWERS // total

    def answer(self) -> SelectionResult:
        ranked = self.units[best_first(self.scores[self.units])]
        order = np.array([*ranked.tolist(), *reversed(self.removed)], dtype=np.intp)
        return SelectionResult(
            order[: self.k],
            self.scores.copy(),
            objective=self.objective,
            order=order,
            path=tuple(self.removed),
            trace=tuple(self.trace),
            extras={"n_iter": len(self.trace)},
        )
