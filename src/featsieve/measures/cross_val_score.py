"""A user's estimator as a measure: its cross-validated score on a set of columns (wrapper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_val_score

from featsieve.arrays import FloatArray
from featsieve.engines.base import spans
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

    def fold_scores(self, subset: Sequence[int]) -> FloatArray:
        """One score per fold."""
        key = frozenset(int(unit) for unit in subset)
        if key not in self._known:
            self._known[key] = self._score(sorted(key))
        return self._known[key]

    def scores(self) -> FloatArray:
        """Each unit alone."""
        return np.array([self.value([unit]) for unit in range(self.n_units)])

    def _score(self, units: list[int]) -> FloatArray:
        X, y = self._engine.native(np.sort(self._engine.schema.columns_of_units(units)))
        return np.concatenate([self._fold_scores(X, y, folds) for folds in self._fold_rounds()])

    def _fold_rounds(self) -> list[list[tuple[Any, Any]]]:
        """As many folds at a time as there are processes: the clock is looked at in between."""
        return [self._folds[start:stop] for start, stop in spans(len(self._folds), self._n_jobs)]

    @property
    def _n_jobs(self) -> int:
        """Processes of joblib, once a fold is known to take long enough to be sent to one."""
        is_worth_it = self._longest is not None and self._longest >= WORTH_A_PROCESS
        return self._engine.n_jobs if is_worth_it else 1

    def _fold_scores(self, X: Any, y: Any, folds: list[tuple[Any, Any]]) -> FloatArray:
        self.monitor.check()
        started, n_jobs = perf_counter(), self._n_jobs
        scores = cross_val_score(
            clone(self._measure.estimator),
            X,
            y,
            cv=folds,
            scoring=self._measure.scoring,
            n_jobs=n_jobs,
            params=self._measure.score_params or None,
            error_score="raise",
        )
        if n_jobs == 1:
            self._longest = max(self._longest or 0.0, (perf_counter() - started) / len(folds))
        if np.isnan(scores).any():  # compared with others, it would be neither better nor worse
            raise InputError(
                f"the score of {brief(self._measure.estimator)} is NaN in a fold of "
                f"{len(folds[int(np.isnan(scores).argmax())][1])} test rows; give folds of more "
                "rows or classes (cv), or another scoring."
            )
        return np.asarray(scores, dtype=np.float64)
