"""Regularisation paths: what each column weighs as the penalty falls or the radius grows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.plots.canvas import COLOURS, QUIET, column_names, new_axes, pyplot, short, spread

MOST_LINES = 400


class PathDisplay:
    """Weights of the columns along a path; with cross-validated errors below, where there are any.

    Parameters
    ----------
    strength : penalties (falling) or radii (growing), one per point
    weights : columns × points
    names : of the columns
    selected : indices of the selected columns, which are coloured and named
    errors : points × folds, or None
    label : what ``strength`` is

    Attributes
    ----------
    axes_, figure_ : what :meth:`plot` drew

    Examples
    --------
    >>> from featsieve import LassoSelector
    >>> from featsieve.datasets import make_sparse_linear
    >>> data = make_sparse_linear(100, random_state=0)
    >>> selector = LassoSelector(n_features_to_select=3, cv=2).fit(data.data[:, :50], data.target)
    >>> PathDisplay.from_estimator(selector).axes_[0].get_ylabel()
    'coefficient'
    """

    def __init__(
        self,
        strength: FloatArray,
        weights: FloatArray,
        names: list[str],
        *,
        selected: Any = (),
        errors: FloatArray | None = None,
        label: str = "penalty",
    ) -> None:
        self.strength = np.asarray(strength, dtype=np.float64)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.names = names
        self.selected = list(selected)
        self.errors = None if errors is None or not np.size(errors) else np.asarray(errors)
        self.label = label

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> Self:
        """Of a fitted LassoSelector, L1LSMI, L1HSIC, HSFS, LDFS or PrincipalFeatures."""
        return cls(*_path_of(estimator), **_more_of(estimator)).plot(ax=ax, **options)

    from_result = from_estimator

    def plot(self, *, ax: Any = None, n_labels: int = 10) -> Self:
        """Draw the weights, and the errors under them unless ``ax`` is given."""
        upper, lower = self._axes(ax)
        at = self._positions()
        for column in self._drawn():
            chosen = column in self.selected
            colour = COLOURS[self.selected.index(column) % len(COLOURS)] if chosen else QUIET
            width, mark = (1.6 if chosen else 0.7), ("o" if len(at) == 1 else "")
            upper.plot(at, self.weights[column], color=colour, lw=width, marker=mark)
        self._label(upper, at, n_labels)
        upper.set(ylabel="coefficient")
        bottom = upper if lower is None else lower
        bottom.set_xlabel(self._axis_label())
        if lower is not None:
            self._plot_errors(lower, at)
        self.axes_ = (upper,) if lower is None else (upper, lower)
        self.ax_, self.figure_ = upper, upper.figure
        return self

    def _label(self, ax: Any, at: FloatArray, n_labels: int) -> None:
        """Names at the right ends, apart from each other."""
        columns = self.selected[:n_labels]
        low, high = ax.get_ylim()
        ends = [float(self.weights[column, -1]) for column in columns]
        for rank, (column, height) in enumerate(
            zip(columns, spread(ends, 0.06 * (high - low)), strict=True)
        ):
            ax.annotate(
                short(self.names[column]),
                (at[-1], ends[rank]),
                xytext=(1.015, height),
                textcoords=("axes fraction", "data"),
                va="center",
                fontsize=8,
                color=COLOURS[rank % len(COLOURS)],
                annotation_clip=False,
            )

    def _axes(self, ax: Any) -> tuple[Any, Any]:
        if ax is not None or self.errors is None:
            return new_axes(ax, "PathDisplay", figsize=(8, 4)), None
        plt = pyplot("PathDisplay")
        _, axes = plt.subplots(2, sharex=True, figsize=(8, 6), layout="constrained")
        return axes[0], axes[1]

    def _positions(self) -> FloatArray:
        """Penalties by their logarithm, the strongest first; radii as they are."""
        if self.label != "penalty":
            return self.strength
        smallest = self.strength[self.strength > 0].min(initial=1.0)
        return -np.log10(np.maximum(self.strength, smallest / 10))

    def _axis_label(self) -> str:
        return "−log10 penalty" if self.label == "penalty" else self.label

    def _drawn(self) -> list[int]:
        """Selected columns last, so that they lie on top; of very many only the largest."""
        sizes = np.abs(self.weights).max(axis=1, initial=0.0)
        largest = np.argsort(-sizes, kind="stable")[:MOST_LINES]
        others = [int(j) for j in largest if sizes[j] > 0 and int(j) not in self.selected]
        return [*others, *self.selected]

    def _plot_errors(self, ax: Any, at: FloatArray) -> None:
        assert self.errors is not None
        mean = self.errors.mean(axis=1)
        deviation = self.errors.std(axis=1, ddof=1) if self.errors.shape[1] > 1 else 0 * mean
        error = deviation / np.sqrt(self.errors.shape[1])
        ax.plot(at, mean, color=COLOURS[0])
        ax.fill_between(at, mean - error, mean + error, color=COLOURS[0], alpha=0.2, lw=0)
        ax.axvline(at[int(np.argmin(mean))], color=COLOURS[1], ls="--", lw=0.8)
        ax.set(ylabel="squared error in cross-validation")


def _path_of(estimator: Any) -> tuple[FloatArray, FloatArray, list[str]]:
    names = column_names(estimator)
    if hasattr(estimator, "coef_path_"):
        coef = np.asarray(estimator.coef_path_)
        sizes = coef if coef.ndim == 2 else np.sqrt((coef**2).sum(axis=0))
        return estimator.alphas_, sizes, names
    steps = estimator.result_.path
    if steps and hasattr(steps[0], "radius"):
        weights = np.array([step.weights for step in steps]).T
        return np.array([step.radius for step in steps]), weights, names
    if steps and hasattr(steps[0], "penalty"):
        weights = np.array([step.sizes for step in steps]).T
        return np.array([step.penalty for step in steps]), weights, names
    raise InputError(f"{type(estimator).__name__} keeps no path that could be drawn.")


def _more_of(estimator: Any) -> dict[str, Any]:
    by_radius = not hasattr(estimator, "coef_path_") and hasattr(
        estimator.result_.path[0], "radius"
    )
    return {
        "selected": estimator.indices_.tolist(),
        "errors": getattr(estimator, "mse_path_", None),
        "label": "radius" if by_radius else "penalty",
    }
