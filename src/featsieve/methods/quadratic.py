"""All columns at once: QPFS on the simplex, and the binary problem on conditional MI."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from featsieve.input.parameters import check_choice, is_word
from featsieve.measures.information.binned import ConditionalMutualInformation, MutualInformation
from featsieve.measures.pearson.pearson import Pearson
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Measure
from featsieve.quadratic.problem import BoundEffort
from featsieve.searches.global_quadratic import GlobalQuadratic
from featsieve.searches.simplex import SimplexQP
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class QPFS(PairingSelector):
    """Weigh all columns at once: much relevance, little redundancy.

    Parameters
    ----------
    similarity : "correlation" or "mi"
    alpha : "auto" or float in [0, 1]
        Weight of relevance against redundancy.
    n_columns : int, optional
        Nyström's approximation from so many columns of the redundancy matrix, for many columns.
    discretizer, n_bins, target_discretizer
        For "mi", as in :class:`MRMR`.
    random_state : int, optional
        Draws the columns of the approximation.

    Attributes
    ----------
    weights_ : array
        One weight per column, all together 1 (a group's weight stands at each of its columns).
    alpha_ : float

    Examples
    --------
    >>> from featsieve import QPFS
    >>> from featsieve.datasets import make_and_or
    >>> data = make_and_or(400, random_state=0)
    >>> QPFS(n_features_to_select=3).fit(data.data, data.target).weights_.sum().round(12)
    np.float64(1.0)
    """

    similarity: str = "correlation"
    alpha: float | str = "auto"
    n_columns: int | None = None
    discretizer: Any = "quantile"
    n_bins: int = 5
    target_discretizer: Any = "auto"
    random_state: Any = None

    _checks = {  # noqa: RUF012
        **SimplexQP.checks,
        "similarity": partial(check_choice, allowed=("correlation", "mi")),
    }

    @property
    def _measure_type(self) -> type:
        return MutualInformation if is_word(self.similarity, "mi") else Pearson

    def _measure(self) -> Measure:
        if self.similarity == "correlation":
            return Pearson()
        return MutualInformation(
            discretizer=self.discretizer,
            n_bins=self.n_bins,
            target_discretizer=self.target_discretizer,
        )

    def _pairing(self) -> Pairing:
        search = SimplexQP(
            alpha=self.alpha, n_columns=self.n_columns, random_state=self.random_state
        )
        return Pairing(self._measure(), search)

    _result_attributes = {"alpha_": "alpha"}  # noqa: RUF012
    _column_attributes = {"weights_": "scores"}  # noqa: RUF012


@dataclass(kw_only=True, eq=False, repr=False)
class GlobalCMI(PairingSelector):
    """The set of k columns with the largest Σ I(X_i; Y) + Σ I(X_j; Y | X_i), found as a whole.

    Parameters
    ----------
    solver : "auto", "linear", "spectral", "sdp", "tpower", "lowrank" or "exact"
        See :func:`featsieve.quadratic.solve`; "auto" improves by swaps and proves where it can.
    rank, epsilon, delta : for "lowrank"
    bound : "auto", "cheap", "sdp", "none" or None
        How much work goes into the upper bound; None: as much as suits the solver.
    discretizer : "caim", "quantile", "equal_width", "sigma", an object of featsieve.discretize, \
or None for columns that are codes already
    n_bins : int, default=5
        For "quantile" and "equal_width", and for a numeric target.
    target_discretizer : as ``discretizer``, for a numeric target; default "auto"
        "auto" cuts at the mean and multiples of the deviation, which keeps rare large deviations
        apart; into equally frequent states if more than 99 % of the rows would share one.
    random_state : int, optional

    Attributes
    ----------
    objective_ : float
        x'Qx of the selected set.
    upper_bound_ : float or None
        No set of this size has a larger objective; None with ``bound="none"``.

    Examples
    --------
    >>> from featsieve import GlobalCMI
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(400, random_state=0)
    >>> selector = GlobalCMI(n_features_to_select=2, random_state=0).fit(data.data, data.target)
    >>> sorted(selector.indices_.tolist())
    [0, 1]
    """

    solver: str = "auto"
    rank: int = 3
    epsilon: float = 0.1
    delta: float = 0.1
    bound: BoundEffort | None = None
    discretizer: Any = "caim"
    n_bins: int = 5
    target_discretizer: Any = "auto"
    random_state: Any = None

    _measure_type = ConditionalMutualInformation
    _checks = GlobalQuadratic.checks

    def _pairing(self) -> Pairing:
        measure = ConditionalMutualInformation(
            discretizer=self.discretizer,
            n_bins=self.n_bins,
            target_discretizer=self.target_discretizer,
        )
        search = GlobalQuadratic(
            solver=self.solver,
            rank=self.rank,
            epsilon=self.epsilon,
            delta=self.delta,
            bound=self.bound,
            random_state=self.random_state,
        )
        return Pairing(measure, search)

    _result_attributes = {"objective_": "objective", "upper_bound_": "upper_bound"}  # noqa: RUF012
