"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations

import numpy as np


# --- LSMI family and the l1 ball -----------------------------------------------------------------


def l1_projection_by_bisection(w, radius, nonnegative):
    """Shrink all sizes by the same amount until their sum is the radius."""
    size = np.maximum(w, 0.0) if nonnegative else np.abs(w)
    low, high = 0.0, size.max()
    if size.sum() > radius:
        for _ in range(200):
            shrink = (low + high) / 2
            inside = np.maximum(size - shrink, 0).sum() <= radius
            low, high = (low, shrink) if inside else (shrink, high)
    size = np.maximum(size - (high if size.sum() > radius else 0.0), 0.0)
    return size if nonnegative else np.sign(w) * size
