"""Greedy search by a criterion on information, and the criteria themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal, Protocol, cast, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import BoolArray, FloatArray
from featsieve.input.parameters import (
    Check,
    check_choice,
    check_parameters,
    check_real,
    not_allowed,
)
from featsieve.protocols import (
    Bound,
    HasConditionalGains,
    HasPairInformation,
    Nesting,
    PairInformation,
)
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import TIE_TOLERANCE, best_first, best_index, tie_width
from featsieve.runtime.user_warnings import warn_user


class BoundInformation(Bound, HasPairInformation, Protocol):
    """A bound measure with the information of pairs of units."""


@runtime_checkable
class CanBringPairs(Protocol):
    """Pairs that are counted by passes over rows elsewhere: a message costs more than a unit more.

    ``brings_pairs`` is false where the rows are here: there a unit is counted when it is needed.
    What comes along changes no answer.
    """

    @property
    def brings_pairs(self) -> bool: ...

    def bring_pairs(self, unit: int, likely: Sequence[int], most: int) -> None:
        """Have ``information_with`` of the unit ready; if that takes a pass, some of those that are
        likely to be asked for later come along: at most so many, the first ones first."""
        ...


class RunningCriterion(Protocol):
    """A criterion with its data and the units selected so far.

    ``scale`` is the size of its terms, to which ties are relative.
    """

    scale: float

    def add(self, unit: int) -> None:
        """Take the unit into the selected ones."""
        ...

    def scores(self, outside: BoolArray) -> FloatArray:
        """The criterion of every candidate; only those outside the selection have to be right."""
        ...


class Criterion(BaseEstimator):
    """A criterion that sums a term over the selected units.

    ``asks_for_pairs``: the information of each selected unit with the others.
    """

    asks_for_pairs: ClassVar[bool] = True
    requires: ClassVar[tuple[type, ...]] = (HasPairInformation,)
    checks: ClassVar[Mapping[str, Check]] = {}

    @property
    def amplification(self) -> float:
        """How many times the rounding of information is in a score."""
        return 1.0

    def begin(self, bound: BoundInformation) -> RunningCriterion:
        check_parameters(self, self.checks)
        return SummedTerms(self, bound)

    def term(self, pair: PairInformation) -> FloatArray:
        """What one selected unit adds to the sum of every candidate."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it sums")

    def score(self, relevance: FloatArray, total: FloatArray, n_selected: int) -> FloatArray:
        return total


class SummedTerms:
    """The running sum of a criterion: one column of the pair matrix per selected unit."""

    def __init__(self, criterion: Criterion, bound: BoundInformation) -> None:
        self._criterion = criterion
        self._bound = bound
        self._relevance = bound.relevance()
        self.scale = bound.information_scale * criterion.amplification
        self._total = np.zeros(len(self._relevance))
        self._n_selected = 0

    def add(self, unit: int) -> None:
        self._total += self._criterion.term(self._bound.information_with(unit))
        self._n_selected += 1

    def scores(self, outside: BoolArray) -> FloatArray:
        if not self._n_selected:
            return self._relevance
        return self._criterion.score(self._relevance, self._total, self._n_selected)


@dataclass(kw_only=True, eq=False, repr=False)
class MinimalRedundancy(Criterion):
    """I(X; Y) minus (or divided by) the mean of I(X; X_j) (mRMR, Peng 2005)."""

    checks: ClassVar[Mapping[str, Check]] = {
        "scheme": partial(check_choice, allowed=("difference", "quotient"))
    }

    scheme: Literal["difference", "quotient"] = "difference"

    def term(self, pair: PairInformation) -> FloatArray:
        return pair.mutual

    def score(self, relevance: FloatArray, total: FloatArray, n_selected: int) -> FloatArray:
        redundancy = total / n_selected
        if self.scheme == "quotient":
            return relevance / np.maximum(redundancy, TIE_TOLERANCE)
        return relevance - redundancy


class JointInformation(Criterion):
    """Σ_j I(X, X_j; Y) (JMI, Yang and Moody 1999)."""

    def term(self, pair: PairInformation) -> FloatArray:
        return pair.joint


class SymmetricRelevance(Criterion):
    """Σ_j I(X, X_j; Y) / H(X, X_j, Y) (DISR, Meyer and Bontempi 2006)."""

    def term(self, pair: PairInformation) -> FloatArray:
        return pair.symmetric_relevance


class InteractionCapping(Criterion):
    """I(X; Y) − Σ_j max(0, I(X; X_j) − I(X; X_j | Y)) (ICAP, Jakulin 2005)."""

    def term(self, pair: PairInformation) -> FloatArray:
        return np.maximum(0.0, pair.mutual - pair.within_classes)

    def score(self, relevance: FloatArray, total: FloatArray, n_selected: int) -> FloatArray:
        return relevance - total


class InfomaxExtraction(Criterion):
    """I(X; Y) − Σ_j [I(X; X_j) − I(X; X_j | Y)] (CIFE, Lin and Tang 2006)."""

    def term(self, pair: PairInformation) -> FloatArray:
        return pair.mutual - pair.within_classes

    def score(self, relevance: FloatArray, total: FloatArray, n_selected: int) -> FloatArray:
        return relevance - total


@dataclass(kw_only=True, eq=False, repr=False)
class WeightedRedundancy(Criterion):
    """I(X; Y) − β Σ_j I(X; X_j) (MIFS, Battiti 1994)."""

    checks: ClassVar[Mapping[str, Check]] = {"beta": partial(check_real, low=0)}

    beta: float = 1.0

    @property
    def amplification(self) -> float:
        return max(1.0, self.beta)

    def term(self, pair: PairInformation) -> FloatArray:
        return pair.mutual

    def score(self, relevance: FloatArray, total: FloatArray, n_selected: int) -> FloatArray:
        return relevance - self.beta * total


class ConditionalGain(Criterion):
    """I(X; Y | all selected together).

    When nothing is left to gain, the rest follows by relevance.
    """

    asks_for_pairs: ClassVar[bool] = False
    requires: ClassVar[tuple[type, ...]] = (HasPairInformation, HasConditionalGains)

    def begin(self, bound: BoundInformation) -> RunningCriterion:
        assert isinstance(bound, HasConditionalGains)  # it is required
        return GainOfAll(bound, bound)


class GainOfAll:
    """All selected units as one variable."""

    def __init__(self, bound: BoundInformation, gains: HasConditionalGains) -> None:
        self._gains = gains
        self._relevance = bound.relevance()
        self.scale = bound.information_scale
        self._selected: list[int] = []
        self._has_warned = False

    def add(self, unit: int) -> None:
        self._selected.append(unit)

    def scores(self, outside: BoolArray) -> FloatArray:
        if not self._selected:
            return self._relevance
        gains = self._gains.conditional_gains(self._selected)
        if gains[outside].max() > tie_width(0.0, self.scale):
            return gains
        self._warn_once()
        # Nothing to gain: 0 for the most relevant one that is left, less for the others.
        return self._relevance - self._relevance[outside].max()

    def _warn_once(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            warn_user(
                f"no column adds information to the first {len(self._selected)} selected ones; the "
                "others are chosen by relevance. Ask for fewer features, or give more rows."
            )


@dataclass(kw_only=True, eq=False, repr=False)
class Greedy(BaseEstimator):
    """One engine for all greedy information criteria; ties go to the lowest index.

    Parameters
    ----------
    criterion : a criterion of featsieve.searches.greedy, default JointInformation (JMI)

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import MutualInformation
    >>> from featsieve.searches import Greedy
    >>> from featsieve.searches.greedy import MinimalRedundancy
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> measure, search = MutualInformation(), Greedy(MinimalRedundancy())
    >>> selector = FeatureSelector(measure, search, n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [3, 2]
    """

    nesting: ClassVar[Nesting] = "growing"

    criterion: Criterion | None = field(default=None, kw_only=False)

    @property
    def requires(self) -> tuple[type, ...]:
        return self._criterion.requires

    @property
    def _criterion(self) -> Criterion:
        if self.criterion is None:
            return JointInformation()
        if isinstance(self.criterion, Criterion):
            return self.criterion
        raise not_allowed(
            "criterion", self.criterion, "an object of featsieve.searches.greedy, or None for JMI"
        )

    def steps(self, bound: BoundInformation, k: int) -> Iterator[SelectionResult]:
        run = self._criterion.begin(bound)
        indices = np.empty(k, dtype=np.intp)
        path: list[int] = []
        trace: list[float] = []
        is_outside = np.ones(bound.n_units, dtype=bool)
        barred = np.zeros(bound.n_units)  # −∞ for the selected
        chosen = np.full(bound.n_units, np.nan)
        current = run.scores(is_outside)
        ahead = _ahead(bound, self._criterion)
        for step in range(k):
            if path:
                if ahead is not None:
                    likely = best_first(current + barred).tolist()
                    ahead.bring_pairs(path[-1], likely, k - step - 1)
                run.add(path[-1])
                current = run.scores(is_outside)
            best = best_index(current + barred, run.scale)
            scores = np.where(is_outside, current, chosen)
            indices[step] = best
            is_outside[best], barred[best], chosen[best] = False, -np.inf, current[best]
            path.append(best)
            trace.append(float(current[best]))
            bound.monitor.tick("adding", step + 1, k)
            yield SelectionResult(
                indices[: step + 1],  # what is written later lies behind it
                scores,
                objective=trace[-1],
                path=tuple(path),
                trace=tuple(trace),
            )


def _ahead(bound: Bound, criterion: Criterion) -> CanBringPairs | None:
    """Where a pass costs a message, the best units of the last round come along with a new one."""
    brings = criterion.asks_for_pairs and isinstance(bound, CanBringPairs) and bound.brings_pairs
    return cast(CanBringPairs, bound) if brings else None
