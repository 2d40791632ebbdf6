"""Block coordinate descent for the group lasso, and the factors of least angle regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.inlining import kernel


@kernel()
def descend(
    gram: Any, slope: Any, coef: Any, starts: Any, step: Any, penalty: Any, tol: float, sweeps: int
) -> int:
    """Minimise ½ tr(B'GB) − tr(B'C) + Σ_g penalty_g ‖B_g‖, block by block; returns the sweeps done.

    ``slope`` is C − GB and ``coef`` B, both changed in place; block g is the rows
    ``starts[g] … starts[g + 1]``; ``step[g]`` is one over the largest eigenvalue of G's block, so
    that a block of one row (or an orthonormal one) is minimised exactly and any other descends.
    """
    for sweep in range(sweeps):
        largest = 0.0
        for block in range(len(step)):
            first, last = starts[block], starts[block + 1]
            moved, norm = coef[first:last].copy(), 0.0
            for row in range(first, last):
                for output in range(coef.shape[1]):
                    moved[row - first, output] += step[block] * slope[row, output]
                    norm += moved[row - first, output] ** 2
            norm = np.sqrt(norm)
            threshold = step[block] * penalty[block]
            keep = 1.0 - threshold / norm if norm > threshold else 0.0
            for row in range(first, last):
                for output in range(coef.shape[1]):
                    change = keep * moved[row - first, output] - coef[row, output]
                    if change != 0.0:
                        coef[row, output] += change
                        largest = max(largest, abs(change))
                        # G is symmetric, so its row stands for its column and lies in one piece.
                        for other in range(len(slope)):
                            slope[other, output] -= gram[row, other] * change
        if largest <= tol:
            return sweep + 1
    return sweeps


@kernel(fastmath={"contract", "reassoc", "nsz"})
def append_to_factor(factor: Any, size: int, products: Any, square: float) -> float:
    """Write the Cholesky row of one more column; returns its squared pivot, 0 for a repetition.

    ``products`` are those of the column with the ``size`` columns in the factor, ``square`` its
    own.
    """
    rest = square
    for i in range(size):
        value = products[i]
        for k in range(i):
            value -= factor[i, k] * factor[size, k]
        value /= factor[i, i]
        factor[size, i] = value
        rest -= value * value
    factor[size, size] = np.sqrt(0.0 if rest < 0.0 else rest)
    return rest


@kernel(fastmath={"contract", "reassoc", "nsz"})
def solve_with_factor(factor: Any, x: Any) -> None:
    """Solve LL'x = b in place, with the leading rows of the factor."""
    for i in range(x.size):
        rest = x[i]
        for k in range(i):
            rest -= factor[i, k] * x[k]
        x[i] = rest / factor[i, i]
    for i in range(x.size - 1, -1, -1):
        x[i] /= factor[i, i]
        for k in range(i):
            x[k] -= factor[i, k] * x[i]


@kernel()
def move_to_entry(
    slope: Any, change: Any, is_free: Any, alpha: float, most: float, away: float
) -> tuple[float, int]:
    """Lower ``slope`` by ``change`` until a free column reaches alpha, by ``most`` at most.

    Alpha itself falls by 1 for each unit of length. Returns the length and the column, -1 for
    none; of ties, the first with a positive slope, else the first. A gap that closes more slowly
    than ``away`` never does.
    """
    length, entering = most, -1
    for sign in (1.0, -1.0):
        for j in range(slope.size):
            speed = 1.0 - sign * change[j]
            if is_free[j] and speed > away:
                gap = alpha - sign * slope[j]
                reach = (0.0 if gap < 0.0 else gap) / speed
                if reach < length:
                    length, entering = reach, j
    for j in range(slope.size):
        slope[j] -= length * change[j]
    return length, entering


@kernel()
def next_drop(coef: Any, columns: Any, direction: Any, has_drops: bool) -> tuple[float, int]:
    """How far along ``direction`` until a coefficient of ``columns`` is 0 again, and which."""
    length, dropped = np.inf, -1
    for i in range(columns.size if has_drops else 0):
        value, speed = coef[columns[i]], direction[i]
        if (value > 0.0 > speed or value < 0.0 < speed) and -value / speed < length:
            length, dropped = -value / speed, i
    return length, dropped
