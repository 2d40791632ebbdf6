"""Continuation in the penalty: from many rows to exactly k units, by warm starts and bisection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.linalg.block_norms import BlockPenalty, RowBlocks
from featsieve.linalg.proximal import Solution, minimize_proximal
from featsieve.linalg.two_metric import minimize_two_metric
from featsieve.protocols import Bound, HasMatrixGradient
from featsieve.runtime.ordering import best_first, first_of_copies

NEGLIGIBLE = 0.01  # P-L1INF section 6: a row below this is dropped; here, of the largest
_SOLVERS = {"proximal": minimize_proximal, "two-metric": minimize_two_metric}
_FIRST_SHARE = 0.03  # of criterion over norms: a penalty that hardly binds
_ROUNDING = 1e-12  # of a criterion of order one
_GROWTH = 1.5
_FAST_GROWTH = 2.5  # while far more units than wanted are left
_LOWERING = 1.0 / 16.0
_WEAKEST = 0.01  # of the first penalty
_NARROW = 1.0 + 1e-4  # a bracket of penalties in which the number of units jumps
_NARROW_FAR = 1.02  # the same while the number is far from k
_KEPT_SHARE = 0.7
_MOST_STEPS = 80
_MOST_LOWERINGS = 20
_ROUGH_TOLERANCE = 1e-3
_FAR = 1e4  # times the first start: where a bounded criterion has all but reached its bound
_ROUGH_ITERATIONS = 50


class BoundMatrix(Bound, HasMatrixGradient, Protocol):
    """A bound measure with a value and a gradient for W."""


@dataclass(frozen=True)
class PenaltyStep:
    """One penalty λ that was tried: the size ‖w_u‖ of each unit, and how well it was solved."""

    penalty: float
    sizes: FloatArray
    value: float
    objective: float
    residual: float
    converged: bool
    n_iter: int


@dataclass(frozen=True)
class Stage:
    """A step of the path with its matrix; ``units`` are those it was restricted to, if it was."""

    step: PenaltyStep
    W: FloatArray
    units: tuple[int, ...] | None = None

    @property
    def objective(self) -> float:
        return self.step.objective

    @property
    def support(self) -> list[int]:
        """Units that count: those it was restricted to, else all of a hundredth of the largest."""
        if self.units is not None:
            return list(self.units)
        sizes = self.step.sizes
        largest = float(sizes.max(initial=0.0))
        return np.flatnonzero((sizes > 0.0) & (sizes >= NEGLIGIBLE * largest)).tolist()

    @property
    def size(self) -> int:
        return len(self.support)

    def best_first(self) -> list[int]:
        """The units that count, from the largest to the smallest."""
        units = sorted(self.support)
        order = best_first(self.step.sizes[units])
        return [units[position] for position in order]


_SAME_SLOPES = 1e-9  # of a row: those of copies differ by rounding
_TOO_FLAT = 1e-3  # of the largest row: what is left may be rounding


@dataclass(frozen=True)
class CopiedRows:
    """Rows of W that belong to copies, those of the first of their kind, and their signs.

    XW sees only the sum of the rows of equal columns, and no penalty is larger when the first has
    all of it; how they would share it, rounding decides.
    """

    rows: IntArray
    first: IntArray
    signs: FloatArray

    @classmethod
    def of(cls, slopes: FloatArray, owner: IntArray) -> CopiedRows:
        """``slopes`` of the criterion by the rows; those of copies are equal but for the sign."""
        runs = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner))[:-1])
        length = np.linalg.norm(slopes, axis=1)
        steep = length > _TOO_FLAT * length.max(initial=0.0)

        def sign(a: int, b: int) -> float:
            if len(runs[a]) != len(runs[b]) or not steep[runs[a]].all():
                return 0.0
            here, there = slopes[runs[a]], slopes[runs[b]]
            sign = float(np.sign((here * there).sum()))
            gap = np.linalg.norm(here - sign * there, axis=1)
            return sign if (gap <= _SAME_SLOPES * length[runs[a]]).all() else 0.0

        key = np.array([length[run].sum() for run in runs])
        key /= key.max(initial=0.0) or 1.0
        first = first_of_copies(key, lambda a, b: sign(a, b) != 0.0, _SAME_SLOPES)
        pairs = [(unit, int(first[unit])) for unit in range(len(runs)) if first[unit] != unit]
        rows = [runs[unit] for unit, _ in pairs]
        signs = [np.full(len(runs[a]), sign(b, a)) for a, b in pairs]
        none: IntArray = np.array([], dtype=np.intp)
        return cls(
            np.concatenate([none, *rows]),
            np.concatenate([none, *(runs[b] for _, b in pairs)]),
            np.concatenate([np.array([]), *signs]),
        )

    def on_first(self, W: FloatArray, among: IntArray | None = None) -> FloatArray:
        """The same XW from rows of the first of each kind, where these are ``among`` the rows."""
        if not len(self.rows):
            return W
        chosen = np.full(len(self.rows), True) if among is None else np.isin(self.first, among)
        rows, W = self.rows[chosen], W.copy()
        moved = self.signs[chosen, None] * W[rows]
        W[rows] = 0.0
        np.add.at(W, self.first[chosen], moved)
        return W


GRACE = 0.3  # seconds: a solver ends by itself between two of its steps, if these are short


class PenalizedRows:
    """The criterion of a bound measure with a penalty on the rows of each unit."""

    def __init__(
        self, bound: BoundMatrix, owner: IntArray, p: float, solver: str, max_iter: int, tol: float
    ) -> None:
        self.owner = owner
        self.tol = tol
        self.n_evaluations = 0
        self._bound, self._p = bound, p
        self._solve, self._max_iter = _SOLVERS[solver], max_iter
        self._first: tuple[float, float, int] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.owner)

    def smooth(self, W: FloatArray) -> tuple[float, FloatArray]:
        """What is minimised before the penalty: −criterion."""
        self._bound.monitor.check(GRACE)
        value, gradient = self._bound.value_and_gradient_matrix(W)
        self.n_evaluations += 1
        return -float(value), -np.asarray(gradient)

    def penalty(self, weight: float) -> BlockPenalty:
        return BlockPenalty(RowBlocks(self.owner), self._p, weight)

    def pulls(self, W: FloatArray) -> FloatArray:
        """The dual norm of the criterion's slope, one per unit."""
        return self.penalty(1.0).dual_sizes(self.smooth(W)[1])

    def solve(self, W: FloatArray, weight: float, *, roughly: bool) -> Stage:
        """At one penalty; ``roughly`` is enough for a warm start."""
        penalty = self.penalty(weight)
        solution = self._solve(self.smooth, W, penalty, **self._limits(roughly))
        full = self._copies.on_first(solution.W)
        return _stage(solution, penalty.sizes(full), weight, full)

    def _limits(self, roughly: bool) -> dict[str, Any]:
        return {
            "tol": max(self.tol, _ROUGH_TOLERANCE) if roughly else self.tol,
            "max_iter": min(self._max_iter, _ROUGH_ITERATIONS) if roughly else self._max_iter,
            "expired": self._expired,
        }

    def solve_from(self, W: FloatArray) -> Stage:
        """At the first penalty, which is the same for all starts."""
        if self._first is None:
            self._first = self._first_weight(W), float(np.linalg.norm(W)), W.shape[1]
        return self.solve(W, self._first[0], roughly=True)

    def grows_without_bound(self, W: FloatArray) -> bool:
        """Whether the criterion outgrows every penalty along W: no minimiser exists then."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # so far out
            near, far = (-self.smooth(factor * W)[0] for factor in (_FAR, _FAR**2))
        return near > 0.0 and far >= _FAR * near

    def _first_weight(self, W: FloatArray) -> float:
        value, gradient = self.smooth(W)
        penalty = self.penalty(1.0)
        by_value = abs(value) / max(penalty.value(W), np.finfo(np.float64).tiny)
        by_slope = float(penalty.dual_sizes(gradient).max(initial=0.0))
        if by_slope == 0.0 and by_value <= _ROUNDING:  # no column plays a part
            return _FIRST_SHARE
        return _FIRST_SHARE * max(by_value, 0.1 * by_slope)

    def as_large_as(self, W: FloatArray) -> FloatArray:
        """W with the length of the first start, which the tuning belongs to."""
        assert self._first is not None
        return W * (self._first[1] / float(np.linalg.norm(W)))

    def solve_on(self, units: list[int], stage: Stage, *, roughly: bool = False) -> Stage:
        """With all rows of other units held at zero, at the largest tried penalty that keeps all.

        It begins at the stage's own penalty, and ends there if no penalty keeps all.
        """
        rows = np.flatnonzero(np.isin(self.owner, units))
        weight, W = stage.step.penalty, _revived(stage.W, rows)
        first = weight
        for _ in range(_MOST_LOWERINGS):
            stage = self._solve_rows(rows, W, weight, True)
            if np.count_nonzero(stage.step.sizes) >= len(units) or self._expired():
                break
            weight /= _GROWTH
        else:
            weight = first
            stage = self._solve_rows(rows, W, weight, True)
        if not roughly:
            stage = self._solve_rows(rows, stage.W, weight, False)
        return replace(stage, units=tuple(units))

    def _solve_rows(self, rows: IntArray, W: FloatArray, weight: float, roughly: bool) -> Stage:
        def smooth(part: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.smooth(_filled(part, rows, W))
            return value, gradient[rows]

        owner = np.unique(self.owner[rows], return_inverse=True)[1].astype(np.intp)
        penalty = BlockPenalty(RowBlocks(owner), self._p, weight)
        solution = self._solve(smooth, W[rows], penalty, **self._limits(roughly))
        full = self._copies.on_first(_filled(solution.W, rows, W), rows)
        return _stage(solution, self.penalty(1.0).sizes(full), weight, full)

    @cached_property
    def _copies(self) -> CopiedRows:
        """Found by the slopes at two W's of the size of the first start."""
        assert self._first is not None
        draws = np.random.default_rng(0).standard_normal((2, self.n_rows, self._first[2]))
        slopes = [self.smooth(self.as_large_as(W))[1] for W in draws]
        return CopiedRows.of(np.concatenate(slopes, axis=1), self.owner)

    def _expired(self) -> bool:
        return self._bound.monitor.remaining() <= 0


def _filled(part: FloatArray, rows: IntArray, like: FloatArray) -> FloatArray:
    full = np.zeros_like(like)
    full[rows] = part
    return full


def _revived(W: FloatArray, rows: IntArray) -> FloatArray:
    """Rows that are wanted but zero start small, so that they can move.

    Their entries differ: equal ones could be a saddle, which rounding alone decides how to leave.
    """
    W = W.copy()
    empty = rows[~W[rows].any(axis=1)]
    signs = np.random.default_rng(0).uniform(-1.0, 1.0, (len(empty), W.shape[1]))
    W[empty] = 0.1 * np.abs(W).max() * signs
    return W


def _stage(solution: Solution, sizes: FloatArray, weight: float, W: FloatArray) -> Stage:
    step = PenaltyStep(
        weight,
        sizes,
        -solution.point.smooth,
        solution.point.objective,
        solution.residual,
        solution.converged,
        solution.n_iter,
    )
    return Stage(step, W)


class Continuation:
    """The search for the penalty at which exactly k units remain."""

    def __init__(self, rows: PenalizedRows, k: int) -> None:
        self._rows, self._k = rows, k
        self.steps: list[PenaltyStep] = []
        self._low: Stage | None = None  # more than k units
        self._high: float | None = None  # a penalty with fewer

    def stages(self, stage: Stage) -> Iterator[Stage]:
        """Every stage on the way, the last of them solved to the full tolerance."""
        start = stage.W
        self._noted(stage)
        for roughly in (True, False):
            if not roughly:
                stage = self._rows.solve(stage.W, stage.step.penalty, roughly=False)
                yield self._noted(stage)
            while stage.size != self._k and len(self.steps) < _MOST_STEPS:
                weight = self._next_penalty(stage)
                if weight is None:
                    break
                warm = start if self._low is None else self._low.W
                stage = self._rows.solve(warm, weight, roughly=roughly)
                yield self._noted(stage)
        if stage.size < self._k:
            stage = self._low or self._filled_up(stage)
            yield self._noted(stage)
        while stage.size > self._k:
            stage = self._without_weakest(stage)
            yield self._noted(stage)

    def _filled_up(self, stage: Stage) -> Stage:
        """Units below a hundredth of the largest as well, then those at zero that pull the most.

        At a solution the pull of a unit at zero stays below the penalty; the stronger it is, the
        sooner the unit would enter.
        """
        sizes, pulls = stage.step.sizes, self._rows.pulls(stage.W)
        units = [unit for unit in best_first(sizes).tolist() if sizes[unit] > 0.0]
        units += [unit for unit in best_first(pulls).tolist() if pulls[unit] > 0.0 == sizes[unit]]
        units = units[: self._k]
        return self._rows.solve_on(units, stage) if len(units) > stage.size else stage

    def _noted(self, stage: Stage) -> Stage:
        self.steps.append(stage.step)
        return stage

    def _next_penalty(self, stage: Stage) -> float | None:
        """Larger, smaller or between; None where the number of units jumps over k."""
        weight = stage.step.penalty
        if stage.size > self._k:
            self._low = stage
        else:
            self._high = weight
        if self._low is None:
            too_weak = weight <= _WEAKEST * self.steps[0].penalty
            has_weights = np.count_nonzero(stage.step.sizes) >= self._k
            return None if too_weak or has_weights else weight * _LOWERING
        if self._high is None:
            return weight * (_FAST_GROWTH if stage.size > 4 * self._k else _GROWTH)
        low = self._low.step.penalty
        narrow = _NARROW if self._low.size <= 2 * self._k else _NARROW_FAR
        return None if self._high < low * narrow else float(np.sqrt(low * self._high))

    def _without_weakest(self, stage: Stage) -> Stage:
        """Many units go at once while there are many; the last ones go one by one."""
        size = max(self._k, int(_KEPT_SHARE * stage.size))
        kept = stage.best_first()[: size if size > 2 * self._k else stage.size - 1]
        return self._rows.solve_on(kept, stage, roughly=len(kept) > self._k)

    def order(self) -> IntArray:
        """Units by the largest penalty that they survived, then by their size there."""
        lifetime, size = (np.zeros(len(self.steps[0].sizes)) for _ in range(2))
        for step in sorted(self.steps, key=lambda step: step.penalty):
            alive = step.sizes > NEGLIGIBLE * step.sizes.max()
            lifetime[alive], size[alive] = step.penalty, step.sizes[alive]
        groups = (np.flatnonzero(lifetime == value) for value in np.unique(lifetime)[::-1])
        return np.concatenate([group[best_first(size[group])] for group in groups])
