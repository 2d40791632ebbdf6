"""Average ranks of methods over data sets, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from featsieve.evaluation.ranks import RankTest, average_ranks
from featsieve.plots.canvas import COLOURS, QUIET, new_axes, short

ROW = 0.6  # height of a name, in units of the axis


class CriticalDifferenceDisplay:
    """Methods on a line by their average rank; bars join those that do not differ (Demšar 2006).

    Parameters
    ----------
    result : RankTest
        What :func:`featsieve.evaluation.average_ranks` returned.

    Attributes
    ----------
    ax_, figure_ : what :meth:`plot` drew

    Examples
    --------
    >>> errors = {"MRMR": [1, 2, 1, 1], "JMI": [2, 3, 2, 3], "CMIM": [3, 1, 3, 2]}
    >>> display = CriticalDifferenceDisplay.from_result(errors)
    >>> display.ax_.get_xlabel()
    'average rank (1 is best)'
    """

    def __init__(self, result: RankTest) -> None:
        self.result = result

    @classmethod
    def from_result(
        cls, result: RankTest | Mapping[str, Any], *, ax: Any = None, **options: Any
    ) -> Self:
        """Of a rank test, or of errors: method → one error per data set."""
        test = result if isinstance(result, RankTest) else average_ranks(result)
        return cls(test).plot(ax=ax, **options)

    def plot(self, *, ax: Any = None, title: str | None = None) -> Self:
        order = sorted(self.result.ranks, key=lambda name: self.result.ranks[name])
        half = (len(order) + 1) // 2
        height = ROW * (half + 1 + len(self.result.cliques()))
        ax = new_axes(ax, "CriticalDifferenceDisplay", figsize=(8, 0.9 + 0.55 * height))
        bars = self.result.cliques()
        self._draw_bars(ax, bars)
        below = ROW * (len(bars) + 1)
        for rank, name in enumerate(order):
            left = rank < half
            level = below + ROW * (rank if left else len(order) - 1 - rank)
            self._draw_name(ax, name, level, left, rank)
        self._draw_difference(ax)
        self._finish(ax, len(order), below + ROW * half, title)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: Any, bars: list[tuple[str, ...]]) -> None:
        for number, group in enumerate(bars, start=1):
            ranks = [self.result.ranks[name] for name in group]
            ax.plot(
                [min(ranks) - 0.04, max(ranks) + 0.04],
                [ROW * number - 0.2] * 2,
                color=COLOURS[1],
                lw=4,
                solid_capstyle="round",
            )

    def _draw_name(self, ax: Any, name: str, level: float, left: bool, place: int) -> None:
        """A line down from the rank, then out to the name at the nearer side."""
        rank, edge = self.result.ranks[name], 0.7 if left else len(self.result.ranks) + 0.3
        colour = COLOURS[0] if place == 0 else "0.25"
        ax.plot([rank, rank, edge], [0, level, level], color=colour, lw=0.9)
        ax.annotate(
            f"{short(name)} ({rank:.2f})",
            (edge, level),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=8,
            color=colour,
            annotation_clip=False,
        )

    def _draw_difference(self, ax: Any) -> None:
        difference = self.result.critical_difference
        ax.plot([1, 1 + difference], [-0.7, -0.7], color=QUIET, lw=2, marker="|", ms=8)
        label = f"critical difference {difference:.2f}"
        ax.annotate(label, (1 + difference / 2, -0.95), ha="center", fontsize=8, color="0.35")

    def _finish(self, ax: Any, n_methods: int, lowest: float, title: str | None) -> None:
        ax.set(xlim=(0.7, n_methods + 0.3), ylim=(lowest + 0.1, -1.4), yticks=[])
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.spines["top"].set_position(("data", 0.0))
        ax.xaxis.tick_top()
        step = max(1, n_methods // 10)
        ax.set_xticks(range(1, n_methods + 1, step))
        ax.set_xlabel("average rank (1 is best)", fontsize=9)
        p = self.result.friedman_pvalue
        ax.set_title(title or f"{self.result.n_sets} data sets, Friedman p = {p:.2g}", fontsize=10)
