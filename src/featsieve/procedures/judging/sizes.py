"""The sets of all sizes that a procedure finds on some rows, with as few runs as it allows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from featsieve.arrays import IntArray
from featsieve.procedures.pairing import Pairing
from featsieve.procedures.tested_ranking import TestedProcedure
from featsieve.protocols import Engine, Nesting, Procedure
from featsieve.result import SelectionResult
from featsieve.runtime.pool import is_worker

SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50)


def sizes_up_to(n_units: int) -> list[int]:
    """The counts that are tried.

    >>> sizes_up_to(7)
    [1, 2, 3, 4, 5, 6, 7]
    """
    return [size for size in SIZES if size < n_units] + [n_units] * (n_units <= SIZES[-1])


def untested(procedure: Procedure) -> Procedure:
    """The procedure without its permutations, which say nothing about counts."""
    return procedure.procedure if isinstance(procedure, TestedProcedure) else procedure


class SetsBySize:
    """Sets of one procedure on one engine.

    :data:`featsieve.protocols.Nesting` says how many runs that takes.
    """

    def __init__(self, procedure: Procedure, engine: Engine, most: int) -> None:
        self._procedure = untested(procedure)
        self._engine = engine
        self._most = most
        self._run: SelectionResult | None = None
        self._bound: object = None

    def units(self, size: int) -> IntArray:
        """Best first where there is an order; fewer where the procedure has no more to offer."""
        nesting = nesting_of(self._procedure)
        if nesting is None:
            return self._answer(size).indices
        if self._run is None:
            self._run = self._answer(1 if nesting == "shrinking" else self._most)
        if nesting == "path":
            return _on_path(self._run, size)
        order = self._run.order if nesting == "shrinking" else self._run.indices
        assert order is not None
        return order[:size]

    def _answer(self, k: int) -> SelectionResult:
        with _without_warnings():
            for result in self._steps(k):
                answer = result
        return answer

    def _steps(self, k: int) -> Iterator[SelectionResult]:
        if not isinstance(self._procedure, Pairing):
            return self._procedure.steps(self._engine, k)
        if self._bound is None:
            self._bound = self._procedure.bind(self._engine)
        return self._procedure.search.steps(self._bound, k)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Python's filters belong to all threads: those of the pool leave them to who started them."""
    if is_worker():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def nesting_of(procedure: Procedure) -> Nesting | None:
    return getattr(untested(procedure), "nesting", None)


def _on_path(result: SelectionResult, size: int) -> IntArray:
    for active in result.path:
        if len(active) == size:
            return np.asarray(active, dtype=np.intp)
    return result.indices[:size]
