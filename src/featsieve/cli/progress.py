"""The progress of a command on standard error; --quiet silences it."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self, TextIO

from featsieve.runtime.bar import ProgressBar
from featsieve.runtime.progress import Progress


class Bar(ProgressBar):
    """A callback for selectors that wipes its line at the end."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        super().__init__()
        self._given = stream
        self._quiet = quiet

    def _stream(self) -> Any:
        return sys.stderr if self._given is None else self._given

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
        if not self._quiet:
            super().__call__(progress)
