"""How many columns? The smallest set whose cross-validated SMI is within one error of the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

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
class CurvePoint:
    """The set for one count, its cross-validated value and the standard error of that."""

    result: SelectionResult
    value: float
    error: float

    @property
    def size(self) -> int:
        return len(self.result.indices)


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
            points.append(_point(bound, result))
            yield _choice(points)
            if _is_past_the_best(points):
                return


def _point(bound: HasFoldValues, result: SelectionResult) -> CurvePoint:
    folds = bound.cross_validated(result.indices.tolist())
    error = float(folds.std(ddof=1) / np.sqrt(len(folds)))
    return CurvePoint(result, float(folds.mean()), error)


def _is_past_the_best(points: Sequence[CurvePoint]) -> bool:
    best = int(np.argmax([point.value for point in points]))
    return len(points) - 1 - best >= _PATIENCE


def _choice(points: Sequence[CurvePoint]) -> SelectionResult:
    chosen = smallest_within_one_error(points).result
    curve = tuple((point.size, point.value, point.error) for point in points)
    return replace(
        chosen, extras={**chosen.extras, "smi_curve": curve, **count_notes(_RULE, curve)}
    )


def count_notes(rule: str, curve: Sequence[tuple[int, float, float]]) -> dict[str, object]:
    """What a result says of its count: the rule in words, and (count, value, standard error)."""
    return {"count_rule": rule, "count_curve": tuple(curve)}


class Point(Protocol):
    """A count, its value (larger is better) and the standard error of that."""

    @property
    def size(self) -> int: ...

    @property
    def value(self) -> float: ...

    @property
    def error(self) -> float: ...


P = TypeVar("P", bound=Point)


def smallest_within_one_error(points: Sequence[P]) -> P:
    best = max(points, key=lambda point: point.value)
    good = [point for point in points if point.value >= best.value - best.error]
    return min(good, key=lambda point: point.size)
