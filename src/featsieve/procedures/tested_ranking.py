"""A procedure whose units are tested as well as selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.inference.permutation import permute_units
from featsieve.protocols import Engine, Measure, Procedure
from featsieve.result import COMPLETED, TIME_LIMIT, SelectionResult
from featsieve.runtime.progress import TimeUp


@dataclass(frozen=True)
class TestedProcedure:
    """Runs ``procedure``, then tests every unit by ``measure``; p-values go into the extras."""

    __test__ = False  # not for pytest

    procedure: Procedure
    measure: Measure
    n_permutations: int
    random_state: Any = None

    def run(self, engine: Engine, k: int) -> SelectionResult:
        result = self.procedure.run(engine, k)
        if result.stop_reason != COMPLETED:
            return result
        try:
            test = permute_units(engine, self.measure, self.n_permutations, self.random_state)
        except TimeUp:  # before the first permutation: the selection stands without p-values
            return result.evolve(stop_reason=TIME_LIMIT, elapsed=engine.monitor.elapsed)
        found = {
            "pvalues": test.pvalues,
            "adjusted_bh": test.adjusted_bh,
            "adjusted_wy": test.adjusted_wy,
            "n_permutations": test.n_permutations,
        }
        return result.evolve(
            extras={**result.extras, **found},
            elapsed=engine.monitor.elapsed,
            stop_reason=test.stop_reason,
        )
