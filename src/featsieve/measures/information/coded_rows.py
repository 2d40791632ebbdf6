"""The codes of all rows, in memory: one byte a cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from featsieve.engines.blocks import require_memory
from featsieve.measures.information.coding import Coder
from featsieve.measures.information.contingency import Codes
from featsieve.protocols import Engine
from featsieve.schema import Block, FloatArray, IntArray


@dataclass(frozen=True)
class CodedRows:
    """Codes (rows × columns), classes (rows × outputs) and weights, if any."""

    codes: Codes = field(repr=False)
    classes: IntArray = field(repr=False)
    weights: FloatArray | None = field(repr=False, default=None)


@dataclass(frozen=True)
class _Blocks:
    """Coded blocks, kept apart until all are there."""

    blocks: tuple[CodedRows, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.blocks + other.blocks)


def gathered_bytes(engine: Engine) -> int:
    """What the codes of all rows take while they are put together."""
    return 2 * engine.n_samples * engine.schema.n_units


def gather_codes(engine: Engine, coder: Coder) -> CodedRows:
    """One pass over the rows; refused where the budget forbids it."""
    what = f"the codes of {engine.n_samples} × {engine.schema.n_units} cells"
    require_memory(gathered_bytes(engine) // 8, engine.memory_limit, what)

    def of_block(block: Block) -> _Blocks:
        return _Blocks((CodedRows(coder.codes(block), coder.classes(block), block.weight),))

    blocks = engine.reduce_rows(of_block).blocks
    weights = [block.weights for block in blocks if block.weights is not None]
    return CodedRows(
        np.concatenate([block.codes for block in blocks]),
        np.concatenate([block.classes for block in blocks]),
        np.concatenate(weights) if weights else None,
    )
