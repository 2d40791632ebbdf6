"""Least angle regression with coefficients from zero up, on inner products only.

It follows the exact path of min ½‖y − Σ β_j x_j‖² + λ Σ β_j, β ≥ 0, from large λ down. It needs
⟨x_j, y⟩ for all j, and ⟨x_j, x_new⟩ for all j only when ``new`` enters: for features that cost much
to make, such as Gram matrices, few others are ever computed: those of columns that will soon enter
are asked for together with the one that does, where that costs little more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from featsieve.linalg.aliases import FloatArray

GramColumns = Callable[[Sequence[int]], Sequence[FloatArray]]
BestIndex = Callable[[FloatArray, float], int]
_NOTHING_LEFT = 1e-12  # of the first correlation: below it the target is explained
_DEPENDENT = 1e-10  # squared distance of a unit vector from the span of the active ones


@dataclass(frozen=True)
class LarPoint:
    """A corner of the path."""

    active: tuple[int, ...]
    coefficients: FloatArray
    penalty: float


class _Path:
    """The state between two corners."""

    def __init__(
        self, correlation: FloatArray, gram_columns: GramColumns, best: BestIndex, together: int
    ) -> None:
        self.correlation = np.array(correlation, dtype=np.float64)
        self.coefficients = np.zeros_like(self.correlation)
        self.excluded = np.zeros(len(correlation), dtype=np.bool_)
        self.active: list[int] = []
        self.penalty = float(self.correlation.max(initial=0.0))
        self.columns: dict[int, FloatArray] = {}
        self.best = best
        self._gram_columns = gram_columns
        self._together = together

    def enter(self, index: int) -> None:
        """Make ``index`` active, unless it lies in the span of those that are."""
        if index not in self.columns:
            indices = [index, *self._soon_to_enter(index)]
            self.columns.update(zip(indices, self._gram_columns(indices), strict=True))
        inside = self._gram()
        across = self.columns[index][self.active]
        rest = self.columns[index][index] - across @ np.linalg.lstsq(inside, across)[0]
        if rest <= _DEPENDENT:
            self.excluded[index] = True
        else:
            self.active.append(index)

    def _soon_to_enter(self, index: int) -> list[int]:
        """Others of the largest correlations: few at first, for a path that may end early."""
        n_others = min(self._together - 1, len(self.active) // 2)
        known = {index, *self.columns}
        by_size = np.argsort(-self.correlation, kind="stable")
        others = (int(j) for j in by_size if j not in known and not self.excluded[j])
        return list(islice(others, n_others))

    def _gram(self) -> FloatArray:
        rows = [self.columns[j][self.active] for j in self.active]
        return np.array(rows).reshape(len(self.active), len(self.active))

    def move(self) -> tuple[int | None, int | None]:
        """To the next corner: (who enters, who leaves)."""
        direction = np.linalg.solve(self._gram(), np.ones(len(self.active)))
        fall = np.sum([d * self.columns[j] for d, j in zip(direction, self.active, strict=True)], 0)
        enters, to_enter = self._next_to_enter(fall)
        leaves, to_leave = self._next_to_leave(direction)
        length = min(to_enter, to_leave, self.penalty)
        self.coefficients[self.active] += length * direction
        self.correlation -= length * fall
        self.penalty -= length
        if length == to_leave:
            return None, leaves
        return (enters if length == to_enter else None), None

    def _next_to_enter(self, fall: FloatArray) -> tuple[int | None, float]:
        others = ~self.excluded & (fall < 1.0)
        others[self.active] = False
        candidates = np.flatnonzero(others)
        if not len(candidates):
            return None, np.inf
        gaps = np.maximum(self.penalty - self.correlation[candidates], 0.0)
        lengths = gaps / (1.0 - fall[candidates])
        at = self.best(-lengths, self.penalty)
        return int(candidates[at]), float(lengths[at])

    def _next_to_leave(self, direction: FloatArray) -> tuple[int | None, float]:
        shrinking = np.flatnonzero(direction < 0)
        if not len(shrinking):
            return None, np.inf
        held = self.coefficients[self.active][shrinking]
        lengths = -held / direction[shrinking]
        at = int(np.argmin(lengths))
        return self.active[int(shrinking[at])], float(lengths[at])

    def leave(self, index: int) -> None:
        self.active.remove(index)
        self.coefficients[index] = 0.0

    def point(self) -> LarPoint:
        return LarPoint(tuple(self.active), self.coefficients.copy(), self.penalty)


def nonnegative_lar(
    correlation: FloatArray,
    gram_columns: GramColumns,
    n_active: int,
    best: BestIndex = lambda scores, scale: int(np.argmax(scores)),
    together: int = 1,
) -> Iterator[LarPoint]:
    """Corners of the path until one more than ``n_active`` would be active, or nothing is left.

    ``gram_columns([j, …])`` gives the inner products of each of these columns with all columns;
    columns of length 1. It is asked for at most ``together`` of them at once.
    ``best(scores, scale)`` says which of the largest scores comes first, given the size of the
    terms of which they are differences.
    """
    path = _Path(correlation, gram_columns, best, together)
    floor = _NOTHING_LEFT * path.penalty
    if path.penalty <= 0.0:
        return
    entering: int | None = best(path.correlation, 0.0)
    while path.penalty > floor:
        if entering is not None:
            if len(path.active) == n_active:
                return
            path.enter(entering)
        entering, leaving = path.move()
        if leaving is not None:
            path.leave(leaving)
        yield path.point()
        if entering is None and leaving is None:
            return
