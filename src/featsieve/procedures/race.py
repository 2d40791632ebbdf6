"""A race of procedures on inner folds: which of them vote, which set wins, and with how many units?

Candidates select on the rows of a fold that learn, and judges of different kinds see the others.
All candidates run on the first folds; the worse half of them leaves after each round (successive
halving). Those that run on a fold also vote for its combination (:mod:`.combination`), which is
judged like they are. It wins unless a candidate is clearly better: the lowest of a dozen noisy
errors is mostly luck, and on trial tables to combine was better than to choose. Which candidates
start is decided by modelled costs, not by the clock, so the same seed gives the same answer unless
time runs out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scipy.stats import t as student

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.combination import Ballot, Combination, ballot_sizes
from featsieve.procedures.count_rule import standard_error
from featsieve.procedures.judging.rows import NOTHING, Court, Fold, RowSample, Verdict
from featsieve.procedures.judging.sizes import SetsBySize
from featsieve.procedures.runners import Clocked, Runner
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import Monitor

ROUNDS = (2, 3)  # folds after which the worse half leaves
FEWEST_LEFT = 5
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20)
RACED_COUNT = 10  # where no count is given
LEVEL = 0.05  # of the test that a candidate is better than the combination
FOLD_ROWS, FINAL_ROWS = 250, 500  # whose errors decide in a combination
COMBINATION = "combination"


@dataclass
class Race:
    """The runners on one sample of rows; ``count`` is None where the race finds it."""

    sample: RowSample
    folds: Sequence[Fold]
    court: Court
    count: int | None
    runners: list[Runner]
    monitor: Monitor
    seed: int
    combine: bool = True
    combined: Runner = field(default_factory=lambda: Runner(COMBINATION))

    @property
    def n_units(self) -> int:
        return self.sample.schema.n_units

    @property
    def raced_count(self) -> int:
        """Of the sets that candidates are compared by."""
        return self.count or min(RACED_COUNT, max(1, self.n_units // 2))

    def sizes(self) -> list[int]:
        """Of the sets that the winner is judged by."""
        if self.count is not None:
            return [self.count]
        sizes = {size for size in SIZES if size < self.n_units} | {self.raced_count}
        return sorted(sizes | ({self.n_units} if self.n_units <= SIZES[-1] else set()))

    @property
    def running(self) -> list[Runner]:
        return [runner for runner in self.runners if runner.is_running]

    @property
    def combines(self) -> bool:
        return self.combine and len(self.running) > 1

    # --- the folds ------------------------------------------------------------------------------

    def run(self) -> Runner:
        """All folds; the winner, judged at all sizes."""
        start = 0
        for stop in sorted({min(r, len(self.folds)) for r in (*ROUNDS, len(self.folds))}):
            at_once = 1 if self._n_jobs == 1 else stop - start
            for first in range(start, stop, at_once):
                self._run_folds(range(first, first + at_once))
            if stop < len(self.folds):
                self._halve(stop)
            start = stop
        winner = self.winner()
        if winner.candidate is not None and self.count is None:
            for fold in self.folds:
                self._judge_sizes(winner, fold)
        return winner

    @property
    def _n_jobs(self) -> int:
        return self.sample.source.n_jobs

    def _run_folds(self, numbers: Sequence[int]) -> None:
        """All candidates on each fold in turn, then the combinations of these folds."""
        asked = {number: self._judged_ballots(number) for number in numbers}
        votes = [(self.folds[n], told) for n, told in asked.items() if len(told) > 1]
        n_jobs = self._n_jobs if len(votes) >= self._n_jobs else 1  # else each has all threads
        monitor = self.monitor if n_jobs == 1 else self.monitor.silent()

        def judged(vote: tuple[Fold, list[Ballot]]) -> dict[int, IntArray]:
            fold, ballots = vote
            with Clocked(self.combined):
                engine = self.sample.engine(fold.train, monitor)
                sets = Combination(ballots, self.seed, FOLD_ROWS).sets(engine, self.sizes())
                units = {size: answer.indices for size, answer in sets.items()}
                for chosen in units.values():
                    self.court.verdict(fold, chosen)
                    monitor.check()
                return units
            return {}

        if self.combine:
            for (fold, _), units in zip(votes, ordered_map(judged, votes, n_jobs), strict=True):
                for size, chosen in units.items():
                    self._judge(self.combined, fold, size, chosen)

    def _judged_ballots(self, number: int) -> list[Ballot]:
        """Of the candidates that did not fail on a fold."""
        fold = self.folds[number]

        def judged(sets: SetsBySize, runner: Runner) -> Ballot:
            self._judge(runner, fold, self.raced_count, sets.units(self.raced_count))
            return self._ballot(sets)

        words = f"fold {number + 1} of {len(self.folds)}"
        answered = self._each(judged, fold.train, words)
        return [ballot for ballot in answered if ballot is not None]

    def _each(
        self, ask: Callable[[SetsBySize, Runner], Ballot], rows: IntArray | None, words: str
    ) -> list[Ballot | None]:
        """What all running candidates answer, side by side on threads; None where one failed.

        Each has an engine of its own. Threads look at the clock but do not report, and Python's
        filters of warnings are common to all of them.
        """
        running, n_jobs = self.running, self._n_jobs
        monitor = self.monitor if n_jobs == 1 else self.monitor.silent()

        def answer(runner: Runner) -> Ballot | None:
            with Clocked(runner):
                engine = self.sample.engine(rows, monitor)
                return ask(runner.candidate.sets(engine, self._most), runner)  # type: ignore[union-attr]
            return None

        order = running if n_jobs == 1 else running[::-1]  # the longest first, else all wait for it
        at_once = len(order) + 1  # nor does one thread wait for it with work of others left
        answers = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for done, ballot in enumerate(
                ordered_map(answer, order, n_jobs, lambda: at_once), start=1
            ):
                answers.append(ballot)
                self.monitor.tick(words, done, len(running) + 1)
        return answers if n_jobs == 1 else answers[::-1]

    @property
    def _most(self) -> int:
        return min(self.n_units, max(self.raced_count, SIZES[-1]))

    def _judge(self, runner: Runner, fold: Fold, size: int, units: IntArray) -> None:
        """A set; where the count is open, what guessing costs on the fold, too: the count 0."""
        self._note(runner, size, self.court.verdict(fold, units))
        if size == self.raced_count and self.count is None:
            self._note(runner, 0, self.court.verdict(fold, NOTHING))
        self.monitor.check()

    def _note(self, runner: Runner, size: int, verdict: Verdict) -> None:
        runner.losses.setdefault(size, []).append(verdict.losses)
        runner.errors.setdefault(size, []).append(verdict.errors)

    def _judge_sizes(self, runner: Runner, fold: Fold) -> None:
        with Clocked(runner):
            engine = self.sample.engine(fold.train)
            sets = runner.candidate.sets(engine, self._most)  # type: ignore[union-attr]
            for size in self.sizes():
                if size != self.raced_count:
                    self._judge(runner, fold, size, sets.units(size))

    def _halve(self, n_folds: int) -> None:
        left = sorted(self.running, key=lambda runner: runner.loss(self.raced_count))
        keep = max(FEWEST_LEFT, -(-len(left) // 2))
        for place, runner in enumerate(left[keep:], start=keep + 1):
            runner.outcome = f"eliminated after {n_folds} folds: place {place} of {len(left)}"

    # --- the combination ------------------------------------------------------------------------

    def ballots(self) -> dict[str, Ballot]:
        """What each candidate votes for on all rows of the sample; nothing if it fails."""
        names = [runner.name for runner in self.running]
        answers = self._each(lambda sets, _: self._ballot(sets), None, "voting")
        return {name: ballot or {} for name, ballot in zip(names, answers, strict=True)}

    def ballot(self, runner: Runner, engine: Engine) -> Ballot:
        """What a candidate votes for on other rows than those of a fold; nothing if it fails."""
        with Clocked(runner):
            return self._ballot(runner.candidate.sets(engine, self._most))  # type: ignore[union-attr]
        return {}

    def _ballot(self, sets: SetsBySize) -> Ballot:
        if not self.combine:
            return {}
        return {size: sets.units(size) for size in ballot_sizes(self.sizes(), self.n_units)}

    def combined_set(
        self, ballots: Sequence[Ballot], engine: Engine, count: int
    ) -> SelectionResult:
        return Combination(ballots, self.seed, FINAL_ROWS).sets(engine, self.sizes())[count]

    # --- the verdict ----------------------------------------------------------------------------

    def winner(self) -> Runner:
        """The combination, unless a candidate that saw all folds is clearly better."""
        count = self.raced_count
        judged = [r for r in self.running if r.n_folds(count)]
        most = max((r.n_folds(count) for r in judged), default=0)
        ready = [r for r in judged if r.n_folds(count) == most]
        best = min(ready, key=lambda r: r.loss(count), default=None)
        if self.combined.is_running and self.combined.n_folds(count):
            better = best is not None and self._is_clearly_better(best, len(ready))
            return best if better and best is not None else self.combined
        return best if best is not None else self.runners[0]

    def _is_clearly_better(self, best: Runner, n_rivals: int) -> bool:
        """By a paired t-test over the folds that allows for the number of candidates."""
        gains = self._gains(best)
        if len(gains) < 2:
            return False
        limit = student.ppf(1.0 - LEVEL / n_rivals, len(gains) - 1)
        return bool(gains.mean() > limit * standard_error(gains))

    def _gains(self, best: Runner) -> FloatArray:
        count = self.raced_count
        n = min(best.n_folds(count), self.combined.n_folds(count))
        return self.combined.fold_losses(count)[:n] - best.fold_losses(count)[:n]

    def chosen_count(self, winner: Runner) -> int:
        """The smallest one within one standard error of the best, where none was given."""
        return max(1, min(winner.good_counts())) if self.count is None else self.count

    # --- the report -----------------------------------------------------------------------------

    def table(self, winner: Runner, count: int) -> list[dict[str, Any]]:
        """One row per candidate, the winner first, then by their errors."""
        raced = self.raced_count
        is_in = bool(self.combined.losses) or winner is self.combined
        entrants = [*self.runners, *([self.combined] if is_in else [])]
        ranked = sorted(entrants, key=lambda r: (r is not winner, -r.n_folds(raced), r.loss(raced)))
        return [self._row(runner, winner, count) for runner in ranked]

    def _row(self, runner: Runner, winner: Runner, count: int) -> dict[str, Any]:
        won = runner is winner
        outcome = runner.outcome or self._lost_words(runner, winner)
        words = self._won_words(runner) if won else outcome
        if not runner.errors:
            return runner.row(words)
        judged = count if won and count in runner.errors else self.raced_count
        return runner.row(words, runner.n_folds(self.raced_count), *runner.point(judged))

    def _lost_words(self, runner: Runner, winner: Runner) -> str:
        if winner is self.combined or self.combined.losses:
            return "voted to the end"
        return "lost the last round" if runner.losses else "not judged: the race was stopped"

    def _won_words(self, winner: Runner) -> str:
        """Why: the losses of the winner and of the best other one at the count of the race."""
        count = self.raced_count
        if not winner.losses:
            return "the answer so far: the race was stopped before any fold was judged"
        others = [r for r in [*self.runners, self.combined] if r is not winner]
        judged = [r for r in others if r.n_folds(count) == winner.n_folds(count) > 0]
        if not judged:
            return "won: no other candidate was judged on as many folds"
        second = min(judged, key=lambda r: r.loss(count))
        loss, gap = winner.loss(count), second.loss(count) - winner.loss(count)
        if gap < 0:
            return (
                f"won: loss {loss:.4f}; {second.name} ({second.loss(count):.4f}) is not better "
                "beyond the luck of the folds"
            )
        words = f"{gap:.4f} below {second.name}" if gap else f"level with {second.name}"
        return f"won: loss {loss:.4f}, {words}"
