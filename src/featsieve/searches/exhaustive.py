"""Exhaustive search: every set of k units."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.errors import InputError
from featsieve.input.parameters import Check, check_integer, check_parameters
from featsieve.protocols import HasValue
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import TIE_TOLERANCE
from featsieve.searches.stepwise import BoundValue

SETS_PER_STEP = 64


@dataclass(kw_only=True, eq=False, repr=False)
class Exhaustive(BaseEstimator):
    """The set with the largest value among all sets of k units; ties to the first in order.

    Parameters
    ----------
    max_subsets : int, default=1_000_000
        Refuse when there are more sets than this.
    keep : int, default=100
        How many of the best sets are kept in ``result_.path`` as (value, set), best first.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import HSIC
    >>> from featsieve.searches import Exhaustive
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(HSIC(), Exhaustive(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    requires: ClassVar[tuple[type, ...]] = (HasValue,)
    checks: ClassVar[Mapping[str, Check]] = {
        "max_subsets": partial(check_integer, minimum=1),
        "keep": partial(check_integer, minimum=0),
    }

    max_subsets: int = 1_000_000
    keep: int = 100

    def steps(self, bound: BoundValue, k: int) -> Iterator[SelectionResult]:
        check_parameters(self, self.checks)
        total = comb(bound.n_units, k)
        if total > self.max_subsets:
            raise InputError(
                f"there are {total} sets of {k} out of {bound.n_units}, but max_subsets is "
                f"{self.max_subsets}; raise it, or use a forward or backward search."
            )
        best: tuple[float, tuple[int, ...]] | None = None
        # Max-heap order on (value, earlier set first), so the smallest entry is the one to lose.
        kept: list[tuple[float, int, tuple[int, ...]]] = []
        for done, subset in enumerate(combinations(range(bound.n_units), k), start=1):
            value = float(bound.value(subset))
            if best is None or value > best[0] + TIE_TOLERANCE * abs(best[0]):
                best = (value, subset)
            _keep(kept, (value, -done, subset), self.keep)
            if done % SETS_PER_STEP == 0 or done == total:
                yield _answer(best, kept, bound.n_units)
                bound.monitor.tick("trying sets", done, total)


def _keep(
    heap: list[tuple[float, int, tuple[int, ...]]],
    entry: tuple[float, int, tuple[int, ...]],
    most: int,
) -> None:
    if len(heap) < most:
        heapq.heappush(heap, entry)
    else:
        heapq.heappushpop(heap, entry)


def _answer(
    best: tuple[float, tuple[int, ...]],
    kept: list[tuple[float, int, tuple[int, ...]]],
    n_units: int,
) -> SelectionResult:
    path = tuple((value, subset) for value, _, subset in sorted(kept, reverse=True))
    return SelectionResult(
        np.array(best[1], dtype=np.intp),
        np.full(n_units, np.nan),
        objective=best[0],
        path=path,
        trace=tuple(value for value, _ in path),
    )
