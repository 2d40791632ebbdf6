"""Unusual input of the information family: outputs, infinities, parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from featsieve import CIFE, CMIM, ICAP, MIFS, MRMR, GlobalCMI, MaxRel
from featsieve.discretize import CAIM
from featsieve.discretize.codes import code_cuts
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import cmi_matrix, entropy


@pytest.fixture
def two_outputs():
    X = np.random.default_rng(0).normal(size=(60, 5))
    return X, np.c_[X[:, 0] + X[:, 1] > 0, X[:, 2] > 0].astype(int)


def test_the_order_of_outputs_does_not_matter_to_caim(two_outputs):
    X, y = two_outputs
    found = [GlobalCMI(n_features_to_select=2).fit(X, outputs) for outputs in (y, y[:, ::-1])]
    assert found[0].indices_.tolist() == found[1].indices_.tolist()
    assert found[0].objective_ == pytest.approx(found[1].objective_, rel=1e-12)


def test_caim_cuts_by_the_joint_class_of_all_outputs(two_outputs):
    X, y = two_outputs
    joint = GlobalCMI(n_features_to_select=2).fit(X, y)
    codes = CAIM().fit_transform(X, 2 * y[:, 0] + y[:, 1])
    coded = GlobalCMI(n_features_to_select=2, discretizer=None).fit(codes, y)
    assert joint.objective_ == pytest.approx(coded.objective_, rel=1e-12)


def test_caim_refuses_outputs_with_too_many_joint_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=(400, 5))
    with pytest.raises(InputError, match=r"the 5 outputs have \d+ combinations .* at most 254"):
        GlobalCMI(n_features_to_select=2).fit(X, y)
    assert len(GlobalCMI(n_features_to_select=2, discretizer="quantile").fit(X, y).indices_) == 2


@pytest.mark.parametrize("beta", [np.nan, np.inf, -1.0, "abc", None, True])
def test_mifs_refuses_a_weight_that_is_no_finite_number(beta, two_outputs):
    X, y = two_outputs
    with pytest.raises(InputError, match=r"beta=.*is not allowed; give a finite number >= 0"):
        MIFS(n_features_to_select=3, beta=beta).fit(X, y)


@pytest.fixture
def one_target():
    X = np.random.default_rng(0).normal(size=(400, 5))
    return X, (X[:, 0] + X[:, 1] > 0) * 1


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_neighbours_refuse_infinite_cells(task, infinity, one_target):
    X, y = one_target
    X[0, 4] = infinity
    with pytest.raises(InputError, match=r"'x4' has 1 infinite cells, .* needs distances"):
        MaxRel(estimator="ksg", task=task, n_features_to_select=1).fit(X, y)


def test_neighbours_give_an_empty_column_no_information(one_target):
    X, y = one_target
    X[:, 4] = np.nan
    found = MaxRel(estimator="ksg", n_features_to_select=1).fit(X, y)  # warnings are errors
    assert found.scores_[4] == 0.0
    assert found.indices_.tolist() != [4]


def test_neighbours_refuse_a_correction_of_bins(one_target):
    with pytest.raises(InputError, match="correction='shrink' is not possible"):
        MaxRel(estimator="ksg", correction="shrink", n_features_to_select=1).fit(*one_target)


@pytest.mark.parametrize("n_neighbors", ["a", 2.5, 0, True, None])
def test_the_number_of_neighbours_is_whole(n_neighbors, one_target):
    selector = MaxRel(estimator="ksg", n_neighbors=n_neighbors, n_features_to_select=1)
    with pytest.raises(InputError, match=r"n_neighbors=.* give an integer >= 1"):
        selector.fit(*one_target)


@pytest.mark.parametrize(
    ("states", "counts"),
    [
        (np.array(["", None], dtype=object), [1, 1]),
        (["a", None, np.nan], [1, 2]),
        (["a", "nan", np.nan], [1, 1, 1]),
        (np.array([np.nan, "nan"], dtype=object), [1, 1]),
        ([1, "1"], [1, 1]),
        (np.array([1, "1", 1.0], dtype=object), [2, 1]),
        ([1.0, np.nan, np.nan], [1, 2]),
        (pd.Series(["a", None, "b"]), [1, 1, 1]),
        (pd.Series([1, None, 1], dtype="Int64"), [2, 1]),
        (np.array(["a", "b", "a"]), [2, 1]),
    ],
)
def test_states_are_told_apart_by_value_and_missing_ones_are_one(states, counts):
    share = np.array(counts) / sum(counts)
    assert entropy(states) == pytest.approx(-(share * np.log(share)).sum(), abs=1e-12)


@pytest.mark.parametrize("dtype", [object, float])
def test_continuous_numbers_are_no_states(dtype):
    with pytest.raises(InputError, match="x holds continuous numbers"):
        entropy(np.array([0.5, 1.5], dtype=dtype))


def test_what_cannot_be_compared_is_no_state():
    values = np.empty(2, dtype=object)
    values[:] = [{}, {1: 2}]
    with pytest.raises(InputError, match="x holds values that cannot be compared"):
        entropy(values)


def test_booleans_are_codes_whatever_values_occur():
    codes = np.array([[True, True], [False, True], [True, True]])
    y = [0, 1, 1]
    assert_allclose(cmi_matrix(codes, y), cmi_matrix(codes.astype(int), y), atol=0)


@pytest.mark.parametrize("selector", [CMIM, MIFS, CIFE, ICAP])
def test_ties_at_zero_go_to_the_lowest_index(selector):
    """Given a copy of the target nothing is left to gain: all scores are rounding."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 80)
    X = np.c_[y, rng.integers(0, 3, (80, 3))]
    found = selector(n_features_to_select=2, discretizer=None).fit(X, y)
    assert found.indices_.tolist() == [0, 1]


def test_codes_may_be_far_apart(one_target):
    X, y = one_target
    codes = (X > 0).astype(int)
    near, far = (
        MRMR(n_features_to_select=3, discretizer=None).fit(table, y)
        for table in (codes, 1000 * codes - 7)
    )
    assert far.indices_.tolist() == near.indices_.tolist()
    assert_allclose(far.result_.trace, near.result_.trace, rtol=1e-12)


def test_codes_far_apart_are_found_in_all_blocks(one_target):
    X, y = one_target
    codes = np.where(X > 1, 5000, np.where(X > 0, 1000, 0))
    cuts = [
        code_cuts(open_engine(codes, y, Settings(rows_per_block=rows))).columns for rows in (7, 400)
    ]
    assert_array_equal(cuts[0], cuts[1])
    assert_array_equal(cuts[0][0], [500.0, 3000.0])


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (np.arange(400) * 10, "column 'x0' has more than 254 states, at most 254"),
        (np.where(np.arange(400) % 2, np.inf, 0), "'x0' is not made of codes: 200 of its cells"),
        (np.arange(400) / 2, "'x0' is not made of codes: 200 of its cells are not integers"),
    ],
)
def test_what_are_no_codes(column, sentence, one_target):
    _, y = one_target
    with pytest.raises(InputError, match=sentence):
        MRMR(n_features_to_select=1, discretizer=None).fit(np.c_[column, y], y)


def test_the_message_names_the_discretizer_of_the_target(one_target):
    X, _ = one_target
    with pytest.raises(InputError, match="target_discretizer='bad' is not allowed"):
        MRMR(n_features_to_select=1, target_discretizer="bad").fit(X, X[:, 0])


@pytest.mark.parametrize("count", [-1, 2.5, "a", True])
def test_the_number_of_permutations_is_whole(count, one_target):
    with pytest.raises(InputError, match=r"n_permutations=.* give an integer >= 0"):
        MaxRel(n_features_to_select=1, n_permutations=count).fit(*one_target)


def test_masked_states_are_one_state():
    codes, mask = np.arange(6), np.arange(6) < 3
    expected = entropy([None, None, None, 3, 4, 5])
    assert entropy(np.ma.array(codes, mask=mask)) == pytest.approx(expected)


def test_states_of_several_lengths_and_sparse_ones_are_refused():
    with pytest.raises(InputError, match="differ in length"):
        entropy([[1], [1, 2]])
    with pytest.raises(InputError, match=r"give X.toarray\(\)"):
        cmi_matrix(csr_array(np.eye(3, dtype=int)), [0, 1, 1])
