"""A measure × search pair as one procedure; a pair that does not fit is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from featsieve.engines.base import require_pairs
from featsieve.errors import IncompatibleError
from featsieve.protocols import (
    CAPABILITY_WORDS,
    Bound,
    Engine,
    HasReport,
    Measure,
    Nesting,
    Search,
)
from featsieve.result import SelectionResult
from featsieve.runtime.journal import ACTIVE, recorded


@dataclass(frozen=True)
class Pairing:
    """The procedure that every cell of the table measure × search runs."""

    measure: Measure
    search: Search

    @property
    def nesting(self) -> Nesting | None:
        return getattr(self.search, "nesting", None)

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The answers of the search, each with what the measure reports."""
        assert k is not None  # only a procedure that counts by itself gets None
        bound = self.bind(engine)
        for result in self.search.steps(bound, k):
            report = dict(bound.report()) if isinstance(bound, HasReport) else {}
            approximation = report.pop("approximation", result.approximation)
            extras = {**report, **result.extras}
            yield replace(result, extras=extras, approximation=approximation)

    def bind(self, engine: Engine) -> Bound:
        """The measure with its data; refuses a search that needs more than there is of memory, or
        what the measure lacks."""
        if hasattr(self.search, "pair_columns"):
            n_units, columns = engine.schema.n_units, self.search.pair_columns
            require_pairs(n_units, columns, engine.memory_limit)
        bound = self.measure.bind(engine)
        for capability in self.search.requires:
            if not isinstance(bound, capability):
                raise IncompatibleError(
                    f"{type(self.measure).__name__} cannot be searched by "
                    f"{type(self.search).__name__}: it lacks {CAPABILITY_WORDS[capability]}; see "
                    "the table of methods for pairs that fit."
                )
        if ACTIVE.get() is not None:
            bound = cast(Bound, recorded(bound, self.measure, engine))
        return bound
