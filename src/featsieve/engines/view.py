"""What engines share that show the rows of another engine in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import map_taken_columns
from featsieve.protocols import Engine


class EngineView:
    """The engine below, as it is; a subclass changes what it hands out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.n_samples = engine.n_samples
        self.n_features = engine.n_features
        self.schema = engine.schema
        self.target = engine.target
        self.monitor = engine.monitor
        self.memory_limit = engine.memory_limit
        self.n_jobs = engine.n_jobs
        self.has_weights = engine.has_weights
        self.is_local = engine.is_local

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        return map_taken_columns(self, fn)

    def targets(self, rows: IntArray | None = None) -> Array:
        return self._engine.targets(rows)

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        return self._engine.native(columns)
