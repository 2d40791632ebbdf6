"""Sparse matrices that are damaged, too wide for their names, or of another machine."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import BAHSIC, MRMR, PearsonRanking
from featsieve.errors import InputError, MemoryBudgetError

RNG = np.random.default_rng(0)
X = np.where(np.abs(RNG.normal(size=(40, 4))) > 0.5, RNG.normal(size=(40, 4)), 0.0)
Y = X[:, 2] + 0.2 * RNG.normal(size=40)


def longer_list_of_places(matrix):
    matrix.rows[3].append(2)


def place_beyond_the_columns(matrix):
    matrix.rows[np.flatnonzero([len(row) for row in matrix.rows])[0]][0] = 9


def fewer_starts(matrix):
    matrix.indptr = matrix.indptr[:-5]


def last_start_beyond_the_cells(matrix):
    matrix.indptr[-1] = 10**6


@pytest.mark.parametrize(
    ("make", "damage"),
    [
        (sp.lil_array, longer_list_of_places),
        (sp.lil_array, place_beyond_the_columns),
        (sp.csr_array, fewer_starts),
        (sp.csc_array, fewer_starts),
        (sp.bsr_array, fewer_starts),
        (sp.bsr_array, last_start_beyond_the_cells),
    ],
)
def test_damage_that_scipy_does_not_look_for(make, damage):
    matrix = make(X)
    damage(matrix)
    with pytest.raises(InputError, match="the sparse matrix X is damaged"):
        PearsonRanking().fit(matrix, Y)


def test_blocks_are_sound():
    expected = PearsonRanking().fit(X, Y).scores_
    for blocksize in ((1, 1), (5, 2), (8, 4)):
        blocks = sp.bsr_array(X, blocksize=blocksize)
        assert PearsonRanking().fit(blocks, Y).scores_ == pytest.approx(expected)


@pytest.mark.parametrize("method", [PearsonRanking, BAHSIC, MRMR])
def test_cells_in_the_byte_order_of_another_machine(method):
    swapped = sp.csr_array(X)
    swapped.data = swapped.data.astype(swapped.data.dtype.newbyteorder())
    expected = method().fit(sp.csr_array(X), Y)
    found = method().fit(swapped, Y)
    assert found.scores_.tolist() == expected.scores_.tolist()
    assert not swapped.data.dtype.isnative  # as it was given


def test_names_of_columns_count_as_memory():
    with pytest.raises(MemoryBudgetError, match="1000000000 columns, whose names alone need 139"):
        PearsonRanking().fit(sp.csr_array((40, 10**9)), Y)
    wide = sp.csr_array((40, 10**5))
    assert PearsonRanking(n_features_to_select=2, memory_limit=1).fit(wide, Y).indices_.size == 2
