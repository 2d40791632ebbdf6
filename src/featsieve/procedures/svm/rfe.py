"""Recursive feature elimination (Guyon et al. 2002): drop the smallest weights, train again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.svm.dual import Dual, Solver
from featsieve.procedures.svm.rows import Problem, Rows, one_vs_one, problems_of, read_rows
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first, tie_width
from featsieve.runtime.pool import ordered_map
from featsieve.searches.stepwise import elimination_result, removals_due

REBUILT_BELOW = 0.75  # share of the units left at which the Gram matrix is computed again
WORTH_A_THREAD = 2e-3  # seconds of the round before
RIDGE = 1e-9  # of the largest entry: rows on the margin may be copies of each other
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
        C, problems = self.C * rows.unit * rows.unit, problems_of(y, one_vs_one)
        machines = Machines(rows, problems, C, solver, engine.n_jobs)
        removals = Removals(np.full(rows.n_units, np.nan), k)
        while True:
            removals.record(machines.units, *machines.scores())
            positions = removals.smallest(removals_due(self.step, len(machines.units), k))
            if removals.is_due(len(positions)) or engine.monitor.remaining() <= 0:
                yield removals.answer()
            if len(machines.units) == 1:
                solver.warn("SVMRFE")
                return
            removals.remove(positions)
            machines.drop(positions)
            engine.monitor.tick("removing", len(removals.removed), rows.n_units - 1)


@dataclass(frozen=True)
class Left:
    """The units left, and the Gram matrix of their columns, which follows each removal.

    ``kept`` are the units among those of ``rows``.
    """

    units: IntArray
    rows: Rows
    kept: IntArray
    gram: FloatArray

    @classmethod
    def only(cls, units: IntArray, rows: Rows) -> Left:
        return cls(units, rows, np.arange(rows.n_units), rows.X @ rows.X.T)

    def without(self, positions: IntArray) -> Left:
        """Subtract what goes; from time to time start again, before rounding adds up."""
        units, kept = np.delete(self.units, positions), np.delete(self.kept, positions)
        if len(kept) < REBUILT_BELOW * self.rows.n_units:
            return Left.only(units, self.rows.of_units(kept))
        columns = self.rows.X[:, self.rows.columns_of(self.kept[positions])]
        return Left(units, self.rows, kept, self.gram - columns @ columns.T)


@dataclass(frozen=True)
class Round:
    """What is left, the machines that were trained on it, and how many steps they might take."""

    left: Left
    duals: list[Dual]
    limit: int


class Machines:
    """Linear machines on the units left.

    Training is one step after the other, and each removal waits for it. With several threads the
    next removals are guessed, and machines without those units are trained at the same time: a
    right guess saves a round, and a wrong one changes nothing.
    """

    def __init__(
        self, rows: Rows, problems: list[Problem], C: float, solver: Solver, n_jobs: int = 1
    ) -> None:
        self._left = Left.only(np.arange(rows.n_units), rows)
        self._problems, self._C, self._solver, self._n_jobs = problems, C, solver, n_jobs
        self._ahead: list[Round] = []
        self._last: FloatArray = np.zeros(0)  # α of the last machine
        self._seconds = 0.0  # of the last round
        self._one_by_one = False

    @property
    def units(self) -> IntArray:
        return self._left.units

    def scores(self) -> tuple[FloatArray, float]:
        """Σ w² of each unit over its columns and all problems, and the objective of training."""
        if not self._ahead or self._ahead[0].limit != self._solver.limit:
            self._ahead = self._trained()
        now = self._ahead.pop(0)
        self._solver.record(now.duals)
        rows = now.left.rows
        coef = np.zeros((len(self._problems), rows.n_samples))
        for at, (problem, dual) in enumerate(zip(self._problems, now.duals, strict=True)):
            coef[at, problem.rows] = dual.alpha * problem.sign
        scores = rows.per_unit(((coef @ rows.X) ** 2).sum(axis=0))[now.left.kept]
        self._last = now.duals[0].alpha
        return scores, -float(sum(dual.value for dual in now.duals))

    def drop(self, positions: IntArray) -> None:
        units = np.delete(self.units, positions)
        if self._ahead and np.array_equal(self._ahead[0].left.units, units):
            self._left = self._ahead[0].left
        else:
            self._ahead, self._left = [], self._left.without(positions)
        self._one_by_one = len(positions) == 1

    def _trained(self) -> list[Round]:
        """Machines on what is left and, on other threads, on what may be left after it."""
        started = perf_counter()
        guesses, alpha = [self._left], self._last
        while len(guesses) < min(self._n_guesses, len(self.units)):
            alpha, scores = self._foreseen(guesses[-1], alpha)
            guesses.append(guesses[-1].without(np.array([np.argmin(scores)])))
        programs = [(left, problem) for left in guesses for problem in self._problems]
        n_jobs = 1 if self._seconds < WORTH_A_THREAD else self._n_jobs
        duals = list(ordered_map(lambda program: self._train(*program), programs, n_jobs))
        self._seconds = perf_counter() - started
        width = len(self._problems)
        return [
            Round(left, duals[at * width : (at + 1) * width], self._solver.limit)
            for at, left in enumerate(guesses)
        ]

    @property
    def _n_guesses(self) -> int:
        is_worth_it = self._one_by_one and self._seconds >= WORTH_A_THREAD
        return self._n_jobs if is_worth_it and len(self._problems) == 1 else 1

    def _foreseen(self, left: Left, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What α and the scores may become."""
        (problem,) = self._problems
        if np.count_nonzero((alpha > 0) & (alpha < self._C)) < len(left.kept):
            K = left.gram[np.ix_(problem.rows, problem.rows)]
            alpha = on_the_same_margin(K, problem.sign, alpha, self._C)
        squares = ((alpha * problem.sign) @ left.rows.X[problem.rows]) ** 2
        return alpha, left.rows.per_unit(squares)[left.kept]

    def _train(self, left: Left, problem: Problem) -> Dual:
        K = left.gram[np.ix_(problem.rows, problem.rows)]
        return self._solver.soft_margin(K, problem.sign, self._C)


def on_the_same_margin(K: FloatArray, sign: FloatArray, alpha: FloatArray, C: float) -> FloatArray:
    """α for another kernel, if the rows on the margin and those beyond it stay the same.

    Rows inside the bounds lie on the margin: Σ_j K_ij s_j α_j + b = s_i, with Σ_j s_j α_j = 0.
    """
    free = np.flatnonzero((alpha > 0) & (alpha < C))
    coef = np.where(alpha >= C, C, 0.0) * sign
    system = np.ones((len(free) + 1, len(free) + 1))
    system[:-1, :-1], system[-1, -1] = K[np.ix_(free, free)], 0.0
    system[np.diag_indices(len(free))] += RIDGE * (float(K.diagonal().max()) or 1.0)
    right_side = np.append(sign[free] - K[free] @ coef, -coef.sum())
    coef[free] = np.linalg.solve(system, right_side)[:-1]
    return np.asarray(coef * sign)


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
        result = elimination_result(
            self.units, self.removed, self.scores, self.k, self.objective, self.trace
        )
        return result.with_extras({"n_iter": len(self.trace)})
