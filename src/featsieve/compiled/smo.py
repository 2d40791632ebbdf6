"""Sequential minimal optimisation of the dual of a support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.inlining import called_by_kernels, kernel

FLAT = 1e-12  # a direction without curvature counts as one with this much


@kernel()
def optimise_pairs(
    Q: Any, diagonal: Any, sign: Any, bound: float, alpha: Any, slope: Any, tol: float, steps: int
) -> Any:
    """Minimise ½ α'Qα + b'α over 0 ≤ α ≤ bound with Σ sign·α fixed; returns (steps done, gap).

    ``alpha`` is feasible and ``slope`` is Qα + b; both are changed in place. A step moves the pair
    that violates the conditions of a minimum most, by the second-order rule of Fan, Chen and Lin
    (2005); of equals the last row is taken. The rule and the end (a violation below ``tol``) are
    those of libsvm, so that both walk the same way.
    """
    gap = np.inf
    for done in range(steps):
        i, j, gap = _worst_pair(Q, diagonal, sign, bound, alpha, slope, tol)
        if j < 0:
            return done, gap
        moved_i, moved_j = _moved_pair(Q, diagonal, sign, bound, alpha, slope, i, j)
        change_i, change_j = moved_i - alpha[i], moved_j - alpha[j]
        alpha[i], alpha[j] = moved_i, moved_j
        if change_i == 0.0 and change_j == 0.0:  # below the rounding of alpha: no better answer
            return done, gap
        row_i, row_j = Q[i], Q[j]
        for row in range(len(slope)):
            slope[row] += row_i[row] * change_i + row_j[row] * change_j
    return steps, gap


@called_by_kernels()
def _worst_pair(
    Q: Any, diagonal: Any, sign: Any, bound: float, alpha: Any, slope: Any, tol: float
) -> Any:
    """The pair to move, and the violation; the second is −1 at the end."""
    n = len(alpha)
    first, top = -1, -np.inf
    for row in range(n):
        side, value = sign[row], -sign[row] * slope[row]
        can_rise = alpha[row] < bound if side > 0 else alpha[row] > 0
        if can_rise and value >= top:
            first, top = row, value
    if first < 0:
        return first, -1, 0.0
    second, best, bottom = -1, np.inf, np.inf
    row_first = Q[first]
    for row in range(n):
        can_fall = alpha[row] > 0 if sign[row] > 0 else alpha[row] < bound
        if can_fall:
            value = -sign[row] * slope[row]
            bottom = value if value < bottom else bottom
            rise = top - value
            if rise > 0:
                curvature = diagonal[first] + diagonal[row]
                curvature -= 2.0 * sign[first] * sign[row] * row_first[row]
                gain = -(rise * rise) / (curvature if curvature > 0 else FLAT)
                if gain <= best:
                    second, best = row, gain
    gap = top - bottom
    return (first, second, gap) if gap >= tol else (first, -1, gap)


@called_by_kernels()
def _moved_pair(
    Q: Any, diagonal: Any, sign: Any, bound: float, alpha: Any, slope: Any, i: int, j: int
) -> tuple[float, float]:
    """At the minimum along the line that keeps Σ sign·α, within the box."""
    a, b = alpha[i], alpha[j]
    same = sign[i] == sign[j]
    product = -Q[i, j] if same else Q[i, j]
    curvature = diagonal[i] + diagonal[j] + 2.0 * product
    if curvature <= 0:
        curvature = FLAT
    if same:
        total = a + b
        delta = (slope[i] - slope[j]) / curvature
        low, high = total - bound if total > bound else 0.0, total if total < bound else bound
        a = _clipped(a - delta, low, high)
        b = total - a
    else:
        difference = a - b
        delta = (-slope[i] - slope[j]) / curvature
        low, high = (difference, bound) if difference > 0 else (0.0, bound + difference)
        a = _clipped(a + delta, low, high)
        b = a - difference
    # Rounding must not leave a number next to its bound: it would count as free.
    return _clipped(a, 0.0, bound), _clipped(b, 0.0, bound)


# Comparisons instead of min and max: each of those is a function to compile.
@called_by_kernels()
def _clipped(value: float, low: float, high: float) -> float:
    value = low if value < low else value
    return high if value > high else value
