"""What every bound HSIC answers about sets of units, from one question about changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from featsieve.schema import FloatArray


class SetChanges(ABC):
    """Scores, additions and removals; without its only unit a set is worth nothing."""

    n_units: int

    @abstractmethod
    def _changed(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        """The criterion of ``subset`` with (sign 1) or without (sign −1) each candidate."""

    def scores(self) -> FloatArray:
        return self.values_with([], range(self.n_units))

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        return self._changed(subset, candidates, 1)

    def values_without(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        if len(subset) == 1:
            return np.zeros(len(candidates))
        return self._changed(subset, candidates, -1)
