"""A Manhattan plot: −log10 p of every column, with thresholds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.input.tables import x_names
from featsieve.plots.canvas import COLOURS, QUIET, column_names, label_points, new_axes

DENSE = 2000  # columns from which points become dots of a picture, not of a vector graphic


class ManhattanDisplay:
    """Every column in its place, the higher the less likely its score is by chance.

    Parameters
    ----------
    pvalues : one per column; NaN is left out
    names : of the columns

    Attributes
    ----------
    ax_, figure_ : what :meth:`plot` drew

    Examples
    --------
    >>> from featsieve import PearsonRanking
    >>> from featsieve.datasets import make_sparse_linear
    >>> data = make_sparse_linear(100, random_state=0)
    >>> selector = PearsonRanking(n_features_to_select=5, n_permutations=99, random_state=0)
    >>> display = ManhattanDisplay.from_estimator(selector.fit(data.data, data.target))
    >>> display.ax_.get_ylabel()
    '−log10 p'
    """

    def __init__(self, pvalues: FloatArray, names: list[str]) -> None:
        self.pvalues = np.asarray(pvalues, dtype=np.float64)
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> Self:
        """Of a fitted selector with ``pvalues_``."""
        if not hasattr(estimator, "pvalues_"):
            raise InputError(
                f"{type(estimator).__name__} has no p-values; set n_permutations and fit."
            )
        return cls(estimator.pvalues_, column_names(estimator)).plot(ax=ax, **options)

    @classmethod
    def from_result(cls, result: Any, *, names: Any = None, ax: Any = None, **options: Any) -> Self:
        """Of what :func:`featsieve.inference.permutation_test` returned."""
        pvalues = np.asarray(result.pvalues)
        labels = x_names(len(pvalues)) if names is None else names
        return cls(pvalues, list(labels)).plot(ax=ax, **options)

    def plot(self, *, ax: Any = None, alpha: float = 0.05, n_labels: int = 8) -> Self:
        """Draw; the lines are at ``alpha`` for one test, and for all of them (Bonferroni)."""
        ax = new_axes(ax, "ManhattanDisplay", figsize=(9, 3.6))
        heights = -np.log10(np.clip(self.pvalues, 1e-300, 1.0))
        places = np.arange(len(heights))
        n_tests = max(1, int(np.isfinite(heights).sum()))
        threshold = -np.log10(alpha / n_tests)
        beyond = heights >= threshold
        style = {"s": 6 if len(heights) > DENSE else 18, "rasterized": len(heights) > DENSE}
        ax.scatter(places[~beyond], heights[~beyond], color=QUIET, **style)
        ax.scatter(places[beyond], heights[beyond], color=COLOURS[1], **style)
        ax.axhline(-np.log10(alpha), color=COLOURS[0], lw=0.8, ls=":", label=f"p = {alpha:g}")
        label = f"p = {alpha:g} after Bonferroni"
        ax.axhline(threshold, color=COLOURS[0], lw=0.8, ls="--", label=label)
        margin = 0.02 * len(heights) + 1
        ax.set(xlabel="column", ylabel="−log10 p", xlim=(-margin, len(heights) + margin))
        ax.set_ylim(0, 1.3 * max(threshold, float(np.nanmax(heights, initial=0.0))))
        top = np.argsort(-np.nan_to_num(heights, nan=-1.0), kind="stable")[:n_labels]
        top = top[heights[top] >= -np.log10(alpha)]
        label_points(ax, top.tolist(), heights[top].tolist(), [self.names[j] for j in top])
        ax.legend(loc="upper right", fontsize=8, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
