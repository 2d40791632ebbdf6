"""The look at all cells, by itself and by the moments that a pass sums anyway."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.engines.cells import scan_cells, screened
from featsieve.schema import Block
from featsieve.statistics.moments import column_moments

UNITS = [0.0, 1e-320, 1e-250, 1e-61, 1e-60, 1e-5, 1.0, 1e7, 1e60, 1e61, 1e250, 1e308]
BAD = [np.nan, np.inf, -np.inf]


def moments_of(block):
    return column_moments(block.X, block.weight)


def blocks():
    """Tables whose columns have any unit, with some bad or zero cells."""
    cell = st.tuples(st.floats(-1, 1), st.sampled_from(UNITS)).map(lambda pair: pair[0] * pair[1])
    column = st.tuples(
        st.sampled_from(UNITS), st.lists(st.floats(-1, 1), min_size=6, max_size=6)
    ).map(lambda pair: [pair[0] * value for value in pair[1]])
    mixed = st.lists(st.one_of(cell, st.sampled_from(BAD)), min_size=6, max_size=6)
    return st.lists(st.one_of(column, mixed), min_size=1, max_size=4).map(
        lambda columns: np.array(columns).T
    )


@pytest.mark.parametrize("container", [np.ascontiguousarray, np.asfortranarray, sp.csr_array])
@given(X=blocks())
@settings(max_examples=150, deadline=None)
def test_moments_tell_what_a_look_at_the_cells_tells(container, X):
    block = Block(0, container(X), np.zeros((6, 1)))
    look = scan_cells(block)
    result = screened(moments_of, lambda summary: summary, block)
    assert result.cells.n_bad.tolist() == look.n_bad.tolist()
    assert result.cells.extreme.tolist() == look.extreme.tolist()
    assert result.cells.are_usual == (np.isfinite(X).all() and not look.extreme.any())


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_bad_cell_in_a_row_of_weight_zero_is_seen(container):
    X = np.array([[1.0, 2.0], [np.nan, 1.0], [2.0, 3.0]])
    block = Block(0, container(X), np.zeros((3, 1)), np.array([1.0, 0.0, 1.0]))
    cells = screened(moments_of, lambda summary: summary, block).cells
    assert cells.n_bad.tolist() == [1, 0]


def test_stored_zeros_do_not_hide_a_tiny_unit():
    """A column that is 0 here and 1e-250 elsewhere is extreme, however the 0 is stored."""
    zeros = sp.csr_array((np.zeros(2), ([0, 1], [0, 0])), shape=(2, 1))
    tiny = sp.csr_array(np.full((2, 1), 1e-250))
    parts = [scan_cells(Block(0, X, np.zeros((2, 1)))) for X in (zeros, tiny)]
    assert parts[0].merge(parts[1]).extreme.tolist() == [True]
