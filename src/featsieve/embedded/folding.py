"""Which fold a row is in, as a function of its index alone."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.schema import IntArray


@dataclass(frozen=True)
class Folding:
    """``n_folds`` folds by (seed, row index), or as ``assigned`` (−1: in no fold)."""

    n_folds: int
    seed: int = 0
    assigned: IntArray | None = None

    def of(self, rows: IntArray) -> IntArray:
        if self.assigned is not None:
            return self.assigned[rows]
        return (
            turned_folds(rows, self.n_folds, self.seed) if self.n_folds else np.full_like(rows, -1)
        )


def turned_folds(rows: IntArray, n_folds: int, seed: int) -> IntArray:
    """Every ``n_folds`` consecutive rows are in different folds, each time turned by chance."""
    turn = (rows // n_folds).astype(np.uint64) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    # The finaliser of splitmix64: neighbours are turned by unrelated amounts.
    turn = (turn ^ (turn >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    turn = (turn ^ (turn >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    turn = (turn ^ (turn >> np.uint64(31))) % np.uint64(n_folds)
    return (rows + turn.astype(np.intp)) % n_folds


def resolve_folding(cv: Any, seed: int, n_rows: int) -> Folding:
    """A number of folds, 0 for none, or a list of (training rows, test rows)."""
    if isinstance(cv, numbers.Integral) and (int(cv) >= 2 or cv == 0):
        return Folding(min(int(cv), n_rows), seed)
    if isinstance(cv, (list, tuple)) and cv:
        return Folding(len(cv), assigned=_assigned(cv, n_rows))
    raise InputError(
        f"cv={cv!r} is not possible; give a number of folds from 2, 0 for none, or a list of "
        "(training rows, test rows)."
    )


def _assigned(splits: Any, n_rows: int) -> IntArray:
    """Folds add up only if each row is tested once at most, and trained on in all other folds."""
    fold = np.full(n_rows, -1, dtype=np.intp)
    for number, (trained, tested) in enumerate(splits):
        overlap = (fold[tested] >= 0).any()
        fold[tested] = number
        if overlap or len(np.unique(trained)) + len(np.unique(tested)) != n_rows:
            raise InputError(
                "cv holds splits that overlap or leave out rows; give test sets without common "
                "rows, and all other rows for training."
            )
    return fold
