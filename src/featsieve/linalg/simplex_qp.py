"""Convex quadratic programs on the simplex, to machine precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from featsieve.linalg.aliases import BoolArray, FloatArray, IntArray

MULTIPLIER_TOLERANCE = 1e-12
PROXIMITY = 1e-6
MAX_PROXIMAL_STEPS = 50
STEP_TOLERANCE = 1e-13


@dataclass(frozen=True)
class SimplexSolution:
    """The minimiser, its value, and how many changes of the active set it took."""

    weights: FloatArray
    value: float
    n_iter: int


@dataclass(frozen=True)
class _Program:
    """½ w'(VV' + D)w − b'w with D > 0: strictly convex, so an equality problem has one answer."""

    factor: FloatArray
    linear: FloatArray
    diagonal: FloatArray

    def gradient(self, weights: FloatArray) -> FloatArray:
        product: FloatArray = self.factor @ (self.factor.T @ weights)
        return product + self.diagonal * weights - self.linear

    def equality_minimizer(self, free: BoolArray) -> FloatArray:
        """The minimiser with Σw = 1 over the free variables, whatever their signs."""
        V = self.factor[free]
        Q = V @ V.T
        Q[np.diag_indices_from(Q)] += self.diagonal[free]
        solved = np.linalg.solve(Q, np.stack((self.linear[free], np.ones(len(V))), axis=1))
        multiplier = (1.0 - solved[:, 0].sum()) / solved[:, 1].sum()
        weights = np.zeros(len(self.linear))
        weights[free] = solved[:, 0] + multiplier * solved[:, 1]
        return weights

    def entering(self, weights: FloatArray, free: BoolArray) -> int | None:
        """The variable at zero whose increase lowers the value most; None at the optimum."""
        gradient = self.gradient(weights)
        drop = np.where(free, 0.0, float(weights @ gradient) - gradient)
        best = int(np.argmax(drop))
        scale = max(1.0, float(np.abs(gradient).max()))
        return best if drop[best] > MULTIPLIER_TOLERANCE * scale else None


def minimize_on_simplex(
    factor: FloatArray,
    linear: FloatArray,
    diagonal: FloatArray | None = None,
    check: Callable[[], None] = lambda: None,
) -> SimplexSolution:
    """min ½ w'(VV' + D)w − b'w subject to w ≥ 0, Σw = 1, by a primal active-set method.

    ``factor`` is V (m × r), of any rank; ``diagonal`` is D ≥ 0, none by default. Each proximal step
    adds ½ρ|w − w_before|², which makes a singular matrix regular and vanishes at the minimiser.
    ``check`` is called between two changes of the active set; it may raise.
    """
    ridge = np.zeros(len(linear)) if diagonal is None else diagonal
    curvature = np.einsum("ij,ij->i", factor, factor) + ridge
    proximity = PROXIMITY * max(float(curvature.mean()), float(np.abs(linear).max()), 1e-300)
    weights: FloatArray = np.zeros(len(linear))
    weights[int(np.argmin(0.5 * curvature - linear))] = 1.0
    n_iter = 0
    for _ in range(MAX_PROXIMAL_STEPS):
        program = _Program(factor, linear + proximity * weights, ridge + proximity)
        moved, changes = _active_set(program, weights, check)
        change = float(np.abs(moved - weights).max())
        weights, n_iter = moved, n_iter + changes
        if change <= STEP_TOLERANCE:
            break
    weights = weights / weights.sum()
    product = factor.T @ weights
    quadratic = product @ product + ridge @ weights**2
    return SimplexSolution(weights, float(0.5 * quadratic - linear @ weights), n_iter)


def _active_set(
    program: _Program, weights: FloatArray, check: Callable[[], None]
) -> tuple[FloatArray, int]:
    """Like Lawson and Hanson's least squares: one variable enters at a time."""
    free = weights > 0
    n_iter, limit = 0, 10 * len(weights) + 100
    while n_iter < limit:
        check()
        weights, free, steps = _settle(program, weights, free)
        n_iter += steps
        entering = program.entering(weights, free)
        if entering is None:
            break
        free[entering] = True
    return weights, n_iter


def _settle(
    program: _Program, weights: FloatArray, free: BoolArray
) -> tuple[FloatArray, BoolArray, int]:
    """Move to the minimiser on the free variables, giving up those that would turn negative."""
    steps = 0
    while True:
        steps += 1
        target = program.equality_minimizer(free)
        shrinking = free & (target < 0)
        if not shrinking.any():
            return target, free & (target > 0), steps
        ratios = np.full(len(weights), np.inf)
        ratios[shrinking] = weights[shrinking] / (weights[shrinking] - target[shrinking])
        step = float(ratios.min())
        weights = weights + step * (target - weights)
        free = free & (ratios > step)
        weights[~free] = 0.0


def positive_factor(Q: FloatArray) -> FloatArray:
    """V with VV' = Q after its negative eigenvalues are set to 0."""
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    kept = values > max(values.max(), 0.0) * np.finfo(np.float64).eps * len(Q)
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))


def nystrom_factor(columns: FloatArray, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
    """V and D with VV' + D ≈ Q from some of Q's columns (Nyström; Rodriguez-Lujan 2010, 3.3).

    VV' alone would make columns that were not chosen look free of redundancy with themselves. D
    gives each of them the mean diagonal entry of the chosen ones.
    """
    core = columns[chosen]
    values, vectors = np.linalg.eigh((core + core.T) / 2)
    kept = values > values.max() * 1e-10
    factor = np.ascontiguousarray(columns @ (vectors[:, kept] / np.sqrt(values[kept])))
    missing = np.diag(core).mean() - np.einsum("ij,ij->i", factor, factor)
    missing[chosen] = 0.0
    return factor, np.maximum(missing, 0.0)
