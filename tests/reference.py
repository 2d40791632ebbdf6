"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations

import itertools

import numpy as np

# --- quadratic: the binary quadratic problem -----------------------------------------------------


def bqp_optimum(Q: np.ndarray, k: int) -> float:
    """max x'Qx over all sets of k indices, by trying them all."""
    sets = np.array(list(itertools.combinations(range(len(Q)), k)))
    return float(Q[sets[:, :, None], sets[:, None, :]].sum(axis=(1, 2)).max())


def bilinear_optimum(Q: np.ndarray, k: int) -> float:
    """max x'Qy over all pairs of sets of k indices (P-CMI eq. 6), by trying them all."""
    sets = list(itertools.combinations(range(len(Q)), k))
    return max(float(Q[np.ix_(x, y)].sum()) for x in sets for y in sets)


def best_swap_gain(Q: np.ndarray, members: list[int]) -> float:
    """The largest change of x'Qx by one swap."""
    others = [j for j in range(len(Q)) if j not in members]
    value = Q[np.ix_(members, members)].sum()
    gains = []
    for i, j in itertools.product(members, others):
        swapped = [m for m in members if m != i] + [j]
        gains.append(Q[np.ix_(swapped, swapped)].sum() - value)
    return float(max(gains))


def table_entropy(joint: np.ndarray, axes: tuple[int, ...]) -> float:
    """Entropy in nats of the variables ``axes`` of a joint probability table."""
    dropped = tuple(a for a in range(joint.ndim) if a not in axes)
    p = joint.sum(axis=dropped).ravel()
    return float(-(p[p > 0] * np.log(p[p > 0])).sum())


def table_information(
    joint: np.ndarray, a: tuple[int, ...], b: tuple[int, ...], given: tuple[int, ...] = ()
) -> float:
    """I(A; B | C) in nats from a joint probability table: H(AC) + H(BC) − H(ABC) − H(C)."""
    return (
        table_entropy(joint, a + given)
        + table_entropy(joint, b + given)
        - table_entropy(joint, a + b + given)
        - (table_entropy(joint, given) if given else 0.0)
    )
