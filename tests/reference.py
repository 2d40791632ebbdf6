"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations

# --- evaluation ----------------------------------------------------------------------------------


def f_measure_by_definition(selected: set[int], relevant: set[int]) -> float:
    """2pr/(p + r), 0 where precision and recall are both 0 (P-LSMI, section 6.2)."""
    hits = sum(1 for one in selected if one in relevant)
    if hits == 0:
        return 0.0
    precision, recall = hits / len(selected), hits / len(relevant)
    return 2 * precision * recall / (precision + recall)
