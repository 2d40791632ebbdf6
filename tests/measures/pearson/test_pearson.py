"""Pearson and Hall against the authors' figures, closed forms and a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine

from featsieve import PearsonRanking
from featsieve.errors import InputError
from featsieve.measures import pearson
from tests import reference
from tests.golden_data import golden, toy


@pytest.mark.parametrize("name", ["andor_t1", "quad_t1", "xor_t1"])
def test_order_and_values_are_the_authors(name):
    X, y = toy(name)
    expected = golden("pearson")[name]
    ranking = PearsonRanking(n_features_to_select=10).fit(X, y)
    assert (ranking.indices_ + 1).tolist() == expected["order1"]
    assert_allclose(ranking.scores_[ranking.indices_], expected["corr_sorted"], rtol=0, atol=1e-12)


def test_hall_values_on_wine_are_the_authors():
    wine = load_wine()
    assert_allclose(pearson(wine.data, wine.target), golden("pearson")["wine_hall"], atol=1e-12)


@given(
    st.integers(0, 2**31),
    st.integers(3, 25),
    st.integers(1, 5),
    st.sampled_from(["regression", "two", "three", "outputs"]),
    st.booleans(),
)
def test_equals_its_slow_twin(seed, n_rows, n_columns, kind, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n_rows, n_columns)) * 1.0
    y = {
        "regression": rng.normal(size=n_rows),
        "two": np.r_[0, 1, rng.integers(0, 2, n_rows - 2)],
        "three": np.r_[0, 1, 2, rng.integers(0, 3, n_rows - 3)],
        "outputs": rng.normal(size=(n_rows, 2)),
    }[kind]
    weight = rng.integers(1, 4, n_rows) * 1.0 if weighted else None
    task = "regression" if kind in {"regression", "outputs"} else "classification"
    fitted = PearsonRanking(n_features_to_select=1, task=task).fit(X, y, sample_weight=weight)
    expected = reference.pearson_scores(X, y, task, weight)
    assert_allclose(fitted.scores_, expected, rtol=0, atol=1e-12)


@given(st.integers(0, 2**31), st.booleans())
def test_categorical_columns_are_halls_twin(seed, classes):
    import pandas as pd

    rng = np.random.default_rng(seed)
    n = 30
    states = rng.choice(["a", "b", "c"], n)
    y = rng.choice(["u", "v", "w"], n) if classes else rng.normal(size=n)
    frame = pd.DataFrame({"number": rng.normal(size=n), "state": states})
    scores = PearsonRanking(n_features_to_select=1).fit(frame, y).scores_
    expected = reference.hall_categorical(states, y, "classification" if classes else "regression")
    assert_allclose(scores[1], expected, rtol=0, atol=1e-12)


def test_a_boolean_column_scores_as_a_state_column_would():
    rng = np.random.default_rng(3)
    flag = rng.random(50) < 0.3
    y = flag + rng.normal(size=50)
    as_number = pearson(flag[:, None], y)
    assert_allclose(as_number[0], reference.hall_categorical(flag, y, "regression"), atol=1e-12)


def test_constant_columns_score_zero_even_when_far_from_zero():
    rng = np.random.default_rng(0)
    X = np.c_[np.full(1000, 0.1), np.full(1000, 1e9 + 0.3), rng.normal(size=1000)]
    assert (pearson(X, rng.normal(size=1000))[:2] == 0).all()


def test_a_first_row_far_out_costs_no_digits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    X[:, 0] += y
    X[0, :2] = 1e9, -1e7
    expected = reference.pearson_scores(X, y, "regression")
    assert_allclose(np.abs(pearson(X, y)), expected, rtol=0, atol=1e-12)


def test_duplicates_tie_to_the_lowest_index():
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    X = np.c_[rng.normal(size=40), x, x * 3 + 1e5, x]
    ranking = PearsonRanking(n_features_to_select=2).fit(X, x + rng.normal(size=40))
    assert ranking.indices_.tolist() == [1, 2]
    assert ranking.ranking_.tolist() == [3, 1, 1, 2]


def test_two_rows_and_more_columns_than_rows():
    X = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0]])
    scores = PearsonRanking(n_features_to_select=1).fit(X, [0.5, 1.5]).scores_
    assert scores.tolist() == pytest.approx([1, 1, 0], abs=1e-15)


def test_rows_in_parts_give_the_same_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = np.digitize(X[:, 2] + 0.5 * rng.normal(size=90), [-0.5, 0.5])
    whole = PearsonRanking(n_features_to_select=2).fit(X, y)
    parts = PearsonRanking(n_features_to_select=2)
    for start in range(0, 90, 7):
        rows = slice(start, start + 7)
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(parts.scores_, whole.scores_, atol=1e-12)
    assert parts.indices_.tolist() == whole.indices_.tolist()


def test_a_new_class_in_later_parts_is_refused():
    X = np.random.default_rng(0).normal(size=(4, 2))
    ranking = PearsonRanking().partial_fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="class 7 that is not among the 2 known"):
        ranking.partial_fit(X, [0, 1, 0, 7])


def test_several_outputs_keep_each_and_report_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.c_[X[:, 0], X[:, 2] + rng.normal(size=60)]
    fitted = PearsonRanking().fit(X, Y)
    each = fitted.result_.extras["output_scores"]
    assert_allclose(each[0], pearson(X, Y[:, 0]))
    assert_allclose(each[1], pearson(X, Y[:, 1]))
    assert_allclose(fitted.scores_, each.mean(axis=0))


def test_a_group_scores_what_its_best_column_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 3] + 0.2 * rng.normal(size=60)
    fitted = PearsonRanking(n_features_to_select=1, feature_groups={"pair": [0, 3]}).fit(X, y)
    single = pearson(X, y)
    assert fitted.support_.tolist() == [True, False, False, True]
    assert_allclose(fitted.scores_, [single[3], single[1], single[2], single[3]])


def test_correlations_keep_their_sign_and_scores_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] - 2 * X[:, 1]
    expected = [np.corrcoef(x, y)[0, 1] for x in X.T]
    np.testing.assert_allclose(pearson(X, y), expected, atol=1e-12)
    selector = PearsonRanking(n_features_to_select=1).fit(X, y)
    np.testing.assert_allclose(selector.scores_, np.abs(expected), atol=1e-12)
    np.testing.assert_allclose(selector.result_.extras["correlations"], expected, atol=1e-12)


def test_labels_can_be_taken_as_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    expected = [np.corrcoef(x, y)[0, 1] for x in X.T]
    np.testing.assert_allclose(pearson(X, y, task="regression"), expected, atol=1e-12)
    assert (pearson(X, y) >= 0).all()  # Hall's mean has no sign


@pytest.mark.parametrize("groups", [None, {"a": [0, 4], "b": [1], "c": [2, 3]}])
def test_some_rows_of_pairs_are_those_of_the_matrix(groups):
    """Nyström's approximation asks for few rows, and no matrix of all pairs is made for them."""
    import pandas as pd

    from featsieve.input.boundary import Settings, open_engine
    from featsieve.measures import Pearson

    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    table["c"] = pd.Categorical(rng.integers(0, 3, 60))
    table["e"] = pd.Categorical(rng.integers(0, 2, 60))
    engine = open_engine(table, table["a"] + table["b"], Settings(feature_groups=groups))
    bound = Pearson().bind(engine)
    matrix = bound.pair_matrix()
    units = [2, 0]
    terms = Pearson().bind(engine).relevance_and_pairs()
    np.testing.assert_allclose(terms.pair_rows(units), matrix[units], rtol=0, atol=1e-14)
    np.testing.assert_allclose(terms.pair_row(1), matrix[1], rtol=0, atol=1e-14)


def test_nystrom_asks_for_no_matrix_of_all_pairs():
    from featsieve import QPFS

    X = np.random.default_rng(0).normal(size=(50, 400))
    y = X[:, 3] + X[:, 7]
    full = 4 * 8 * 400**2  # what the matrix of all pairs would need
    selector = QPFS(n_features_to_select=2, n_columns=5, random_state=0)
    few = selector.set_params(memory_limit=full // 4).fit(X, y)
    assert sorted(few.indices_.tolist()) == [3, 7]


@pytest.mark.parametrize(("first", "second"), [(1e200, 1.0), (1e200, 1e200), (1e-200, 1e-180)])
def test_parts_are_added_in_the_units_of_the_first(first, second):
    X, y = parts_and_target()
    X = np.concatenate([X[:20] * first, X[20:] * second])
    ranking = PearsonRanking().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(ranking.scores_, PearsonRanking().fit(X, y).scores_, rtol=1e-12)


def test_parts_too_large_for_the_units_of_the_first_are_refused():
    X, y = parts_and_target()
    ranking = PearsonRanking().partial_fit(X[:20], y[:20])
    with pytest.raises(InputError, match="column 'x0' and those of the first rows are too far apa"):
        ranking.partial_fit(X[20:] * 1e200, y[20:])
    with pytest.raises(InputError, match="of the target and those of the first rows are too far"):
        ranking.partial_fit(X[20:], y[20:] * 1e170)


def parts_and_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, X[:, 0] + rng.normal(size=40)
