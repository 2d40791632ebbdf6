"""What a solver hands back, on the way (Answer) and at the end (BQPResult)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featsieve.schema import IntArray

PROOF_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Answer:
    """The best set so far, best first, and what is known about the optimum."""

    indices: IntArray
    value: float
    upper_bound: float = np.inf

    @property
    def is_proven(self) -> bool:
        """The bound leaves no room above the value, up to rounding."""
        if not np.isfinite(self.upper_bound):
            return False
        return self.upper_bound - self.value <= PROOF_TOLERANCE * abs(self.upper_bound)


@dataclass(frozen=True)
class BQPResult:
    """A set of k indices and how good it can be said to be.

    Parameters
    ----------
    indices
        The selected indices, best first (by the solver's own order, else by their share of
        the value).
    value
        x'Qx of the symmetrised matrix.
    upper_bound
        No set of k indices has a larger value.
    proven_optimal
        The value reaches the bound (to 1e-10 relative).
    elapsed
        Seconds.
    """

    indices: IntArray
    value: float
    upper_bound: float
    proven_optimal: bool
    elapsed: float

    @property
    def gap(self) -> float:
        """How far below the best possible the value can be at most, as a share of the bound."""
        room = max(self.upper_bound - self.value, 0.0)
        return room / abs(self.upper_bound) if room else 0.0
