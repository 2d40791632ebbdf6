"""How many columns? What all rules share: points of a curve, the choice among them, its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.result import SelectionResult


class Point(Protocol):
    """A count, its value (larger is better) and the standard error of that."""

    @property
    def size(self) -> int: ...

    @property
    def value(self) -> float: ...

    @property
    def error(self) -> float: ...


P = TypeVar("P", bound=Point)


@dataclass(frozen=True)
class CurvePoint:
    """The set for one count, its cross-validated value and the standard error of that."""

    result: SelectionResult
    value: float
    error: float

    @classmethod
    def of_folds(cls, result: SelectionResult, folds: FloatArray) -> CurvePoint:
        return cls(result, float(folds.mean()), standard_error(folds))

    @property
    def size(self) -> int:
        return len(self.result.indices)


def standard_error(values: FloatArray) -> float:
    """Of the mean; 0 for a single value.

    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def smallest_within_one_error(points: Sequence[P]) -> P:
    best = max(points, key=lambda point: point.value)
    good = [point for point in points if point.value >= best.value - best.error]
    return min(good, key=lambda point: point.size)


def is_past_the_best(points: Sequence[Point], patience: int) -> bool:
    """Whether the last ``patience`` points are no better than the best before them."""
    best = int(np.argmax([point.value for point in points]))
    return len(points) - 1 - best >= patience


def count_notes(rule: str, curve: Sequence[tuple[int, float, float]]) -> dict[str, object]:
    """What a result says of its count: the rule in words, and (count, value, standard error)."""
    return {"count_rule": rule, "count_curve": tuple(curve)}
