"""Who takes part in a race: candidates, what the judges have said of them, and their time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.procedures.combination import VOTE_SIZES
from featsieve.procedures.count_rule import standard_error
from featsieve.procedures.judging.sizes import SetsBySize, nesting_of
from featsieve.protocols import Engine, Procedure
from featsieve.runtime.progress import TimeUp

RESOLUTION = 0.002  # of an error or a loss: differences below do not matter, however sure


@dataclass(frozen=True)
class Candidate:
    """A procedure in the race.

    ``prepare`` is what has to be done to an engine first; ``cost`` the modelled seconds of one run
    on n rows and m columns for k units; ``unable`` is None, or why it cannot run.
    """

    name: str
    procedure: Procedure
    prepare: Callable[[Engine], Engine]
    cost: Callable[[int, int, int], float]
    unable: str | None = None

    @property
    def runs(self) -> int:
        """Per engine, for sets of several sizes."""
        return len(VOTE_SIZES) if nesting_of(self.procedure) is None else 1

    def sets(self, engine: Engine, most: int) -> SetsBySize:
        return SetsBySize(self.procedure, self.prepare(engine), most)


@dataclass
class Runner:
    """A candidate, or the combination, with what the judges have said of it: sizes × folds."""

    name: str
    candidate: Candidate | None = None
    modelled: float | None = None
    errors: dict[int, list[FloatArray]] = field(default_factory=dict)  # one per judge
    losses: dict[int, list[FloatArray]] = field(default_factory=dict)
    seconds: float = 0.0
    outcome: str = ""

    @property
    def is_running(self) -> bool:
        return not self.outcome

    def n_folds(self, count: int) -> int:
        return len(self.losses.get(count, ()))

    def loss(self, count: int) -> float:
        return float(np.mean(self.losses[count])) if count in self.losses else np.inf

    def point(self, size: int) -> tuple[int, float, float]:
        errors = np.array([fold.mean() for fold in self.errors[size]])
        return size, float(errors.mean()), standard_error(errors)

    def row(
        self,
        outcome: str,
        n_folds: int = 0,
        count: int | None = None,
        error: float | None = None,
        standard_error: float | None = None,
    ) -> dict[str, Any]:
        """Of the report of a race."""
        return {
            "method": self.name,
            "outcome": outcome,
            "n_folds": n_folds,
            "count": count,
            "error": error,
            "standard_error": standard_error,
            "seconds": self.seconds,
            "modelled_seconds": self.modelled,
        }

    def fold_losses(self, size: int) -> FloatArray:
        """The mean over the judges."""
        return np.array(self.losses[size]).reshape(len(self.losses[size]), -1).mean(axis=1)

    def curve(self) -> tuple[tuple[int, float, float], ...]:
        """Count, loss, and the standard error of its difference from the least loss.

        Of the difference, because all counts are judged on the same folds: what a hard fold adds
        to all of them says nothing about counts.
        """
        return _curve({size: self.fold_losses(size) for size in sorted(self.losses)})

    def good_counts(self) -> set[int]:
        """Those within one standard error of the best for every judge, in loss and in error.

        A judge for whom guessing (the count 0) is among them abstains: on noise, more columns
        bring the answer of a model nearer to a guess, and say nothing else.
        """
        good = set(self.losses)
        for table in (self.losses, self.errors):
            for judge in range(len(table[min(self.losses)][0])):
                curve = _curve({s: np.array(table[s])[:, judge] for s in table})
                least = min(value for _, value, _ in curve)
                near = {s for s, value, spread in curve if value <= least + max(spread, RESOLUTION)}
                good &= set(self.losses) if 0 in near else near
        return good or {min(self.losses, key=lambda size: (self.loss(size), size))}


def _curve(losses: Mapping[int, FloatArray]) -> tuple[tuple[int, float, float], ...]:
    best = min(losses, key=lambda size: (losses[size].mean(), size))
    return tuple(
        (size, float(values.mean()), standard_error(values - losses[best]))
        for size, values in losses.items()
    )


class Clocked:
    """Adds the time to a runner; whatever goes wrong is its outcome, except the end of the time."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def __enter__(self) -> None:
        self._started = perf_counter()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self._runner.seconds += perf_counter() - self._started
        if not isinstance(error, Exception) or isinstance(error, TimeUp):
            return False
        self._runner.outcome = f"failed: {' '.join(str(error).split())}"
        self._runner.losses.clear()
        self._runner.errors.clear()
        return True


def affordable(
    candidates: Sequence[Candidate], shape: tuple[int, int, int], n_runs: int, budget: float
) -> list[Runner]:
    """Cheapest first while the modelled costs stay within the budget; the first one always runs."""
    n, m, k = shape
    runners = [
        Runner(c.name, c, n_runs * c.runs * c.cost(n, m, k), outcome=c.unable or "")
        for c in candidates
    ]
    runners.sort(key=lambda runner: runner.modelled or 0.0)
    if not any(runner.is_running for runner in runners):
        reasons = "; ".join(f"{r.name}: {r.outcome}" for r in runners[:3])
        raise InputError(f"no method of the race can run on this table ({reasons}).")
    spent, started = 0.0, False
    for runner in runners:
        if not runner.is_running:
            continue
        spent += runner.modelled or 0.0
        if spent > budget and started:
            runner.outcome = (
                f"not started: about {runner.modelled:.3g} s, more than is left of the time limit"
            )
        started = True
    return runners
