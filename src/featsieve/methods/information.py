"""Greedy information criteria (Venkateswara et al. 2015, section III)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.measures.information.binned import MutualInformation
from featsieve.procedures.pairing import Pairing
from featsieve.searches.conditional_minimum import ConditionalMinimum
from featsieve.searches.greedy import (
    ConditionalGain,
    Criterion,
    Greedy,
    InfomaxExtraction,
    InteractionCapping,
    JointInformation,
    MinimalRedundancy,
    SymmetricRelevance,
    WeightedRedundancy,
)
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class GreedyInformation(PairingSelector):
    """Columns are added one by one; ``result_.trace`` holds the score at each step.

    Parameters
    ----------
    discretizer : "quantile", "equal_width", "sigma", "caim", an object of featsieve.discretize, \
or None for columns that are codes already
    n_bins : int, default=5
        For "quantile" and "equal_width".
    target_discretizer : as ``discretizer``, for a numeric target; default "auto"
        "auto" cuts at the mean and multiples of the deviation, which keeps rare large deviations
        apart; into equally frequent states if more than 99 % of the rows would share one.
    """

    discretizer: Any = "quantile"
    n_bins: int = 5
    target_discretizer: Any = "auto"

    _measure_type = MutualInformation

    def _criterion(self) -> Criterion:
        raise NotImplementedError(f"{type(self).__name__} does not name its criterion")

    def _pairing(self) -> Pairing:
        measure = MutualInformation(
            discretizer=self.discretizer,
            n_bins=self.n_bins,
            target_discretizer=self.target_discretizer,
        )
        return Pairing(measure, Greedy(self._criterion()))


@dataclass(kw_only=True, eq=False, repr=False)
class MRMR(GreedyInformation):
    """Minimal redundancy, maximal relevance (Peng 2005): I(X; Y) against the mean I(X; X_j).

    Parameters
    ----------
    scheme : "difference" or "quotient"

    The others are those of every greedy information criterion (see the user guide).

    Examples
    --------
    >>> from featsieve import MRMR
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(MRMR(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    scheme: str = "difference"

    _checks = MinimalRedundancy.checks

    def _criterion(self) -> Criterion:
        return MinimalRedundancy(scheme=self.scheme)  # type: ignore[arg-type]


@dataclass(kw_only=True, eq=False, repr=False)
class JMI(GreedyInformation):
    """Joint mutual information (Yang and Moody 1999): Σ_j I(X, X_j; Y) over the selected.

    Examples
    --------
    >>> from featsieve import JMI
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(JMI(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _criterion(self) -> Criterion:
        return JointInformation()


@dataclass(kw_only=True, eq=False, repr=False)
class CMIM(GreedyInformation):
    """Conditional mutual information maximisation (Fleuret 2004): min_j I(X; Y | X_j), lazily.

    Examples
    --------
    >>> from featsieve import CMIM
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(CMIM(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _criterion(self) -> Criterion:
        return ConditionalMinimum()


@dataclass(kw_only=True, eq=False, repr=False)
class DISR(GreedyInformation):
    """Double input symmetrical relevance (Meyer and Bontempi 2006).

    Examples
    --------
    >>> from featsieve import DISR
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(DISR(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _criterion(self) -> Criterion:
        return SymmetricRelevance()


@dataclass(kw_only=True, eq=False, repr=False)
class ICAP(GreedyInformation):
    """Interaction capping (Jakulin 2005): only redundancy counts, synergy does not.

    Examples
    --------
    >>> from featsieve import ICAP
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(ICAP(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _criterion(self) -> Criterion:
        return InteractionCapping()


@dataclass(kw_only=True, eq=False, repr=False)
class CIFE(GreedyInformation):
    """Conditional infomax feature extraction (Lin and Tang 2006).

    Examples
    --------
    >>> from featsieve import CIFE
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(CIFE(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _criterion(self) -> Criterion:
        return InfomaxExtraction()


@dataclass(kw_only=True, eq=False, repr=False)
class MIFS(GreedyInformation):
    """Mutual information feature selection (Battiti 1994).

    Parameters
    ----------
    beta : float, default=1.0
        How much each selected column's redundancy costs.

    Examples
    --------
    >>> from featsieve import MIFS
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(MIFS(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    beta: float = 1.0

    _checks = WeightedRedundancy.checks

    def _criterion(self) -> Criterion:
        return WeightedRedundancy(beta=self.beta)


@dataclass(kw_only=True, eq=False, repr=False)
class CondMI(GreedyInformation):
    """I(X; Y | all selected columns together); when nothing is left to gain, by relevance.

    It needs rows: with few of them the selected columns soon tell every row apart.

    Examples
    --------
    >>> from featsieve import CondMI
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> sorted(CondMI(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _criterion(self) -> Criterion:
        return ConditionalGain()
