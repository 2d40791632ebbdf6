"""Ranking by Pearson's and Hall's correlation (P-LECTURE; "PC" in P-LSMI)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from featsieve.measures.linear.correlation import Pearson
from featsieve.methods.tested_ranking import TestedRanking
from featsieve.pairing import Pairing
from featsieve.searches.ranking import Ranking


@dataclass(kw_only=True, eq=False, repr=False)
class PearsonRanking(TestedRanking):
    """Keep the columns with the largest |Pearson correlation| (Hall's for classes and categories).

    It sees linear dependence only, one column at a time: neither redundancy nor interaction.

    Parameters
    ----------
    n_permutations : int, default=0
        With permutations, ``pvalues_`` holds P(score this large | no association) for each column,
        and ``result_.extras`` the values adjusted for many tests (``adjusted_bh``: false discovery
        rate, ``adjusted_wy``: family-wise error). Only ``fit`` tests: permutations need all rows.
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

    def _pairing(self) -> Pairing:
        return Pairing(Pearson(), Ranking())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Rank the columns of X by their correlation with y; see :meth:`BaseSelector.fit`."""
        return self._fit(X, y, sample_weight=sample_weight)
