"""Blocks as bit planes against the codes of the same rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from featsieve.discretize.base import Cuts
from featsieve.measures.information.coding import MOST_CUTS, Packer
from featsieve.measures.information.counts import CodedRows, Layout
from featsieve.measures.information.pair_sums import PackedPairs, PlaneSplit

CUTS = Cuts(tuple(np.array(c, dtype=float) for c in ([-0.5, 0.1, 0.5], [], [0.0], np.arange(16))))


def numbers(n_rows, dtype=np.float64, order="C", missing=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = np.asarray(3 * rng.normal(size=(n_rows, 4)), dtype=dtype, order=order)
    X[rng.random(X.shape) < missing] = np.nan
    X[:3, 0] = -np.inf, np.inf, 0.5
    return X


def both(X, n_classes, seed=1):
    y = np.random.default_rng(seed).integers(0, n_classes, len(X))
    coded = CodedRows(CUTS.encode(X), y[:, None])
    return Packer(CUTS, n_classes).pack(X, y), coded


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_rows", "n_classes"), [(3, 1), (64, 2), (65, 2), (1500, 5), (5000, 40)])
def test_planes_are_the_codes(n_rows, n_classes, dtype, order, missing):
    packed, coded = both(numbers(n_rows, dtype, order, missing), n_classes)
    assert_array_equal(packed.rows().codes, coded.codes)
    assert_array_equal(packed.rows().classes, coded.classes)
    layout = Layout(CUTS.n_states, n_classes)
    expected = coded.count([layout])
    assert_array_equal(packed.count([layout]).outputs[0].table, expected.outputs[0].table)
    for counts in (expected.outputs[0], expected.outputs[0].trimmed()):
        for column in range(4):
            wanted = coded.count_with(counts.layout, 0, column)
            assert_array_equal(packed.count_with(counts.layout, 0, column).table, wanted.table)


def test_a_single_number_falls_on_the_same_side_of_a_cut_in_double_precision():
    single = np.float32(0.1)
    cuts = Cuts((np.array([np.nextafter(float(single), 1), 1e39]), np.array([0.1, float(single)])))
    X = np.repeat(
        np.array([[np.nextafter(single, s)] for s in np.float32([-1, 0.1, 1])] + [[np.inf]]), 2, 1
    ).astype(np.float32)
    wanted = [np.searchsorted(c, X[:, j].astype(float)) for j, c in enumerate(cuts.columns)]
    assert_array_equal(cuts.encode(X), np.array(wanted).T)
    packed = Packer(cuts, 1).pack(X, np.zeros(4, dtype=int))
    assert_array_equal(packed.rows().codes, np.array(wanted).T)


@pytest.mark.parametrize("missing", [(0.0,), (0.1,), (0.0, 0.0), (0.1, 0.1), (0.0, 0.1)])
def test_blocks_together_do_not_depend_on_where_they_are_cut(missing):
    blocks = [both(numbers(700 + 100 * i, missing=m, seed=i), 3, i) for i, m in enumerate(missing)]
    whole = CodedRows.together([coded for _, coded in blocks])
    counts = whole.count([Layout(CUTS.n_states, 3)]).outputs[0].trimmed()
    split = PlaneSplit(counts.layout, np.array([0, 2, 3]), np.array([1]))
    expected = PackedPairs.of_rows(counts, split, lambda: [whole])
    pairs = PackedPairs.of_rows(counts, split, lambda: [packed for packed, _ in blocks])
    n_planes = split.starts[-1]
    assert_array_equal(pairs.planes.words[:, :n_planes], expected.planes.words[:, :n_planes])
    assert_array_equal(pairs.columns, expected.columns)


def test_few_rows_of_many_classes_stay_codes():
    packer = Packer(CUTS, 200)
    assert packer.pack(numbers(200), np.arange(200)) is None
    assert packer.pack(numbers(200), np.zeros(200, dtype=int)) is not None


def test_many_states_stay_codes():
    assert Packer(CUTS, 2).fits
    assert not Packer(Cuts((np.arange(MOST_CUTS + 1.0),)), 2).fits
