"""Progress, time limits and Ctrl-C, in one place."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from types import FrameType
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


class _CtrlC:
    """Ctrl-C that is neither lost nor breaks a compiler.

    Python drops what a signal raises while a destructor or a callback of foreign code runs, and
    numba cannot go on in this process once its compiler was cut off. So a Ctrl-C is remembered
    until the driver has it, and comes up again between two pieces of work.
    """

    UNBREAKABLE = ("numba", "llvmlite", "importlib")

    def __init__(self) -> None:
        self._waits = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """In the main thread, unless the user or an outer run handles Ctrl-C already."""
        is_ours = (
            _in_main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if not is_ours:
            yield
            return
        self._waits = False
        signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, _: int, frame: FrameType | None) -> None:
        is_first, self._waits = not self._waits, True
        if not (is_first and self._is_unbreakable(frame)):
            raise KeyboardInterrupt

    def _is_unbreakable(self, frame: FrameType | None) -> bool:
        while frame is not None:
            module = str(frame.f_globals.get("__name__", ""))
            if module.partition(".")[0] in self.UNBREAKABLE:
                return True
            if module == __name__:
                return False
            frame = frame.f_back
        return False

    def come_up(self) -> None:
        """Raise what waits."""
        if self._waits and _in_main_thread():
            self._waits = False
            raise KeyboardInterrupt

    def arrived(self) -> None:
        self._waits = False


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


_ctrl_c = _CtrlC()


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
        _ctrl_c.come_up()
        if self.remaining() <= 0 and done < total:
            raise TimeUp

    def expect(self, seconds: float) -> None:
        """End the run now if a piece that cannot be stopped would end after the limit."""
        _ctrl_c.come_up()
        if self.remaining() <= seconds:
            raise TimeUp

    def check(self, grace: float = 0.0) -> None:
        """End the run if time is up: for pieces too small to report.

        ``grace`` are seconds for a piece that would rather end by itself, with an answer.
        """
        _ctrl_c.come_up()
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
        with _ctrl_c.heard():
            for answer in steps:
                _ctrl_c.come_up()
                if monitor.remaining() <= 0:
                    return answer, TIME_LIMIT
            _ctrl_c.come_up()
    except (TimeUp, KeyboardInterrupt) as stop:
        _ctrl_c.arrived()
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
