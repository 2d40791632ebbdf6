"""The maximum of MLMI's likelihood in several pieces: the same point, and looks at the clock."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve.measures.lsmi import mlmi
from featsieve.runtime.progress import TimeUp

RNG = np.random.default_rng(0)
A = RNG.random((300, 12)) ** 8
ROWS = np.ones(len(A), dtype=bool)
B = A.mean(axis=0)


def test_pieces_reach_the_same_point(monkeypatch):
    expected = mlmi.Components(A).maximum(ROWS, B, 1e-10)
    looks = []
    monkeypatch.setattr(mlmi, "_NUMBERS_PER_LOOK", 1)  # one Newton step at a time
    components = mlmi.Components(A, lambda: looks.append(1))
    assert components.maximum(ROWS, B, 1e-10).tolist() == expected.tolist()
    assert len(looks) > mlmi._EM_STEPS


def test_the_time_limit_ends_a_maximum():
    def look():
        raise TimeUp

    with pytest.raises(TimeUp):
        mlmi.Components(A, look).maximum(ROWS, B, 1e-10)
