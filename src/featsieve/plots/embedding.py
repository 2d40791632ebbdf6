"""Rows in two dimensions (t-SNE): by all columns, and by the selected ones, side by side."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.plots.canvas import COLOURS, pyplot, short

MOST_ROWS = 1000
MOST_CLASSES = 7


class EmbeddingDisplay:
    """Two t-SNE maps of the same rows, coloured by the target.

    Parameters
    ----------
    maps : title → rows × 2
    target : one per row

    Attributes
    ----------
    axes_, figure_ : what :meth:`plot` drew

    Examples
    --------
    >>> maps = {"all": np.eye(3)[:, :2], "selected": np.eye(3)[:, 1:]}
    >>> [ax.get_title() for ax in EmbeddingDisplay.from_result(maps, [0, 1, 0]).axes_]
    ['all', 'selected']
    """

    def __init__(self, maps: dict[str, FloatArray], target: Any) -> None:
        self.maps = {title: np.asarray(points) for title, points in maps.items()}
        self.target = np.asarray(target)

    @classmethod
    def from_result(cls, maps: dict[str, FloatArray], target: Any, **options: Any) -> Self:
        return cls(maps, target).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, random_state: int = 0, **options: Any
    ) -> Self:
        """Maps of at most 1,000 rows, which are drawn by ``random_state``."""
        values, target = np.asarray(X, dtype=np.float64), np.asarray(y)
        if len(values) > MOST_ROWS:
            rows = np.random.default_rng(random_state).permutation(len(values))[:MOST_ROWS]
            values, target = values[rows], target[rows]
        chosen = values[:, estimator.indices_]
        maps = {
            f"all {values.shape[1]} columns": embedded(values, random_state),
            f"the {chosen.shape[1]} selected": embedded(chosen, random_state),
        }
        return cls.from_result(maps, target, **options)

    def plot(self, *, size: float = 12.0) -> Self:
        plt = pyplot("EmbeddingDisplay")
        figure, axes = plt.subplots(
            1, len(self.maps), figsize=(4.5 * len(self.maps), 4.2), layout="constrained"
        )
        self.axes_, self.figure_ = np.atleast_1d(axes), figure
        for ax, (title, points) in zip(self.axes_, self.maps.items(), strict=True):
            self._scatter(ax, points, size)
            ax.set(title=title, xticks=[], yticks=[])
        return self

    def _scatter(self, ax: Any, points: FloatArray, size: float) -> None:
        classes = np.unique(self.target)
        if len(classes) > MOST_CLASSES:
            codes = _numbers(self.target)
            drawn = ax.scatter(*points.T, c=codes, s=size, cmap="viridis")
            ax.figure.colorbar(drawn, ax=ax, label="target")
            return
        for number, label in enumerate(classes):
            ax.scatter(
                *points[self.target == label].T,
                s=size,
                color=COLOURS[number],
                label=short(str(label)),
            )
        ax.legend(fontsize=8, frameon=False)


def embedded(values: FloatArray, random_state: int) -> FloatArray:
    """t-SNE of standardised columns; few rows get a smaller neighbourhood."""
    from sklearn.manifold import TSNE
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, max(2.0, (len(values) - 1) / 3))
    tsne = TSNE(perplexity=perplexity, init="random", random_state=random_state)
    # Threads that wait for each other cost more than they save on at most 1,000 rows.
    with threadpool_limits(1):
        points: FloatArray = tsne.fit_transform(StandardScaler().fit_transform(values))
    return points


def _numbers(target: Array) -> FloatArray:
    if target.dtype.kind in "biuf":
        return target.astype(np.float64)
    return np.unique(target, return_inverse=True)[1].astype(np.float64)
