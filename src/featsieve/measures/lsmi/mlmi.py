"""Mutual information by a density ratio (MLMI, Suzuki et al. 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.measures.base import BaseMeasure
from featsieve.measures.lsmi.basis import Rows, gaussian, weighted_distances
from featsieve.measures.lsmi.sampled import CenterRule, SampledBasis, TableRows, make_grid
from featsieve.protocols import Engine
from featsieve.runtime.ordering import best_index
from featsieve.runtime.progress import Monitor
from featsieve.runtime.seeds import random_source

Solver = Literal["em", "authors"]
_AUTHORS_STEPS = 10.0 ** np.arange(3, -4, -1)
_AUTHORS_ITERATIONS = 100
_EM_ITERATIONS = 500
_EM_TOLERANCE = 1e-6


def solve_kliep(A: FloatArray, b: FloatArray, solver: Solver) -> FloatArray:
    """α for the rows A (rows × centres) and the normaliser b."""
    return _authors_ascent(A, b) if solver == "authors" else _expectation_maximisation(A, b)


def mean_log(ratio: FloatArray) -> float:
    """Mean log ratio over the rows that some centre reaches, as the authors take it."""
    reached = ratio[ratio > 0]
    return float(np.log(reached).mean()) if len(reached) else 0.0


def _expectation_maximisation(A: FloatArray, b: FloatArray) -> FloatArray:
    """Multiplicative updates: every one gains, α stays feasible, and the limit is the maximum."""
    # Leaving the own row out can make b vanish; with it, b is at least 1/n².
    b = np.maximum(b, 1.0 / len(A) ** 2)
    alpha = np.full(len(b), 1.0 / b.sum())
    value = mean_log(A @ alpha)
    for _ in range(_EM_ITERATIONS):
        alpha = alpha * (A.T @ _inverse(A @ alpha)) / (len(A) * b)
        alpha /= b @ alpha
        last, value = value, mean_log(A @ alpha)
        if value - last <= _EM_TOLERANCE:
            break
    return alpha


def _authors_ascent(A: FloatArray, b: FloatArray) -> FloatArray:
    """Gradient ascent with steps 10³ … 10⁻³, each as long as it gains, at most 100 times.

    A step that overflows gains nothing and is not taken.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return _ascend(A, b)


def _ascend(A: FloatArray, b: FloatArray) -> FloatArray:
    alpha = _onto_constraint(np.ones(len(b)), b)
    value = mean_log(A @ alpha)
    for step in _AUTHORS_STEPS:
        for _ in range(_AUTHORS_ITERATIONS):
            moved = _onto_constraint(alpha + step * (A.T @ _inverse(A @ alpha)), b)
            gained = mean_log(A @ moved)
            if not gained > value:
                break
            alpha, value = moved, gained
    return alpha


def _onto_constraint(alpha: FloatArray, b: FloatArray) -> FloatArray:
    feasible = np.maximum(alpha + b * (1.0 - b @ alpha) / (b @ b), 0.0)
    return feasible / (b @ feasible)


def _inverse(ratio: FloatArray) -> FloatArray:
    return np.divide(1.0, ratio, out=np.zeros_like(ratio), where=ratio > 0)


class MLMI(BaseMeasure):
    """MLMI of a set of columns with the target, in nats.

    Parameters
    ----------
    n_basis, sigmas, cv, centers, scale_target, random_state
        As for :class:`featsieve.measures.LSMI`; σ is chosen by the likelihood of held-out rows.
    solver : {"em", "authors"}, default="em"
        ``"em"`` climbs to the maximum of the likelihood; ``"authors"`` is their gradient ascent,
        which can stop far below it, or in a corner where only some rows have a likelihood.
    """

    scale_ddof: ClassVar[int | None] = 1

    def __init__(
        self,
        *,
        n_basis: int = 100,
        sigmas: Any = None,
        cv: int = 5,
        centers: CenterRule | Any = "random",
        solver: Solver = "em",
        scale_target: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_basis = n_basis
        self.sigmas = sigmas
        self.cv = cv
        self.centers = centers
        self.solver = solver
        self.scale_target = scale_target
        self.random_state = random_state

    def bind(self, engine: Engine) -> BoundMLMI:
        if self.solver not in ("em", "authors"):
            raise InputError(f"solver={self.solver!r} is not known; allowed are em and authors.")
        grid = make_grid(self.sigmas, None, self.cv, self.n_basis, self.centers)
        _require_memory(engine, grid.n_basis)
        seed = random_source(self.random_state).randint(np.iinfo(np.int32).max)
        rows = TableRows(engine, scale_target=self.scale_target)
        return BoundMLMI(SampledBasis(rows, grid, int(seed)), self.solver, engine.monitor)


@dataclass(frozen=True)
class RatioFit:
    """The value, the σ it belongs to, and one α a centre (sorted by class)."""

    value: float
    sigma: float
    alpha: FloatArray


class BoundMLMI:
    """MLMI with its rows: gathered, because every iteration needs all of them."""

    def __init__(self, basis: SampledBasis, solver: Solver, monitor: Monitor) -> None:
        self.basis = basis
        self.n_units = basis.rows.n_units
        self.monitor = monitor
        self._solver: Solver = solver

    @cached_property
    def _rows(self) -> Rows:
        n = self.basis.rows.n_samples
        X, y = self.basis.rows.take(np.arange(n))
        return Rows(X, y, np.array([0, n]))

    def scores(self) -> FloatArray:
        found = []
        for unit in range(self.n_units):
            found.append(self.value([unit]))
            self.monitor.tick("measuring columns", len(found), self.n_units)
        return np.array(found)

    def value(self, subset: Sequence[int]) -> float:
        return self.fit(subset).value

    def fit(self, subset: Sequence[int]) -> RatioFit:
        weights = np.zeros(self.n_units)
        weights[list(subset)] = 1.0
        sigmas = self.basis.candidate_sigmas(weights)
        distances = weighted_distances(
            self._rows, self.basis.centers, self.basis.column_weights(weights)
        )
        bases = [self._products(distances, float(sigma)) for sigma in sigmas]
        best = 0
        if len(sigmas) > 1:
            best = best_index(np.array([self._held_out(basis) for basis in bases]))
        alpha = bases[best].solve(self._solver)
        return RatioFit(bases[best].likelihood(alpha), float(sigmas[best]), alpha)

    def _products(self, distances: FloatArray, sigma: float) -> _Products:
        centers, phi = self.basis.centers, gaussian(distances, sigma)
        psi = np.empty_like(phi)
        for group, part in enumerate(centers.slices):
            psi[:, part] = centers.psi(self._rows.y, group, sigma)
        return _Products(phi, psi)

    def _held_out(self, basis: _Products) -> float:
        """Mean held-out log-likelihood over the folds."""
        scores = []
        for fold in range(self.basis.n_folds):
            held_out = self.basis.folds == fold
            alpha = basis.rows(~held_out).solve(self._solver)
            scores.append(basis.rows(held_out).likelihood(alpha))
        return float(np.mean(scores))


@dataclass(frozen=True)
class _Products:
    """φ and ψ of some rows, rows × centres."""

    phi: FloatArray
    psi: FloatArray

    def rows(self, chosen: IntArray | FloatArray) -> _Products:
        return _Products(self.phi[chosen], self.psi[chosen])

    def solve(self, solver: Solver) -> FloatArray:
        A, n = self.phi * self.psi, len(self.phi)
        pairs = self.phi.sum(axis=0) * self.psi.sum(axis=0) - A.sum(axis=0)
        return solve_kliep(A, pairs / max(n * (n - 1), 1), solver)

    def likelihood(self, alpha: FloatArray) -> float:
        return mean_log((self.phi * self.psi) @ alpha)


def _require_memory(engine: Engine, n_basis: int) -> None:
    needed = 8 * engine.n_samples * (engine.n_features + 4 * n_basis)
    if needed > engine.memory_limit:
        raise MemoryBudgetError(
            f"MLMI needs {needed} bytes for {engine.n_samples} rows and {n_basis} centres, but "
            f"memory_limit is {engine.memory_limit}; raise it, or use LSMI, which streams."
        )
