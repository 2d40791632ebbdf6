"""A procedure whose units are tested as well as selected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from featsieve.errors import percent
from featsieve.inference.permutation import PermutationResult, permutation_steps
from featsieve.protocols import Engine, Measure, Procedure
from featsieve.result import SelectionResult

CountRule = Literal["bh", "by", "wy"]
GUARANTEES: dict[CountRule, str] = {
    "bh": "The false discovery rate is bounded (Benjamini and Hochberg; columns that do not "
    "depend on each other negatively)",
    "by": "The false discovery rate is bounded under any dependence (Benjamini and Yekutieli)",
    "wy": "The probability of any false column is bounded (Westfall and Young)",
}


@dataclass(frozen=True)
class TestedProcedure:
    """Runs ``procedure``, then tests every unit by ``measure``; p-values go into the extras.

    With a ``rule`` the units are selected whose adjusted p-value is ``alpha`` or less, and the
    extras say what that guarantees.
    """

    __test__ = False  # not for pytest

    procedure: Procedure
    measure: Measure
    n_permutations: int
    random_state: Any = None
    rule: CountRule | None = None
    alpha: float = 0.05

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The selection, then the same with the p-values of the permutations so far."""
        count = engine.schema.n_units if k is None else k
        for selection in self.procedure.steps(engine, count):
            if self.rule is None:
                yield selection
        for test in permutation_steps(engine, self.measure, self.n_permutations, self.random_state):
            tested = selection.with_extras(_extras(test))
            yield tested if self.rule is None else self._passed(tested)

    def _passed(self, tested: SelectionResult) -> SelectionResult:
        assert self.rule is not None
        adjusted = tested.extras[f"adjusted_{self.rule}"]
        passed = adjusted[tested.indices] <= self.alpha
        guarantee = f"{GUARANTEES[self.rule]}, at {percent(self.alpha)}."
        return tested.with_extras({"guarantee": guarantee}, indices=tested.indices[passed])


def _extras(test: PermutationResult) -> Mapping[str, Any]:
    return {
        "pvalues": test.pvalues,
        "adjusted_bh": test.adjusted_bh,
        "adjusted_by": test.adjusted_by,
        "adjusted_wy": test.adjusted_wy,
        "n_permutations": test.n_permutations,
    }
