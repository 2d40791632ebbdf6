"""Progress, time limits and Ctrl-C, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TypeVar

import numpy as np

from featsieve.result import COMPLETED, INTERRUPTED, TIME_LIMIT, SelectionResult

T = TypeVar("T")


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

    Engines and searches call :meth:`tick` after each piece of work, from the main thread. The
    ``clock`` gives seconds.
    """

    def __init__(
        self,
        callback: Callback | None = None,
        max_time: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._callback = callback
        self._max_time = np.inf if max_time is None else max_time
        self._clock = clock or perf_counter
        self._started = self._clock()

    @property
    def elapsed(self) -> float:
        return self._clock() - self._started

    @property
    def has_limit(self) -> bool:
        return self._max_time < np.inf

    def remaining(self) -> float:
        """Seconds left, infinity without a limit."""
        return self._max_time - self.elapsed

    def silent(self, grace: float = 0.0) -> Monitor:
        """One that ends at the same time, or a moment later, and reports nothing: for use inside
        other threads."""
        left = self.remaining() + grace
        return Monitor(None, left if self.has_limit else None, self._clock)

    def tick(self, message: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` pieces are finished; end the run if time is up."""
        if self._callback is not None:
            self._callback(Progress(message, done, total, self.elapsed))
        if self.remaining() <= 0 and done < total:
            raise TimeUp

    def expect(self, seconds: float) -> None:
        """End the run now if a piece that cannot be stopped would end after the limit."""
        if self.remaining() <= seconds:
            raise TimeUp

    def check(self, grace: float = 0.0) -> None:
        """End the run if time is up: for pieces too small to report.

        ``grace`` are seconds for a piece that would rather end by itself, with an answer.
        """
        if self.remaining() <= -grace:
            raise TimeUp


SILENT = Monitor()


def last_of(steps: Iterable[T], monitor: Monitor) -> tuple[T, str]:
    """The last answer before the end, the time limit or Ctrl-C, and which of them it was.

    Everything that can take long is a generator: each thing it yields is the best complete answer
    at that moment. This is the only place of the library that handles Ctrl-C.
    """
    answer: T | None = None
    try:
        for answer in steps:
            if monitor.remaining() <= 0:
                return answer, TIME_LIMIT
    except (TimeUp, KeyboardInterrupt) as stop:
        if answer is not None:
            return answer, TIME_LIMIT if isinstance(stop, TimeUp) else INTERRUPTED
        if isinstance(stop, KeyboardInterrupt):
            raise
        raise TimeoutError(
            "max_time passed before the first answer was ready; allow more time, "
            "or give fewer rows or columns."
        ) from None
    if answer is None:
        raise RuntimeError("the run ended without an answer")
    return answer, COMPLETED


def drive(steps: Iterable[SelectionResult], monitor: Monitor) -> SelectionResult:
    """Run a procedure or a search, and hand back its best result with the reason for its end."""
    result, reason = last_of(steps, monitor)
    if reason == COMPLETED:
        reason = result.stop_reason
    return replace(result, elapsed=monitor.elapsed, stop_reason=reason)


def finish(work: Callable[[], T], monitor: Monitor) -> T:
    """Run work that has no answer before its end, under the same rules."""
    answer, reason = last_of((task() for task in (work,)), monitor)
    if reason == INTERRUPTED:  # after the work, but there is more to come
        raise KeyboardInterrupt
    return answer
