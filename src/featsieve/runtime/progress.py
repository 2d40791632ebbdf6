"""Progress, time limits and Ctrl-C, in one place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from featsieve.result import COMPLETED, INTERRUPTED, TIME_LIMIT, SelectionResult


@dataclass(frozen=True)
class Progress:
    """One report to the user's callback."""

    message: str
    done: int
    total: int
    elapsed: float


Callback = Callable[[Progress], None]


class TimeUp(Exception):  # noqa: N818 - a signal, not an error: the driver turns it into a result
    """Raised between two pieces of work when the time limit has passed."""


class Monitor:
    """Counts the pieces of a run: tells the user's callback, and ends the run in time.

    Engines and searches call :meth:`tick` after each piece of work, from the main thread.
    """

    def __init__(self, callback: Callback | None = None, max_time: float | None = None) -> None:
        self._callback = callback
        self._max_time = max_time
        self._started = time.perf_counter()

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._started

    def remaining(self) -> float:
        """Seconds left, infinity without a limit."""
        return np.inf if self._max_time is None else self._max_time - self.elapsed

    def tick(self, message: str, done: int, total: int) -> None:
        if self._callback is not None:
            self._callback(Progress(message, done, total, self.elapsed))
        if done < total and self.remaining() <= 0:
            raise TimeUp


SILENT = Monitor()


def drive(steps: Iterator[SelectionResult], monitor: Monitor) -> SelectionResult:
    """Run a search to its end, to the time limit or to Ctrl-C, and hand back the best so far.

    A search is a generator: each thing it yields is the best complete answer at that moment.
    """
    best: SelectionResult | None = None
    reason = COMPLETED
    try:
        for best in steps:  # noqa: B007 - the last one is the answer
            if monitor.remaining() <= 0:
                reason = TIME_LIMIT
                break
    except (TimeUp, KeyboardInterrupt) as stop:
        if best is None:
            if isinstance(stop, KeyboardInterrupt):
                raise
            raise TimeoutError(
                "max_time passed before the first answer was ready; allow more time, "
                "or give fewer rows or columns."
            ) from None
        reason = TIME_LIMIT if isinstance(stop, TimeUp) else INTERRUPTED
    if best is None:
        raise RuntimeError("the search ended without an answer")
    if best.stop_reason != COMPLETED and reason == COMPLETED:
        reason = best.stop_reason
    return best.evolve(elapsed=monitor.elapsed, stop_reason=reason)
