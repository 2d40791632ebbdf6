"""Error against the number of columns, for one or several methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.plots.canvas import COLOURS, new_axes, short

WIDE = 30  # counts so far apart are drawn on a logarithmic axis


class ErrorCurveDisplay:
    """Mean error for each number of columns, with a band of one standard error.

    Parameters
    ----------
    counts : numbers of columns
    errors : method → counts × repeats
    label : a line above the curves

    Attributes
    ----------
    ax_, figure_ : what :meth:`plot` drew

    Examples
    --------
    >>> curve = {"MRMR": [[0.3, 0.4], [0.2, 0.3]]}
    >>> ErrorCurveDisplay.from_result([1, 2], curve).ax_.get_xlabel()
    'number of columns'
    """

    def __init__(self, counts: Any, errors: Mapping[str, Any], *, label: str = "") -> None:
        self.counts = np.asarray(counts)
        self.errors = {name: np.atleast_2d(np.asarray(e, float)) for name, e in errors.items()}
        self.label = label

    @classmethod
    def from_result(
        cls,
        counts: Any,
        errors: Mapping[str, Any] | None = None,
        *,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """From an :class:`~featsieve.evaluation.ErrorCurve`, or from counts and errors.

        The title of an ``ErrorCurve`` says whether its errors are nested or optimistic.
        """
        if errors is None:
            curve = counts
            options.setdefault("ylabel", curve.metric.replace("_", " "))
            return cls(curve.counts, curve.errors, label=curve.label).plot(ax=ax, **options)
        return cls(counts, errors).plot(ax=ax, **options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, model: Any, counts: Any, cv: int = 5, **options: Any
    ) -> Self:
        """The error of ``model`` after the selector, both fitted again in each fold."""
        from featsieve.evaluation.error_curve import error_curve

        return cls.from_result(error_curve(X, y, estimator, counts, judge=model, cv=cv), **options)

    def plot(self, *, ax: Any = None, ylabel: str = "error") -> Self:
        ax = new_axes(ax, "ErrorCurveDisplay", figsize=(7, 4))
        from matplotlib.ticker import MaxNLocator

        for number, (name, errors) in enumerate(self.errors.items()):
            mean, error = _mean_and_error(errors)
            colour = COLOURS[number % len(COLOURS)]
            style = "-" if number < len(COLOURS) else "--"
            ax.plot(self.counts, mean, style, marker="o", ms=3, color=colour, label=short(name))
            ax.fill_between(self.counts, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
        ax.set(xlabel="number of columns", ylabel=ylabel)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if self.counts.min() > 0 and self.counts.max() >= WIDE * self.counts.min():
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
        if self.label:
            ax.set_title(self.label, fontsize=9)
        ax.legend(fontsize=8, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _mean_and_error(errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    n_repeats = errors.shape[1]
    deviation = errors.std(axis=1, ddof=1) if n_repeats > 1 else np.zeros(len(errors))
    return errors.mean(axis=1), deviation / np.sqrt(n_repeats)
