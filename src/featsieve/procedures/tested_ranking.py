"""A procedure whose units are tested as well as selected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from featsieve.inference.permutation import PermutationResult, permutation_steps
from featsieve.protocols import Engine, Measure, Procedure
from featsieve.result import SelectionResult


@dataclass(frozen=True)
class TestedProcedure:
    """Runs ``procedure``, then tests every unit by ``measure``; p-values go into the extras."""

    __test__ = False  # not for pytest

    procedure: Procedure
    measure: Measure
    n_permutations: int
    random_state: Any = None

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The selection, then the same with the p-values of the permutations so far."""
        for selection in self.procedure.steps(engine, k):
            yield selection
        for test in permutation_steps(engine, self.measure, self.n_permutations, self.random_state):
            yield replace(selection, extras={**selection.extras, **_extras(test)})


def _extras(test: PermutationResult) -> Mapping[str, Any]:
    return {
        "pvalues": test.pvalues,
        "adjusted_bh": test.adjusted_bh,
        "adjusted_wy": test.adjusted_wy,
        "n_permutations": test.n_permutations,
    }
