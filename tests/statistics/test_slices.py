"""Indicators are made of a few rows at a time: the same answer, in little memory and time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from featsieve import (
    FOCI,
    LDFS,
    QPFS,
    FisherScore,
    KnockoffSelector,
    LassoSelector,
    LSMIRanking,
    PearsonRanking,
)
from featsieve.errors import MemoryBudgetError
from featsieve.measures.lsmi import sampled
from featsieve.statistics import slices

RNG = np.random.default_rng(0)
N = 90
STATES = RNG.integers(0, 4, size=(N, 3))
TABLE = pd.DataFrame({f"c{j}": pd.Categorical(STATES[:, j]) for j in range(3)})
TABLE["x"] = RNG.normal(size=N)
CLASSES = (STATES[:, 0] + RNG.integers(0, 2, N)) % 3
WEIGHT = RNG.random(N)


def fitted(method, **params):
    return lambda **given: method(**params).fit(TABLE, CLASSES, **given).scores_


FITS = {
    "pearson": (fitted(PearsonRanking), {}),
    "weighted pearson": (fitted(PearsonRanking), {"sample_weight": WEIGHT}),
    "pairs": (fitted(QPFS, alpha=0.5), {}),
    "fisher": (fitted(FisherScore), {"sample_weight": WEIGHT}),
    "lasso": (fitted(LassoSelector), {}),
    "covariance": (fitted(LDFS), {}),
    "knockoffs": (fitted(KnockoffSelector, measure=PearsonRanking(), random_state=0), {}),
    "lsmi": (fitted(LSMIRanking, random_state=0), {}),
}


@pytest.mark.filterwarnings("ignore:Nothing passes", "ignore:.*too few for the correlations")
@pytest.mark.parametrize("name", FITS)
def test_slices_give_the_same_answer(name, monkeypatch):
    fit, given = FITS[name]
    expected = fit(**given)
    monkeypatch.setattr(slices, "NUMBERS_AT_ONCE", 13 * 7)  # seven rows
    monkeypatch.setattr(sampled, "_CHUNK_NUMBERS", 13 * 7)
    assert fit(**given) == pytest.approx(expected, rel=1e-9, abs=1e-12)


class Rows:
    """A summary that remembers which rows it has seen."""

    def __init__(self, rows):
        self.rows = rows

    def merge(self, other):
        return Rows(self.rows + other.rows)


def test_each_row_is_in_one_slice_and_the_clock_is_looked_at():
    looks = []
    block = slices.Block(10, STATES * 1.0, CLASSES[:, None], WEIGHT)

    def seen(part):
        assert len(part.X) == len(part.y) == len(part.weight) <= 4
        return Rows(list(range(part.start, part.start + part.n_rows)))

    n_numbers = slices.NUMBERS_AT_ONCE // 4
    found = slices.summed_in_slices(seen, n_numbers, lambda: looks.append(1), block)
    assert found.rows == list(range(10, 10 + N))
    assert len(looks) == -(-N // 4)


def many_states(n_rows):
    states = RNG.integers(0, 900, size=(n_rows, 4))
    return pd.DataFrame({f"c{j}": pd.Categorical(states[:, j]) for j in range(4)})


def test_many_states_of_many_rows_take_little_memory():
    X, y = many_states(20_000), RNG.normal(size=20_000)
    PearsonRanking().fit(X[:50], y[:50])
    tracemalloc.start()
    PearsonRanking().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150 << 20  # all indicators would be 550 MiB


@pytest.mark.parametrize("selector", [FOCI(memory_limit="20MB"), LDFS(memory_limit="20MB")])
def test_indicators_of_all_rows_count_as_memory(selector):
    X = many_states(1_500)
    with pytest.raises(MemoryBudgetError, match=r"a table of 1500 × \d+"):
        selector.fit(X, np.arange(1_500) % 2)


def test_pairs_of_indicators_count_as_memory():
    with pytest.raises(MemoryBudgetError, match=r"pairs of \d+ indicators needs"):
        QPFS(memory_limit="50MB").fit(many_states(1_500), np.arange(1_500) % 7 / 3)
