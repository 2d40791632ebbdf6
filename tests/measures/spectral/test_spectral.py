"""Fisher, Laplacian and SPEC against slow twins, identities, and themselves on every engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.feature_selection import f_classif
from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import SPEC, FisherScore, LaplacianScore, open_parquet
from featsieve.errors import InputError
from tests import reference

ESTIMATORS = [
    FisherScore(),
    LaplacianScore(),
    LaplacianScore(graph="knn"),
    SPEC(),
    SPEC(graph="knn", ranking_function="phi1", power=2),
    SPEC(graph="knn", ranking_function="phi3"),
]
FUNCTIONS = ["phi1", "phi2", "phi3"]
LARGEST = 2.0**52  # of Fisher's score: one over the rounding unit


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def random_table(seed, n_rows=30, n_columns=3, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    return rng.normal(size=(n_rows, n_columns)) + 0.7 * y[:, None] * [1, 0, -0.5], y


def scores(selector, X, y, **fit_params):
    return selector.set_params(n_features_to_select=1).fit(X, y, **fit_params).scores_


def squares_of(Z):
    return ((Z[:, None] - Z[None]) ** 2).sum(axis=2)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


# --- Fisher ---------------------------------------------------------------------------------------


@given(st.integers(0, 2**31), st.integers(5, 40), st.integers(2, 4), st.booleans())
def test_fisher_equals_its_slow_twin(seed, n_rows, n_classes, weighted):
    X, y = random_table(seed, n_rows, n_classes=n_classes)
    weight = np.random.default_rng(seed).integers(0, 4, n_rows) + 0.5 * (y == 0)
    weight = weight + 0.1 if weighted else None
    expected = [reference.fisher_score(x, y, weight) for x in X.T]
    assert_allclose(scores(FisherScore(), X, y, sample_weight=weight), expected, rtol=1e-10)


def test_fisher_is_the_f_statistic_without_degrees_of_freedom():
    X, y = random_table(0, 50)
    expected = f_classif(X, y)[0] * (3 - 1) / (50 - 3)
    assert_allclose(scores(FisherScore(), X, y), expected, rtol=1e-12)


def test_weights_count_rows():
    X, y = random_table(1)
    weight = np.random.default_rng(0).integers(0, 3, 30)
    repeated = np.repeat(np.arange(30), weight)
    found = scores(FisherScore(), X, y, sample_weight=weight)
    assert_allclose(found, scores(FisherScore(), X[repeated], y[repeated]), rtol=1e-12)


def test_rows_in_parts_give_the_same_answer():
    X, y = random_table(2, 90)
    at_once = FisherScore(n_features_to_select=2).fit(X, y)
    parts = FisherScore(n_features_to_select=2)
    for start in range(0, 90, 7):
        rows = slice(start, start + 7)
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(parts.scores_, at_once.scores_, rtol=1e-12)
    assert parts.indices_.tolist() == at_once.indices_.tolist()


def test_separated_and_constant_columns():
    X, y = random_table(3)
    X[:, 0], X[:, 1] = 1e9 + 0.1 * y, 0.1
    found = scores(FisherScore(), X, y)
    assert found[0] == LARGEST
    assert found[1] == 0.0
    assert scores(LaplacianScore(), X, y)[:2].tolist() == [0.0, -1.0]


@pytest.mark.parametrize("factor", [1.0, 2.0**-900, 1e200])
def test_every_row_its_own_class_gives_finite_scores(factor):
    X, y = random_table(4)
    X[:, 1] = 7.0
    outputs = np.c_[np.arange(30), y]
    fisher = FisherScore(task="classification")
    assert scores(fisher, factor * X, np.arange(30)).tolist() == [LARGEST, 0.0, LARGEST]
    both = scores(fisher, factor * X, outputs)
    assert np.isfinite(both).all()
    assert both[1] == 0.0


def test_less_scatter_within_than_rounding_does_not_order_columns():
    X, y = random_table(5)
    X[:, 0], X[:, 1] = y, y
    X[0, 1] += 2.0**-50
    X[:, 2] = y + 1e-6 * X[:, 2]
    rounded, perfect, close = (scores(FisherScore(), X, y)[j] for j in (1, 0, 2))
    assert rounded == pytest.approx(perfect, rel=1e-12)
    assert close < perfect / 1000


def test_a_categorical_column_sums_over_its_indicators():
    rng = np.random.default_rng(0)
    states, y = rng.choice(["a", "b", "c"], 40), rng.integers(0, 3, 40)
    frame = pd.DataFrame({"number": rng.normal(size=40), "state": pd.Categorical(states)})
    indicators = np.array([states == s for s in "abc"], dtype=float)
    between = within = 0.0
    for x in indicators:
        total = ((x - x.mean()) ** 2).sum()
        share = reference.laplacian_score(x[:, None], reference.class_graph(y))
        between, within = between + (1 - share) * total, within + share * total
    assert scores(FisherScore(), frame, y)[1] == pytest.approx(between / within)
    assert scores(LaplacianScore(), frame, y)[1] == pytest.approx(-within / (between + within))


@pytest.mark.parametrize(
    "selector", [FisherScore(), LaplacianScore(graph="class"), SPEC(graph="class")]
)
def test_numbers_as_target_are_refused_with_methods_that_take_them(selector):
    X, _ = random_table(0)
    with pytest.raises(
        InputError, match=r"needs classes.*use PearsonRanking, .*MaxRel, .* ReliefF"
    ):
        selector.fit(X, np.linspace(0, 1.5, 30))


# --- Laplacian ------------------------------------------------------------------------------------


@given(st.integers(0, 2**31), st.integers(5, 40), st.integers(2, 4))
def test_class_graph_equals_its_slow_twin_and_orders_as_fisher(seed, n_rows, n_classes):
    X, y = random_table(seed, n_rows, n_classes=n_classes)
    found = LaplacianScore(n_features_to_select=3).fit(X, y)
    S = reference.class_graph(y)
    expected = [-reference.laplacian_score(x[:, None], S) for x in X.T]
    assert_allclose(found.scores_, expected, rtol=1e-9, atol=1e-12)
    fisher = FisherScore(n_features_to_select=3).fit(X, y)
    assert found.indices_.tolist() == fisher.indices_.tolist()
    assert_allclose(found.scores_, -1 / (1 + fisher.scores_), rtol=1e-9)


@given(st.integers(0, 2**31), st.integers(3, 40), st.integers(1, 8), st.booleans())
def test_neighbour_graph_equals_its_slow_twin(seed, n_rows, k, rounded):
    X, y = random_table(seed, n_rows, n_classes=2)
    X = np.round(X) if rounded else X
    X[:2] = [[-3, 3, 2], [3, -2, -2]]  # no column is constant
    S = reference.neighbour_graph(squares_of(standardized(X)), k)
    expected = [-reference.laplacian_score(x[:, None], S) for x in X.T]
    found = scores(LaplacianScore(graph="knn", n_neighbors=k), X, y)
    assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_neighbour_graph_with_categories_equals_its_slow_twin():
    rng = np.random.default_rng(0)
    states, x = rng.choice(["a", "b", "c"], 40), rng.normal(size=40)
    frame = pd.DataFrame({"number": x, "state": pd.Categorical(states)})
    squares = squares_of(standardized(x[:, None])) + (states[:, None] != states[None])
    S = reference.neighbour_graph(squares, 5)
    indicators = np.array([states == s for s in "abc"], dtype=float).T
    expected = [
        -reference.laplacian_score(x[:, None], S),
        -reference.laplacian_score(indicators, S),
    ]
    found = scores(LaplacianScore(graph="knn"), frame, rng.normal(size=40))
    assert_allclose(found, expected, atol=1e-9)


def test_neighbours_follow_clusters_without_the_target():
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 6))
    X[:, [1, 4]] += 6 * np.array([[0, 0], [1, 0], [1, 1]])[cluster]
    selector = LaplacianScore(graph="knn", n_features_to_select=2).fit(X, rng.normal(size=150))
    assert sorted(selector.indices_.tolist()) == [1, 4]


def test_constant_duplicate_and_extreme_columns():
    X, y = random_table(5)
    table = np.c_[X[:, 0], np.full(30, 0.1), X[:, 0] * 1e150 + 1e155, X[:, 1]]
    for graph in ("class", "knn"):
        found = scores(LaplacianScore(graph=graph), table, y)
        assert found[1] == (-1.0 if graph == "class" else -2.0)
        assert found[0] == pytest.approx(found[2], rel=1e-6)
    same = np.ones((6, 2))
    assert scores(LaplacianScore(graph="knn"), same, [0, 1, 0, 1, 0, 1]).tolist() == [-2.0, -2.0]


def test_two_rows_and_more_columns_than_rows():
    X = np.array([[0.0, 1.0, 5.0], [1.0, 3.0, 5.0]])
    assert scores(LaplacianScore(graph="knn"), X, [0, 1]).tolist() == [-2.0, -2.0, -2.0]
    assert scores(LaplacianScore(), X, [0, 1]).tolist() == [0.0, 0.0, -1.0]
    assert scores(FisherScore(), X, [0, 1]).tolist() == [LARGEST, LARGEST, 0.0]


# --- SPEC -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("standardize", [True, False])
def test_spec_equals_its_slow_twin(function, power, standardize):
    X, y = random_table(7, 40)
    Z = standardized(X) if standardize else X
    graphs = {
        "knn": reference.neighbour_graph(squares_of(Z), 5),
        "class": reference.class_graph(y),
    }
    for graph, S in graphs.items():
        selector = SPEC(
            ranking_function=function, power=power, graph=graph, standardize=standardize
        )
        sign = 1.0 if function == "phi3" else -1.0
        expected = [sign * reference.spec_score(z, S, function, power, 3) for z in Z.T]
        assert_allclose(scores(selector, X, y), expected, atol=1e-9)


def test_phi2_is_the_laplacian_score():
    X, y = random_table(8)
    for graph in ("class", "knn"):
        expected = scores(LaplacianScore(graph=graph), X, y)
        assert_allclose(scores(SPEC(graph=graph), X, y), expected, atol=1e-12)


def test_some_eigenvectors_of_a_large_graph_are_those_of_all(monkeypatch):
    X, y = random_table(9, 300)
    selector = SPEC(ranking_function="phi3", graph="knn", n_components=3)
    some = scores(selector, X, y)
    monkeypatch.setattr("featsieve.measures.spectral.spec.DENSE_ROWS", 1000)
    assert_allclose(some, scores(selector, X, y), atol=1e-9)


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (SPEC(ranking_function="phi4"), "ranking_function='phi4' is not allowed; give 'phi1'"),
        (SPEC(power=0), "power=0 is not allowed; give an integer from 1 to 100"),
        (SPEC(n_components=0), "n_components=0 is not allowed; give an integer >= 1 or None"),
        (LaplacianScore(graph="full"), "graph='full' is not allowed; give 'auto', 'class'"),
        (LaplacianScore(n_neighbors=0), "n_neighbors=0 is not allowed; give an integer >= 1"),
    ],
)
def test_bad_parameters_are_refused(selector, words):
    with pytest.raises(InputError, match=words):
        selector.fit(*random_table(0))


# --- Engines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", ESTIMATORS, ids=repr)
def test_every_engine_gives_the_same_scores(selector, tmp_path):
    import dask.dataframe as dd
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = random_table(4, 120)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = pd.Categorical(np.random.default_rng(0).choice(["u", "v"], 120))
    expected = scores(selector, frame, y)
    pq.write_table(pa.Table.from_pandas(frame.assign(y=y)), tmp_path / "t.parquet")
    lazy = dd.from_pandas(frame.assign(y=y), npartitions=3)
    found = [
        scores(selector, open_parquet(tmp_path / "t.parquet"), "y"),
        scores(selector, lazy.drop(columns="y"), lazy["y"]),
        scores(selector.set_params(n_jobs=2), frame, y),
    ]
    assert_allclose(found, [expected] * 3, rtol=0, atol=1e-10)


def test_a_group_scores_what_its_best_column_scores():
    X, y = random_table(3)
    for selector in (FisherScore(), LaplacianScore(graph="knn"), SPEC()):
        single = scores(selector, X, y)
        grouped = selector.set_params(feature_groups={"pair": [0, 2]})
        best = max(single[0], single[2])
        assert_allclose(scores(grouped, X, y), [best, single[1], best])


def test_several_outputs_keep_each_and_report_the_mean():
    X, y = random_table(3)
    both = np.c_[y, y[::-1]]
    fitted = FisherScore(n_features_to_select=1).fit(X, both)
    each = fitted.result_.extras["output_scores"]
    assert_allclose(each, [scores(FisherScore(), X, y), scores(FisherScore(), X, y[::-1])])
    assert_allclose(fitted.scores_, each.mean(axis=0))
