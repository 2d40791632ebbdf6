"""HSFS, LDFS and PrincipalFeatures: what they find, and what they hand back."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest

from featsieve import (
    FOHSIC,
    HSFS,
    LDFS,
    FeatureSelector,
    FisherScore,
    LaplacianScore,
    PrincipalFeatures,
    open_parquet,
)
from featsieve.datasets import make_binary_xor
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import HSIC, LDA
from featsieve.runtime.progress import SILENT
from featsieve.searches import L1LInf
from featsieve.searches.penalty_path import PenalizedRows
from tests.reference import block_penalty

ALL = [HSFS, LDFS, PrincipalFeatures]


def noisy_copies(seed, n=300):
    """Effects 3, 2, 1, a noisy copy of each, and ten columns of noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) + np.outer(y, [3.0, 2.0, 1.0])
    return np.hstack([X, X + 0.5 * rng.normal(size=X.shape), rng.normal(size=(n, 10))]), y


def sign_of_product(seed, n=200):
    X = np.random.default_rng(seed).normal(size=(n, 22))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_ldfs_keeps_originals_and_not_their_copies():
    hits = [
        sorted(LDFS(n_features_to_select=3).fit(*noisy_copies(seed)).indices_.tolist())
        for seed in range(20)
    ]
    assert hits.count([0, 1, 2]) >= 18


@pytest.mark.parametrize("cls", [FisherScore, LaplacianScore])
def test_scores_of_single_columns_keep_copies(cls):
    for seed in range(20):
        selected = cls(n_features_to_select=3).fit(*noisy_copies(seed)).indices_
        assert set(selected) & {3, 4, 5}


@pytest.mark.parametrize("seed", range(2))
def test_ldfs_takes_the_best_of_all_sets(seed):
    """Where it keeps a copy, the copy separates the classes of this sample better."""
    X, y = noisy_copies(seed)
    bound = LDA().bind(open_engine(X / X.std(axis=0), y, Settings()))
    best = max(combinations(range(16), 3), key=bound.value)
    assert sorted(LDFS(n_features_to_select=3).fit(X, y).indices_) == list(best)


@pytest.mark.parametrize(("n_columns", "n_classes", "k"), [(5, 2, 1), (20, 3, 5), (30, 6, 2)])
def test_a_column_that_is_the_class_is_no_trouble(n_columns, n_classes, k):
    """One row of W may then grow a thousand times as far as the others."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 200)
    X = rng.normal(size=(200, n_columns))
    X[:, 3] = y
    for cls in (LDFS, HSFS):
        selector = cls(n_features_to_select=k).fit(X, y)  # a warning would be an error here
        assert selector.indices_[0] == 3
        assert selector.support_.sum() == k
        assert selector.result_.extras["kkt_residual"] <= 1e-6


@pytest.mark.parametrize("kind", ["xor", "product"])
def test_hsfs_finds_columns_that_matter_only_together(kind):
    hits = 0
    for seed in range(20):
        data = make_binary_xor(200, random_state=seed)
        X, y = (data.data, data.target) if kind == "xor" else sign_of_product(seed)
        selector = HSFS(n_features_to_select=2).fit(X, y)
        hits += sorted(selector.indices_.tolist()) == [0, 1]
        assert selector.result_.extras["kkt_residual"] <= 1e-6
    assert hits >= 19


def many_columns_of_noise(seed, n=150, d=150):
    """As many columns as rows: some W fits the classes with noise alone."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (np.square(X[:, :3]).sum(axis=1) > 2.4).astype(int)


def test_hsfs_hands_back_columns_of_a_larger_criterion_than_its_rows():
    for seed in range(3):
        X, y = many_columns_of_noise(seed)
        measure = HSIC(bandwidth="dimension", estimator="v_statistic", target_kernel="delta")
        bound = measure.bind(open_engine(X / X.std(axis=0), y, Settings()))
        refined, rows, greedy = (
            method.set_params(n_features_to_select=3).fit(X, y).indices_.tolist()
            for method in (HSFS(), HSFS(refine=False), FOHSIC())
        )
        assert bound.value(refined) >= bound.value(rows) * (1 - 1e-9)
        assert bound.value(refined) >= bound.value(greedy) * (1 - 1e-9)
        assert len({0, 1, 2} & set(refined)) > len({0, 1, 2} & set(rows))


def test_hsfs_is_the_same_on_threads_and_on_dask():
    import dask.array as da

    X, y = many_columns_of_noise(0, 90, 60)
    selector = HSFS(n_features_to_select=3)
    expected = selector.fit(X, y)
    indices, W = expected.indices_.tolist(), expected.components_
    for change, table in [({"n_jobs": 2}, X), ({"n_jobs": 1}, da.from_array(X, (40, 60)))]:
        found = selector.set_params(**change).fit(table, y)
        assert found.indices_.tolist() == indices
        np.testing.assert_allclose(found.components_, W, atol=1e-6 * np.abs(W).max())


@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("solver", ["proximal", "two-metric"])
def test_a_criterion_that_outgrows_every_penalty_is_refused(kernel, solver):
    X, y = sign_of_product(0, n=40)
    with pytest.raises(InputError, match=r"grows with W without bound.*kernel='rbf'"):
        HSFS(kernel=kernel, solver=solver, n_features_to_select=2).fit(X, y)


def test_principal_features_takes_one_column_per_source():
    rng = np.random.default_rng(0)
    sources = rng.normal(size=(200, 2))
    X = np.hstack([np.repeat(sources, 3, axis=1) + 0.5 * rng.normal(size=(200, 6)), sources])
    selector = PrincipalFeatures(n_features_to_select=2).fit(X)
    assert sorted(selector.indices_.tolist()) == [6, 7]
    assert PrincipalFeatures(n_features_to_select=2).fit(X, X[:, 0]).indices_.tolist() == (
        selector.indices_.tolist()
    )


@pytest.mark.parametrize("p", [np.inf, 2, 1])
@pytest.mark.parametrize("cls", ALL)
def test_the_solution_is_stationary_and_has_k_rows(cls, p):
    X, y = noisy_copies(0, 120)
    selector = cls(n_features_to_select=4, n_components=2, p=p).fit(X, y)
    assert selector.support_.sum() == 4
    W, extras = selector.components_, selector.result_.extras
    assert W.shape == (16, 2)
    assert extras["kkt_residual"] <= 1e-6
    kept = np.flatnonzero(np.abs(W).max(axis=1) >= 0.01 * np.abs(W).max())
    assert set(kept) <= set(selector.indices_)
    penalty = block_penalty(W, np.arange(16), p, extras["penalty"])
    value = extras["penalized_objective"]
    assert value == pytest.approx(penalty - selector.result_.objective, rel=1e-9)


@pytest.mark.parametrize("cls", ALL)
def test_the_path_is_kept_from_weak_to_strong_penalties(cls):
    X, y = noisy_copies(1, 100)
    path = cls(n_features_to_select=2).fit(X, y).result_.path
    penalties = [step.penalty for step in path]
    assert penalties == sorted(penalties)
    assert path[0].sizes.shape == (16,)
    assert path[-1].n_iter >= 0


@pytest.mark.parametrize("cls", [HSFS, LDFS])
def test_the_papers_solver_selects_the_same_columns(cls):
    X, y = noisy_copies(2)
    ours = cls(n_features_to_select=3, n_init=1).fit(X, y)
    papers = cls(n_features_to_select=3, n_init=1, solver="two-metric", tol=1e-4).fit(X, y)
    assert sorted(ours.indices_) == sorted(papers.indices_)


def test_one_component_without_refining_is_a_lasso_type_path():
    """With q = 1 all three norms are |w_j|, so the paths are one and the same."""
    X, y = noisy_copies(3)
    found = [
        LDFS(n_features_to_select=3, n_components=1, refine=False, p=p).fit(X, y).components_
        for p in (np.inf, 2, 1)
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-5 * np.abs(found[0]).max())
    np.testing.assert_allclose(found[0], found[2], atol=1e-5 * np.abs(found[0]).max())


@pytest.mark.parametrize("cls", ALL)
def test_more_columns_than_rows(cls):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    X = rng.normal(size=(30, 200))
    X[:, 7] += 4 * y
    selector = cls(n_features_to_select=3).fit(X, y)
    assert selector.support_.sum() == 3
    assert cls is PrincipalFeatures or 7 in selector.indices_


@pytest.mark.parametrize("cls", ALL)
def test_units_of_measurement_do_not_matter(cls):
    X, y = noisy_copies(4, 100)
    scale = 10.0 ** np.random.default_rng(0).integers(-8, 9, 16)
    plain = cls(n_features_to_select=3).fit(X, y)
    scaled = cls(n_features_to_select=3).fit(X * scale + 3 * scale, y)
    assert plain.indices_.tolist() == scaled.indices_.tolist()


@pytest.mark.parametrize("cls", ALL)
def test_constant_and_equal_columns(cls):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    x = rng.normal(size=40) + 2 * y
    X = np.column_stack([np.full(40, 3.0), x, x, rng.normal(size=(40, 2))])
    selector = cls(n_features_to_select=2).fit(X, y)
    assert selector.support_.sum() == 2
    assert not selector.support_[0]


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_decide_between_equal_columns(cls, seed):
    """Sums over other blocks of rows are rounded otherwise."""
    rng = np.random.default_rng(seed)
    X = np.rint(10 * rng.normal(size=(60, 9))).clip(0)
    X[:, [2, 5]], X[:, 7], X[:, [6, 8]] = X[:, [0]], 50 - X[:, 1], 10.0
    y = (X[:, 0] + X[:, 3] > 6).astype(int)
    plain = cls(n_features_to_select=3).fit(X, y)
    parts = cls(n_features_to_select=3).fit(da.from_array(X, chunks=(7, 9)), y)
    assert plain.indices_.tolist() == parts.indices_.tolist()
    np.testing.assert_allclose(plain.scores_, parts.scores_, rtol=1e-4, atol=1e-6)
    assert not (plain.scores_[[2, 5, 7]] > 0).any()


@pytest.mark.parametrize(("value", "expected"), [(1.0, 0.015), (1e-17, 0.03)])
def test_rounding_of_the_slope_does_not_decide_the_first_penalty(value, expected):
    """At a maximum (principal directions) it is 0 or 1e-17; but a value of 1e-17 is nothing."""
    slopes = (0.0, 1e-17) if value == 1.0 else (0.0,)
    for slope in slopes:
        bound = SimpleNamespace(
            monitor=SILENT,
            value_and_gradient_matrix=lambda W, slope=slope: (value, np.full_like(W, slope)),
        )
        rows = PenalizedRows(bound, np.arange(2), np.inf, "proximal", 10, 1e-6)
        assert rows.solve_from(np.eye(2)).step.penalty == pytest.approx(expected)


@pytest.mark.parametrize("cls", ALL)
def test_only_constant_columns_warn(cls):
    with pytest.warns(UserWarning, match="found 1 features where 2"):
        cls(n_features_to_select=2).fit(np.ones((20, 3)), np.repeat([0, 1], 10))


def test_two_rows_of_two_classes():
    X = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, -2.0]])
    for cls in ALL:
        assert cls(n_features_to_select=1).fit(X, [0, 1]).support_.sum() == 1


def test_a_category_and_a_group_are_kept_as_one():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    X = np.column_stack(
        [rng.normal(size=120), (y + (rng.random(120) < 0.3)) % 3, rng.normal(size=(120, 3))]
    )
    X[:, 3] += y
    groups = {"a": [0], "state": [1], "pair": [2, 3], "b": [4]}
    for cls in (HSFS, LDFS):
        selector = cls(n_features_to_select=2, categorical_features=[1], feature_groups=groups)
        assert sorted(selector.fit(X, y).indices_.tolist()) == [1, 2, 3]
        assert selector.components_.shape == (7, 2)


def test_ldfs_from_a_file_and_from_dask_equals_memory(tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = noisy_copies(5)
    columns = {f"c{j}": X[:, j] for j in range(16)}
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "t.parquet", row_group_size=70)
    selector = LDFS(n_features_to_select=3, tol=1e-8)
    expected = selector.fit(X, y).components_
    for table in [(open_parquet(tmp_path / "t.parquet"), "y"), (da.from_array(X, (64, 16)), y)]:
        np.testing.assert_allclose(selector.fit(*table).components_, expected, atol=1e-9)


def test_principal_features_without_a_target_on_every_engine(tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, _ = noisy_copies(6, 100)
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(16)}), tmp_path / "t.parquet")
    selector = PrincipalFeatures(n_features_to_select=3)
    expected = selector.fit(X).indices_.tolist()
    assert selector.fit(open_parquet(tmp_path / "t.parquet")).indices_.tolist() == expected
    assert selector.fit(da.from_array(X, (30, 16))).indices_.tolist() == expected


def test_regression_targets_are_refused_by_name():
    X, _ = noisy_copies(0, 50)
    with pytest.raises(InputError, match="use LassoSelector, L1LSMI, L1HSIC or HSFS,"):
        LDFS().fit(X, X[:, 0])


def test_no_convergence_is_a_warning_with_the_residual():
    X, y = noisy_copies(0)
    with pytest.warns(UserWarning, match=r"KKT residual of \d"):
        LDFS(n_features_to_select=3, max_iter=2, refine=False).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"p": 3}, "inf, 2 or 1"),
        ({"solver": "newton"}, "two-metric"),
        ({"solver": "two-metric", "p": 2}, "p=inf only"),
        ({"n_components": 17}, "from 1 to 16"),
        ({"tol": 0}, "tol"),
    ],
)
def test_bad_parameters(parameters, words):
    X, y = noisy_copies(0, 50)
    with pytest.raises(InputError, match=words):
        LDFS(n_features_to_select=3, **parameters).fit(X, y)


def test_the_same_seed_gives_the_same_answer():
    X, y = sign_of_product(0, 100)
    found = [HSFS(n_features_to_select=3, random_state=1).fit(X, y).components_ for _ in range(2)]
    np.testing.assert_array_equal(*found)


def test_the_pair_of_measure_and_search_is_the_method():
    X, y = noisy_copies(7)
    pair = FeatureSelector(LDA(), L1LInf(n_init=1), n_features_to_select=3).fit(X, y)
    assert pair.indices_.tolist() == LDFS(n_features_to_select=3).fit(X, y).indices_.tolist()


def test_ldfs_takes_classes_of_two_outputs_that_number_the_rows():
    """The within-class scatter is 0, and the criterion is looked at far out."""
    X = np.random.default_rng(0).normal(size=(12, 6))
    y = np.column_stack([np.arange(12) % 2, np.arange(12) % 3])
    selector = LDFS(n_features_to_select=2, task="classification").fit(X, y)
    assert len(selector.indices_) == 2


def test_the_ratio_trace_far_out_is_finite_for_dependent_columns():
    X = np.random.default_rng(0).normal(size=(60, 5))
    bound = LDA().bind(open_engine(X, np.arange(60) % 3, Settings()))
    W = np.outer([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 1.0])
    for size in (1.0, 1e8, 1e20, 1e60):
        value, gradient = bound.value_and_gradient_matrix(size * W)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
