"""The three toy sets of Jitkrittum et al. (2013), section 6.2, in the paper's column order."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from featsieve.datasets.sampling import Seed, bunch, coin_flips, generator
from featsieve.input.parameters import check_integer


def make_and_or(n_samples: int = 400, *, random_state: Seed = None) -> Bunch:
    """Y = (X1 ∧ X2) ∨ (X3 ∧ X4), with three noisy copies of Y: redundancy and weak interaction.

    X1 … X7 are fair coins; X8 … X10 are Y, each bit flipped with probability 0.2.

    Parameters
    ----------
    n_samples
        Number of rows.
    random_state
        Seed; the same seed gives the same rows.

    Returns
    -------
    Bunch
        ``data`` (n_samples × 10, zeros and ones), ``target`` (0 or 1), ``relevant``
        (0-based indices of the true columns), ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> toy = make_and_or(5, random_state=0)
    >>> toy.data.shape, toy.relevant.tolist()
    ((5, 10), [0, 1, 2, 3])
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    coins = coin_flips(rng, 0.5, (n, 7))
    target = (coins[:, 0] & coins[:, 1]) | (coins[:, 2] & coins[:, 3])
    copies = target[:, None] ^ coin_flips(rng, 0.2, (n, 3))
    data = np.hstack([coins, copies]).astype(np.float64)
    return bunch(
        data, target.astype(np.intp), range(4), "and-or: Jitkrittum et al. (2013), section 6.2."
    )


def make_quad(n_samples: int = 400, *, random_state: Seed = None) -> Bunch:
    """Y = (X1² + X2) / (0.5 + (X2 + 1.5)²) + 0.1 ε: a non-linear dependency.

    X1 … X8 and ε are standard normal; X9 = X1/2 + U(−1, 1), X10 = X2/2 + U(−1, 1).

    Parameters
    ----------
    n_samples
        Number of rows.
    random_state
        Seed; the same seed gives the same rows.

    Returns
    -------
    Bunch
        ``data`` (n_samples × 10), ``target``, ``relevant`` (the first two columns),
        ``noise`` (the 0.1 ε that was added), ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> make_quad(5, random_state=0).relevant.tolist()
    [0, 1]
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    normal = rng.standard_normal((n, 8))
    copies = 0.5 * normal[:, :2] + rng.uniform(-1, 1, (n, 2))
    noise = 0.1 * rng.standard_normal(n)
    x1, x2 = normal[:, 0], normal[:, 1]
    target = (x1**2 + x2) / (0.5 + (x2 + 1.5) ** 2) + noise
    data = np.hstack([normal, copies])
    return bunch(
        data, target, range(2), "quad: Jitkrittum et al. (2013), section 6.2.", noise=noise
    )


def make_xor(n_samples: int = 400, *, random_state: Seed = None) -> Bunch:
    """Y = X1 xor X2: pure interaction, no column tells anything alone.

    X1 … X5 are fair coins, X6 … X10 show 1 with probability 0.75.

    Parameters
    ----------
    n_samples
        Number of rows.
    random_state
        Seed; the same seed gives the same rows.

    Returns
    -------
    Bunch
        ``data`` (n_samples × 10, zeros and ones), ``target`` (0 or 1), ``relevant``
        (the first two columns), ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> toy = make_xor(4, random_state=0)
    >>> bool(((toy.data[:, 0] != toy.data[:, 1]) == toy.target).all())
    True
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    coins = np.hstack([coin_flips(rng, 0.5, (n, 5)), coin_flips(rng, 0.75, (n, 5))])
    target = coins[:, 0] ^ coins[:, 1]
    data = coins.astype(np.float64)
    return bunch(
        data, target.astype(np.intp), range(2), "xor: Jitkrittum et al. (2013), section 6.2."
    )
