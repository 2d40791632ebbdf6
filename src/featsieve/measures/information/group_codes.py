"""A group of columns as one column: its states are the combinations that occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from featsieve.errors import InputError
from featsieve.measures.information.contingency import MAX_STATES, Codes
from featsieve.schema import IntArray, Schema

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Combinations:
    """The combinations seen in each group; adds over row blocks."""

    seen: tuple[Keys, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.seen, other.seen, strict=True)
        return type(self)(tuple(np.union1d(a, b) for a, b in pairs))


@dataclass(frozen=True)
class GroupCodes:
    """Codes of columns to codes of units."""

    schema: Schema
    states: IntArray
    combinations: Combinations | None = None

    def scan(self, codes: Codes) -> Combinations:
        return Combinations(tuple(np.unique(self._keys(codes, g)) for g in self._groups()))

    def with_combinations(self, found: Combinations) -> GroupCodes:
        for unit, keys in enumerate(found.seen):
            if len(keys) > MAX_STATES:
                raise InputError(
                    f"group {self.schema.unit_name(unit)!r} has {len(keys)} combinations of "
                    f"states, at most {MAX_STATES} are allowed; use fewer bins, or smaller groups."
                )
        return GroupCodes(self.schema, self.states, found)

    @property
    def unit_states(self) -> IntArray:
        if self.combinations is None:
            return self.states
        return np.array([len(keys) for keys in self.combinations.seen], dtype=np.int64)

    def of_units(self, codes: Codes) -> Codes:
        if self.combinations is None:
            return codes
        units = [
            np.searchsorted(keys, self._keys(codes, columns))
            for columns, keys in zip(self._groups(), self.combinations.seen, strict=True)
        ]
        return np.stack(units, axis=1).astype(np.uint8)

    def _groups(self) -> tuple[tuple[int, ...], ...]:
        return self.schema.groups or ()

    def _keys(self, codes: Codes, columns: tuple[int, ...]) -> Keys:
        """One number a combination (mixed radix)."""
        size = float(np.prod([float(self.states[j]) for j in columns]))
        if size >= 2.0**62:
            raise InputError(
                f"a group of {len(columns)} columns has too many combinations of states to count; "
                "use fewer bins, or smaller groups."
            )
        key = np.zeros(len(codes), dtype=np.int64)
        for j in columns:
            key = key * self.states[j] + codes[:, j]
        return key
