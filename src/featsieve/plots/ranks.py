"""A critical-difference plot: average ranks, with bars over what cannot be told apart."""

from __future__ import annotations

from typing import Any, Self

from featsieve.plots.canvas import COLOURS, new_axes, short

LINE = 0.22  # height of a label, in units of the axis


class RankDisplay:
    """Average ranks on one axis, best to the left (Demšar 2006).

    Methods under one bar do not differ significantly by the test of Nemenyi.

    Parameters
    ----------
    test : what :func:`featsieve.evaluation.average_ranks` returned

    Attributes
    ----------
    ax_, figure_ : what :meth:`plot` drew

    Examples
    --------
    >>> from featsieve.evaluation import average_ranks
    >>> test = average_ranks({"A": [1, 2, 1, 1], "B": [2, 3, 2, 3], "C": [3, 1, 3, 2]})
    >>> RankDisplay.from_result(test).ax_.get_title()
    'Friedman p = 0.17, critical difference 1.66, 4 data sets'
    """

    def __init__(self, test: Any) -> None:
        self.test = test

    @classmethod
    def from_result(cls, test: Any, *, ax: Any = None) -> Self:
        return cls(test).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        test = self.test
        order = sorted(test.ranks, key=lambda name: test.ranks[name])
        cliques = test.cliques()
        half = -(-len(order) // 2)
        height = LINE * (half + 1)
        ax = new_axes(ax, "RankDisplay", figsize=(8, 1.2 + 0.22 * half + 0.12 * len(cliques)))
        ax.axhline(0.0, color="black", lw=1)
        for number, name in enumerate(order):
            self._label(ax, name, number if number < half else len(order) - 1 - number,
                        left=number < half)  # fmt: skip
        for number, clique in enumerate(cliques):
            ends = test.ranks[clique[0]], test.ranks[clique[-1]]
            ax.plot(ends, [0.08 + 0.1 * number] * 2, lw=3, color=COLOURS[0], solid_capstyle="butt")
        ax.set(xlim=(0.0, len(order) + 1.0), ylim=(-height, 0.2 + 0.1 * len(cliques)))
        ax.set_title(
            f"Friedman p = {test.friedman_pvalue:.2g}, critical difference "
            f"{test.critical_difference:.2f}, {test.n_sets} data sets",
            fontsize=9,
        )
        ax.set(xlabel="average rank", xticks=range(1, len(order) + 1), yticks=[])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _label(self, ax: Any, name: str, row: int, *, left: bool) -> None:
        """A line from the rank down and to the side where the name stands."""
        rank, depth = self.test.ranks[name], -LINE * (row + 1) + 0.05
        side = 0.7 if left else len(self.test.ranks) + 0.3
        ax.plot([rank, rank, side], [0.0, depth, depth], color="black", lw=0.7)
        words = f"{short(name)} ({rank:.2f})"
        ax.annotate(words, (side, depth), ha="right" if left else "left", va="center", fontsize=8)
