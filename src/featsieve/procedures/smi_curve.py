"""How many columns? The smallest set whose cross-validated SMI is within one error of the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.procedures.pairing import Pairing, check_compatible
from featsieve.protocols import Engine
from featsieve.result import COMPLETED, INTERRUPTED, TIME_LIMIT, SelectionResult
from featsieve.runtime.progress import drive

_PATIENCE = 3
_MOST = 20


@dataclass(frozen=True)
class CurvePoint:
    """The set found for one count, its cross-validated SMI and the standard error of that."""

    result: SelectionResult
    smi: float
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

    def run(self, engine: Engine, k: int | None = None) -> SelectionResult:
        points, reason = self._curve(engine)
        chosen = smallest_within_one_error(points)
        curve = tuple((point.size, point.smi, point.error) for point in points)
        return chosen.result.evolve(
            extras={**chosen.result.extras, "smi_curve": curve},
            elapsed=engine.monitor.elapsed,
            stop_reason=chosen.result.stop_reason if reason == COMPLETED else reason,
        )

    def _curve(self, engine: Engine) -> tuple[list[CurvePoint], str]:
        """Points up to the end, the time limit or Ctrl-C, and why there are no more."""
        points: list[CurvePoint] = []
        try:
            for point in self._points(engine):
                points.append(point)
                if point.result.stop_reason in (INTERRUPTED, TIME_LIMIT):
                    return points, point.result.stop_reason
        except (KeyboardInterrupt, TimeoutError) as stop:
            if not points:
                raise
            return points, INTERRUPTED if isinstance(stop, KeyboardInterrupt) else TIME_LIMIT
        return points, COMPLETED

    def _points(self, engine: Engine) -> Iterator[CurvePoint]:
        bound: Any = self.pairing.measure.bind(engine)
        check_compatible(self.pairing.measure, bound, self.pairing.search)
        best, waited = -np.inf, 0
        for count in range(1, min(bound.n_units, _MOST) + 1):
            result = drive(self.pairing.search.steps(bound, count), engine.monitor)
            folds = bound.cross_validated(result.indices.tolist())
            smi, error = float(folds.mean()), float(folds.std(ddof=1) / np.sqrt(len(folds)))
            yield CurvePoint(result, smi, error)
            best, waited = (smi, 0) if smi > best else (best, waited + 1)
            if waited == _PATIENCE:
                return


def smallest_within_one_error(points: Sequence[CurvePoint]) -> CurvePoint:
    best = max(points, key=lambda point: point.smi)
    good = [point for point in points if point.smi >= best.smi - best.error]
    return min(good, key=lambda point: point.size)
