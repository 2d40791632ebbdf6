"""The plots of the benches, out of a figure's data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.evaluation.benches._report import Figure
from featsieve.plots.canvas import COLOURS, pyplot, short

ACROSS = 3
PANEL = (4.2, 3.0)  # inches
DOTS = 90  # per inch


def draw(figure: Figure, path: Path) -> None:
    """Write the figure as a PNG."""
    plt = pyplot("a bench's plot")
    n = len(figure.panels)
    across = min(n, ACROSS)
    down = -(-n // across)
    size = (PANEL[0] * across + 0.6, PANEL[1] * down + 0.4)
    page, axes = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for ax, (title, panel) in zip(axes.flat, figure.panels.items(), strict=False):
        ax.set_title(short(title), fontsize=10)
        _PANELS[figure.kind](ax, panel)
        ax.set(xlabel=figure.xlabel, ylabel=figure.ylabel)
        if figure.log:
            ax.set_yscale("log")
    for ax in axes.flat[n:]:
        ax.set_axis_off()
    page.savefig(path, dpi=DOTS)
    plt.close(page)


def _curves(ax: Any, panel: Mapping[str, Any]) -> None:
    for number, (name, curve) in enumerate(panel.items()):
        x, y = np.asarray(curve["x"], float), np.asarray(curve["y"], float)
        colour = COLOURS[number % len(COLOURS)]
        style = "-" if number < len(COLOURS) else "--"
        marker = "o" if len(x) <= 30 else ""
        ax.plot(x, y, style, color=colour, marker=marker, ms=3, lw=1.2, label=short(name))
        if curve.get("error") is not None:
            error = np.asarray(curve["error"], float)
            ax.fill_between(x, y - error, y + error, color=colour, alpha=0.12, lw=0)
    if len(panel) > 1 and len(panel) <= 2 * len(COLOURS):
        ax.legend(fontsize=7, frameon=False)


def _image(ax: Any, panel: Mapping[str, Any]) -> None:
    mesh = ax.pcolormesh(
        np.asarray(panel["x"], float),
        np.asarray(panel["y"], float),
        np.ma.masked_invalid(np.asarray(panel["values"], float)),
        shading="nearest",
    )
    ax.figure.colorbar(mesh, ax=ax)


def _points(ax: Any, panel: Mapping[str, Any]) -> None:
    for number, (name, cloud) in enumerate(panel.items()):
        if name.startswith("line: "):
            ax.axhline(cloud["y"][0], color="black", lw=0.8, ls=":", label=name[6:])
            continue
        ax.scatter(cloud["x"], cloud["y"], s=9, color=COLOURS[number % len(COLOURS)], label=name)
    ax.legend(fontsize=7, frameon=False)


_PANELS = {"curves": _curves, "image": _image, "points": _points}
