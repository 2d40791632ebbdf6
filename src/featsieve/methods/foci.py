"""Feature ordering by conditional independence: forward selection that stops by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.measures.chatterjee.codec import ConditionalDependence
from featsieve.procedures.growth import Growth
from featsieve.protocols import Procedure
from featsieve.selector import BaseSelector


@dataclass(kw_only=True, eq=False, repr=False)
class FOCI(BaseSelector):
    """Add the column that tells most given those before it; stop when none adds anything.

    It has no parameter to tune, sees non-linear dependence and interaction, and decides how many
    columns to keep (Azadkia and Chatterjee 2021). Numbers are compared by ranks, classes for
    equality; ties between nearest rows are averaged.

    Parameters
    ----------
    n_features_to_select : "auto", int, float or None, default="auto"
        ``"auto"``: until no column adds anything.
    n_neighbors : int, default=1
    standardize : bool, default=True

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import FOCI
    >>> X = np.random.default_rng(0).normal(size=(500, 8))
    >>> y = X[:, 2] * X[:, 5] + X[:, 7] ** 2
    >>> sorted(FOCI().fit(X, y).indices_.tolist())
    [2, 5, 7]
    """

    n_features_to_select: int | float | str | None = "auto"
    n_neighbors: int = 1
    standardize: bool = True

    _offers_auto_count = True

    _scale_ddof = ConditionalDependence.scale_ddof

    def _measure(self) -> ConditionalDependence:
        return ConditionalDependence(n_neighbors=self.n_neighbors)

    def _procedure(self) -> Procedure:
        return Growth(self._measure())


@dataclass(kw_only=True, eq=False, repr=False)
class KFOCI(FOCI):
    """FOCI with a kernel on the target, for targets of any kind (Huang et al. 2022).

    Parameters
    ----------
    n_features_to_select : "auto", int, float or None, default="auto"
    target_kernel : as for :class:`featsieve.BAHSIC`, default "delta_or_rbf"
        Equality of classes, a Gaussian of numbers.
    n_neighbors : int, default=1
    standardize : bool, default=True

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import KFOCI
    >>> X = np.random.default_rng(0).normal(size=(500, 6))
    >>> y = np.c_[X[:, 1] ** 2, X[:, 4]]
    >>> sorted(KFOCI().fit(X, y).indices_.tolist())
    [1, 4]
    """

    target_kernel: Any = "delta_or_rbf"

    def _measure(self) -> ConditionalDependence:
        return ConditionalDependence(target_kernel=self.target_kernel, n_neighbors=self.n_neighbors)
