"""A bar on standard error, where someone is looking."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType
from typing import Self, TextIO

from featsieve.runtime.progress import Progress

_INTERVAL = 0.1
_FIRST = 0.3  # shorter runs need no bar


class Bar:
    """A callback for selectors that draws one line and wipes it at the end."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = not quiet and self._stream.isatty()
        self._due = time.monotonic() + _FIRST
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._draw("")

    def __call__(self, progress: Progress) -> None:
        if self._shown and progress.total > 1 and time.monotonic() >= self._due:
            self._due = time.monotonic() + _INTERVAL
            self._draw(render(progress, shutil.get_terminal_size().columns - 1))

    def _draw(self, line: str) -> None:
        if self._shown and (line or self._width):
            self._stream.write("\r" + line.ljust(self._width) + ("" if line else "\r"))
            self._stream.flush()
            self._width = len(line)


def render(progress: Progress, width: int) -> str:
    """One line of at most ``width`` characters.

    >>> render(Progress("reading rows", 3, 4, 6.0), 60)
    '[###########----]  75%  6 s, about 2 s left  reading rows'
    """
    share = min(1.0, progress.done / progress.total) if progress.total else 0.0
    cells = max(4, min(30, width // 4))
    bar = "#" * int(share * cells) + "-" * (cells - int(share * cells))
    left = f", about {progress.elapsed * (1 / share - 1):.0f} s left" if 0 < share < 1 else ""
    return f"[{bar}] {share:4.0%}  {progress.elapsed:.0f} s{left}  {progress.message}"[:width]
