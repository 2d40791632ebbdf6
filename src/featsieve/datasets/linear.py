"""A sparse linear model of the size of the figures in Sugiyama's lecture notes."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from featsieve.arrays import FloatArray
from featsieve.datasets.sampling import Seed, bunch, generator
from featsieve.errors import InputError
from featsieve.input.parameters import check_integer, check_real


def _coefficients(n_features: int, n_relevant: int) -> FloatArray:
    """Alternating signs, sizes falling evenly from 2 to 0.2, then zeros."""
    coef = np.zeros(n_features)
    coef[:n_relevant] = np.linspace(2.0, 0.2, n_relevant) * (-1.0) ** np.arange(n_relevant)
    return coef


def make_sparse_linear(
    n_samples: int = 1000,
    *,
    n_features: int = 100,
    n_relevant: int = 10,
    noise: float = 1.0,
    random_state: Seed = None,
) -> Bunch:
    """y = Xw + ε with few non-zero w, for Lasso paths and Manhattan plots.

    Sugiyama's lecture notes give only the size (N = 1000 rows, n = 100 columns); the columns are
    independent standard normals, and the coefficients of the first ``n_relevant`` fall evenly from
    2 to 0.2 in size with alternating signs, so that the path shows them entering one after another.

    Parameters
    ----------
    n_samples
        Number of rows.
    n_features
        Number of columns.
    n_relevant
        How many of them carry a coefficient.
    noise
        Standard deviation of ε.
    random_state
        Seed; the same seed gives the same rows.

    Returns
    -------
    Bunch
        ``data``, ``target``, ``relevant`` (the first ``n_relevant`` columns), ``coef``,
        ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> make_sparse_linear(random_state=0).data.shape
    (1000, 100)
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    m, k = check_integer("n_features", n_features, 1), check_integer("n_relevant", n_relevant, 1)
    if k > m:
        raise InputError(f"n_relevant={k} is more than n_features={m}; give at most {m}.")
    coef = _coefficients(m, k)
    data = rng.standard_normal((n, m))
    target = data @ coef + check_real("noise", noise, 0) * rng.standard_normal(n)
    description = (
        "Sparse linear model of the size in Sugiyama's lecture notes "
        "(coefficients and noise are ours)."
    )
    return bunch(data, target, range(k), description, coef=coef)
