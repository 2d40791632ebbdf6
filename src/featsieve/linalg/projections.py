"""Euclidean projections."""

from __future__ import annotations

from numbers import Real
from typing import Any

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
    if not isinstance(radius, Real) or not radius >= 0:
        raise ValueError(f"radius={radius!r} is not a radius; give a number of 0 or more.")
    point = _numbers(w)
    if not np.isfinite(point).all():
        raise ValueError("w holds NaN or infinity, which have no nearest point; give numbers.")
    size = np.maximum(point, 0.0) if nonnegative else np.abs(point)
    with np.errstate(over="ignore"):  # an infinite sum is above any radius, too
        is_outside = bool(size.sum() > radius)
    if is_outside:
        below = size - size.max()  # a radius much smaller than the sizes would be rounded away
        size = np.maximum(below - _threshold(below.ravel(), radius), 0.0)
    return size if nonnegative else np.copysign(size, point) + 0.0  # + 0.0: no negative zeros


def _numbers(w: npt.ArrayLike) -> FloatArray:
    """As doubles; masked cells are NaN, and long doubles beyond them infinite."""
    try:
        values: Any = np.ma.asarray(w)
        if values.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):
            return np.asarray(values.astype(np.float64).filled(np.nan))
    except (TypeError, ValueError, OverflowError):
        raise ValueError("w holds what is not a number; give an array of numbers.") from None


def _threshold(size: FloatArray, radius: float) -> float:
    """The θ with Σ max(size − θ, 0) = radius."""
    largest_first = np.sort(size)[::-1]
    candidates = (np.cumsum(largest_first) - radius) / np.arange(1, size.size + 1)
    n_positive = np.flatnonzero(largest_first >= candidates)[-1]
    return float(candidates[n_positive])
