"""HSIC of frequency bands: which lower and upper cut-offs carry the classes (Song et al. 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_columns
from featsieve.measures.hsic.hsic import HSIC
from featsieve.protocols import HasValue


@dataclass(frozen=True)
class BandMap:
    """``values[i, j]``: the measure of the band from ``edges[i]`` to ``edges[j]``; NaN if empty."""

    edges: FloatArray
    values: FloatArray

    def best(self) -> tuple[float, float]:
        """The cut-offs of the band with the largest value."""
        i, j = np.unravel_index(int(np.nanargmax(self.values)), self.values.shape)
        return float(self.edges[i]), float(self.edges[j])


def band_map(
    power: Array,
    y: Array,
    frequencies: FloatArray,
    *,
    edges: Sequence[float] | FloatArray | None = None,
    measure: Any = None,
) -> BandMap:
    """The measure (default: HSIC with the width of Song et al. 2007) of every band of a spectrum.

    Parameters
    ----------
    power
        Trials × frequencies; each column is standardised.
    edges
        Cut-offs in Hz, ascending; by default every 2 Hz.

    Examples
    --------
    >>> from featsieve.datasets import make_motor_imagery
    >>> trials = make_motor_imagery(60, subject="al", n_channels=8, random_state=0)
    >>> found = band_map(trials.data, trials.target, trials.frequencies, edges=range(4, 34, 4))
    >>> found.values.shape
    (8, 8)
    """
    cuts = _checked_edges(frequencies, edges)
    power = np.asarray(power, dtype=np.float64)
    deviation = power.std(axis=0)
    scaled = (power - power.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    measure = measure or HSIC(bandwidth="dimension")
    bound = measure.bind(open_columns(scaled, y, Settings(task="classification")))
    return BandMap(cuts, _values(bound, np.asarray(frequencies), cuts))


def _values(bound: HasValue, frequencies: FloatArray, cuts: FloatArray) -> FloatArray:
    values = np.full((len(cuts), len(cuts)), np.nan)
    for i, low in enumerate(cuts):
        for j in range(i + 1, len(cuts)):
            inside = np.flatnonzero((frequencies >= low) & (frequencies < cuts[j]))
            if len(inside):
                values[i, j] = bound.value(inside.tolist())
    return values


def _checked_edges(frequencies: FloatArray, edges: Any) -> FloatArray:
    if edges is None:
        return np.arange(0.0, float(np.max(frequencies)) + 2.0, 2.0)
    cuts = np.asarray(list(edges), dtype=np.float64)
    if len(cuts) < 2 or (np.diff(cuts) <= 0).any():
        raise InputError("edges must be at least two cut-offs in Hz, each above the last.")
    return cuts


def nearest_neighbours(chosen: IntArray, n_frequencies: int, n_neighbours: int = 4) -> IntArray:
    """The chosen frequencies and as many nearest ones of each, as Song et al. (2007) keep them.

    >>> nearest_neighbours(np.array([1, 9]), 20).tolist()
    [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]
    """
    everything = np.arange(n_frequencies)
    kept: set[int] = set()
    for frequency in chosen:
        distance = np.abs(everything - frequency)
        kept.update(np.argsort(distance, kind="stable")[: n_neighbours + 1].tolist())
    return np.array(sorted(kept), dtype=np.intp)
