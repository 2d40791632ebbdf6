"""Lasso and LAR: against scikit-learn, the definitions and the conditions of a minimum."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LassoLars, MultiTaskLasso, lars_path, lasso_path
from sklearn.preprocessing import StandardScaler

from featsieve import LassoSelector, open_parquet
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.input.boundary import Settings, open_engine
from featsieve.procedures.lasso.folds import Folding, fold_table, resolve_folding, signed_targets
from featsieve.procedures.lasso.paths import Chooser, GroupPath, LarsPath, largest_alpha
from featsieve.procedures.lasso.tables import Basis, GramTable, RowTable, find_basis
from featsieve.statistics.moments import gram_moments
from tests import reference
from tests.tables import as_pandas, mixed_columns


def make_linear(n_rows=80, n_columns=8, seed=0, n_outputs=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * rng.uniform(0.1, 9, n_columns) + 50
    weights = np.zeros((n_columns, n_outputs))
    weights[:3] = rng.normal(size=(3, n_outputs)) + np.array([[3], [-2], [1.5]])
    y = StandardScaler().fit_transform(X) @ weights + 0.5 * rng.normal(size=(n_rows, n_outputs))
    return X, y[:, 0] if n_outputs == 1 else y


def standard(X):
    return StandardScaler().fit_transform(X)


@pytest.mark.parametrize("shape", [(80, 8), (12, 30)])
def test_path_is_that_of_coordinate_descent(shape):
    X, y = make_linear(*shape)
    found = LassoSelector(n_features_to_select=3).fit(X, y)
    inner = found.alphas_[found.alphas_ > 1e-3 * found.alphas_[0]]
    _, expected, _ = lasso_path(standard(X), y - y.mean(), alphas=inner, tol=1e-15, max_iter=10**6)
    assert_allclose(found.coef_path_[:, : len(inner)], expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("shape", [(80, 8), (12, 30)])
def test_lar_is_the_lecture_algorithm(shape):
    X, y = make_linear(*shape)
    order, lams, weights = reference.least_angle_regression(X, y)
    found = LassoSelector(method="lar", n_features_to_select=3).fit(X, y)
    n = min(len(lams), len(found.alphas_)) - 1
    # The lecture's columns have norm 1, ours √N: penalties are √N times larger, weights smaller.
    root = np.sqrt(len(X))
    assert_allclose(found.alphas_[:n], lams[:n] * root, rtol=0, atol=1e-8 * found.alphas_[0])
    assert_allclose(found.coef_path_[:, :n], weights[:n].T / root, rtol=0, atol=1e-8)
    assert set(found.indices_.tolist()) == set(order[:3])


def test_lagrange_form_is_that_of_scikit_learn():
    X, y = make_linear()
    for alpha in (0.05, 0.4, 1.0):
        found = LassoSelector(alpha=alpha).fit(X, y)
        expected = LassoLars(alpha=alpha).fit(standard(X), y - y.mean()).coef_
        assert_allclose(found.result_.extras["coef"][0], expected, rtol=0, atol=1e-8)
        assert_array_equal(found.support_, expected != 0)
        assert found.alpha_ == alpha


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_constraint_form_reaches_its_radius(n_outputs):
    X, y = make_linear(n_outputs=n_outputs)
    found = LassoSelector(radius=1.5).fit(X, y)
    size = np.linalg.norm(found.result_.extras["coef"], axis=0).sum()
    assert_allclose(size, 1.5, rtol=1e-8)
    # The same model in Lagrange form.
    again = LassoSelector(alpha=found.alpha_).fit(X, y)
    assert_array_equal(again.support_, found.support_)
    loose = LassoSelector(radius=1e6).fit(X, y)
    assert loose.support_.all()


@pytest.mark.parametrize("shape", [(60, 6), (10, 15)])
def test_several_outputs_are_the_multi_task_lasso(shape):
    X, Y = make_linear(*shape, n_outputs=3)
    found = LassoSelector(n_features_to_select=3, count_rule="nearest").fit(X, Y)
    for place in (10, 30, 60):
        model = MultiTaskLasso(alpha=found.alphas_[place], tol=1e-14, max_iter=10**6)
        expected = model.fit(standard(X), Y - Y.mean(axis=0)).coef_
        assert_allclose(found.coef_path_[:, :, place], expected, rtol=0, atol=1e-8)
    assert LassoSelector(n_features_to_select=3).fit(X, Y).support_.sum() == 3


@given(
    st.integers(4, 15), st.integers(1, 6), st.integers(1, 3), st.booleans(), st.integers(0, 10**6)
)
def test_group_solution_meets_the_conditions_of_a_minimum(n, m, q, paired, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m))
    Y = rng.normal(size=(n, q))
    groups = [[0, m - 1]] if paired and m > 1 else None
    engine = open_engine(X, Y, Settings(task="regression", feature_groups=groups))
    raw = fold_table(engine, Folding(0)).every
    basis = find_basis(raw, engine.schema, standardize=True)
    table = raw.through(basis.matrix)
    alpha = largest_alpha(table, basis) * rng.uniform(0.05, 0.9)
    coef = GroupPath(table, basis, np.array([alpha])).at(alpha)
    slope = table.residual_slope(coef, np.arange(len(coef)))
    limit = alpha * basis.penalty
    for block, size in enumerate(basis.norms(coef)):
        place = basis.coordinates_of(np.array([block]))
        pull = slope[place]
        if size > 0:
            assert_allclose(pull, limit[block] * coef[place] / size, rtol=0, atol=1e-7 * alpha)
        else:
            assert np.linalg.norm(pull) <= limit[block] * (1 + 1e-7)


@settings(max_examples=15)
@given(st.integers(5, 12), st.integers(2, 5), st.integers(1, 2), st.integers(0, 10**6))
def test_groups_equal_plain_proximal_steps(n, m, q, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, m)), rng.normal(size=(n, q))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    left, _ = np.linalg.qr(X[:, :2])  # an orthonormal pair is its own basis
    X[:, :2] = left * np.sqrt(n)
    X[:, 2:] /= X[:, 2:].std(axis=0) if m > 2 else 1.0
    table = RowTable.of_rows(X, Y, np.ones(n))
    blocks = [[0, 1], *[[j] for j in range(2, m)]]
    starts = np.array([0, *range(2, m + 1)])
    basis = Basis(sp.eye_array(m).tocsr(), np.arange(m - 1), starts, np.ones(m))
    alpha = largest_alpha(table, basis) / 2
    expected = reference.group_lasso(X, Y, alpha, blocks, n_steps=3000)
    found = GroupPath(table, basis, np.array([alpha])).at(alpha)
    assert objective(X, Y, found, alpha, blocks) <= objective(X, Y, expected, alpha, blocks) + 1e-10


def objective(X, Y, B, alpha, blocks):
    penalty = sum(np.sqrt(len(b)) * np.linalg.norm(B[b]) for b in blocks)
    return ((Y - X @ B) ** 2).sum() / 2 / len(X) + alpha * penalty


def test_gram_and_rows_are_two_faces_of_one_table():
    rng = np.random.default_rng(3)
    X, Y, weight = rng.normal(size=(30, 5)) + 9, rng.normal(size=(30, 2)), rng.random(30)
    rows = RowTable.of_rows(X, Y, weight)
    gram = GramTable.of_moments(gram_moments(X, Y, weight), 5)
    basis = sp.csr_array(rng.normal(size=(5, 4)))
    coef, active = rng.normal(size=(2, 2)), np.array([1, 3])
    for a, b in [(rows, gram), (rows.through(basis), gram.through(basis))]:
        assert_allclose(a.slope, b.slope, atol=1e-12)
        assert_allclose(a.gram(active), b.gram(active), atol=1e-12)
        assert_allclose(a.residual_slope(coef, active), b.residual_slope(coef, active), atol=1e-12)
        assert_allclose(a.columns.scale(0), b.columns.scale(0), rtol=1e-12)
        found, expected = (t.residual_variance(coef, active) for t in (a, b))
        assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_offset_costs_no_digits_of_a_sparse_table(weighted):
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(25, 4)), rng.normal(size=(25, 1))
    X[:, 2] = X[:, 0]
    X[rng.random(25) < 0.5, 3] = 0.0
    weight = rng.random(25) * (np.arange(25) > 2) if weighted else None
    offset = np.ldexp(np.round(np.ldexp(X, 10)), -10) + np.array([2.0**24, 2.0**20, 2.0**24, 0.0])
    offset[0, 1] = 0.0 if weighted else offset[0, 1]  # an empty cell in a row that does not count
    dense, sparse = gram_moments(offset, Y, weight), gram_moments(sp.csr_array(offset), Y, weight)
    assert_allclose(sparse.mean, dense.mean, rtol=1e-14, atol=1e-14)
    assert_allclose(sparse.product, dense.product, rtol=1e-7, atol=1e-7)
    assert sparse.product[0, 2] == pytest.approx(sparse.product[0, 0], rel=1e-12)


def test_wide_and_tall_ways_give_the_same_path(monkeypatch):
    X, y = make_linear(40, 12)
    tall = LassoSelector(n_features_to_select=4).fit(X, y)
    monkeypatch.setattr("featsieve.procedures.lasso.folds.is_wide", lambda *_: True)
    wide = LassoSelector(n_features_to_select=4).fit(X, y)
    assert_allclose(wide.alphas_, tall.alphas_, rtol=0, atol=1e-10)
    assert_allclose(wide.coef_path_, tall.coef_path_, rtol=0, atol=1e-9)
    assert_allclose(wide.mse_path_, tall.mse_path_, rtol=1e-8)


def test_fold_errors_are_those_of_refitting():
    X, y = make_linear(50, 5)
    found = LassoSelector(n_features_to_select=2, cv=4).fit(X, y)
    Z = standard(X)
    fold = resolve_folding(4, 0, 50).of(np.arange(50))
    for f in range(4):
        inside = fold == f
        assert 11 <= inside.sum() <= 14
        for place, alpha in enumerate(found.alphas_[:-1]):
            model = LassoLars(alpha=alpha).fit(Z[~inside], y[~inside])
            error = ((model.predict(Z[inside]) - y[inside]) ** 2).mean()
            assert_allclose(found.mse_path_[place, f], error, rtol=1e-7)


def test_smallest_error_decides_the_count():
    X, y = make_linear(200, 10)
    found = LassoSelector(n_features_to_select="auto").fit(X, y)
    best = np.argmin(found.mse_path_.mean(axis=1))
    assert found.alpha_ == found.alphas_[best]
    assert_array_equal(found.support_, found.coef_path_[:, best] != 0)


def test_given_splits_are_used_and_checked():
    X, y = make_linear(20, 4)
    rows = np.arange(20)
    splits = [(rows[10:], rows[:10]), (rows[:10], rows[10:])]
    found = LassoSelector(cv=splits, n_features_to_select=2).fit(X, y)
    assert found.mse_path_.shape == (len(found.alphas_), 2)
    with pytest.raises(InputError, match="splits that overlap or leave out rows"):
        LassoSelector(cv=[(rows[10:], rows[:5])]).fit(X, y)
    lists = [(part.tolist(), rest.tolist()) for part, rest in splits]
    again = LassoSelector(cv=lists, n_features_to_select=2).fit(X, y)
    assert_array_equal(again.mse_path_, found.mse_path_)
    LassoSelector(cv=[*lists, (rows.tolist(), [])], n_features_to_select=2).fit(X, y)
    for wrong in ([20], [0.5], ["a"]):
        with pytest.raises(InputError, match="give lists of row numbers"):
            LassoSelector(cv=[(rows, wrong)]).fit(X, y)


@pytest.mark.parametrize("k", [1, 2, 4, 7])
@pytest.mark.parametrize("kind", ["number", "outputs", "classes", "two classes"])
def test_exactly_k_columns_come_back(k, kind):
    X, y = make_linear(n_outputs=2 if kind == "outputs" else 1)
    y = {"classes": np.digitize(y, [-2, 2]), "two classes": y > 0}.get(kind, y)
    found = LassoSelector(n_features_to_select=k, cv=0).fit(X, y)
    assert found.support_.sum() == k
    assert (np.diff(found.scores_[found.indices_]) <= 0).all()
    assert (found.scores_[found.indices_] > 0).all()


def test_two_classes_are_one_signed_output():
    X, y = make_linear()
    sign = np.where(y > 0, 1.0, -1.0)
    by_class = LassoSelector(n_features_to_select=3).fit(X, y > 0)
    by_number = LassoSelector(n_features_to_select=3, task="regression").fit(X, sign)
    assert_allclose(by_class.coef_path_, by_number.coef_path_, rtol=0, atol=1e-12)
    target = open_engine(X, np.digitize(y, [-2, 2]), Settings()).target
    assert_array_equal(
        signed_targets(np.array([[0], [2]]), target), [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]
    )


def test_nearest_rule_takes_the_count_of_a_grid():
    X, y = make_linear(100, 20, seed=4)
    found = LassoSelector(n_features_to_select=5, count_rule="nearest").fit(X, y)
    full = LarsPath(found.alphas_, found.coef_path_.T[:, :, None])
    grid = np.geomspace(found.alphas_[0], found.alphas_[0] * 1e-4, 100)
    counts = np.array([np.count_nonzero(np.abs(full.at(a)) > 1e-12) for a in grid])
    assert found.alpha_ == pytest.approx(grid[np.argmin(np.abs(counts - 5))])


def test_a_jump_over_k_keeps_the_largest():
    """Two columns that enter at the same penalty, with different coefficients afterwards."""
    basis = Basis(sp.eye_array(3).tocsr(), np.arange(3), np.arange(4), np.ones(3))
    coefs = np.array([[0.0, 0, 0], [2.0, 1.0, 0]])[:, :, None]
    chooser = Chooser(LarsPath(np.array([1.0, 0.5]), coefs), basis)
    alpha = chooser.alpha_for_count(1, "exact")
    assert 0.999 < alpha < 1.0
    sizes = chooser.sizes(LarsPath(np.array([1.0, 0.5]), coefs).at(alpha))
    assert sizes[0] > sizes[1] > sizes[2] == 0


def test_duplicates_and_constants_are_harmless():
    X, y = make_linear()
    X = np.c_[X, X[:, 0], np.full(len(X), 3.0)]
    found = LassoSelector(n_features_to_select=3).fit(X, y)
    assert set(found.indices_.tolist()) <= {0, 1, 2, 8}
    assert found.scores_[9] == 0
    assert found.ranking_[9] > 1


@pytest.mark.parametrize("n_rows", [80, 9])  # by moments, and by rows
def test_copies_leave_all_weight_to_the_first(n_rows):
    X, y = make_linear(n_rows, n_outputs=2)
    copied = np.c_[X, -3.0 * X[:, 0] + 7.0, X[:, 1], X[:, 0]]
    plain = LassoSelector(n_features_to_select=4, cv=2).fit(X, y)
    found = LassoSelector(n_features_to_select=4, cv=2).fit(copied, y)
    assert_array_equal(found.scores_[8:], 0.0)
    assert_allclose(found.scores_[:8], plain.scores_, rtol=1e-8, atol=1e-12)
    assert found.indices_.tolist() == plain.indices_.tolist()


def test_copies_are_spaces_not_columns():
    """A group is a copy of another where it spans the same; near copies are none."""
    X, y = make_linear(60, 3, n_outputs=2)
    table = np.c_[X[:, :2], X[:, 0] + X[:, 1], X[:, 0] - 2 * X[:, 1], X[:, 2], X[:, 2]]
    table[:, 5] += 1e-4 * np.random.default_rng(0).normal(size=60)
    groups = {"first": [0, 1], "same": [2, 3], "third": [4], "near": [5]}
    engine = open_engine(table, y, Settings(feature_groups=groups))
    raw = fold_table(engine, Folding(0)).every
    basis = find_basis(raw, engine.schema, standardize=True)
    path = GroupPath(raw.through(basis.matrix), basis, np.array([1e-3]))
    assert path._is_copy.tolist() == [False, True, False, False]
    assert basis.norms(path.coefs[0])[1] == 0.0


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e8, 1e12])
def test_copies_are_found_in_any_unit_of_the_target(unit):
    X, y = make_linear(9, n_outputs=2)
    table = np.c_[X, -3.0 * X[:, 0] + 7.0, X[:, 1], 0.1 * X[:, 2]]
    engine = open_engine(table, unit * y, Settings(task="regression"))
    raw = fold_table(engine, Folding(0)).every
    basis = find_basis(raw, engine.schema, standardize=True)
    path = GroupPath(raw.through(basis.matrix), basis, np.array([1e-3]))
    assert np.flatnonzero(path._is_copy).tolist() == [8, 9, 10]


def test_only_constant_columns_are_refused():
    with pytest.raises(InputError, match="every column is constant"):
        LassoSelector().fit(np.ones((6, 3)), np.arange(6.0) / 2)


def test_fewer_than_asked_for_is_a_warning():
    X, y = make_linear(6, 20)
    with pytest.warns(UserWarning, match="features where 15 were asked for"):
        LassoSelector(n_features_to_select=15).fit(X, y)


def test_weights_are_repetitions():
    X, y = make_linear()
    weight = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = LassoSelector(n_features_to_select=3, cv=0).fit(X, y, sample_weight=weight)
    repeated = LassoSelector(n_features_to_select=3, cv=0).fit(
        X.repeat(weight, axis=0), y.repeat(weight)
    )
    assert_allclose(weighted.coef_path_, repeated.coef_path_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["number", "classes"])
def test_every_engine_gives_the_same_path(kind, tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = make_linear(300, 6)
    X[np.abs(X - 50) < 2] = 0.0
    y = np.digitize(y, [-2, 2]) if kind == "classes" else y
    pq.write_table(
        pa.table({**{f"c{j}": X[:, j] for j in range(6)}, "y": y}), tmp_path / "t.parquet"
    )
    selector = LassoSelector(n_features_to_select=3)
    expected = selector.fit(X, y)
    path, errors, chosen = expected.coef_path_, expected.mse_path_, expected.indices_
    for container, target in [
        (sp.csr_array(X), y),
        (da.from_array(X, chunks=(70, 6)), y),
        (open_parquet(tmp_path / "t.parquet"), "y"),
    ]:
        found = LassoSelector(n_features_to_select=3).fit(container, target)
        assert_allclose(found.coef_path_, path, rtol=0, atol=1e-9)
        assert_allclose(found.mse_path_, errors, rtol=1e-6)
        assert_array_equal(found.indices_, chosen)


def test_wide_sparse_input():
    X, y = make_linear(15, 40)
    X[np.abs(X - 50) < 2] = 0.0
    dense = LassoSelector(n_features_to_select=4).fit(X, y)
    found = LassoSelector(n_features_to_select=4).fit(sp.csr_array(X), y)
    assert_allclose(found.coef_path_, dense.coef_path_, rtol=0, atol=1e-9)


def test_categories_and_groups_are_single_units():
    frame = as_pandas(mixed_columns(200))
    X, y = frame.drop(columns="target"), frame["target"]
    found = LassoSelector(n_features_to_select=2).fit(X, y)
    assert found.get_feature_names_out().tolist() == ["size", "colour"]
    assert found.coef_path_.shape == (6, len(found.alphas_))
    grouped = LassoSelector(n_features_to_select=1, feature_groups={"both": ["size", "flag"]})
    assert grouped.fit(X, y).get_feature_names_out().tolist() == ["size", "flag"]


def test_a_category_of_two_states_counts_as_a_number():
    X, y = make_linear(60, 3)
    X[:, 2] = X[:, 2] > 50
    number = LassoSelector(alpha=0.1).fit(X, y)
    category = LassoSelector(alpha=0.1, categorical_features=[2]).fit(X, y)
    assert_allclose(category.scores_, number.scores_, rtol=1e-8, atol=1e-9)


def test_scale_matters_only_without_standardising():
    X, y = make_linear()
    stretched = X * np.array([1e-3, 1, 1, 1, 1, 1, 1, 1])
    scaled = [LassoSelector(alpha=0.2).fit(Z, y).support_ for Z in (X, stretched)]
    assert_array_equal(*scaled)
    raw = LassoSelector(alpha=0.2, standardize=False).fit(stretched, y)
    assert not raw.support_[0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "ridge"}, "method='ridge' is not allowed"),
        ({"count_rule": "most"}, "count_rule='most' is not allowed"),
        ({"alpha": -1.0}, r"alpha=-1.0 is not allowed"),
        ({"alpha": 1.0, "radius": 1.0}, "say the same in two ways"),
        ({"cv": 1}, "cv=1 is not allowed"),
        ({"cv": 0, "n_features_to_select": "auto"}, "needs the error of folds"),
        ({"method": "lar", "feature_groups": [[0, 1]]}, "method='lar' takes one numeric target"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    X, y = make_linear()
    with pytest.raises(InputError, match=message):
        LassoSelector(**params).fit(X, y)


@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_a_penalty_that_is_too_large_selects_nothing_and_says_below_which(unit):
    X, y = make_linear()
    largest = LassoSelector(alpha=1e-3 * unit).fit(X, y * unit).alphas_[0]
    sentence = re.escape(f"no feature is selected; give an alpha below {largest:g}")
    with pytest.warns(UserWarning, match=sentence):
        fitted = LassoSelector(alpha=1.01 * largest).fit(X, y * unit)
    assert not fitted.support_.any()
    assert LassoSelector(alpha=0.99 * largest).fit(X, y * unit).support_.any()


@pytest.mark.parametrize("shape", [(80, 8), (12, 30)])
def test_a_budget_that_does_not_hold_the_moments_is_refused(shape):
    X, y = make_linear(*shape)
    with pytest.raises(MemoryBudgetError, match=r"needs .* but memory_limit is"):
        LassoSelector(memory_limit=4000).fit(X, y)


def correlated(n_rows, n_columns):
    X, y = make_linear(n_rows, n_columns)
    return X + 5 * np.random.default_rng(1).normal(size=(n_rows, 1)), y


def full_path(X, y, method):
    selector = LassoSelector(
        method=method, n_features_to_select=X.shape[1], count_rule="nearest", cv=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # 12 rows cannot give 30 columns
        return selector.fit(X, y)


@pytest.mark.parametrize("shape", [(80, 8), (12, 30), (60, 40)])
def test_knots_are_those_of_scikit_learn(shape):
    """An independent path on the rows themselves; correlated columns make the lasso drop some."""
    X, y = correlated(*shape)
    alphas, _, coefs = lars_path(standard(X), y - y.mean(), method="lasso")
    found = full_path(X, y, "lasso")
    n_knots = np.count_nonzero(alphas > 1e-6 * alphas[0])
    assert_allclose(found.alphas_[:n_knots], alphas[:n_knots], rtol=1e-8, atol=1e-10 * alphas[0])
    assert_allclose(found.coef_path_[:, :n_knots], coefs[:, :n_knots], rtol=0, atol=1e-8)


@pytest.mark.parametrize("shape", [(80, 8), (12, 30), (60, 40)])
def test_all_of_lar_is_the_lecture_algorithm(shape):
    X, y = correlated(*shape)
    _, lams, weights = reference.least_angle_regression(X, y)
    found, root = full_path(X, y, "lar"), np.sqrt(len(X))
    assert len(found.alphas_) <= min(len(X), X.shape[1]) + 1
    n_knots = np.count_nonzero(lams > 1e-9 * lams[0])
    assert_allclose(found.alphas_[:n_knots], lams[:n_knots] * root, rtol=1e-8)
    assert_allclose(found.coef_path_[:, :n_knots], weights[:n_knots].T / root, atol=1e-8)


def test_the_path_ends_with_the_columns_that_were_asked_for():
    X, y = make_linear(60, 30)
    short = LassoSelector(n_features_to_select=4).fit(X, y)
    full = LassoSelector(n_features_to_select=4, count_rule="nearest").fit(X, y)
    n_knots = len(short.alphas_)
    assert n_knots < len(full.alphas_)
    assert_array_equal(short.alphas_, full.alphas_[:n_knots])
    assert_array_equal(short.coef_path_, full.coef_path_[:, :n_knots])
    assert np.count_nonzero(short.coef_path_[:, -1]) == 4
    assert short.mse_path_.shape == (n_knots, 5)
    assert_allclose(short.mse_path_, full.mse_path_[:n_knots], rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-100, 1e-7, 1e100])
def test_the_unit_of_the_target_does_not_matter(unit):
    X, y = make_linear()
    expected = LassoSelector(n_features_to_select=3).fit(X, y)
    found = LassoSelector(n_features_to_select=3).fit(X, y * unit)
    assert_array_equal(found.indices_, expected.indices_)
    assert_allclose(found.coef_path_, expected.coef_path_ * unit, rtol=1e-6, atol=1e-9 * unit)


def test_a_short_path_on_the_rows_is_that_of_the_moments():
    X, y = make_linear(60, 30)
    by_rows = LassoSelector(n_features_to_select=3, cv=0).fit(X, y)
    by_moments = LassoSelector(n_features_to_select=3).fit(X, y)
    assert_allclose(by_rows.coef_path_, by_moments.coef_path_, rtol=0, atol=1e-12)
    assert_allclose(by_rows.alphas_, by_moments.alphas_, rtol=1e-12)
    assert by_rows.result_.objective == pytest.approx(by_moments.result_.objective)


def test_a_path_does_not_end_at_a_coefficient_that_is_rounding():
    """A copy of a column has a coefficient of 1e-17 now and then: it has not entered the path."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 1] = 1e98 / 1e-197 * X[:, 0]
    y = np.array(["no", "yes", "perhaps"])[rng.integers(3, size=40)]
    with pytest.warns(UserWarning, match="found 2 features where 3 were asked for"):
        dense = LassoSelector(n_features_to_select=3).fit(X, y)
    with pytest.warns(UserWarning, match="found 2 features where 3 were asked for"):
        sparse = LassoSelector(n_features_to_select=3).fit(sp.csr_array(X), y)
    assert len(dense.alphas_) == len(sparse.alphas_)
    assert sparse.scores_ == pytest.approx(dense.scores_)
