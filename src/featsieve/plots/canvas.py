"""What all displays share: matplotlib when it is needed, colours, names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.errors import MissingExtraError, printable
from featsieve.input.tables import x_names

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
QUIET = "#B0B0B0"
LONGEST_NAME = 24


def pyplot(purpose: str) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", purpose) from None
    return plt


def new_axes(ax: Any, purpose: str, **figure: Any) -> Any:
    """``ax`` as given, or that of a new figure."""
    plt = pyplot(purpose)
    return ax if ax is not None else plt.subplots(layout="constrained", **figure)[1]


def column_names(estimator: Any) -> list[str]:
    """The names a fitted selector knows, else x0, x1, …"""
    names = getattr(estimator, "feature_names_in_", None)
    return list(map(str, x_names(estimator.n_features_in_) if names is None else names))


def short(name: str) -> str:
    """A name that fits next to a point; none of its letters is mathematics or a command."""
    name = printable(name)
    text = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")


def label_points(ax: Any, x: Sequence[float], y: Sequence[float], names: Sequence[str]) -> None:
    """Names next to points, to the left of those at the right edge.

    A name that would lie on one before it is left out: give the most important first.
    """
    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    placed: list[tuple[float, float]] = []
    for at, height, name in zip(x, y, names, strict=True):
        spot = (at - low) / (high - low), (height - bottom) / (top - bottom)
        if any(abs(spot[0] - a) < 0.09 and abs(spot[1] - b) < 0.06 for a, b in placed):
            continue
        placed.append(spot)
        right = spot[0] > 0.8
        ax.annotate(
            short(name),
            (at, height),
            xytext=(-4 if right else 4, 3),
            textcoords="offset points",
            ha="right" if right else "left",
            fontsize=8,
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The heights moved as little as needed upwards to lie ``gap`` apart.

    >>> spread([0.0, 5.0, 0.1], 1.0)
    [0.0, 5.0, 1.0]
    """
    moved = list(heights)
    before = -np.inf
    for position in np.argsort(heights, kind="stable").tolist():
        moved[position] = before = max(heights[position], before + gap)
    return moved


def finite_or_zero(values: Any) -> Any:
    return np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
