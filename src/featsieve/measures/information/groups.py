"""Groups of columns as units: each combination of their states that occurs is a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from featsieve.arrays import IntArray
from featsieve.discretize.base import MAX_STATES, Cuts
from featsieve.errors import InputError
from featsieve.measures.information.counts import Codes
from featsieve.protocols import Engine
from featsieve.schema import Block

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Combinations:
    """The combinations of states seen in each group, as sorted keys; adds over row blocks."""

    seen: tuple[Keys, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.seen, other.seen, strict=True)
        return type(self)(tuple(np.union1d(a, b) for a, b in pairs))


@dataclass(frozen=True)
class GroupKeys:
    """Codes of columns to one number per group and row (mixed radix)."""

    groups: tuple[tuple[int, ...], ...]
    states: IntArray

    def of_group(self, codes: Codes, columns: tuple[int, ...]) -> Keys:
        if float(np.prod(self.states[list(columns)].astype(float))) >= 2.0**62:
            raise InputError(
                f"a group of {len(columns)} columns has too many combinations of states to count; "
                "use fewer bins, or smaller groups."
            )
        key = np.zeros(len(codes), dtype=np.int64)
        for j in columns:
            key = key * self.states[j] + codes[:, j]
        return key

    def scan(self, codes: Codes) -> Combinations:
        return Combinations(tuple(np.unique(self.of_group(codes, g)) for g in self.groups))


@dataclass(frozen=True)
class GroupCodes:
    """Codes of columns to codes of groups."""

    keys: GroupKeys
    combinations: Combinations

    @property
    def n_states(self) -> IntArray:
        return np.array([len(keys) for keys in self.combinations.seen], dtype=np.int64)

    def of_units(self, codes: Codes) -> Codes:
        units = [
            np.searchsorted(seen, self.keys.of_group(codes, columns))
            for columns, seen in zip(self.keys.groups, self.combinations.seen, strict=True)
        ]
        return np.stack(units, axis=1).astype(np.uint8)


def fit_groups(engine: Engine, cuts: Cuts) -> GroupCodes:
    """One pass over the rows; a group with too many states is refused."""
    keys = GroupKeys(engine.schema.groups or (), cuts.n_states)

    def of_block(block: Block) -> Combinations:
        return keys.scan(cuts.encode(block.dense()))

    combinations = engine.reduce_rows(of_block)
    for unit, seen in enumerate(combinations.seen):
        if len(seen) > MAX_STATES:
            raise InputError(
                f"group {engine.schema.unit_names[unit]!r} has {len(seen)} combinations of "
                f"states, at most {MAX_STATES} are allowed; use fewer bins, or smaller groups."
            )
    return GroupCodes(keys, combinations)
