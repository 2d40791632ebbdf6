"""Relevance and redundancy: which columns tell of the target, and which of each other."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.plots.canvas import column_names, finite_or_zero, new_axes, short

MOST_COLUMNS = 60


class PairwiseDisplay:
    """A map of pairs of columns, in the order of a clustering, with relevance on the diagonal.

    Parameters
    ----------
    pairs : columns × columns, 0 to 1: how much two columns share
    relevance : one per column, 0 to 1
    names : of the columns

    Attributes
    ----------
    ax_, figure_, order_ : what :meth:`plot` drew, and the columns in the order of the map

    Examples
    --------
    >>> from featsieve import MRMR
    >>> from featsieve.datasets import make_and_or
    >>> data = make_and_or(200, random_state=0)
    >>> selector = MRMR(n_features_to_select=3).fit(data.data, data.target)
    >>> display = PairwiseDisplay.from_estimator(selector, data.data, data.target)
    >>> sorted(display.order_) == list(range(10))
    True
    """

    def __init__(self, pairs: FloatArray, relevance: FloatArray, names: list[str]) -> None:
        self.pairs = np.asarray(pairs, dtype=np.float64)
        self.relevance = np.asarray(relevance, dtype=np.float64)
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """The selected columns and the next best ones, by rank correlation of X."""
        columns = _shown(estimator)
        values = unit_ranks(np.asarray(X, dtype=np.float64)[:, columns])
        target = unit_ranks(np.asarray(y)[:, None])
        pairs = np.abs(values.T @ values)
        relevance = np.abs(values.T @ target)[:, 0]
        names = column_names(estimator)
        return cls(pairs, relevance, [names[j] for j in columns]).plot(ax=ax, **options)

    @classmethod
    def from_result(
        cls, pairs: Any, relevance: Any, names: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Of matrices that were computed before."""
        return cls(pairs, relevance, list(names)).plot(ax=ax, **options)

    def plot(self, *, ax: Any = None, cmap: str = "cividis") -> Self:
        ax = new_axes(ax, "PairwiseDisplay", figsize=(6.5, 5.5))
        self.order_ = clustered(self.pairs)
        shown = self.pairs[np.ix_(self.order_, self.order_)].copy()
        np.fill_diagonal(shown, self.relevance[self.order_])
        image = ax.imshow(shown, vmin=0, vmax=1, cmap=cmap)
        ax.figure.colorbar(image, ax=ax, label="shared (diagonal: with the target)")
        labels = [short(self.names[j]) for j in self.order_]
        size = 8 if len(labels) <= 30 else 5
        ax.set_xticks(range(len(labels)), labels, rotation=90, fontsize=size)
        ax.set_yticks(range(len(labels)), labels, fontsize=size)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def clustered(pairs: FloatArray) -> list[int]:
    """Columns in the order of average-linkage clustering: those that share much are neighbours."""
    if len(pairs) < 3:
        return list(range(len(pairs)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1 - np.clip((pairs + pairs.T) / 2, 0, 1)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    return [int(j) for j in leaves_list(tree)]


def _shown(estimator: Any) -> list[int]:
    selected = estimator.indices_.tolist()
    scores = finite_or_zero(estimator.scores_)
    rest = [int(j) for j in np.argsort(-scores, kind="stable") if int(j) not in set(selected)]
    return (selected + rest)[:MOST_COLUMNS]


def unit_ranks(values: Any) -> FloatArray:
    """Ranks of each column, centred and of length 1: their products are rank correlations."""
    from scipy.stats import rankdata

    codes = np.unique(values, return_inverse=True)[1].reshape(values.shape)
    ranks = rankdata(codes, axis=0)
    centered = ranks - ranks.mean(axis=0)
    norms = np.sqrt((centered**2).sum(axis=0))
    return np.asarray(centered / np.where(norms > 0, norms, 1.0))
