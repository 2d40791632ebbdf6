"""Mixture weights of maximum likelihood, by Newton steps.

Maximise Σ_i share_i log Σ_j x_j L_ji over weights x ≥ 0 that sum to 1. The problem is concave, so
the largest gain of a component says how far the maximum can be: f* − f ≤ max_j gain_j − 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.inlining import called_by_kernels, kernel, part_of_kernel

# Loops instead of array expressions, which would double the time to compile.
_HOW: dict[str, Any] = {"fastmath": {"contract", "reassoc", "nsz"}}
_RIDGE = 1e-13  # of the diagonal: neighbouring components can be equal up to rounding
_NO_GAIN = 1e-12
_SUFFICIENT_GAIN = 1e-4
_HALVINGS = 40
_SWEEPS = 10
_SOLVES_PER_COMPONENT = 6  # no more than twice was seen


@called_by_kernels(**_HOW)
def _mix(L: Any, x: Any, mixture: Any) -> None:
    """mixture = x L; ``L`` has one row per component."""
    for i in range(mixture.size):
        mixture[i] = 0.0
    for j in range(x.size):
        if x[j] > 0.0:
            weight, row = x[j], L[j]
            for i in range(mixture.size):
                mixture[i] += weight * row[i]


@called_by_kernels(**_HOW)
def _gains(L: Any, share: Any, mixture: Any, out: Any) -> None:
    """Σ_i share_i L_ji / mixture_i: the derivative for the weight of each component."""
    ratio = np.empty(share.size)
    for i in range(share.size):
        ratio[i] = share[i] / mixture[i] if share[i] > 0.0 else 0.0
    for j in range(out.size):
        row, total = L[j], 0.0
        for i in range(ratio.size):
            total += row[i] * ratio[i]
        out[j] = total


@called_by_kernels(**_HOW)
def _log_likelihood(share: Any, mixture: Any) -> float:
    total = 0.0
    for i in range(mixture.size):
        if share[i] > 0.0:
            if not mixture[i] > 0.0:
                return -np.inf
            total += share[i] * np.log(mixture[i])
    return total


@called_by_kernels(**_HOW)
def _curvature(L: Any, chosen: Any, factor: Any) -> Any:
    """H_ab = Σ_i L_ai L_bi factor_i² of the chosen components.

    Two rows meet two rows at a time, so that every number that is read is used twice.
    """
    n, m = factor.size, chosen.size
    scaled, H = np.empty((m, n)), np.empty((m, m))
    for a in range(m):
        row = L[chosen[a]]
        for i in range(n):
            scaled[a, i] = row[i] * factor[i]
    for a in range(0, m, 2):
        a2 = min(a + 1, m - 1)
        p, q = scaled[a], scaled[a2]
        for b in range(a, m, 2):
            b2 = min(b + 1, m - 1)
            r, s = scaled[b], scaled[b2]
            pr, ps, qr, qs = 0.0, 0.0, 0.0, 0.0
            for i in range(n):
                pr += p[i] * r[i]
                ps += p[i] * s[i]
                qr += q[i] * r[i]
                qs += q[i] * s[i]
            H[a2, b2] = H[b2, a2] = qs
            H[a2, b] = H[b, a2] = qr
            H[a, b2] = H[b2, a] = ps
            H[a, b] = H[b, a] = pr
    for a in range(m):
        H[a, a] *= 1.0 + _RIDGE
    return H


@part_of_kernel
def _true_indices(flags: Any) -> Any:
    count = 0
    for flag in flags:
        count += flag
    indices, count = np.empty(count, np.int64), 0
    for j in range(flags.size):
        if flags[j]:
            indices[count] = j
            count += 1
    return indices


@called_by_kernels(**_HOW)
def _solve_on(H: Any, c: Any, free: Any, z: Any) -> None:
    """H z = c on the free components and 0 elsewhere, by Cholesky."""
    members = _true_indices(free)
    m = members.size
    U, y = np.empty((m, m)), np.empty(m)
    for a in range(m):
        for b in range(a + 1):
            rest = H[members[a], members[b]]
            for k in range(b):
                rest -= U[a, k] * U[b, k]
            if a == b:
                U[a, a] = np.sqrt(max(rest, _RIDGE * H[members[a], members[a]]))
            else:
                U[a, b] = rest / U[b, b]
        rest = c[members[a]]
        for k in range(a):
            rest -= U[a, k] * y[k]
        y[a] = rest / U[a, a]
    for j in range(z.size):
        z[j] = 0.0
    for a in range(m - 1, -1, -1):
        rest = y[a]
        for k in range(a + 1, m):
            rest -= U[k, a] * y[k]
        y[a] = rest / U[a, a]
        z[members[a]] = y[a]


@part_of_kernel
def _walk(x: Any, z: Any, free: Any) -> bool:
    """From x towards z until a component reaches 0 and is fixed there; False when z is reached."""
    reach, blocking = 1.0, -1
    for j in range(x.size):
        if free[j] and z[j] <= 0.0:
            share = x[j] / (x[j] - z[j]) if x[j] > z[j] else 0.0
            if share < reach or blocking < 0:
                reach, blocking = share, j
    for j in range(x.size):
        x[j] = max(x[j] + reach * (z[j] - x[j]), 0.0)
    if blocking >= 0:
        free[blocking], x[blocking] = False, 0.0
    return blocking >= 0


@part_of_kernel
def _entering(H: Any, c: Any, x: Any, free: Any) -> int:
    """The fixed component that gains most by being freed, −1 if none gains."""
    largest, entering = _NO_GAIN, -1
    for j in range(x.size):
        if not free[j]:
            gain = c[j]
            for k in range(x.size):
                gain -= H[j, k] * x[k]
            if gain > largest:
                largest, entering = gain, j
    return entering


@part_of_kernel
def _nonnegative_minimum(H: Any, c: Any, start: Any) -> Any:
    """argmin ½z'Hz − c'z over z ≥ 0, from a feasible start (Lawson and Hanson's active set).

    Sweeps of coordinate descent first: they bring most of the components that end at 0 there for
    much less than a system of equations each.
    """
    x, z, free = start.copy(), np.empty(start.size), np.empty(start.size, np.bool_)
    for _ in range(_SWEEPS):
        for j in range(x.size):
            gain, row = c[j], H[j]
            for k in range(x.size):
                gain -= row[k] * x[k]
            x[j] = max(x[j] + gain / row[j], 0.0)
    for j in range(x.size):
        free[j] = x[j] > 0.0
    for _ in range(_SOLVES_PER_COMPONENT * x.size):
        _solve_on(H, c, free, z)
        if not _walk(x, z, free):
            entering = _entering(H, c, x, free)
            if entering < 0:
                break
            free[entering] = True
    return x


@part_of_kernel
def _newton_target(L: Any, share: Any, x: Any, mixture: Any, gains: Any, gap: float) -> Any:
    """The maximum of the quadratic model over x ≥ 0, among promising components.

    Those have a weight, or at least half of the largest gain. The sum is free: at the maximum of
    f(x) − Σ x_j it is 1 by itself, and that function's model is −½z'Hz + (2 gains − 1)'z.
    """
    promising, factor = np.empty(x.size, np.bool_), np.empty(share.size)
    for j in range(x.size):
        promising[j] = x[j] > 0.0 or gains[j] - 1.0 > 0.5 * gap
    for i in range(share.size):
        factor[i] = np.sqrt(share[i]) / mixture[i] if share[i] > 0.0 else 0.0
    chosen = _true_indices(promising)
    c, start, z = np.empty(chosen.size), np.empty(chosen.size), np.zeros(x.size)
    for a in range(chosen.size):
        c[a], start[a] = 2.0 * gains[chosen[a]] - 1.0, x[chosen[a]]
    best = _nonnegative_minimum(_curvature(L, chosen, factor), c, start)
    for a in range(chosen.size):
        z[chosen[a]] = best[a]
    return z


@part_of_kernel
def _climb(L: Any, share: Any, x: Any, z: Any, mixture: Any, gains: Any) -> bool:
    """Move x towards z, half as far again and again until the likelihood gains; False if never."""
    trial, moved = np.empty(x.size), np.empty(share.size)
    value, slope, length = _log_likelihood(share, mixture), 0.0, 1.0
    for j in range(x.size):
        slope += (gains[j] - 1.0) * (z[j] - x[j])
    for _ in range(_HALVINGS):
        for j in range(x.size):
            trial[j] = x[j] + length * (z[j] - x[j])
        total = 0.0
        for j in range(x.size):
            total += trial[j]
        for j in range(x.size):
            trial[j] /= total
        _mix(L, trial, moved)
        if _log_likelihood(share, moved) > value + _SUFFICIENT_GAIN * length * slope:
            for j in range(x.size):
                x[j] = trial[j]
            for i in range(share.size):
                mixture[i] = moved[i]
            return True
        length *= 0.5
    return False


@kernel(**_HOW)
def maximise_mixture(L: Any, share: Any, x: Any, tol: float, max_iter: int) -> float:
    """Change ``x`` in place to within ``tol`` of the maximum.

    ``L`` is components × rows; every row with a share has a component with weight; shares and
    weights sum to 1. Returns the gap reached; it is above ``tol`` only where rounding stops the
    climb.
    """
    mixture, gains, gap = np.empty(share.size), np.empty(x.size), np.inf
    _mix(L, x, mixture)
    for _ in range(max_iter):
        _gains(L, share, mixture, gains)
        gap = 0.0
        for gain in gains:
            gap = max(gap, gain - 1.0)
        if gap <= tol:
            break
        z = _newton_target(L, share, x, mixture, gains, gap)
        if not _climb(L, share, x, z, mixture, gains):
            break
    return gap
