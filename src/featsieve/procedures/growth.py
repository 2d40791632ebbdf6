"""Forward selection that stops by itself: as soon as no unit adds anything to the value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from featsieve.procedures.count_rule import count_notes
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Engine, Measure
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import tie_width
from featsieve.runtime.user_warnings import warn_user
from featsieve.searches.stepwise import Forward


@dataclass(frozen=True)
class Growth:
    """The measure is on a scale whose 0 is "nothing" for no unit at all."""

    measure: Measure

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """With k exactly k units; without, until the best addition adds nothing."""
        bound: Any = Pairing(self.measure, Forward()).bind(engine)
        value = 0.0
        curve: list[tuple[int, float, float]] = []
        steps = Forward().steps(bound, bound.n_units if k is None else k)
        for number, result in enumerate(steps):
            objective = float(result.objective or 0.0)
            if k is None and objective <= value + tie_width(1.0):
                if number:
                    return
                warn_user(
                    "no column shows any dependence with the target; the best one is kept all the "
                    "same."
                )
                yield _with_rule(result, [(1, objective, 0.0)])
                return
            value = objective
            curve.append((number + 1, objective, 0.0))
            yield result if k is not None else _with_rule(result, curve)


def _with_rule(result: SelectionResult, curve: list[tuple[int, float, float]]) -> SelectionResult:
    rule = "the count at which the best addition adds nothing"
    return result.with_extras(count_notes(rule, curve))
