"""LSMI and MLMI against their definitions, by finite differences, and on awkward tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from featsieve.datasets import make_quad
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import LSMI, MLMI, lsmi, mlmi
from featsieve.measures.lsmi.basis import Rows, cross_by_fold, grams_by_fold, median_distance
from featsieve.measures.lsmi.lsmi import _by_cholesky, _by_eigenvectors, cv_table
from featsieve.measures.lsmi.mlmi import mean_log, solve_kliep
from featsieve.measures.lsmi.sampled import (
    random_rows,
    spread_rows,
    stratified_folds,
    stratified_rows,
)
from tests.reference import (
    cv_error_by_definition,
    kliep_by_scipy,
    lsmi_by_definition,
    median_distance_by_sorting,
)

TASKS = ("classification", "regression")


def table(n, m, task, seed, n_outputs=1):
    """Rounded numbers make ties; y depends on the first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)).round(1)
    y = X[:, :1] + rng.normal(size=(n, n_outputs))
    if task == "classification":
        y = np.digitize(y, [-0.5, 0.7]).astype(float)
        y[:3] = np.arange(3)[:, None]
    return X, y


def bind(X, y, task="auto", settings=None, **params):
    params = {"random_state": 0, "scale_target": False} | params
    return LSMI(**params).bind(open_engine(X, y, Settings(task=task, **(settings or {}))))


@given(
    task=st.sampled_from(TASKS),
    n=st.integers(4, 12),
    m=st.integers(1, 3),
    n_outputs=st.integers(1, 2),
    sigma=st.floats(0.3, 3),
    lam=st.floats(1e-3, 1),
    seed=st.integers(0, 100),
)
def test_value_and_alpha_twin(task, n, m, n_outputs, sigma, lam, seed):
    X, y = table(n, m, task, seed, n_outputs)
    centers = np.random.default_rng(seed).permutation(n)[: n // 2]
    found = lsmi(X, y, centers=centers, sigma=sigma, lam=lam, task=task)
    value, alpha = lsmi_by_definition(X, y, centers, sigma, lam, task == "classification")
    assert found.value == pytest.approx(value, rel=1e-9, abs=1e-10)
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-7, atol=1e-9)


@given(task=st.sampled_from(TASKS), seed=st.integers(0, 100), sigma=st.floats(0.3, 3))
def test_cv_table_twin(task, seed, sigma):
    X, y = table(11, 2, task, seed)
    bound = bind(X, y, task, n_basis=5, cv=3)
    basis, lambdas = bound.basis, np.array([0.01, 0.5])
    found = cv_table(bound.sums(np.ones(2), [sigma]), lambdas)
    for lam, error in zip(lambdas, found[0], strict=True):
        expected = cv_error_by_definition(
            X, y, basis._center_rows(), basis.folds, sigma, lam, task == "classification"
        )
        assert error == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("task", TASKS)
def test_cholesky_and_eigenvectors_agree(task):
    bound = bind(*table(40, 3, task, 1), task, n_basis=15)
    pairs = [(s, part) for s in bound.sums(np.ones(3), [0.5, 2.0]) for part in s.groups]
    for sums, part in pairs:
        few = _by_cholesky(part, sums.counts, np.logspace(-3, 1, 4))
        many = _by_eigenvectors(part, sums.counts, np.logspace(-3, 1, 4))
        np.testing.assert_allclose(few, many, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("groups", [None, [[0, 2], [1, 3]]])
def test_gradient_by_finite_differences(task, groups):
    bound = bind(*table(60, 4, task, 2), task, {"feature_groups": groups}, n_basis=20)
    weights = np.linspace(0.4, 1.3, bound.n_units)
    _, gradient = bound.value_and_gradient_at(weights, 0.9, 0.05)
    for unit in range(bound.n_units):
        step = np.zeros(bound.n_units)
        step[unit] = 1e-5
        up, _ = bound.value_and_gradient_at(weights + step, 0.9, 0.05)
        down, _ = bound.value_and_gradient_at(weights - step, 0.9, 0.05)
        assert gradient[unit] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-9)


def test_weight_zero_has_gradient_zero_and_leaves_the_column_out():
    X, y = table(50, 3, "regression", 3)
    value, gradient = bind(X, y).value_and_gradient_at(np.array([1.0, 0.0, 0.5]), 1.0, 0.1)
    without, _ = bind(X[:, [0, 2]], y).value_and_gradient_at(np.array([1.0, 0.5]), 1.0, 0.1)
    assert gradient[1] == 0
    assert value == pytest.approx(without, rel=1e-12)


def test_two_states_of_a_category_are_at_distance_one():
    import pandas as pd

    letters = np.array(list("abcabcabca"))
    y = np.arange(10.0)
    frame = pd.DataFrame({"x": pd.Categorical(letters)})
    own = bind(frame, y, "regression", centers=np.arange(10))
    value, _ = own.value_and_gradient_at(np.array([2.0]), 0.7, 0.1)
    codes = np.eye(3)[[ord(letter) - ord("a") for letter in letters]] * 2.0 * np.sqrt(0.5)
    expected = lsmi(codes, y, centers=np.arange(10), sigma=0.7, lam=0.1, task="regression").value
    assert value == pytest.approx(expected, rel=1e-12)


@given(
    st.integers(2, 120).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(1, 3), st.integers(0, 99), st.booleans())
    )
)
def test_median_distance_twin(case):
    n, m, seed, binary = case
    Z = np.random.default_rng(seed).normal(size=(n, m))
    Z = (Z > 0).astype(float) if binary else Z
    assert median_distance(Z) == pytest.approx(median_distance_by_sorting(Z), rel=1e-12, abs=0)


@pytest.mark.parametrize("n", [256, 257, 600])
def test_median_distance_over_several_blocks_of_rows(n):
    Z = np.random.default_rng(n).normal(size=(n, 3))
    assert median_distance(Z) == pytest.approx(median_distance_by_sorting(Z), rel=1e-12)


def test_tuning_walks_to_the_same_choice_as_the_whole_grid():
    X, y = table(150, 3, "classification", 4)
    bound = bind(X, y, n_basis=40)
    bound.tune(np.array([1.0, 0.2, 0.2]))
    nearby = np.array([1.0, 0.15, 0.2])
    bound.tune(nearby)
    fresh = bind(X, y, n_basis=40)
    fresh.tune(nearby)
    assert bound.chosen == fresh.chosen


# --- awkward tables ------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((12, 2)),
        np.repeat(np.arange(6.0), 2)[:, None] * np.ones(2),
        np.eye(12),
        np.c_[np.arange(12.0), 1e6 * np.arange(12.0)],
    ],
    ids=["constant", "duplicates", "wide", "scales"],
)
def test_never_nan(task, X):
    y = np.arange(12.0) if task == "regression" else np.arange(12) % 3
    bound = bind(X, y, task)
    assert np.isfinite(bound.scores()).all()
    value, gradient = bound.value_and_gradient(np.ones(X.shape[1]))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    sigma, lam = bound.chosen
    assert sigma > 0
    assert lam > 0


def test_median_of_zero_adds_no_width():
    X = np.zeros((20, 1))
    X[0] = 1.0
    sigmas = bind(X, np.arange(20.0) / 2).basis.candidate_sigmas(np.ones(1))
    assert len(sigmas) == 5
    assert (sigmas > 0).all()


def test_fewer_rows_than_folds_gives_fewer_folds():
    X, y = np.arange(3.0)[:, None], np.arange(3.0)
    bound = bind(X, y, "regression", cv=5)
    assert bound.basis.n_folds == 3
    assert np.isfinite(bound.value([0]))


def test_class_of_one_sample():
    y = np.r_[np.zeros(10), 1.0]
    assert np.isfinite(bind(np.arange(11.0)[:, None], y).value([0]))


@pytest.mark.parametrize(
    "params",
    [
        {"n_basis": 0},
        {"cv": 1},
        {"sigmas": [-1.0]},
        {"lambdas": [0.0]},
        {"sigmas": []},
        {"centers": "grid"},
        {"centers": [99]},
    ],
)
def test_refuses_impossible_parameters(params):
    with pytest.raises(InputError):
        bind(np.arange(6.0)[:, None], np.arange(6.0) / 2, **params).value([0])


# --- random choices ------------------------------------------------------------------------------


@given(st.integers(2, 60), st.integers(2, 6), st.integers(0, 99))
def test_folds_are_even_within_classes(n, n_folds, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n).astype(float)
    folds = stratified_folds(labels, n, n_folds, rng)
    for label in np.unique(labels):
        counts = np.bincount(folds[labels == label], minlength=n_folds)
        assert counts.max() - counts.min() <= 1


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
def test_center_rules_draw_distinct_rows(n, size, seed):
    size, rng = min(n, size), np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    for rows in (
        random_rows(n, size, rng),
        stratified_rows(X[:, 0], size, rng),
        spread_rows(X, size, rng),
    ):
        assert len(set(rows.tolist())) == size
        assert 0 <= rows.min() <= rows.max() < n


def test_stratified_centers_keep_the_shares():
    labels = np.repeat([0.0, 1.0], [90, 10])
    rows = stratified_rows(labels, 20, np.random.default_rng(0))
    assert labels[rows].sum() == 2


def test_a_seed_gives_the_same_value_again_and_others_differ():
    X, y = table(120, 2, "regression", 5)
    values = [bind(X, y, n_basis=10, random_state=s).value([0, 1]) for s in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


# --- MLMI ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_em_reaches_the_maximum(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.uniform(0.1, 1, (30, 6)), rng.uniform(0.2, 1, 6)
    alpha = solve_kliep(A, b, "em")
    assert b @ alpha == pytest.approx(1.0)
    assert mean_log(A @ alpha) == pytest.approx(kliep_by_scipy(A, b), abs=1e-6)
    assert mean_log(A @ alpha) >= mean_log(A @ solve_kliep(A, b, "authors")) - 1e-10


@given(
    n=st.integers(2, 60),
    n_centers=st.integers(1, 30),
    sigma=st.floats(0.01, 10),
    is_binary=st.booleans(),
    seed=st.integers(0, 999),
)
def test_no_direction_gains_at_the_maximum(n, n_centers, sigma, is_binary, seed):
    """Concave on a simplex: f* − f is at most the largest gain of a component, less 1."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n).astype(float) if is_binary else rng.normal(size=n)
    A = np.exp(-((x[:, None] - x[None, :n_centers]) ** 2) / (2 * sigma**2))
    A *= rng.random((n, 1)) < 0.9  # rows that no centre reaches do not count
    b = rng.uniform(0.3, 1, A.shape[1])
    alpha = solve_kliep(A, b, "em")
    ratio = (A @ alpha)[A.any(axis=1)]
    assert (alpha >= 0).all()
    assert b @ alpha == pytest.approx(1.0)
    assert (ratio > 0).all()
    if len(ratio):
        assert (A[A.any(axis=1)] / ratio[:, None] / b).mean(axis=0).max() <= 1 + 1e-6


@pytest.mark.parametrize("task", TASKS)
def test_mlmi_of_classes_and_numbers_is_at_the_maximum(task):
    """Classes are solved one by one; together they are one problem with b'α = 1."""
    X, y = table(60, 2, task, 6)
    own = MLMI(random_state=0, n_basis=25, sigmas=[0.7], scale_target=False)
    bound = own.bind(open_engine(X, y, Settings(task=task)))
    fitted = bound.fit([0, 1])
    rows = bound._rows.X
    squares = ((rows[:, None] - bound.basis.centers.X[None]) ** 2).sum(axis=2)
    ratio = bound._ratio(squares, 0.7)
    b = np.maximum(ratio.normaliser(ratio.all_rows), 1 / 60**2)
    assert b @ fitted.alpha == pytest.approx(1.0)
    assert fitted.value == pytest.approx(kliep_by_scipy(ratio.A, b), abs=1e-5)


def test_mlmi_prefers_a_width_that_reaches_the_held_out_rows():
    """Rows that no weight reaches are no reason to like a width."""
    X, y = table(80, 1, "regression", 7)
    bound = MLMI(random_state=0, n_basis=10, sigmas=[1e-3, 0.7]).bind(open_engine(X, y, Settings()))
    assert bound.fit([0]).sigma == 0.7


def test_mlmi_sees_dependence_and_chooses_a_width():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.sign(X[:, 0])
    bound = MLMI(random_state=0, n_basis=40, sigmas=[0.1, 0.3, 1.0]).bind(
        open_engine(X, y, Settings())
    )
    scores = bound.scores()
    assert scores[0] > 0.5 > 0.2 > scores[1]
    assert mlmi(X[:, 0], y, sigma=0.3, n_basis=40, random_state=0, solver="em").value > 0.5


def test_mlmi_refuses_an_unknown_solver_and_too_little_memory():
    engine = open_engine(np.arange(8.0)[:, None], np.arange(8.0) / 2, Settings())
    with pytest.raises(InputError, match="solver"):
        MLMI(solver="newton").bind(engine)
    small = open_engine(np.zeros((1000, 1)), np.arange(1000.0), Settings(memory_limit="1MB"))
    with pytest.raises(MemoryError, match="LSMI"):
        MLMI().bind(small)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_distance_from_zero_does_not_matter(offset):
    X, y = table(80, 2, "regression", 3)
    near = lsmi(X, y, random_state=0).value
    assert lsmi(X + offset, y - offset, random_state=0).value == pytest.approx(near, rel=1e-4)


@pytest.mark.parametrize("bounds", [[0, 8, 16, 24], [0, 7, 16, 24], [0, 0, 24, 24]])
def test_folds_of_a_basis_are_summed_apart(bounds):
    rng = np.random.default_rng(0)
    rows = Rows(np.empty((24, 0)), np.empty((24, 0)), np.array(bounds))
    phi, one, many = rng.random((24, 9))[:, 2:7], rng.random((24, 1)), rng.random((24, 5))
    grams = grams_by_fold(rows, phi)
    for f, fold in enumerate(rows.folds):
        np.testing.assert_allclose(grams[f], phi[fold].T @ phi[fold])
        for psi in (one, many):
            found = cross_by_fold(rows, phi, psi)[f]
            np.testing.assert_allclose(found, (phi[fold] * psi[fold]).sum(axis=0))


def test_functions_take_any_table():
    X, y = table(60, 2, "classification", 4)
    plain = lsmi(X, y, random_state=0).value
    assert lsmi(sparse.csr_array(X), y, random_state=0).value == pytest.approx(plain)
    frame = pd.DataFrame({"a": pd.Categorical(["u", "v", "w"] * 20), "b": X[:, 0]})
    assert np.isfinite(lsmi(frame, y, random_state=0).value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"centers": [0.5]}, "row numbers"),
        ({"centers": [True, False]}, "row numbers"),
        ({"sigma": 1e-200}, "a list of at least one number"),
        ({"X": np.empty((30, 0))}, "no columns"),
    ],
)
def test_impossible_arguments_get_one_sentence(change, words):
    X, y = table(30, 2, "classification", 5)
    with pytest.raises(InputError, match=words):
        lsmi(**{"X": X, "y": y, **change})


def test_authors_ascent_ends_quietly_where_steps_overflow():
    assert np.isfinite(mlmi(make_quad(100, random_state=0).data[:, 0], np.arange(100.0)).value)
    assert np.isfinite(mlmi([0.0, 1.0], [0.0, 1.0]).value)
