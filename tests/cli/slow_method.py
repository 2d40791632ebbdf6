"""A method of many rounds, to be stopped in the middle."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sklearn.linear_model import LinearRegression

from featsieve.measures import CrossValScore
from featsieve.procedures.pairing import Pairing
from featsieve.registry import Method
from featsieve.searches import Forward
from featsieve.selector import PairingSelector

CLOCK = SimpleNamespace(now=0.0)
METHOD = Method("SlowForward", "tests.cli.slow_method", "a model", "forward", "memory", "-", "slow")


@dataclass(kw_only=True, eq=False, repr=False)
class SlowForward(PairingSelector):
    """Presses Ctrl-C on itself, or moves the clock, when so many columns are in."""

    interrupt_after: int = 2
    late_after: int = 0

    def _measure_type(self) -> type:
        return CrossValScore

    def _pairing(self) -> Pairing:
        return Pairing(CrossValScore(LinearRegression(), cv=2), Forward())

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        told = self.callback

        def tell_and_press(progress: Any) -> None:
            if told is not None:
                told(progress)
            if progress.message == "adding" and progress.done == self.late_after:
                CLOCK.now = 1e9
            if progress.message == "adding" and progress.done == self.interrupt_after:
                os.kill(os.getpid(), signal.SIGINT)

        if self.interrupt_after == 0:
            os.kill(os.getpid(), signal.SIGINT)
        self.callback = tell_and_press
        try:
            return self._fit(X, y)
        finally:
            self.callback = told
