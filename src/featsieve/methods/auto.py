"""AutoSelector: the method and the number of columns that suit this table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from featsieve.engines.cells import scan_cells, units_of
from featsieve.engines.filled import Filling, usual_values
from featsieve.engines.standardized import MappedEngine
from featsieve.errors import InputError
from featsieve.inference.exchange import group_codes
from featsieve.input.parameters import (
    check_choice,
    check_flag,
    check_integer,
    is_integer,
    is_word,
    not_allowed,
)
from featsieve.input.splits import fixed_splits
from featsieve.methods.portfolio import (
    ENTRIES,
    PORTFOLIO,
    fixed_procedure,
    prepared,
    racer,
    samples_rows,
    seconds_on_all_rows,
    unknown_cost,
)
from featsieve.procedures.combination import Ballot
from featsieve.procedures.count_rule import count_notes
from featsieve.procedures.deferred import Deferred
from featsieve.procedures.judging.judges import JUDGES, Judge
from featsieve.procedures.judging.rows import (
    FEWEST_ROWS,
    Court,
    Fold,
    RowSample,
    draw_rows,
    split_rows,
)
from featsieve.procedures.race import COMBINATION, Race
from featsieve.procedures.runners import Candidate, Clocked, Runner, affordable
from featsieve.protocols import Engine, Procedure
from featsieve.registry import METHODS
from featsieve.result import TIME_LIMIT, SelectionResult
from featsieve.runtime.seeds import root_seed
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Dependence
from featsieve.selector import BaseSelector

RACE_SHARE = 0.15  # of the time limit, by the models; the rest is for judges and slower machines
FINAL_SHARE = 0.3
DEFAULT_COUNT = 10
DEFAULT_TIME = 30.0
COUNT_RULE = (
    "the smallest count of the winner whose loss and error on inner folds are, for every judge, "
    "within one standard error (of the difference over the folds) of the best"
)


@dataclass(kw_only=True, eq=False, repr=False)
class AutoSelector(BaseSelector):
    """Race several methods on inner folds, and combine the sets of the best of them.

    Candidates select on the rows of a fold that learn; nearest neighbours, trees and kernel ridge
    regression judge the selected columns on the others. The worse half leaves after each round.
    Those that are left vote for columns; columns are added one by one by the leave-one-out error of
    nearest neighbours and kernel ridge regression, and by votes (later also by the importance in
    trees) where the errors are level. This combination wins unless one candidate is clearly better
    on the folds. Of more than 1,000 rows a sample is raced; the last vote is on all rows.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default="auto"
        ``"auto"``: the smallest count of the winner, up to 20, that is within one standard error of
        its best for every judge.
    methods : "auto" or a list of method names and selectors, default="auto"
        Who races. "auto": the portfolio of :mod:`featsieve.methods.portfolio`, as far as the time
        limit allows.
    judges : "auto" or a list of names, default="auto"
        "neighbors", "trees" and "ridge"; "auto": all three.
    cv : int, splitter or iterable, default=5
        The inner folds. With a number, rows of a group stay together; a splitter gets ``groups``.
    combine : bool, default=True
        False: the candidate with the least error wins.
    max_time : float or None, default=30
        Seconds. Also decides who can start, by cost models; None: no limit, and the race is planned
        for 30 s. A race that the default ends is a warning.
    random_state : int, generator or None, default=0

    Attributes
    ----------
    method_ : name of the winner, or "combination"
    selector_ : the winner, fitted on all rows; a copy of this selector for a combination
    race_ : list of dict
        One row per candidate: method, outcome, n_folds, count, error, standard_error, seconds,
        modelled_seconds.

    Examples
    --------
    >>> from featsieve import AutoSelector
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(200, random_state=0)
    >>> selector = AutoSelector().fit(data.data, data.target)
    >>> sorted(selector.indices_.tolist())
    [0, 1]
    """

    n_features_to_select: int | float | str | None = "auto"
    methods: Any = "auto"
    judges: Any = "auto"
    cv: Any = 5
    combine: bool = True
    max_time: float | None = DEFAULT_TIME
    random_state: Any = 0

    _takes_missing = True
    _offers_auto_count = True
    _checks = {"combine": check_flag}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Race and select.

        Parameters
        ----------
        groups : one value per row
            Rows of a group are in the same inner fold, or where a splitter puts them.
        """
        self._refuse_params(params)
        self._groups = groups
        try:
            return self._fit(X, y)
        finally:
            del self._groups

    # --- the run --------------------------------------------------------------------------------

    def _procedure(self) -> Procedure:
        """For a run inside another selector; refuses what cannot race."""
        self._judges()
        self._named_selectors()
        return Deferred(self._steps)

    def _steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        seed = root_seed(self.random_state)
        judges = self._judges()
        cells = engine.reduce_rows(scan_cells)
        units = units_of(cells)
        if units is not None:
            engine = MappedEngine(engine, units)
        sample = draw_rows(engine, seed)
        filling = usual_values(sample.X, sample.schema) if cells.n_bad.any() else None
        candidates = self._candidates(engine, filling, k)
        if sample.n_rows < FEWEST_ROWS:
            yield from self._without_race(engine, candidates, k)
            return
        folds = self._folds(sample, seed)
        race = self._race(sample, folds, judges, candidates, k, seed)
        yield from self._raced(race, engine)

    def _raced(self, race: Race, engine: Engine) -> Iterator[SelectionResult]:
        """A quick answer, the combination of all candidates, then what the folds say."""
        sampled, count = race.sample.engine(), race.raced_count
        for runner in race.running:
            with Clocked(runner):
                for result in _run(runner.candidate, sampled, count):
                    yield self._noted(result, race, runner, count, "stopped before the race began")
            if runner.is_running:
                break
        ballots: dict[str, Ballot] = {}
        if race.combines:
            ballots = race.ballots()
            result = race.combined_set(list(ballots.values()), sampled, count)
            yield self._noted(result, race, race.combined, count, "stopped before the folds")
        winner = race.run()
        if winner.outcome or not winner.losses:
            reason = winner.outcome.rstrip(".")
            raise InputError(f"no candidate could be judged; the first {reason}.")
        count = race.chosen_count(winner)
        if winner is race.combined:
            ballots = self._final_ballots(race, engine, ballots)
            result = race.combined_set(list(ballots.values()), engine, count)
            yield self._noted(result, race, winner, count, COUNT_RULE)
            return
        for result in _run(winner.candidate, engine, count):
            yield self._noted(result, race, winner, count, COUNT_RULE)

    def _final_ballots(
        self, race: Race, engine: Engine, sampled: dict[str, Ballot]
    ) -> dict[str, Ballot]:
        """Of the candidates that are left: on all rows, the best first while there is time."""
        left = sorted(race.running, key=lambda runner: runner.loss(race.raced_count))
        ballots, spent = {}, 0.0
        for runner in left:
            assert runner.candidate is not None
            spent += runner.candidate.cost(engine.n_samples, engine.n_features, DEFAULT_COUNT)
            is_cheap = spent <= FINAL_SHARE * self._planned_time
            again = is_cheap and not race.sample.is_everything
            ballots[runner.name] = race.ballot(runner, engine) if again else sampled[runner.name]
        return ballots

    def _without_race(
        self, engine: Engine, candidates: Sequence[Candidate], k: int | None
    ) -> Iterator[SelectionResult]:
        """Too few rows for folds: the cheapest method, and half of the units."""
        runners = affordable(candidates, (engine.n_samples, engine.n_features, 1), 1, np.inf)
        winner = next(runner for runner in runners if runner.is_running)
        others = [runner for runner in runners if runner is not winner]
        why = "not started: too few rows for a race"
        count = k or max(1, engine.schema.n_units // 2)
        for result in _run(winner.candidate, engine, count):
            won = winner.row("won: the cheapest", count=len(result.indices))
            rows = [won, *(runner.row(runner.outcome or why) for runner in others)]
            extras = {"method": winner.name, "race": rows}
            notes = count_notes("half of the features: too few rows for a race", ())
            yield result.with_extras({**extras, **({} if k else notes)})

    def _noted(
        self, result: SelectionResult, race: Race, runner: Runner, count: int, rule: str
    ) -> SelectionResult:
        extras: dict[str, Any] = {"method": runner.name, "race": race.table(runner, count)}
        if race.count is None:
            extras |= count_notes(rule, runner.curve() if runner.losses else ())
        return result.with_extras(extras)

    # --- its parts ------------------------------------------------------------------------------

    def _judges(self) -> list[Judge]:
        if is_word(self.judges, "auto"):
            return list(JUDGES.values())
        if isinstance(self.judges, str) or not isinstance(self.judges, Sequence) or not self.judges:
            raise not_allowed("judges", self.judges, f"'auto' or a list of {', '.join(JUDGES)}")
        return [JUDGES[check_choice("judges", name, JUDGES)] for name in self.judges]

    def _folds(self, sample: RowSample, seed: int) -> list[Fold]:
        if isinstance(self.cv, Iterator):  # the next fit, and a copy, would find it empty
            raise not_allowed("cv", self.cv, "an integer, a splitter or a list of splits")
        if is_integer(self.cv):
            n_folds = min(check_integer("cv", self.cv, 2), sample.n_rows // 2)
            folds = split_rows(sample, n_folds, seed, self._kept_together(sample))
        else:
            folds = self._given_folds(sample)
        if not folds:
            raise InputError(
                "no inner fold has rows to learn from in which the target varies; give more rows, "
                "or groups."
            )
        return folds

    def _kept_together(self, sample: RowSample) -> Dependence:
        """What ``fit`` was told, else what holds for the folds that this run is inside of."""
        codes = group_codes(getattr(self, "_groups", None), sample.source.n_samples)
        outside: Dependence = getattr(self, "_dependence", Dependence())
        return outside if codes is None else replace(outside, groups=codes)

    def _given_folds(self, sample: RowSample) -> list[Fold]:
        y = sample.y[:, 0]
        groups = self._kept_together(sample).of_rows(sample.rows).groups
        X, classifier = np.zeros((sample.n_rows, 1)), sample.source.target.is_classification
        splits = fixed_splits(self.cv, X, y, classifier=classifier, params={"groups": groups})
        return [fold for split in splits if sample.is_usable(fold := Fold(*split))]

    def _race(
        self,
        sample: RowSample,
        folds: list[Fold],
        judges: list[Judge],
        candidates: list[Candidate],
        k: int | None,
        seed: int,
    ) -> Race:
        n_train = max(len(fold.train) for fold in folds)
        shape = (n_train, sample.schema.n_columns, k or DEFAULT_COUNT)
        budget = RACE_SHARE * self._planned_time
        runners = affordable(candidates, shape, len(folds) + 1, budget)
        court = Court(sample, judges, seed)
        return Race(sample, folds, court, k, runners, sample.source.monitor, seed, self.combine)

    def _candidates(
        self, engine: Engine, filling: Filling | None, k: int | None
    ) -> list[Candidate]:
        candidates = [
            self._candidate(name, selector, engine, filling)
            for name, selector in self._named_selectors().items()
        ]
        return self._in_time(candidates, engine, k or DEFAULT_COUNT)

    def _in_time(self, candidates: Sequence[Candidate], engine: Engine, k: int) -> list[Candidate]:
        """Those that take too long on all rows cannot win; the cheapest may, whatever it takes."""
        shape = engine.n_samples, engine.n_features, k
        timed = [(c, seconds_on_all_rows(c.name, *shape)) for c in candidates]
        cheapest = min((seconds for c, seconds in timed if c.unable is None), default=0.0)
        longest = max(FINAL_SHARE * self._planned_time, cheapest)
        return [
            replace(c, unable=f"not started: about {seconds:.3g} s on all rows")
            if seconds > longest and c.unable is None
            else c
            for c, seconds in timed
        ]

    def _named_selectors(self) -> dict[str, BaseSelector]:
        given = self.methods
        if is_word(given, "auto"):
            return {entry.name: racer(entry.name) for entry in PORTFOLIO}
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise not_allowed("methods", given, "'auto' or a list of method names and selectors")
        named: dict[str, BaseSelector] = {}
        for method in given:
            selector = racer(method) if isinstance(method, str) else method
            if not isinstance(selector, BaseSelector) or isinstance(selector, AutoSelector):
                raise not_allowed("methods", method, "names and selectors of featsieve")
            name = type(selector).__name__
            named[name if name not in named else f"{name} {len(named) + 1}"] = clone(selector)
        return named

    def _candidate(
        self,
        name: str,
        selector: BaseSelector,
        engine: Engine,
        filling: Filling | None,
    ) -> Candidate:
        fill = None if selector._takes_missing else filling
        entry = ENTRIES.get(name)
        cost = unknown_cost if entry is None else entry.cost
        return Candidate(
            name,
            fixed_procedure(selector),
            partial(prepared, selector, fill),
            cost,
            self._why_not(name, selector, engine),
        )

    def _why_not(self, name: str, selector: BaseSelector, engine: Engine) -> str | None:
        """Why a candidate cannot run on all rows, before any work is spent on it."""
        method = next((m for m in METHODS if m.name == type(selector).__name__), None)
        entry, is_numeric = ENTRIES.get(name), not engine.target.is_classification
        if method is not None and method.target == "classes" and is_numeric:
            return "not started: it takes classes, and the target is numeric"
        if entry is None:
            return None
        n, m = engine.n_samples, engine.n_features
        if entry.most_columns is not None and m > entry.most_columns:
            return f"not started: more than {entry.most_columns} columns"
        gathers = method is not None and method.engines == "gathers" and not samples_rows(name)
        if gathers and 8 * n * m > engine.memory_limit:
            return "not started: it needs all rows in memory, beyond memory_limit"
        return None

    @property
    def _planned_time(self) -> float:
        return DEFAULT_TIME if self.max_time is None else self.max_time

    # --- fitted attributes ----------------------------------------------------------------------

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        super()._store(engine, result, k)
        self.method_ = str(result.extras["method"])
        self.race_ = list(result.extras["race"])
        winner = self._winning_selector()
        winner.set_params(n_features_to_select=len(result.indices))
        winner.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            winner.feature_names_in_ = self.feature_names_in_
        BaseSelector._store(winner, engine, result, None)
        self.selector_ = winner
        if result.stop_reason == TIME_LIMIT and self.max_time == DEFAULT_TIME:
            warn_user(  # a limit that the user may not know of
                f"AutoSelector: the race did not end within {DEFAULT_TIME:g} s, its default limit; "
                f"{self.method_} is the best so far; give max_time, or None for no limit."
            )

    def _winning_selector(self) -> BaseSelector:
        """The method that won, or the race itself where it was the combination of its methods."""
        if self.method_ == COMBINATION:
            return clone(self)
        return self._named_selectors()[self.method_]


def _run(candidate: Candidate | None, engine: Engine, count: int) -> Iterator[SelectionResult]:
    assert candidate is not None  # only the combination has none
    yield from candidate.procedure.steps(candidate.prepare(engine), count)
