"""A measure × search pair as one procedure; a pair that does not fit is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.errors import IncompatibleError
from featsieve.protocols import CAPABILITY_WORDS, Engine, HasReport, Measure, Search
from featsieve.result import SelectionResult
from featsieve.runtime.progress import drive


@dataclass(frozen=True)
class Pairing:
    """The procedure that every cell of the table measure × search runs."""

    measure: Measure
    search: Search

    def run(self, engine: Engine, k: int) -> SelectionResult:
        bound = self.measure.bind(engine)
        check_compatible(self.measure, bound, self.search)
        result = drive(self.search.steps(bound, k), engine.monitor)
        return _with_report(result, bound)


def check_compatible(measure: Any, bound: Any, search: Search) -> None:
    """Refuse in one sentence that names the missing capability."""
    for capability in search.requires:
        if not isinstance(bound, capability):
            raise IncompatibleError(
                f"{type(measure).__name__} cannot be searched by {type(search).__name__}: it lacks "
                f"{CAPABILITY_WORDS[capability]}; see the table of methods for pairs that fit."
            )


def _with_report(result: SelectionResult, bound: Any) -> SelectionResult:
    if not isinstance(bound, HasReport):
        return result
    report = dict(bound.report())
    approximation = report.pop("approximation", result.approximation)
    return result.evolve(extras={**report, **result.extras}, approximation=approximation)
