"""The three artificial sets of Song et al. (2007), section 6.1: two of 22 columns matter.

The paper gives the shapes (multimodal classes; four classes of which three lie on a line; the
regression formula), not the numbers: centres, spreads and the law of the first two regression
columns are open. What is chosen here is a parameter or said below, and reproduces what the paper
observes: no column of the XOR set tells anything alone, and with the labels taken as numbers the
multiclass columns correlate so weakly (about 0.2) that only a large sample shows it.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from featsieve.arrays import Array, FloatArray
from featsieve.datasets.sampling import Seed, bunch, generator
from featsieve.input.parameters import check_integer, check_real

N_NOISE = 20
XOR_CENTRES = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
XOR_LABELS = np.array([0, 0, 1, 1])
# Three classes on the diagonal; the fourth, off it, nearly cancels their linear trend.
LINE_CENTRES = np.array([[-2.0, -2.0], [0.0, 0.0], [2.0, 2.0], [-4.0, -1.6]])


def _around(
    rng: np.random.Generator, centres: FloatArray, spread: float, n: int
) -> tuple[FloatArray, Array]:
    """Rows around randomly chosen centres, followed by pure noise columns; and which centre."""
    chosen = rng.integers(len(centres), size=n)
    points = centres[chosen] + spread * rng.standard_normal((n, centres.shape[1]))
    return np.hstack([points, rng.standard_normal((n, N_NOISE))]), chosen


def make_binary_xor(
    n_samples: int = 400, *, spread: float = 0.4, random_state: Seed = None
) -> Bunch:
    """Two classes, each of two Gaussian clusters in opposite corners of the (±1, ±1) square.

    Parameters
    ----------
    n_samples
        Number of rows; the paper goes from 40 to 400.
    spread
        Standard deviation of a cluster.
    random_state
        Seed; the same seed gives the same rows.

    Returns
    -------
    Bunch
        ``data`` (n_samples × 22), ``target`` (0 or 1), ``relevant`` (the first two columns),
        ``cluster`` (0 … 3), ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> make_binary_xor(40, random_state=0).data.shape
    (40, 22)
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    data, cluster = _around(rng, XOR_CENTRES, check_real("spread", spread, 0), n)
    description = "Binary XOR: Song et al. (2007), section 6.1 (centres and spread are ours)."
    return bunch(data, XOR_LABELS[cluster], range(2), description, cluster=cluster)


def make_multiclass(
    n_samples: int = 400, *, spread: float = 0.5, random_state: Seed = None
) -> Bunch:
    """Four Gaussian classes in the plane, three of them on a line.

    Parameters
    ----------
    n_samples
        Number of rows; the paper goes from 40 to 400.
    spread
        Standard deviation of a class.
    random_state
        Seed; the same seed gives the same rows.

    Returns
    -------
    Bunch
        ``data`` (n_samples × 22), ``target`` (0 … 3; 0, 1, 2 are collinear), ``relevant``
        (the first two columns), ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> sorted(set(make_multiclass(100, random_state=0).target.tolist()))
    [0, 1, 2, 3]
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    data, target = _around(rng, LINE_CENTRES, check_real("spread", spread, 0), n)
    description = "Multiclass: Song et al. (2007), section 6.1 (centres and spread are ours)."
    return bunch(data, target, range(2), description)


def make_nonlinear_regression(
    n_samples: int = 400, *, noise: float = 0.1, random_state: Seed = None
) -> Bunch:
    """y = x1 exp(−x1² − x2²) + ε, all 22 columns standard normal.

    Parameters
    ----------
    n_samples
        Number of rows; the paper goes from 40 to 400.
    noise
        Standard deviation of ε; the paper leaves it open. The signal's own is 0.2.
    random_state
        Seed; the same seed gives the same rows.

    Returns
    -------
    Bunch
        ``data`` (n_samples × 22), ``target``, ``relevant`` (the first two columns), ``noise``
        (the ε that was added), ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> make_nonlinear_regression(40, random_state=0).relevant.tolist()
    [0, 1]
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    data = rng.standard_normal((n, 2 + N_NOISE))
    added = check_real("noise", noise, 0) * rng.standard_normal(n)
    target = data[:, 0] * np.exp(-(data[:, 0] ** 2) - data[:, 1] ** 2) + added
    description = (
        "Nonlinear regression: Song et al. (2007), section 6.1 (law of x and noise are ours)."
    )
    return bunch(data, target, range(2), description, noise=added)
