"""Ranking by mutual information (P-LECTURE; "MaxRel" in P-CMI)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

from sklearn.utils.metaestimators import available_if

from featsieve.errors import InputError
from featsieve.measures.information.binned_information import MutualInformation
from featsieve.measures.information.joint_counts import Correction
from featsieve.methods.tested_ranking import TestedRanking
from featsieve.pairing import Pairing
from featsieve.searches.ranking import Ranking


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
    target_discretizer : as ``discretizer``, for a numeric target
    estimator : "binned" or "ksg"
        "ksg" estimates from the nearest neighbours, without bins, as scikit-learn's
        ``mutual_info_classif`` and ``mutual_info_regression`` do.
    n_neighbors : int, default=3
        For "ksg".
    correction : None, "miller_madow" or "shrink"
        Against the bias of binned scores from few rows.
    n_permutations : int, default=0
        With permutations, ``pvalues_`` holds P(score this large | no association) for each column,
        and ``result_.extras`` the values adjusted for many tests (``adjusted_bh``: false discovery
        rate, ``adjusted_wy``: family-wise error). Only ``fit`` tests: permutations need all rows.
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
    target_discretizer: Any = "quantile"
    estimator: Literal["binned", "ksg"] = "binned"
    n_neighbors: int = 3
    correction: Correction = None

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
        from featsieve.measures.information.coded_summary import summary_of_first

        return summary_of_first(self._measure(), engine)


@dataclass(kw_only=True, eq=False, repr=False)
class NMIRanking(MaxRel):
    """Keep the columns with the largest normalised information I / √(H(X) H(Y)) (P-LECTURE).

    Parameters are those of :class:`MaxRel`, without the neighbour estimator.
    """

    def _normalized(self) -> bool:
        return True
