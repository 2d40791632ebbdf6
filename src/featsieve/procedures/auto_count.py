"""How many columns? The smallest set whose error on held-out rows is within one error of the best.

For methods without a rule of their own. Every set is chosen by the method on the rows of a fold
that learn, and judged on the others, so that nothing leaks from the choice into the curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.errors import InputError
from featsieve.procedures.count_rule import (
    count_notes,
    is_past_the_best,
    smallest_within_one_error,
    standard_error,
)
from featsieve.procedures.judging.judges import COUNT_JUDGES, JUDGES
from featsieve.procedures.judging.rows import (
    FEWEST_ROWS,
    NOTHING,
    Court,
    RowSample,
    draw_rows,
    split_rows,
)
from featsieve.procedures.judging.sizes import SetsBySize, sizes_up_to, untested
from featsieve.procedures.variance_count import VARIANCE_RULE, variance_curve
from featsieve.protocols import Engine, Procedure
from featsieve.result import SelectionResult
from featsieve.schema import Dependence

N_FOLDS = 5
PATIENCE = 4
FIRST_COUNT = 10
ERROR_RULE = (
    "the smallest count whose mean error in 5-fold cross-validation, by nearest neighbours and "
    "trees, is within one standard error of the best"
)
FEW_ROWS_RULE = "half of the features: there are too few rows for cross-validation"

Curve = tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class SizePoint:
    """A count with the negated error of its sets, and the standard error of that."""

    size: int
    value: float
    error: float


@dataclass(frozen=True)
class AutoCount:
    """A procedure that finds the count for another procedure, then runs that with it.

    ``prepare`` is what the selector does to an engine before the procedure sees it; the folds keep
    together what ``dependence`` says.
    """

    procedure: Procedure
    prepare: Callable[[Engine], Engine]
    seed: int = 0
    dependence: Dependence | None = None

    def steps(self, engine: Engine, k: int | None = None) -> Iterator[SelectionResult]:
        """A first answer from the sample, then that of all rows with the count that was found."""
        sample = draw_rows(engine, self.seed)
        n_units = engine.schema.n_units
        first = min(FIRST_COUNT, max(1, n_units // 2))
        small = engine if sample.is_everything else sample.engine()
        first_steps = untested(self.procedure).steps(self.prepare(small), first)
        for result in first_steps:
            yield _noted(result, f"{first}: stopped before the rule had looked at any count", ())
        rule, curve, count = self._count(sample, n_units)
        for result in self.procedure.steps(self.prepare(engine), count):
            yield _noted(result, rule, curve)

    def _count(self, sample: RowSample, n_units: int) -> tuple[str, Curve, int]:
        if sample.source.target.n_outputs == 0:
            sets = SetsBySize(self.procedure, self.prepare(sample.engine()), n_units)
            curve = variance_curve(sample, sets)
            return VARIANCE_RULE, curve, curve[-1][0]
        if sample.n_rows < FEWEST_ROWS:
            return FEW_ROWS_RULE, (), max(1, n_units // 2)
        points = self._points(sample, n_units)
        curve = tuple((point.size, -point.value, point.error) for point in points)
        return ERROR_RULE, curve, max(1, smallest_within_one_error(points).size)

    def _points(self, sample: RowSample, n_units: int) -> list[SizePoint]:
        """The error of each count over the folds, until it has long stopped to fall.

        The count 0 is a guess: where no set is better by more than one error, one unit is enough.
        """
        folds = split_rows(sample, min(N_FOLDS, sample.n_rows // 2), self.seed, self.dependence)
        if not folds:
            raise InputError(
                "n_features_to_select='auto' needs folds in which the target varies; give a number."
            )
        court = Court(sample, [JUDGES[name] for name in COUNT_JUDGES], self.seed)
        sizes = sizes_up_to(n_units)
        sources = [
            SetsBySize(self.procedure, self.prepare(sample.engine(fold.train)), sizes[-1])
            for fold in folds
        ]
        guesses = [float(court.verdict(fold, NOTHING).errors.mean()) for fold in folds]
        points: list[SizePoint] = []
        for size in sizes:
            errors = []
            for fold, sets in zip(folds, sources, strict=True):
                errors.append(float(court.verdict(fold, sets.units(size)).errors.mean()))
                sample.source.monitor.tick("judging counts", len(points), len(sizes))
            points.append(_size_point(size, errors))
            if is_past_the_best(points, PATIENCE):
                break
        return [_size_point(0, guesses), *points]


def _size_point(size: int, errors: Sequence[float]) -> SizePoint:
    return SizePoint(size, -float(np.mean(errors)), standard_error(np.array(errors)))


def _noted(result: SelectionResult, rule: str, curve: Curve) -> SelectionResult:
    return result.with_extras(count_notes(rule, curve))
