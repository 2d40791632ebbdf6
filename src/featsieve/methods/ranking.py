"""Rankings: one score per column, tested by permutations, and learnt in parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from featsieve.engines.cells import too_far_apart
from featsieve.errors import InputError, percent, rounded_up
from featsieve.input.boundary import Settings, checked_table, open_engine
from featsieve.input.columns import refuse_other_kinds
from featsieve.input.parameters import check_array, check_count, check_integer, check_real
from featsieve.input.refusals import missing_targets
from featsieve.measures.information.binned import MutualInformation
from featsieve.measures.information.joint import Correction
from featsieve.measures.pearson.pearson import Pearson
from featsieve.methods.perhaps_empty import listed, nearest_misses, told, unit_names
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Procedure
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.progress import finish
from featsieve.schema import SAFE_EXPONENT, Schema, Target
from featsieve.searches.ranking import Ranking
from featsieve.selector import MayBeEmpty, PairingSelector, resolve_count

COUNT_RULES = ("bh", "by", "wy")  # procedures.tested_ranking says what they guarantee


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalRanking(PairingSelector):
    """Adds ``partial_fit`` to a ranking whose measure offers ``summary(schema, target)``."""

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Take more rows; the selection is that of all rows seen so far.

        Parameters
        ----------
        classes : all classes that may come, at the first call with class labels
        """
        with self._all_or_nothing():
            settings = self._settings()
            finish(
                lambda: self._take_rows(X, y, classes, sample_weight, settings), settings.monitor
            )
        return self

    def _take_rows(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, settings: Settings
    ) -> Self:
        first = not hasattr(self, "_seen")
        if first:
            self._forget()
        X = checked_table(X if first else self._like_fitted(X, y), y, settings)
        if not first:
            refuse_other_kinds(X, self._frame[0])
        engine: Any = open_engine(
            X,
            y,
            settings,
            sample_weight=sample_weight,
            in_parts=True,
            **self._known(classes, first),
        )
        if first:
            self._frame: Any = (engine.schema, engine.target)
            self._summary = self._summary_for(engine)
        else:
            engine.keep_units(self._units)
            _refuse_other_targets(engine)
        more = engine.reduce_rows(self._summary.of_block)
        self._units: Any = engine.units
        self._seen: Any = more if first else self._seen.merge(more)
        self._select_from(engine, self._summary.output_scores(self._seen))
        return self

    def _summary_for(self, engine: Any) -> Any:
        """How to summarise blocks like those of the first call, and how to finish."""
        return self._pairing().measure.summary(engine.schema, engine.target)  # type: ignore[attr-defined]

    def _known(self, classes: Any, first: bool) -> dict[str, Any]:
        """Schema and target of the first rows hold for all later ones."""
        if not first:
            schema, target = self._frame
            return {"schema": schema, "target": target}
        if classes is None:
            return {}
        labels = np.unique(check_array("classes", classes, "a list of all classes"))
        if len(labels) < 2:
            raise InputError("classes holds only one class; give all classes that may come.")
        return {"target": Target("classification", 1, (labels,))}

    def _select_from(self, engine: Any, output_scores: Any) -> None:
        k = resolve_count(check_count(self.n_features_to_select), engine.schema.n_units)
        scores = output_scores.mean(axis=0)
        order = best_first(scores)
        result = SelectionResult(
            order[:k], scores, order=order, extras={"output_scores": output_scores}
        )
        self._store(engine, result, k)

    _private_state = ("_seen", "_frame", "_summary", "_units")


def _refuse_other_targets(engine: Any) -> None:
    """What the look at the first rows refuses, in later ones; classes are known or refused."""
    if engine.target.is_classification:
        return
    y = engine.targets()
    if n_missing := int(np.count_nonzero(~np.isfinite(y))):
        raise missing_targets(n_missing)
    if (np.abs(y) > 2.0**SAFE_EXPONENT).any():
        raise too_far_apart("the target")


@dataclass(kw_only=True, eq=False, repr=False)
class TestedRanking(IncrementalRanking, MayBeEmpty):
    """Adds p-values to a ranking, and lets them decide how many columns to keep."""

    n_permutations: int = 0
    alpha: float = 0.05
    random_state: Any = None

    _count_rules = ("auto", *COUNT_RULES)
    _checks = {  # noqa: RUF012
        **MayBeEmpty._checks,
        "n_permutations": partial(check_integer, minimum=0),
        "alpha": partial(check_real, low=0, high=1, inclusive="neither"),
    }

    @property
    def _rule(self) -> Any:
        """By which adjusted p-values columns are kept, if they decide."""
        count = self.n_features_to_select
        return count if isinstance(count, str) and count in COUNT_RULES else None

    @property
    def _offers_auto_count(self) -> bool:
        return self._rule is not None

    def _procedure(self) -> Procedure:
        pairing = self._pairing()
        if self.n_permutations == 0:
            if self._rule:
                raise InputError(
                    f"n_features_to_select={self._rule!r} needs p-values; give n_permutations, "
                    "such as 999."
                )
            return pairing
        # Imported here: without permutations no kernel has to be loaded.
        from featsieve.procedures.tested_ranking import TestedProcedure

        return TestedProcedure(
            pairing, pairing.measure, self.n_permutations, self.random_state, self._rule, self.alpha
        )

    def _explain_nothing(self, schema: Schema, result: SelectionResult) -> str:
        rule, extras = self._rule, result.extras
        assert rule is not None
        adjusted = extras[f"adjusted_{rule}"]
        least = float(np.nanmin(adjusted))
        passing = np.flatnonzero(adjusted <= least)
        rarest = 1 / (1 + extras["n_permutations"])
        floor = (
            f" With {extras['n_permutations']} permutations no p-value is below {rarest:.2g}; "
            "raise n_permutations."
            if np.nanmin(extras["pvalues"]) <= rarest * (1 + 1e-9)
            else ""
        )
        return (
            f"Nothing passes at {percent(self.alpha)}; at {rounded_up(100 * least, 3)}% "
            f"{listed(unit_names(schema, passing))} would.{floor} "
            f"{told(unit_names(schema, nearest_misses(result)))}"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class PearsonRanking(TestedRanking):
    """Keep the columns with the largest |Pearson correlation| (Hall's for classes and categories).

    It sees linear dependence only, one column at a time: neither redundancy nor interaction.

    Parameters
    ----------
    n_features_to_select : int, float, "auto", "bh", "by", "wy" or None, default=None
        By p-values: columns whose adjusted one is at most ``alpha``, by Benjamini and Hochberg,
        Benjamini and Yekutieli (both for the false discovery rate) or Westfall and Young (for any
        false column at all).
    n_permutations : int, default=0
        With permutations, ``pvalues_`` holds P(score this large | no association) for each column,
        and ``result_.extras`` the values adjusted for many tests (``adjusted_bh``: false discovery
        rate, ``adjusted_wy``: family-wise error). Only ``fit`` tests: permutations need all rows.
    alpha : float, default=0.05
        The level for ``n_features_to_select="bh"``, ``"by"`` or ``"wy"``.
    allow_empty : bool, default=False
        Whether ``transform`` lets an empty selection pass; otherwise it is an error that explains.
    random_state : int, generator or None
        Seed of the permutations.

    Examples
    --------
    >>> from featsieve import PearsonRanking
    >>> from featsieve.datasets import make_and_or
    >>> data = make_and_or(400, random_state=0)
    >>> sorted(PearsonRanking(n_features_to_select=3).fit(data.data, data.target).indices_.tolist())
    [7, 8, 9]
    """

    _measure_type = Pearson

    def _pairing(self) -> Pairing:
        return Pairing(Pearson(), Ranking())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Rank the columns of X by their correlation with y; see :meth:`BaseSelector.fit`."""
        return self._fit(X, y, sample_weight=sample_weight)


def _counts_bins(selector: MaxRel) -> bool:
    """Neighbours need all rows at once."""
    return selector.estimator == "binned"


@dataclass(kw_only=True, eq=False, repr=False)
class MaxRel(TestedRanking):
    """Keep the columns with the largest mutual information with the target.

    It sees any dependence, one column at a time: neither redundancy nor interaction.

    Parameters
    ----------
    discretizer : "quantile", "equal_width", "sigma", "caim", an object of featsieve.discretize, \
or None for columns that are codes already
    n_bins : int, default=5
        For "quantile" and "equal_width".
    target_discretizer : as ``discretizer``, for a numeric target; default "auto"
        "auto" cuts at the mean and multiples of the deviation, which keeps rare large deviations
        apart; into equally frequent states if more than 99 % of the rows would share one.
    estimator : "binned" or "ksg"
        "ksg" estimates from the nearest neighbours, without bins, as scikit-learn's
        ``mutual_info_classif`` and ``mutual_info_regression`` do.
    n_neighbors : int, default=3
        For "ksg".
    correction : None, "miller_madow" or "shrink"
        Against the bias of binned scores from few rows.
    n_features_to_select : int, float, "auto", "bh", "by", "wy" or None, default=None
        By p-values: columns whose adjusted one is at most ``alpha``, by Benjamini and Hochberg,
        Benjamini and Yekutieli (both for the false discovery rate) or Westfall and Young (for any
        false column at all).
    n_permutations : int, default=0
        With permutations, ``pvalues_`` holds P(score this large | no association) for each column,
        and ``result_.extras`` the values adjusted for many tests (``adjusted_bh``: false discovery
        rate, ``adjusted_wy``: family-wise error). Only ``fit`` tests: permutations need all rows.
    alpha : float, default=0.05
        The level for ``n_features_to_select="bh"``, ``"by"`` or ``"wy"``.
    allow_empty : bool, default=False
        Whether ``transform`` lets an empty selection pass; otherwise it is an error that explains.
    random_state : int, generator or None
        Seed of the permutations.

    Examples
    --------
    >>> from featsieve import MaxRel
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(MaxRel(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    discretizer: Any = "quantile"
    n_bins: int = 5
    target_discretizer: Any = "auto"
    estimator: Literal["binned", "ksg"] = "binned"
    n_neighbors: int = 3
    correction: Correction = None

    _measure_type = MutualInformation

    def _measure(self) -> MutualInformation:
        return MutualInformation(
            discretizer=self.discretizer,
            n_bins=self.n_bins,
            target_discretizer=self.target_discretizer,
            estimator=self.estimator,
            n_neighbors=self.n_neighbors,
            correction=self.correction,
            normalized=self._normalized(),
        )

    def _normalized(self) -> bool:
        return False

    def _pairing(self) -> Pairing:
        return Pairing(self._measure(), Ranking())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Rank the columns of X by their information on y; see :meth:`BaseSelector.fit`."""
        if sample_weight is not None and self.estimator == "ksg":
            raise InputError("estimator='ksg' does not take sample_weight; use 'binned'.")
        return self._fit(X, y, sample_weight=sample_weight)

    @available_if(_counts_bins)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Take more rows, as codes with ``discretizer=None``; else the first rows fix the cuts."""
        return super().partial_fit(X, y, classes, sample_weight)

    def _summary_for(self, engine: Any) -> Any:
        from featsieve.measures.information.partial import summary_of_first

        return summary_of_first(self._measure(), engine)


@dataclass(kw_only=True, eq=False, repr=False)
class NMIRanking(MaxRel):
    """Keep the columns with the largest normalised information I / √(H(X) H(Y)) (Sugiyama).

    Parameters are those of :class:`MaxRel`, without the neighbour estimator.

    Examples
    --------
    >>> from featsieve import NMIRanking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NMIRanking(n_features_to_select=2).fit(X, y).indices_.tolist()
    [3, 2]
    """

    def _normalized(self) -> bool:
        return True
