"""The smallest cross-validation error on a grid (σ ascending × λ), with as few σ as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.measures.smi.basis_sums import BasisSums
from featsieve.ordering import best_index
from featsieve.schema import FloatArray


@dataclass(frozen=True)
class GridPoint:
    """Where the minimum is, and the sums of that σ."""

    sigma: int
    lam: int
    sums: BasisSums


Evaluate = Callable[[range], tuple[Sequence[BasisSums], FloatArray]]


def best_on_grid(evaluate: Evaluate, n_sigmas: int, start: int | None) -> GridPoint:
    """``evaluate`` gives the sums and the error table of consecutive σ.

    Without a start all are tried; with one, its neighbours, and on downhill while the minimum
    lies at the edge of what was tried.
    """
    if start is None:
        tried = _Tried(range(n_sigmas), evaluate)
    else:
        tried = _Tried(range(max(start - 1, 0), min(start + 2, n_sigmas)), evaluate)
        while (edge := tried.edge(n_sigmas)) is not None:
            tried.extend(edge, evaluate)
    return tried.best()


class _Tried:
    """A window of σ that grows at its ends."""

    def __init__(self, window: range, evaluate: Evaluate) -> None:
        self.window = window
        self.sums, self.table = evaluate(window)

    def edge(self, n_sigmas: int) -> int | None:
        """The next σ to try, None when the minimum lies inside."""
        row = best_index(-self.table.min(axis=1))
        if row == 0 and self.window.start > 0:
            return self.window.start - 1
        if row == len(self.window) - 1 and self.window.stop < n_sigmas:
            return self.window.stop
        return None

    def extend(self, sigma: int, evaluate: Evaluate) -> None:
        sums, row = evaluate(range(sigma, sigma + 1))
        if sigma < self.window.start:
            self.window = range(sigma, self.window.stop)
            self.sums, self.table = [*sums, *self.sums], np.vstack([row, self.table])
        else:
            self.window = range(self.window.start, sigma + 1)
            self.sums, self.table = [*self.sums, *sums], np.vstack([self.table, row])

    def best(self) -> GridPoint:
        row, lam = divmod(best_index(-self.table.ravel()), self.table.shape[1])
        return GridPoint(self.window.start + row, lam, self.sums[row])
