"""A user's estimator as a measure: its cross-validated score on a set of columns (wrapper)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_val_score
from sklearn.utils.parallel import Parallel, delayed

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.input.parameters import brief, not_allowed
from featsieve.input.splits import Splits, fixed_splits
from featsieve.measures.base import BaseMeasure
from featsieve.protocols import Engine
from featsieve.runtime.progress import Monitor

WORTH_A_PROCESS = 0.1  # seconds of a fold; to start a process takes a second, a call hundredths


@dataclass(kw_only=True, eq=False, repr=False)
class CrossValScore(BaseMeasure):
    """The mean score of ``estimator`` over the folds, with only the set's columns.

    Parameters
    ----------
    estimator : scikit-learn estimator
    cv : int, splitter or iterable, default=5
    scoring : str or callable, default: the estimator's own score
    split_params, score_params : mappings, optional
        Metadata for the splitter (such as ``groups``), and for scikit-learn's ``cross_val_score``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import CrossValScore
    >>> from featsieve.searches import Forward
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> selector = FeatureSelector(CrossValScore(Ridge(), cv=3), Forward(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 8]
    """

    estimator: BaseEstimator | None = field(default=None, kw_only=False)
    cv: Any = 5
    scoring: Any = None
    split_params: Mapping[str, Any] | None = None
    score_params: Mapping[str, Any] | None = None

    def bind(self, engine: Engine) -> BoundCrossValScore:
        is_scored = self.scoring is not None or hasattr(self.estimator, "score")
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit") or not is_scored:
            raise not_allowed("estimator", self.estimator, "an object with fit, predict and score")
        try:
            if not (
                self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
            ):
                raise TypeError
            check_scoring(self.estimator, scoring=self.scoring)
        except (ValueError, TypeError):
            allowed = "the name of a scorer of scikit-learn, a function or None"
            raise not_allowed("scoring", self.scoring, allowed) from None
        return BoundCrossValScore(self, engine)


@dataclass(frozen=True)
class _Trial:
    """A set of units, its columns and one fold."""

    key: frozenset[int]
    X: Any
    y: Any
    fold: tuple[Any, Any]


class BoundCrossValScore:
    """An estimator with its data; a set's score is computed once."""

    def __init__(self, measure: CrossValScore, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self._measure = measure
        self._engine = engine
        self._known: dict[frozenset[int], FloatArray] = {}
        self._longest: float | None = None  # seconds of a fold
        self._folds = self._fixed_folds()

    def _fixed_folds(self) -> Splits:
        """The same folds for every set, so that sets are compared on the same rows."""
        X, y = self._engine.native(np.arange(1))
        measure = self._measure
        classifier = is_classifier(measure.estimator)
        return fixed_splits(measure.cv, X, y, classifier=classifier, params=measure.split_params)

    def value(self, subset: Sequence[int]) -> float:
        return float(np.mean(self.fold_scores(subset)))

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        return self._values([[*subset, candidate] for candidate in candidates])

    def values_without(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        return self._values([[u for u in subset if u != c] for c in candidates])

    def scores(self) -> FloatArray:
        """Each unit alone."""
        return self._values([[unit] for unit in range(self.n_units)])

    def fold_scores(self, subset: Sequence[int]) -> FloatArray:
        """One score per fold."""
        key = frozenset(int(unit) for unit in subset)
        self._learn([key])
        return self._known[key]

    def _values(self, subsets: Sequence[Sequence[int]]) -> FloatArray:
        """Processes share the folds of all sets, so that none waits for the last fold of a set."""
        self._learn([frozenset(int(unit) for unit in subset) for subset in subsets])
        return np.array([self.value(subset) for subset in subsets])

    def _learn(self, keys: Sequence[frozenset[int]]) -> None:
        """As many folds at a time as there are processes: the clock is looked at in between."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._known]
        scores: dict[frozenset[int], list[float]] = {key: [] for key in unknown}
        trials = self._trials(unknown)
        while together := list(islice(trials, self._n_jobs)):
            self.monitor.check()
            for trial, score in zip(together, self._scores_of(together), strict=True):
                scores[trial.key].append(score)
                if len(scores[trial.key]) == len(self._folds):
                    self._known[trial.key] = np.array(scores[trial.key])

    def _trials(self, keys: Sequence[frozenset[int]]) -> Iterator[_Trial]:
        schema = self._engine.schema
        for key in keys:
            X, y = self._engine.native(np.sort(schema.columns_of_units(sorted(key))))
            for fold in self._folds:
                yield _Trial(key, X, y, fold)

    @property
    def _n_jobs(self) -> int:
        """Processes of joblib, once a fold is known to take long enough to be sent to one."""
        is_worth_it = self._longest is not None and self._longest >= WORTH_A_PROCESS
        return self._engine.n_jobs if is_worth_it else 1

    def _scores_of(self, trials: list[_Trial]) -> list[float]:
        started, n_jobs = perf_counter(), self._n_jobs
        tasks = [self._task(trial) for trial in trials]
        if n_jobs == 1:
            results = [task() for task in tasks]
            self._longest = max(self._longest or 0.0, perf_counter() - started)
        else:
            results = Parallel(n_jobs=n_jobs)(delayed(task)() for task in tasks)
        scores = [float(result[0]) for result in results]
        for trial, score in zip(trials, scores, strict=True):
            self._refuse_nan(score, trial)
        return scores

    def _task(self, trial: _Trial) -> Callable[[], FloatArray]:
        return partial(
            cross_val_score,
            clone(self._measure.estimator),
            trial.X,
            trial.y,
            cv=[trial.fold],
            scoring=self._measure.scoring,
            params=self._measure.score_params or None,
            error_score="raise",
        )

    def _refuse_nan(self, score: float, trial: _Trial) -> None:
        """Compared with others, it would be neither better nor worse."""
        if np.isnan(score):
            raise InputError(
                f"the score of {brief(self._measure.estimator)} is NaN in a fold of "
                f"{len(trial.fold[1])} test rows; give folds of more rows or classes (cv), or "
                "another scoring."
            )
