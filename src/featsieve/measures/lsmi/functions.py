"""LSMI and MLMI of two sets of columns, as plain functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.measures.lsmi.basis import Centers
from featsieve.measures.lsmi.lsmi import LSMI
from featsieve.measures.lsmi.mlmi import MLMI, Solver


@dataclass(frozen=True)
class LSMIResult:
    """The value, the (σ, λ) it belongs to, and one α per centre, in the order of the centres."""

    value: float
    sigma: float
    lam: float
    alpha: FloatArray


def lsmi(
    X: Any,
    y: Any,
    *,
    centers: Any = None,
    sigma: float | None = None,
    lam: float | None = None,
    cv: int = 5,
    n_basis: int = 100,
    sigmas: Any = None,
    lambdas: Any = None,
    task: str = "auto",
    random_state: Any = None,
) -> LSMIResult:
    """Squared-loss mutual information of all columns of X together with y; nothing is scaled.

    Parameters
    ----------
    centers
        Row numbers of the basis centres; None: ``n_basis`` random rows.
    sigma, lam
        Fixed width and penalty; None: chosen by ``cv`` folds from ``sigmas`` and ``lambdas``
        (None: the grids of :class:`LSMI`).

    >>> x = np.linspace(-1, 1, 60)
    >>> same = lsmi(x, np.sign(x), sigma=0.5, lam=0.01, centers=range(60))
    >>> mixed = lsmi(x, np.tile([-1.0, 1.0], 30), sigma=0.5, lam=0.01, centers=range(60))
    >>> same.value > 0.3 > 0.1 > mixed.value
    True
    """
    measure = LSMI(
        n_basis=n_basis,
        sigmas=sigmas if sigma is None else [sigma],
        lambdas=lambdas if lam is None else [lam],
        cv=cv,
        centers="random" if centers is None else centers,
        scale_target=False,
        random_state=random_state,
    )
    bound = measure.bind(_engine(X, y, task))
    choice = bound.choose(range(bound.n_units))
    alpha = _as_given(choice.fit.alpha, bound.basis.centers)
    return LSMIResult(choice.fit.value, choice.sigma, choice.lam, alpha)


@dataclass(frozen=True)
class MLMIResult:
    """The value in nats, the σ it belongs to, and one α per centre, in the order of the centres."""

    value: float
    sigma: float
    alpha: FloatArray


def mlmi(
    X: Any,
    y: Any,
    *,
    centers: Any = None,
    sigma: float | None = None,
    cv: int = 5,
    n_basis: int = 100,
    sigmas: Any = None,
    solver: Solver = "authors",
    task: str = "auto",
    random_state: Any = None,
) -> MLMIResult:
    """Maximum likelihood mutual information of all columns of X with y; nothing is scaled.

    The parameters are those of :func:`lsmi`, without a penalty. ``solver="authors"`` gives the
    authors' numbers; ``"em"`` the maximum of the likelihood.

    >>> x = np.linspace(-1, 1, 60)
    >>> round(mlmi(x, np.sign(x), sigma=0.2, centers=range(60), solver="em").value, 1)
    0.6
    """
    measure = MLMI(
        n_basis=n_basis,
        sigmas=sigmas if sigma is None else [sigma],
        cv=cv,
        centers="random" if centers is None else centers,
        solver=solver,
        scale_target=False,
        random_state=random_state,
    )
    bound = measure.bind(_engine(X, y, task))
    fitted = bound.fit(range(bound.n_units))
    return MLMIResult(fitted.value, fitted.sigma, _as_given(fitted.alpha, bound.basis.centers))


def _engine(X: Any, y: Any, task: str) -> Any:
    from featsieve.input.boundary import Settings, open_columns

    return open_columns(X, y, Settings(task=task))


def _as_given(alpha: FloatArray, centers: Centers) -> FloatArray:
    """In the order in which the centres were given."""
    ordered = np.empty_like(alpha)
    ordered[centers.order] = alpha
    return ordered
