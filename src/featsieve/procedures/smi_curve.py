"""How many columns? The smallest set whose cross-validated SMI is within one error of the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from featsieve.procedures.count_rule import (
    CurvePoint,
    count_notes,
    is_past_the_best,
    smallest_within_one_error,
)
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Engine, HasFoldValues
from featsieve.result import SelectionResult

_PATIENCE = 3
_MOST = 20
_RULE = (
    "the smallest count whose cross-validated squared-loss mutual information is within one "
    "standard error of the best"
)


@dataclass(frozen=True)
class SmiCurve:
    """A procedure that runs a pairing for 1, 2, 3, … units and picks the count by itself.

    It ends after three counts in a row without a better SMI, or at twenty.
    """

    pairing: Pairing

    def steps(self, engine: Engine, k: int | None = None) -> Iterator[SelectionResult]:
        """The choice among the counts that are finished; before that, the best single unit."""
        bound = self.pairing.bind(engine)
        assert isinstance(bound, HasFoldValues)  # the pairing's measure is LSMI
        points: list[CurvePoint] = []
        for count in range(1, min(bound.n_units, _MOST) + 1):
            for result in self.pairing.search.steps(bound, count):
                yield _choice(points) if points else result
            folds = bound.cross_validated(result.indices.tolist())
            points.append(CurvePoint.of_folds(result, folds))
            yield _choice(points)
            if is_past_the_best(points, _PATIENCE):
                return


def _choice(points: Sequence[CurvePoint]) -> SelectionResult:
    chosen = smallest_within_one_error(points).result
    curve = tuple((point.size, point.value, point.error) for point in points)
    return chosen.with_extras({"smi_curve": curve, **count_notes(_RULE, curve)})
