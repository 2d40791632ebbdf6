"""The row bound with an adjustable split of each pair between its two rows.

Each index takes its best partners, and the best rows are summed. The halves Q_ij = Q_ji of a pair
may be shared out unequally without changing any answer's value; rounds of subgradient steps move
the shares to where both ends agree on whether the pair is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featsieve.schema import Array, FloatArray


@dataclass(frozen=True)
class Rounds:
    """What some rounds of tightening came to, over the free indices."""

    is_done: bool  # no answer here is better than the one known
    bound: float
    worth: FloatArray
    is_top: Array
    better: Array  # the best answer met if it beats the one known, else empty
    decided: Array | None  # 1: must be in, 0: must be out, −1: open


def tighten(
    shares: FloatArray,
    pairs: FloatArray,
    linear: FloatArray,
    left: int,
    *,
    rounds: int,
    value: float,
    margin: float,
) -> Rounds:
    """Up to ``rounds`` rounds for choosing ``left`` indices; ``shares`` is changed in place.

    ``pairs`` is the symmetric matrix, ``linear`` what each index adds on its own, ``value`` the
    best known; an answer has to beat it by more than ``margin``.
    """
    from featsieve.kernels.branching import DECIDED, DONE, tighten_rows

    size = len(linear)
    lines = np.empty((size + 1, size))
    lines[:size] = shares
    np.fill_diagonal(lines[:size], -np.inf)
    flags = np.zeros((size + 1, size), dtype=np.int8)
    better = np.zeros(size, dtype=np.int8)
    state, bound, spare = tighten_rows(
        lines, pairs, linear, left, rounds, value, margin, np.empty(size), flags, better
    )
    shares[:] = lines[:size]
    worth, is_top = lines[size], flags[size] == 1
    fixed = _decided(worth, is_top, spare) if state == DECIDED else None
    return Rounds(state == DONE, bound, worth, is_top, np.flatnonzero(better), fixed)


def _decided(worth: FloatArray, is_top: Array, spare: float) -> Array:
    """1 or 0 for each index whose move to the other side costs ``spare`` or more, else −1."""
    cost = np.where(is_top, worth - worth[~is_top].max(), worth[is_top].min() - worth)
    return np.where(cost >= spare, is_top, -1).astype(np.int8)
