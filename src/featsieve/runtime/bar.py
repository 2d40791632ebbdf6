"""A progress bar for selectors: in notebooks, in terminals, and plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from html import escape
from typing import Any

from featsieve.runtime.progress import Progress

INTERVAL = 0.1
FIRST = 0.3  # shorter runs need no bar
PLAIN_FIRST, PLAIN_INTERVAL = 10.0, 30.0  # lines in a log


class ProgressBar:
    """A callback that shows how far a fit is: ``MRMR(callback=ProgressBar())``.

    In a notebook a bar, in a terminal one line that is drawn over, elsewhere (a log) a plain line
    every 30 seconds; all of it on standard error.

    Examples
    --------
    >>> from featsieve import MRMR, ProgressBar
    >>> from featsieve.datasets import make_and_or
    >>> data = make_and_or(100, random_state=0)
    >>> MRMR(n_features_to_select=3, callback=ProgressBar()).fit(data.data, data.target).indices_
    array([8, 7, 9])
    """

    def __init__(self) -> None:
        self._due: float | None = None
        self._width = 0
        self._handle: Any = None

    def __call__(self, progress: Progress) -> None:
        if progress.total <= 1:
            return
        now = time.monotonic()
        first, interval = self._pace()
        if self._due is None or progress.elapsed < INTERVAL:  # a new fit
            self._due = now + max(0.0, first - progress.elapsed)
        if now >= self._due:
            self._due = now + interval
            self._show(progress)

    def _pace(self) -> tuple[float, float]:
        if in_notebook() or self._stream().isatty():
            return FIRST, INTERVAL
        return PLAIN_FIRST, PLAIN_INTERVAL

    def _stream(self) -> Any:
        return sys.stderr

    def _show(self, progress: Progress) -> None:
        if in_notebook():
            self._display(bar_html(progress))
        elif self._stream().isatty():
            self._draw(render(progress, shutil.get_terminal_size().columns - 1))
        else:
            self._stream().write(f"featsieve: {plain(progress)}\n")
            self._stream().flush()

    def _display(self, html: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(html), display_id=True)
        else:
            self._handle.update(HTML(html))

    def _draw(self, line: str) -> None:
        if line or self._width:
            stream = self._stream()
            stream.write("\r" + line.ljust(self._width) + ("" if line else "\r"))
            stream.flush()
            self._width = len(line)


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this, found without importing IPython."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


def render(progress: Progress, width: int) -> str:
    """One line of at most ``width`` characters.

    >>> render(Progress("reading rows", 3, 4, 6.0), 60)
    '[###########----]  75%  6 s, about 2 s left  reading rows'
    """
    share = _share(progress)
    cells = max(4, min(30, width // 4))
    bar = "#" * int(share * cells) + "-" * (cells - int(share * cells))
    return f"[{bar}] {share:4.0%}  {_times(progress)}  {progress.message}"[:width]


def plain(progress: Progress) -> str:
    """The same without a bar.

    >>> plain(Progress("reading rows", 3, 4, 6.0))
    'reading rows: 75%, 6 s, about 2 s left'
    """
    return f"{progress.message}: {_share(progress):.0%}, {_times(progress)}"


def bar_html(progress: Progress) -> str:
    words = escape(plain(progress))
    return (
        f"<label><progress max='1' value='{_share(progress):.4f}' style='width:20em'></progress> "
        f"{words}</label>"
    )


def _share(progress: Progress) -> float:
    return min(1.0, progress.done / progress.total) if progress.total else 0.0


def _times(progress: Progress) -> str:
    share = _share(progress)
    left = f", about {progress.elapsed * (1 / share - 1):.0f} s left" if 0 < share < 1 else ""
    return f"{progress.elapsed:.0f} s{left}"
