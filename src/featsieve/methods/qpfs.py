"""Quadratic programming feature selection (P-LSMI 4.2; Rodriguez-Lujan 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.errors import InputError
from featsieve.measures.information.binned_information import MutualInformation
from featsieve.measures.linear.correlation import Pearson
from featsieve.pairing import Pairing
from featsieve.protocols import Measure
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
        One weight a column, all together 1 (a group's weight stands at each of its columns).
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
    target_discretizer: Any = "quantile"
    random_state: Any = None

    def _measure(self) -> Measure:
        if self.similarity == "correlation":
            return Pearson()
        if self.similarity == "mi":
            return MutualInformation(
                discretizer=self.discretizer,
                n_bins=self.n_bins,
                target_discretizer=self.target_discretizer,
            )
        raise InputError(
            f"similarity={self.similarity!r} is not known; allowed are 'correlation' and 'mi'."
        )

    def _pairing(self) -> Pairing:
        search = SimplexQP(
            alpha=self.alpha, n_columns=self.n_columns, random_state=self.random_state
        )
        return Pairing(self._measure(), search)

    def _store(self, engine: Any, result: Any, k: int | None) -> None:
        super()._store(engine, result, k)
        self.weights_ = self.scores_
        self.alpha_ = result.extras["alpha"]
        self.n_iter_ = result.extras["n_iter"]
