"""The HSIC family: ranking, FOHSIC, BAHSIC (P-HSIC) and l1-HSIC (P-LSMI 6.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from featsieve.measures.hilbert_schmidt import HSIC
from featsieve.pairing import Pairing
from featsieve.protocols import Search
from featsieve.searches import Backward, Forward, Ranking
from featsieve.selector import PairingSelector
from featsieve.validation import Settings


@dataclass(kw_only=True, eq=False, repr=False)
class HSICSelector(PairingSelector):
    """The parameters that all HSIC methods share: those of :class:`featsieve.measures.HSIC`."""

    kernel: Any = "rbf"
    target_kernel: Any = "auto"
    bandwidth: float | str = "median"
    target_bandwidth: float | str = "median"
    estimator: str = "unbiased"
    criterion: str = "hsic"
    approximation: str = "auto"
    standardize: bool = True
    random_state: Any = None

    def _measure(self) -> HSIC:
        return HSIC(
            kernel=self.kernel,
            target_kernel=self.target_kernel,
            bandwidth=self.bandwidth,
            target_bandwidth=self.target_bandwidth,
            estimator=self.estimator,
            criterion=self.criterion,
            approximation=self.approximation,
            random_state=self.random_state,
        )

    def _search(self) -> Search:
        raise NotImplementedError(f"{type(self).__name__} does not name its search")

    def _pairing(self) -> Pairing:
        return Pairing(self._measure(), self._search())

    def _settings(self) -> Settings:
        """A Gram matrix as y is numbers, whatever values it holds."""
        settings = super()._settings()
        given = isinstance(self.target_kernel, str) and self.target_kernel == "precomputed"
        return replace(settings, task="regression") if given else settings


@dataclass(kw_only=True, eq=False, repr=False)
class HSICRanking(HSICSelector):
    """Keep the columns with the largest HSIC of their own with the target.

    It sees any kind of dependence, but each column alone: neither redundancy nor interaction.

    Parameters
    ----------
    kernel, target_kernel, bandwidth, target_bandwidth, estimator, criterion, approximation
        See :class:`featsieve.measures.HSIC`.
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 (ddof 0) first.
    random_state : int, default=None
        Seed of subsamples and random features; they only come with many rows.

    Examples
    --------
    >>> from featsieve import HSICRanking
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> sorted(HSICRanking(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _search(self) -> Search:
        return Ranking()


@dataclass(kw_only=True, eq=False, repr=False)
class FOHSIC(HSICSelector):
    """Forward selection by HSIC (P-HSIC section 3).

    Parameters
    ----------
    step : int or float, default=0.1
        How many columns a round adds: a count, or a fraction of those outside, int(f·m) + 1.
    bandwidth : default="dimension"
        P-HSIC's policy 1/(2d); the other parameters as in :class:`HSICRanking`.

    Examples
    --------
    >>> from featsieve import FOHSIC
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> sorted(FOHSIC(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    bandwidth: float | str = "dimension"
    step: float = 0.1

    def _search(self) -> Search:
        return Forward(step=self.step)


@dataclass(kw_only=True, eq=False, repr=False)
class BAHSIC(HSICSelector):
    """Backward elimination by HSIC (P-HSIC Algorithm 1): sees columns that matter only together.

    Parameters
    ----------
    step : int or float, default=0.1
        How many columns a round removes: a count, or a fraction of the current ones, int(f·m) + 1.
    bandwidth : default="dimension"
        P-HSIC's policy 1/(2d); the other parameters as in :class:`HSICRanking`.

    Examples
    --------
    >>> from featsieve import BAHSIC
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(200, random_state=0)
    >>> sorted(BAHSIC(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    bandwidth: float | str = "dimension"
    step: float = 0.1

    def _search(self) -> Search:
        return Backward(step=self.step)
