"""ReliefF: near rows decide, so that columns which only matter together are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.measures.relief.relieff import Relief
from featsieve.procedures.pairing import Pairing
from featsieve.searches.ranking import Ranking
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefF(PairingSelector):
    """Keep the columns that differ between near rows of different classes, not within a class.

    Near is meant in all columns together, so columns that only matter in interaction are seen;
    redundant columns score alike. Classes: ReliefF, with the class frequencies as priors (with two
    classes and ``n_neighbors=1``: Relief). Numbers: RReliefF. Missing cells are taken as they are.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest rows, per class for classification.
    max_samples : int, float or None, default=None
        How many rows (or which fraction) are compared with all others; None for every row. The
        cost grows with the number of rows times this number.
    random_state : int, generator or None, default=None
        Seed of the sample of rows.

    Examples
    --------
    >>> from featsieve import ReliefF
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(200, random_state=0)
    >>> sorted(ReliefF(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    n_neighbors: int = 10
    max_samples: int | float | None = None
    random_state: Any = None

    @property
    def _measure_type(self) -> type:
        return Relief

    def _pairing(self) -> Pairing:
        measure = Relief(
            n_neighbors=self.n_neighbors,
            max_samples=self.max_samples,
            random_state=self.random_state,
        )
        return Pairing(measure, Ranking())
