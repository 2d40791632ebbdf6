"""Permutation tests of every unit at once (Sugiyama, lecture notes, with (1 + b)/(1 + R) and ≥)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from featsieve import measures
from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.compiled.permutation import count_reached
from featsieve.engines.base import require_memory, weights_of
from featsieve.engines.memory import gathered
from featsieve.engines.standardized import StandardizedEngine
from featsieve.errors import InputError
from featsieve.inference.exchange import (
    ORDERS_PER_SEED,
    Exchange,
    exchange,
    group_codes,
    rarest_pvalue,
)
from featsieve.inference.pareto_tail import ENOUGH_COUNTS, KEPT, LargestScores, tail_pvalue
from featsieve.input.boundary import Settings, open_columns
from featsieve.input.parameters import check_choice, check_integer, refuse_no_object
from featsieve.protocols import (
    Bound,
    CanPermuteTarget,
    Engine,
    HasPermutedScores,
    HasScores,
    Measure,
)
from featsieve.result import COMPLETED
from featsieve.runtime.ordering import TIE_TOLERANCE, best_first
from featsieve.runtime.progress import Monitor, last_of
from featsieve.runtime.seeds import root_seed
from featsieve.runtime.user_warnings import warn_user
from featsieve.statistics.weights import depend_on_target


def benjamini_hochberg(pvalues: FloatArray) -> FloatArray:
    """Adjusted p-values that control the false discovery rate; NaN stays NaN and is not a test.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    tests = np.flatnonzero(~np.isnan(pvalues))
    order = tests[np.argsort(pvalues[tests], kind="stable")]
    scaled = pvalues[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full(len(pvalues), np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def benjamini_yekutieli(pvalues: FloatArray) -> FloatArray:
    """The same under any dependence between the tests: larger by 1 + 1/2 + … + 1/m.

    >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03, np.nan])).round(4).tolist()
    [0.055, 0.0733, 0.0733, nan]
    """
    n_tests = np.count_nonzero(~np.isnan(pvalues))
    harmonic = (1.0 / np.arange(1, n_tests + 1)).sum()
    return np.minimum(benjamini_hochberg(pvalues) * harmonic, 1.0)


MOST_ORDERS = 1024  # permutations a pass: enough for matrix products at full speed
SHARE_OF_BUDGET = 2
SECONDS_PER_PASS = 0.15  # under a time limit


@dataclass(frozen=True)
class PermutationResult:
    """One entry per unit (a column unless feature groups were given).

    Parameters
    ----------
    scores
        The observed scores.
    pvalues
        (1 + #{permuted score ≥ observed}) / (1 + number of permutations).
    adjusted_bh
        Benjamini and Hochberg's: controls the false discovery rate. ``adjusted_by`` is Benjamini
        and Yekutieli's, which holds under any dependence between the columns.
    adjusted_wy
        Westfall and Young's step-down max-T: controls the family-wise error, and uses the
        dependence between the columns.
    n_permutations
        How many there were: fewer than asked for when the run was stopped, and still valid.
    stop_reason
        ``"completed"``, ``"max_time"`` or ``"interrupted"``.
    by_tail
        With ``tail="pareto"``: which p-values (and what Benjamini and Hochberg make of them) are
        approximations by a generalised Pareto law; None without.

    Examples
    --------
    >>> from featsieve.inference import permutation_test
    >>> x = np.linspace(0, 1, 40)
    >>> result = permutation_test(np.c_[x, np.cos(40 * x)], x, n_permutations=99, random_state=0)
    >>> result.pvalues[0].item(), result.n_permutations
    (0.01, 99)
    """

    scores: FloatArray
    pvalues: FloatArray
    adjusted_bh: FloatArray
    adjusted_wy: FloatArray
    n_permutations: int
    stop_reason: str = COMPLETED
    by_tail: BoolArray | None = None

    @property
    def adjusted_by(self) -> FloatArray:
        return benjamini_yekutieli(self.pvalues)


def permutation_test(
    X: Any,
    y: Any,
    measure: Any = "pearson",
    *,
    n_permutations: int = 1000,
    groups: Any = None,
    block_size: int | None = None,
    tail: Literal["pareto"] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    task: str = "auto",
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    feature_groups: Any = None,
    sample_weight: Any = None,
    memory_limit: int | str = "1GiB",
    max_time: float | None = None,
    callback: Any = None,
) -> PermutationResult:
    """How often would a score this large come about if y had nothing to do with X?

    Parameters
    ----------
    measure : name of a measure in lower case, or a measure with a score for each unit
        Pearson is two-sided: its score is |ρ|.
    n_permutations : int, default=1000
    groups : one label per row, default=None
        Rows change places only inside their group, so that differences between groups (subjects,
        batches) are not evidence.
    block_size : int, default=None
        Consecutive rows (of a group) move together in blocks of this size, for rows that depend on
        their neighbours, as in time series; take it larger than the reach of that dependence.
    tail : "pareto" or None, default=None
        "pareto": p-values that fewer than 10 permutations reach are approximated by a generalised
        Pareto law for the largest permuted scores (Knijnenburg et al. 2009), for many columns where
        1/(1 + n_permutations) is too coarse. ``by_tail`` says which they are.
    random_state : int, generator or None
        The same number gives the same permutations for any ``n_jobs``, engine and memory limit.
    standardize : bool, default=True
        As in the selectors, for measures that depend on scale.
    sample_weight : one number >= 0 per row, default=None
        Weights that are a function of y (class weights, for example) go with y when it is permuted;
        all others stay with the rows of X, with a warning where they clearly depend on y. Rows of
        weight 0 take no part.

    The other parameters are those of the selectors.

    Examples
    --------
    >>> x = np.linspace(0, 1, 40)
    >>> X = np.c_[x, np.cos(40 * x)]
    >>> permutation_test(X, x**2, n_permutations=99, random_state=0).pvalues[0].item()
    0.01
    """
    measure = _measure_named(measure) if isinstance(measure, str) else measure
    refuse_no_object("measure", measure, "bind", "featsieve.measures.Pearson()")
    if sample_weight is not None and not getattr(measure, "takes_weights", False):
        raise InputError(
            f"{type(measure).__name__} does not take sample_weight; use a measure that does, such "
            "as 'pearson', 'fisher' or 'mutualinformation'."
        )
    settings = Settings(
        task=task,
        categorical_features=categorical_features,
        feature_groups=feature_groups,
        n_jobs=n_jobs,
        max_time=max_time,
        memory_limit=memory_limit,
        callback=callback,
        takes_missing=bool(getattr(measure, "takes_missing", False)),
        rescale=standardize or getattr(measure, "scale_ddof", None) is None,
    )
    ddof = getattr(measure, "scale_ddof", None) if standardize else None

    def steps() -> Iterator[PermutationResult]:
        engine: Engine = open_columns(X, y, settings, sample_weight=sample_weight)
        if ddof is not None:
            engine = StandardizedEngine(engine, ddof)
        allowed = exchange(engine.n_samples, _kept_groups(groups, engine), block_size)
        yield from permutation_steps(
            engine, measure, n_permutations, random_state, allowed, tail=tail
        )

    result, reason = last_of(steps(), settings.monitor)
    return replace(result, stop_reason=reason)


def _kept_groups(groups: Any, engine: Engine) -> Any:
    """Groups of the rows that there are, as codes."""
    if groups is None or engine.kept is None:
        return groups
    codes = group_codes(groups, engine.kept.n_given)
    return None if codes is None else codes[engine.kept.rows]


def _measure_named(name: str) -> Any:
    known = {measure.lower(): measure for measure in measures.MEASURES}
    if name not in known:
        raise InputError(
            f"measure={name!r} is not known; give a measure object, or one of "
            f"{', '.join(sorted(known))}."
        )
    return getattr(measures, known[name])()


def permutation_steps(
    engine: Engine,
    measure: Measure,
    n_permutations: int,
    random_state: Any,
    allowed: Exchange | None = None,
    *,
    tail: Literal["pareto"] | None = None,
) -> Iterator[PermutationResult]:
    """The same for rows that are already behind an engine: the test after each pass."""
    check_integer("n_permutations", n_permutations, 1)
    check_choice("tail", tail, ("pareto", None))
    bound = measure.bind(engine)
    if not isinstance(bound, HasScores):
        raise InputError(
            f"{type(measure).__name__} has no score for each unit, so its columns cannot be tested "
            "one by one; use a measure with scores."
        )
    if not isinstance(bound, HasPermutedScores) and not isinstance(engine, CanPermuteTarget):
        engine = gathered(engine)
    _warn_of_doubtful_weights(engine)
    seed = root_seed(random_state)
    scores = np.asarray(bound.scores(), dtype=np.float64)
    if tail is not None:
        require_memory(3 * KEPT * len(scores), engine.memory_limit, "the tails of all columns")
    rarest = None if tail is None else rarest_pvalue(engine.n_samples)
    counts = _Counts(scores, _rounding(scores, bound), rarest)
    allowed = allowed or Exchange(engine.n_samples)
    for start, stop in _passes(int(n_permutations), _orders_a_pass(engine, bound), engine.monitor):
        orders = allowed.orders(seed, start, stop)
        counts.add(_permuted_scores(engine, measure, bound, orders))
        yield counts.result()
        engine.monitor.tick("permutations", stop, int(n_permutations))


def _warn_of_doubtful_weights(engine: Engine) -> None:
    weight = weights_of(engine)
    if weight is None or engine.weights_belong_to_target:
        return
    if depend_on_target(weight, engine.targets(), engine.target.is_classification):
        warn_user(
            "sample_weight depends on the target without being a function of it, and permutations "
            "leave each weight with its row of X: the p-values hold only if that is where the "
            "weights belong."
        )


def _passes(n_orders: int, most: int, monitor: Monitor) -> Iterator[tuple[int, int]]:
    """Permutations by passes: as many at once as there is room for; under a time limit, a pass is
    made to last some tenths of a second."""
    start, size = 0, 1 if monitor.has_limit else most
    while start < n_orders:
        stop, began = min(n_orders, start + size), monitor.elapsed
        yield start, stop
        if monitor.has_limit:
            is_short = monitor.elapsed - began < SECONDS_PER_PASS
            size = min(most, 2 * size) if is_short else max(1, size // 2)
        start = stop


def _orders_a_pass(engine: Engine, bound: Bound) -> int:
    """As many permutations at once as the budget allows."""
    if not isinstance(bound, HasPermutedScores):
        return ORDERS_PER_SEED
    budget = engine.memory_limit // SHARE_OF_BUDGET
    require_memory(bound.numbers_per_order, budget, "one permutation of all columns")
    affordable = budget // (8 * bound.numbers_per_order)
    if affordable < ORDERS_PER_SEED:
        return affordable
    return min(MOST_ORDERS, affordable - affordable % ORDERS_PER_SEED)


def _permuted_scores(engine: Any, measure: Measure, bound: Bound, orders: IntArray) -> FloatArray:
    """Units by permutations; a measure without a faster way is bound again for each."""
    if isinstance(bound, HasPermutedScores):
        return bound.permuted_scores(orders)
    columns = [_scores_of(measure, engine.with_permuted_target(order)) for order in orders]
    return np.ascontiguousarray(np.array(columns, dtype=np.float64).T)


def _scores_of(measure: Measure, engine: Engine) -> FloatArray:
    bound = measure.bind(engine)
    assert isinstance(bound, HasScores)
    return bound.scores()


def _rounding(scores: FloatArray, bound: Bound) -> float:
    """Scores this close are tied: of a sum that is 0 only its rounding is left, in any order."""
    if isinstance(bound, HasPermutedScores):
        return TIE_TOLERANCE * bound.score_scale
    return float(TIE_TOLERANCE * np.nanmax(np.abs(scores), initial=0.0))


class _Counts:
    """How many permutations reached each unit's score, alone and among the units below it.

    With ``rarest``, the least p-value there can be, tails are kept and approximated.
    """

    def __init__(self, scores: FloatArray, rounding: float, rarest: float | None = None) -> None:
        self._scores = scores
        self._worst_first = best_first(scores)[::-1].copy()
        self._floor = scores - rounding
        self._single = np.zeros(len(scores), dtype=np.intp)
        self._stepdown = np.zeros(len(scores), dtype=np.intp)
        self._n_permutations = 0
        self._rarest = rarest
        self._largest = None if rarest is None else LargestScores(len(scores))

    def add(self, permuted: FloatArray) -> None:
        """NaN reaches nothing."""
        running = np.full(permuted.shape[1], -np.inf)
        count_reached(
            permuted, self._worst_first, self._floor, running, self._single, self._stepdown
        )
        self._n_permutations += permuted.shape[1]
        if self._largest is not None:
            self._largest.add(permuted)

    def result(self) -> PermutationResult:
        n_permutations = self._n_permutations
        known = ~np.isnan(self._scores)
        pvalues = np.where(known, (1 + self._single) / (1 + n_permutations), np.nan)
        by_tail = self._approximate(pvalues)
        stepdown = (1 + self._stepdown) / (1 + n_permutations)
        best_first_order = self._worst_first[::-1]
        adjusted = np.empty_like(stepdown)
        adjusted[best_first_order] = np.maximum.accumulate(stepdown[best_first_order])
        return PermutationResult(
            self._scores,
            pvalues,
            benjamini_hochberg(pvalues),
            np.where(known, adjusted, np.nan),
            n_permutations,
            by_tail=by_tail,
        )

    def _approximate(self, pvalues: FloatArray) -> BoolArray | None:
        """Put tail approximations where few permutations reach the score, and say where."""
        if self._largest is None or self._rarest is None:
            return None
        by_tail = np.zeros(len(pvalues), dtype=np.bool_)
        for unit in np.flatnonzero((self._single < ENOUGH_COUNTS) & ~np.isnan(pvalues)):
            largest, score = self._largest.values[unit], float(self._floor[unit])
            pvalue = tail_pvalue(largest, self._n_permutations, score)
            if pvalue is not None:
                pvalues[unit], by_tail[unit] = max(pvalue, self._rarest), True
        return by_tail
