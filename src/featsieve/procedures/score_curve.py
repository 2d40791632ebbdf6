"""How many columns? The best score over all counts, or the smallest count nearly as good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from featsieve.errors import InputError
from featsieve.measures.cross_val_score import BoundCrossValScore, CrossValScore
from featsieve.procedures.count_rule import CurvePoint, count_notes, smallest_within_one_error
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import TIE_TOLERANCE
from featsieve.searches.exhaustive import Exhaustive
from featsieve.searches.stepwise import Backward, Forward

CountRule = Literal["auto", "parsimonious"]
RULES: dict[CountRule, str] = {
    "auto": "the count with the best mean score in cross-validation",
    "parsimonious": "the smallest count within one standard error of the best mean score",
}
SearchName = Literal["forward", "backward", "exhaustive"]


@dataclass(frozen=True)
class ScoreCurve:
    """A procedure that compares the sets a search meets, of any size, by their fold scores.

    ``rule`` "auto" takes the best mean score (of ties the smaller set), "parsimonious" the smallest
    set within one standard error of it.
    """

    measure: CrossValScore
    search: SearchName
    rule: CountRule

    def steps(self, engine: Engine, k: int | None = None) -> Iterator[SelectionResult]:
        """The choice among the sets so far."""
        bound = self.measure.bind(engine)
        points: list[CurvePoint] = []
        for result, is_final in self._sets(bound):
            point = _point(bound, result)
            yield self._choice([*points, point])
            if is_final:
                points.append(point)

    def _sets(self, bound: BoundCrossValScore) -> Iterator[tuple[SelectionResult, bool]]:
        """The best set of each size that the search finds, and whether it stays the best."""
        if self.search == "exhaustive":
            yield from _exhaustive_sets(bound)
        elif self.search == "forward":
            for result in Forward().steps(bound, bound.n_units):
                yield result, True
        else:
            yield from _backward_sets(bound)

    def _choice(self, points: Sequence[CurvePoint]) -> SelectionResult:
        rule = _best_score if self.rule == "auto" else smallest_within_one_error
        chosen = rule(points)
        curve = tuple((point.size, point.value, point.error) for point in points)
        extras = {"score_curve": curve, **count_notes(RULES[self.rule], curve)}
        return chosen.result.with_extras(extras, objective=chosen.value)


def _exhaustive_sets(bound: BoundCrossValScore) -> Iterator[tuple[SelectionResult, bool]]:
    search, total = Exhaustive(), 2**bound.n_units - 1
    if total > search.max_subsets:
        raise InputError(
            f"there are {total} sets of {bound.n_units} features, more than {search.max_subsets}; "
            "give n_features_to_select as a number, or use search='forward' or 'backward'."
        )
    for size in range(1, bound.n_units + 1):
        for result in search.steps(bound, size):
            yield result, False
        yield result, True


def _backward_sets(bound: BoundCrossValScore) -> Iterator[tuple[SelectionResult, bool]]:
    everything = np.arange(bound.n_units)
    yield SelectionResult(everything, np.full(bound.n_units, np.nan)), True
    for result in Backward().steps(bound, 1):
        assert result.order is not None
        left = bound.n_units - len(result.path)
        yield replace(result, indices=result.order[:left]), True


def _point(bound: BoundCrossValScore, result: SelectionResult) -> CurvePoint:
    return CurvePoint.of_folds(result, bound.fold_scores(result.indices.tolist()))


def _best_score(points: Sequence[CurvePoint]) -> CurvePoint:
    best = max(point.value for point in points)
    tied = [point for point in points if point.value >= best - TIE_TOLERANCE * abs(best)]
    return min(tied, key=lambda point: point.size)
