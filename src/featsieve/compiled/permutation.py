"""Permutations of rows, and sums under many permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.inlining import kernel


@kernel()
def shuffle(uniform: Any, order: Any) -> None:
    """Write into ``order`` the permutation of 0, 1, … that the uniform numbers choose.

    Fisher and Yates from the inside out: uniform over all permutations up to the 2⁻⁵³ steps of the
    numbers, and several times faster than NumPy's, which would cost as much as the products.
    """
    for last in range(len(order)):
        drawn = int(uniform[last] * (last + 1))
        order[last] = order[drawn]
        order[drawn] = last


@kernel()
def shuffle_rows(uniform: Any, orders: Any) -> None:
    """One permutation per row."""
    for row in range(orders.shape[0]):
        shuffle(uniform[row], orders[row])


@kernel()
def count_reached(
    scores: Any, worst_first: Any, floor: Any, running: Any, single: Any, stepdown: Any
) -> None:
    """Add to ``single`` and ``stepdown``, per unit, the permutations that reach its floor.

    ``scores`` has one row per unit and one column per permutation. ``running`` is the largest
    score of each permutation over the units passed so far, from the worst unit to the best: what
    Westfall and Young's step-down max-T compares with. One row of it stays in the cache.
    """
    for position in range(len(worst_first)):
        unit = worst_first[position]
        least = floor[unit]
        alone = 0
        among = 0
        for permutation in range(scores.shape[1]):
            score = scores[unit, permutation]
            largest = running[permutation]
            largest = score if score > largest else largest
            running[permutation] = largest
            alone += score >= least
            among += largest >= least
        single[unit] += alone
        stepdown[unit] += among


@kernel(fastmath={"contract", "reassoc", "nsz"})
def permuted_sums(K: Any, L: Any, orders: Any) -> Any:
    """One sum for each row of ``orders``; K and L are symmetric."""
    n = len(K)
    sums = np.zeros(len(orders))
    for p in range(len(orders)):
        order = orders[p]
        total = 0.0
        for i in range(n):
            row = L[order[i]]
            inner = 0.0
            for j in range(i):
                inner += K[i, j] * row[order[j]]
            total += 2.0 * inner + K[i, i] * row[order[i]]
        sums[p] = total
    return sums
