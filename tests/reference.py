"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations


# --- permutation tests ---------------------------------------------------------------------------


def permutation_pvalues(scores, permuted):
    """p and Westfall–Young step-down max-T, by the definitions; ``permuted`` is R × units."""
    n_units, n_permutations = len(scores), len(permuted)
    order = sorted(range(n_units), key=lambda j: (-scores[j], j))
    pvalues, adjusted = [0.0] * n_units, [0.0] * n_units
    least = 0.0
    for rank, unit in enumerate(order):
        below = order[rank:]
        alone = sum(row[unit] >= scores[unit] - 1e-12 for row in permuted)
        among = sum(max(row[j] for j in below) >= scores[unit] - 1e-12 for row in permuted)
        pvalues[unit] = (1 + alone) / (1 + n_permutations)
        least = max(least, (1 + among) / (1 + n_permutations))
        adjusted[unit] = least
    return pvalues, adjusted
