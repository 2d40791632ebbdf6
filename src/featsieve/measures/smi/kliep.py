"""KLIEP: maximum likelihood for a density ratio α'φ with b'α = 1, α ≥ 0 (Suzuki et al. 2008)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from featsieve.schema import FloatArray

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
