"""A procedure that can be made only when the rows are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from featsieve.protocols import Engine
from featsieve.result import SelectionResult


@dataclass(frozen=True)
class Deferred:
    """``run`` is what the procedure does."""

    run: Callable[[Engine, int | None], Iterator[SelectionResult]]

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """Those of ``run``."""
        return self.run(engine, k)
