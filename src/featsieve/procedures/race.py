"""A race of procedures on inner folds: which of them, and with how many units?

Candidates select on the rows of a fold that learn, and judges of different kinds see the others.
All candidates run on the first folds; the worse half of them leaves after each round (successive
halving), so that most work goes into telling the best apart. Which candidates start is decided by
modelled costs, not by the clock, so the same seed gives the same answer unless time runs out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.procedures.judging.rows import Court, Fold, RowSample
from featsieve.procedures.judging.sizes import SetsBySize
from featsieve.procedures.smi_curve import smallest_within_one_error
from featsieve.protocols import Engine, Procedure
from featsieve.runtime.progress import Monitor, TimeUp

ROUNDS = (2, 3)  # folds after which the worse half leaves
FEWEST_LEFT = 3
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26)
PATIENCE = 4
CLEARLY = 2.0  # standard errors
FEWEST_LOOKED_AT = 8


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


@dataclass
class Runner:
    """A candidate with what the judges have said of it so far: sizes × folds."""

    candidate: Candidate
    modelled: float
    errors: dict[int, list[float]] = field(default_factory=dict)
    losses: dict[int, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    outcome: str = ""

    @property
    def is_running(self) -> bool:
        return not self.outcome

    @property
    def n_folds(self) -> int:
        return max((len(values) for values in self.losses.values()), default=0)

    def full_sizes(self) -> list[int]:
        """Those that were judged on every fold so far."""
        return [size for size, values in self.losses.items() if len(values) == self.n_folds]

    def best_size(self) -> int:
        return min(self.full_sizes(), key=lambda size: (np.mean(self.losses[size]), size))

    def loss(self) -> float:
        return float(np.mean(self.losses[self.best_size()])) if self.losses else np.inf

    def fold_losses(self) -> FloatArray:
        return np.array(self.losses[self.best_size()])

    def point(self, size: int) -> tuple[int, float, float]:
        errors = np.array(self.errors[size])
        spread = errors.std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
        return size, float(errors.mean()), float(spread)

    def curve(self) -> tuple[tuple[int, float, float], ...]:
        return tuple(self.point(size) for size in sorted(self.full_sizes()))


@dataclass(frozen=True)
class _Point:
    size: int
    value: float
    error: float


@dataclass
class Race:
    """The runners on one sample of rows; ``count`` is None where the race finds it."""

    sample: RowSample
    folds: Sequence[Fold]
    court: Court
    count: int | None
    runners: list[Runner]
    monitor: Monitor
    favourite: str | None = None  # who wins where no other is clearly better

    def sizes(self) -> list[int]:
        n_units = self.sample.schema.n_units
        if self.count is not None:
            return [self.count]
        return [size for size in SIZES if size < n_units] + [n_units] * (n_units <= SIZES[-1])

    def rounds(self) -> Iterator[Runner]:
        """The leader after every piece of work that may have changed it."""
        start = 0
        for stop in sorted({min(r, len(self.folds)) for r in (*ROUNDS, len(self.folds))}):
            for runner in [r for r in self.runners if r.is_running]:
                self._run(runner, range(start, stop))
                if self._leader() is not None:
                    yield self._leader()  # type: ignore[misc]
            if stop < len(self.folds):
                self._halve(stop)
            start = stop
        winner = self._leader()
        for runner in self.runners:
            if runner.is_running and runner is not winner:
                runner.outcome = "lost the last round"

    def _run(self, runner: Runner, folds: range) -> None:
        """Judge one candidate on some folds; whatever goes wrong is its outcome."""
        started = perf_counter()
        done = 0
        try:
            for number in folds:
                self._judge(runner, self.folds[number])
                done += 1
                self.monitor.tick(f"racing: {runner.candidate.name}", done, len(folds) + 1)
        except TimeUp:
            raise
        except Exception as error:
            runner.outcome = f"failed: {' '.join(str(error).split())}"
            runner.losses.clear()
        finally:
            runner.seconds += perf_counter() - started

    def _judge(self, runner: Runner, fold: Fold) -> None:
        candidate, is_first = runner.candidate, not runner.losses
        sizes = self.sizes() if is_first else sorted(runner.losses)
        engine = candidate.prepare(self.sample.engine(fold.train))
        sets = SetsBySize(candidate.procedure, engine, sizes[-1])
        losses: list[float] = []
        for size in sizes:
            verdict = self.court.verdict(fold, sets.units(size))
            losses.append(float(verdict.losses.mean()))
            runner.losses.setdefault(size, []).append(losses[-1])
            runner.errors.setdefault(size, []).append(float(verdict.errors.mean()))
            self.monitor.check()
            if is_first and _is_past_the_best(losses, size):
                break

    def _halve(self, n_folds: int) -> None:
        left = sorted((r for r in self.runners if r.is_running), key=Runner.loss)
        keep = max(FEWEST_LEFT, -(-len(left) // 2))
        for place, runner in enumerate(left[keep:], start=keep + 1):
            if runner.candidate.name == self.favourite:
                continue
            runner.outcome = f"eliminated after {n_folds} folds: place {place} of {len(left)}"

    def _leader(self) -> Runner | None:
        judged = [r for r in self.runners if r.losses and not r.outcome.startswith("failed")]
        most = max((r.n_folds for r in judged), default=0)
        ready = [r for r in judged if r.n_folds == most]
        if not ready:
            return None
        best = min(ready, key=Runner.loss)
        favourite = next((r for r in ready if r.candidate.name == self.favourite), best)
        return best if is_clearly_better(best, favourite) else favourite

    def chosen_count(self, winner: Runner) -> int:
        """The smallest count within one standard error of the best, where none was given."""
        if self.count is not None:
            return self.count
        points = [_Point(size, -error, spread) for size, error, spread in winner.curve()]
        return smallest_within_one_error(points).size

    def table(self, winner: Runner | None, count: int | None) -> list[dict[str, Any]]:
        """One row per candidate, the winner first, then by their errors."""
        ranked = sorted(self.runners, key=lambda r: (r is not winner, -r.n_folds, r.loss()))
        return [self._row(runner, runner is winner, count) for runner in ranked]

    def _row(self, runner: Runner, won: bool, count: int | None) -> dict[str, Any]:
        size = error = spread = None
        if runner.losses:
            chosen = count if won and count in runner.errors else None
            size, error, spread = runner.point(chosen or runner.best_size())
        return {
            "method": runner.candidate.name,
            "outcome": self._won_words(runner) if won else runner.outcome,
            "n_folds": runner.n_folds,
            "count": size,
            "error": error,
            "standard_error": spread,
            "seconds": runner.seconds,
            "modelled_seconds": runner.modelled,
        }

    def _won_words(self, winner: Runner) -> str:
        others = [
            r for r in self.runners if r is not winner and r.losses and r.n_folds == winner.n_folds
        ]
        if not others:
            return "won: no other candidate was judged on as many folds"
        second = min(others, key=Runner.loss)
        if second.loss() < winner.loss():
            return (
                f"won: loss {winner.loss():.4f}; {second.candidate.name} ({second.loss():.4f}) is "
                "not better by two standard errors, and this method was best over other tables"
            )
        gap, name = second.loss() - winner.loss(), second.candidate.name
        words = f"{gap:.4f} below {name}" if gap else f"level with {name}"
        return f"won: loss {winner.loss():.4f}, {words}"


def is_clearly_better(first: Runner, second: Runner) -> bool:
    """By two standard errors of the differences over the folds.

    Folds are few and noisy: on trial tables, to take whatever was best on them was worse than to
    stay with a good method unless another one was clearly better.
    """
    gains = second.fold_losses() - first.fold_losses()
    spread = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return bool(gains.mean() > CLEARLY * spread)


def _is_past_the_best(losses: Sequence[float], size: int) -> bool:
    """Later folds look at the counts up to here."""
    return size >= FEWEST_LOOKED_AT and len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE


def affordable(
    candidates: Sequence[Candidate], shape: tuple[int, int, int], n_runs: int, budget: float
) -> list[Runner]:
    """Cheapest first while the modelled costs stay within the budget; the first one always runs."""
    n, m, k = shape
    runners = [Runner(c, n_runs * c.cost(n, m, k), outcome=c.unable or "") for c in candidates]
    runners.sort(key=lambda runner: runner.modelled)
    spent, started = 0.0, False
    for runner in runners:
        if not runner.is_running:
            continue
        spent += runner.modelled
        if spent > budget and started:
            runner.outcome = (
                f"not started: about {runner.modelled:.3g} s, more than is left of the time limit"
            )
        started = True
    return runners
