"""scikit-learn's callbacks (1.9 and later) fed by our progress; before 1.9 there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from featsieve.runtime.progress import Callback, Progress

__all__ = ["CallbackSupportMixin", "Phases", "with_callbacks"]

F = TypeVar("F", bound=Callable[..., Any])
STEPS = 100  # of a phase: callbacks draw, and need not hear of every block of rows

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: F) -> F:
        return method


class Phases:
    """A tree of tasks: the fit, one phase per kind of work (reading rows, …), steps of each.

    ``also`` hears of all progress as well.
    """

    def __init__(self, estimator: Any, also: Callback | None) -> None:
        self._estimator = estimator
        self._also = also
        self._fit = estimator._init_callback_context(max_subtasks=None)
        self._fit.call_on_fit_task_begin(estimator=estimator)
        self._phases: dict[str, Any] = {}
        self._done: dict[str, int] = {}

    def __call__(self, progress: Progress) -> None:
        if self._also is not None:
            self._also(progress)
        name = progress.message
        if name not in self._phases:
            self._phases[name] = self._fit.subcontext(task_name=name, max_subtasks=STEPS)
            self._phases[name].call_on_fit_task_begin(estimator=self._estimator)
        done = min(STEPS, STEPS * progress.done // max(1, progress.total))
        before = self._done.get(name, 0)
        self._done[name] = max(before, done)  # work that is repeated does not run backwards
        for _ in range(before, done):
            step = self._phases[name].subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self._estimator)
            if step.call_on_fit_task_end(estimator=self._estimator):
                raise KeyboardInterrupt  # the driver keeps the best answer so far

    def end(self) -> None:
        for task in (*self._phases.values(), self._fit):
            task.call_on_fit_task_end(estimator=self._estimator)
