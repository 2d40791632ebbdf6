"""Euclidean projections."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from featsieve.linalg.aliases import FloatArray


def project_l1_ball(
    w: npt.ArrayLike, radius: float, *, nonnegative: bool = False
) -> npt.NDArray[np.float64]:
    """The nearest point of the l1 ball, or of its non-negative part (Duchi et al. 2008, Fig. 1).

    Zeros of the projection are exact.

    >>> project_l1_ball([3.0, -1.0, 4.0], 5.0).tolist()
    [2.0, 0.0, 3.0]
    >>> project_l1_ball([-1.0, 2.0], 1.0, nonnegative=True).tolist()
    [0.0, 1.0]
    """
    if not radius >= 0:
        raise ValueError(f"radius={radius} is negative; give a radius of 0 or more.")
    point = np.asarray(w, dtype=np.float64)
    if not np.isfinite(point).all():
        raise ValueError("w holds NaN or infinity, which have no nearest point; give numbers.")
    size = np.maximum(point, 0.0) if nonnegative else np.abs(point)
    if size.sum() > radius:
        below = size - size.max()  # a radius much smaller than the sizes would be rounded away
        size = np.maximum(below - _threshold(below.ravel(), radius), 0.0)
    return size if nonnegative else np.copysign(size, point) + 0.0  # + 0.0: no negative zeros


def _threshold(size: FloatArray, radius: float) -> float:
    """The θ with Σ max(size − θ, 0) = radius."""
    largest_first = np.sort(size)[::-1]
    candidates = (np.cumsum(largest_first) - radius) / np.arange(1, size.size + 1)
    n_positive = np.flatnonzero(largest_first >= candidates)[-1]
    return float(candidates[n_positive])
