"""HSIC of frequency bands over lower and upper cut-offs (Song et al. 2007, Figure 2)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.evaluation.bands import BandMap, band_map
from featsieve.plots.canvas import new_axes


class BandDisplay:
    """A map of bands: the lower cut-off to the right, the upper one upwards.

    Parameters
    ----------
    result : BandMap
        What :func:`featsieve.evaluation.bands.band_map` found.

    Attributes
    ----------
    ax_, figure_, mesh_ : what :meth:`plot` drew

    Examples
    --------
    >>> bands = BandMap(edges=np.array([2.0, 4.0, 8.0]), values=np.eye(3))
    >>> BandDisplay.from_result(bands).ax_.get_xlabel()
    'lower cut-off (Hz)'
    """

    def __init__(self, result: BandMap) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: BandMap, *, ax: Any = None, **options: Any) -> Self:
        """Draw a map that was computed before."""
        return cls(result).plot(ax=ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Array,
        y: Array,
        *,
        frequencies: FloatArray,
        edges: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the map with the measure of an HSIC or feature selector, and draw it."""
        measure = estimator.measure
        measure = measure() if callable(measure) else measure
        result = band_map(X, y, frequencies, edges=edges, measure=measure)
        return cls.from_result(result, ax=ax, **options)

    def plot(self, *, ax: Any = None, cmap: str = "viridis", title: str | None = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        ax = new_axes(ax, "BandDisplay")
        edges, values = self.result.edges, self.result.values
        self.mesh_ = ax.pcolormesh(_cells(edges), _cells(edges), values.T, cmap=cmap)
        ax.set(xlabel="lower cut-off (Hz)", ylabel="upper cut-off (Hz)", title=title or "")
        ax.figure.colorbar(self.mesh_, ax=ax, label="HSIC")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _cells(edges: FloatArray) -> FloatArray:
    """Borders of cells around the cut-offs.

    >>> _cells(np.array([2.0, 4.0, 8.0])).tolist()
    [1.0, 3.0, 6.0, 10.0]
    """
    middle = (edges[1:] + edges[:-1]) / 2
    first, last = 2 * edges[0] - middle[0], 2 * edges[-1] - middle[-1]
    return np.concatenate([[first], middle, [last]])
