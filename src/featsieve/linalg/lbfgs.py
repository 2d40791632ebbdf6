"""The L-BFGS direction from pairs of steps and changes of the gradient (Nocedal and Wright)."""

from __future__ import annotations

from collections import deque

import numpy as np

from featsieve.linalg.aliases import FloatArray

_MEMORY = 10
_LEAST_CURVATURE = 1e-10


class CurvaturePairs:
    """The last few (step, change of the gradient) along which the function curves upwards."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MEMORY)

    def add(self, step: FloatArray, change: FloatArray) -> None:
        """Keep the pair if y's is positive; the test is relative, so that units do not matter."""
        scale = float(np.linalg.norm(step) * np.linalg.norm(change))
        if float(step @ change) > _LEAST_CURVATURE * scale > 0.0:
            self._pairs.append((step, change))

    def direction(self, gradient: FloatArray) -> FloatArray | None:
        """−H·gradient by the two-loop recursion; None before the first pair."""
        if not self._pairs:
            return None
        vector, factors = gradient.astype(np.float64, copy=True), []
        for step, change in reversed(self._pairs):
            factor = float(step @ vector) / float(step @ change)
            vector -= factor * change
            factors.append(factor)
        step, change = self._pairs[-1]
        vector *= float(step @ change) / float(change @ change)
        for (step, change), factor in zip(self._pairs, reversed(factors), strict=True):
            vector += (factor - float(change @ vector) / float(step @ change)) * step
        return -vector

    def length(self) -> float:
        """The spectral length s'y/y'y of the last pair; 0 before the first."""
        if not self._pairs:
            return 0.0
        step, change = self._pairs[-1]
        return float(step @ change) / float(change @ change)
