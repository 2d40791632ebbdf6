"""Cut points of all columns, and the codes they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from featsieve.errors import InputError
from featsieve.kernels.discretizing import encode_columns
from featsieve.schema import FloatArray, IntArray, Schema

MAX_STATES = 255
MAX_CUTS = MAX_STATES - 2  # one state more than cuts, and one for missing cells


@dataclass(frozen=True)
class Cuts:
    """Sorted cut points a column: state s holds cuts[s − 1] < x ≤ cuts[s].

    A missing cell is a state of its own, after all others.
    """

    columns: tuple[FloatArray, ...]

    @cached_property
    def _starts(self) -> IntArray:
        sizes = [len(cuts) for cuts in self.columns]
        return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    @cached_property
    def _flat(self) -> FloatArray:
        return np.concatenate([np.empty(0), *self.columns])

    @property
    def n_states(self) -> IntArray:
        """States of each column, the one for missing cells included."""
        return np.diff(self._starts) + 2

    def encode(self, X: FloatArray) -> npt.NDArray[np.uint8]:
        X = np.ascontiguousarray(X, dtype=np.float64)
        codes = np.empty(X.shape, dtype=np.uint8)
        encode_columns(X, self._flat, self._starts, codes)
        return codes

    def take(self, columns: Sequence[int]) -> Cuts:
        return Cuts(tuple(self.columns[j] for j in columns))


def cuts_between(values: FloatArray) -> FloatArray:
    """Midpoints of adjacent distinct sorted values; never a value itself but for rounding."""
    middle = values[:-1] / 2 + values[1:] / 2
    # Neighbouring floats have no midpoint between them: the lower one closes its interval.
    return np.where(middle < values[1:], middle, values[:-1])


def category_cuts(schema: Schema, column: int) -> FloatArray:
    """Cuts that keep the codes 0, 1, … of a categorical column as they are."""
    n_states = schema.n_states(column)
    if n_states > MAX_CUTS + 1:
        refuse_states(schema.names[column], n_states)
    return np.arange(n_states - 1) + 0.5


def refuse_states(name: str, n_states: int | str) -> None:
    raise InputError(
        f"column {name!r} has {n_states} states, at most {MAX_CUTS + 1} (and one for missing "
        "cells) are allowed; group its rare states, drop it, or discretise it."
    )
