"""The SMI family (Jitkrittum et al. 2013): ranking, forward, backward and l1 weights on LSMI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.measures.lsmi.lsmi import LSMI
from featsieve.measures.lsmi.mlmi import MLMI, Solver
from featsieve.methods.l1_weights import L1Weights
from featsieve.procedures.pairing import Pairing
from featsieve.procedures.smi_curve import SmiCurve
from featsieve.protocols import Procedure, Search
from featsieve.searches.ranking import Ranking
from featsieve.searches.stepwise import Backward, Forward
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class _OnSample(PairingSelector):
    """The parameters of a measure on sampled basis functions; columns are standardised first."""

    standardize: bool = True
    n_basis: int = 100
    sigmas: Any = None
    cv: int = 5
    centers: Any = "random"
    random_state: Any = None

    def _sampling(self) -> dict[str, Any]:
        """What the measure is told."""
        return {
            "n_basis": self.n_basis,
            "sigmas": self.sigmas,
            "cv": self.cv,
            "centers": self.centers,
            "scale_target": self.standardize,
            "random_state": self.random_state,
        }


@dataclass(kw_only=True, eq=False, repr=False)
class _OnLSMI(_OnSample):
    """A search with LSMI."""

    lambdas: Any = None

    _measure_type = LSMI

    def _search(self) -> Search:
        raise NotImplementedError(f"{type(self).__name__} does not name its search")

    def _pairing(self) -> Pairing:
        return Pairing(LSMI(lambdas=self.lambdas, **self._sampling()), self._search())


@dataclass(kw_only=True, eq=False, repr=False)
class LSMIRanking(_OnLSMI):
    """Keep the columns with the largest squared-loss mutual information, each on its own.

    Sees non-linear dependence, but neither redundancy nor interaction.

    Parameters
    ----------
    n_basis, sigmas, lambdas, cv, centers, random_state
        As for :class:`featsieve.measures.LSMI`.
    standardize : bool, default=True
        Bring numeric columns (and a numeric target) to deviation 1 first.

    Examples
    --------
    >>> from featsieve import LSMIRanking
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> selector = LSMIRanking(n_features_to_select=2, random_state=0)
    >>> selector.fit(data.data, data.target).indices_.shape
    (2,)
    """

    def _search(self) -> Search:
        return Ranking()


@dataclass(kw_only=True, eq=False, repr=False)
class FLSMI(_OnLSMI):
    """Forward selection with LSMI (F-LSMI): add the column that makes the set best, k times.

    Sees non-linear dependence and redundancy; interacting columns that say nothing one by one are
    missed.

    Parameters
    ----------
    n_basis, sigmas, lambdas, cv, centers, random_state
        As for :class:`featsieve.measures.LSMI`.
    standardize : bool, default=True
        Bring numeric columns (and a numeric target) to deviation 1 first.

    Examples
    --------
    >>> from featsieve import FLSMI
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(100, random_state=0)
    >>> selector = FLSMI(n_features_to_select=2, random_state=0)
    >>> selector.fit(data.data, data.target).indices_.tolist()
    [0, 1]
    """

    def _search(self) -> Search:
        return Forward()


@dataclass(kw_only=True, eq=False, repr=False)
class BLSMI(_OnLSMI):
    """Backward elimination with LSMI (B-LSMI): drop the column that the set misses least.

    Sees non-linear dependence, interaction and, less surely, redundancy.

    Parameters
    ----------
    n_basis, sigmas, lambdas, cv, centers, random_state
        As for :class:`featsieve.measures.LSMI`.
    standardize : bool, default=True
        Bring numeric columns (and a numeric target) to deviation 1 first.

    Examples
    --------
    >>> from featsieve import BLSMI
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(100, random_state=0)
    >>> selector = BLSMI(n_features_to_select=2, random_state=0)
    >>> sorted(selector.fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _search(self) -> Search:
        return Backward(order_selected=False)


@dataclass(kw_only=True, eq=False, repr=False)
class L1LSMI(L1Weights, _OnLSMI):
    """l1-LSMI: weights of bounded sum that maximise LSMI, with exactly k of them non-zero.

    Sees redundancy, non-linear dependence and interaction at once (Jitkrittum et al. 2013,
    Algorithm 1).

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        ``"auto"``: the smallest count whose cross-validated SMI is within one standard error of
        the best (the curve is in ``result_.extras["smi_curve"]``).
    n_init : int, default=20
        Restarts from random weights and centres; they run side by side on ``n_jobs`` threads.
    n_agree : int or None, default=3
        End the restarts once this many of them ended in the best set so far, or six in a row
        brought nothing better; None: run all.
    max_iter : int, default=100
        Most iterations for one radius.
    tol : float, default=1e-5
        An ascent ends when the value changes by less than this on average.
    step : {"adaptive", "authors"}, default="adaptive"
        A spectral step with a line search, or the authors' 1/√t.
    rank_radii_by : {"weights", "columns"}, default="weights"
        What compares the answers of restarts: SMI at their weights, or SMI of the selected columns
        without weights, as Algorithm 1 has it.
    n_basis, sigmas, lambdas, cv, centers, random_state
        As for :class:`featsieve.measures.LSMI`.
    standardize : bool, default=True
        Bring numeric columns (and a numeric target) to deviation 1 first.

    Attributes
    ----------
    weights_ : one weight per column, zero where it is not selected
    radius_ : the radius of the l1 ball that gave them
    smi_ : LSMI of the weighted columns with the target
    n_iter_ : iterations over all radii and restarts

    Examples
    --------
    >>> from featsieve import L1LSMI
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(400, random_state=0)
    >>> selector = L1LSMI(n_features_to_select=2, random_state=0)
    >>> sorted(selector.fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    _offers_auto_count = True

    def _procedure(self) -> Procedure:
        pairing = self._pairing()
        return SmiCurve(pairing) if self.n_features_to_select == "auto" else pairing

    _result_attributes = {**L1Weights._result_attributes, "smi_": "objective"}  # noqa: RUF012


@dataclass(kw_only=True, eq=False, repr=False)
class MLMIRanking(_OnSample):
    """Keep the columns with the largest maximum likelihood mutual information, each on its own.

    Parameters
    ----------
    n_basis, sigmas, cv, centers, solver, random_state
        As for :class:`featsieve.measures.MLMI`.
    standardize : bool, default=True
        Bring numeric columns (and a numeric target) to deviation 1 first.

    Examples
    --------
    >>> from featsieve import MLMIRanking
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(100, random_state=0)
    >>> selector = MLMIRanking(n_features_to_select=2, random_state=0)
    >>> selector.fit(data.data, data.target).indices_.shape
    (2,)
    """

    solver: Solver = "em"

    _measure_type = MLMI

    def _pairing(self) -> Pairing:
        return Pairing(MLMI(solver=self.solver, **self._sampling()), Ranking())
