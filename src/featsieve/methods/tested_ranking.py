"""Rankings whose scores can be tested by permutations of the target."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

from featsieve.errors import InputError
from featsieve.methods.incremental import IncrementalRanking
from featsieve.protocols import Procedure


@dataclass(kw_only=True, eq=False, repr=False)
class TestedRanking(IncrementalRanking):
    """Adds p-values to a ranking.

    Parameters
    ----------
    n_permutations : int, default=0
        With permutations, ``pvalues_`` holds P(score this large | no association) for each column,
        and ``result_.extras`` the values adjusted for many tests (``adjusted_bh``: false discovery
        rate, ``adjusted_wy``: family-wise error). Only ``fit`` tests: permutations need all rows.
    random_state : int, generator or None
        Seed of the permutations.
    """

    n_permutations: int = 0
    random_state: Any = None

    def _procedure(self) -> Procedure:
        pairing = self._pairing()
        whole = isinstance(self.n_permutations, numbers.Integral)
        if not whole or isinstance(self.n_permutations, bool) or self.n_permutations < 0:
            raise InputError(
                f"n_permutations={self.n_permutations!r} is not possible; give a whole number from "
                "0 (no p-values)."
            )
        if self.n_permutations == 0:
            return pairing
        # Imported here: without permutations no kernel has to be loaded.
        from featsieve.inference.tested import TestedProcedure

        return TestedProcedure(pairing, pairing.measure, self.n_permutations, self.random_state)
