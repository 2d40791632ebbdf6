"""Global selection on the matrix of conditional mutual information (P-CMI)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.measures.information.binned_information import ConditionalMutualInformation
from featsieve.pairing import Pairing
from featsieve.searches.global_quadratic import GlobalQuadratic
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class GlobalCMI(PairingSelector):
    """The set of k columns with the largest Σ I(X_i; Y) + Σ I(X_j; Y | X_i), found as a whole.

    Parameters
    ----------
    solver : "auto", "linear", "spectral", "sdp", "tpower", "lowrank" or "exact"
        See :func:`featsieve.quadratic.solve`; "auto" improves by swaps and proves where it can.
    rank, epsilon, delta : for "lowrank"
    discretizer : "caim", "quantile", "equal_width", "sigma", an object of featsieve.discretize, \
or None for columns that are codes already
    n_bins : int, default=5
        For "quantile" and "equal_width", and for a numeric target.
    target_discretizer : as ``discretizer``, for a numeric target
    random_state : int, optional

    Attributes
    ----------
    objective_ : float
        x'Qx of the selected set.
    upper_bound_ : float
        No set of this size has a larger objective.
    """

    solver: str = "auto"
    rank: int = 3
    epsilon: float = 0.1
    delta: float = 0.1
    discretizer: Any = "caim"
    n_bins: int = 5
    target_discretizer: Any = "quantile"
    random_state: Any = None

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
            random_state=self.random_state,
        )
        return Pairing(measure, search)

    def _store(self, engine: Any, result: Any, k: int | None) -> None:
        super()._store(engine, result, k)
        self.objective_ = result.objective
        self.upper_bound_ = result.extras["upper_bound"]
