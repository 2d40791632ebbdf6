"""The named methods of the HSIC family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import BAHSIC, FOHSIC, HSFS, L1HSIC, FeatureSelector, HSICLasso, HSICRanking
from featsieve.datasets import make_quad, make_xor
from featsieve.errors import InputError
from featsieve.linalg.nonnegative_lar import nonnegative_lar
from featsieve.measures import HSIC
from featsieve.measures.hsic import tiles
from featsieve.measures.hsic.grams import centred
from featsieve.measures.hsic.hsic import seed_of
from featsieve.measures.hsic.tiles import GatheredRowPairs, RowStrip
from featsieve.runtime.progress import Monitor, TimeUp
from featsieve.searches import Exhaustive, Forward, L1Ball
from tests.reference import block_hsic_lasso_features, rbf_gram

FAMILY = [
    HSICRanking(),
    HSICRanking(bandwidth="dimension", criterion="kta", n_features_to_select=1),
    FOHSIC(),
    BAHSIC(),
    BAHSIC(kernel="laplace", bandwidth="median", step=1, estimator="biased"),
    L1HSIC(n_init=2, max_iter=10),
    HSICLasso(n_features_to_select=1),
    HSICLasso(n_features_to_select=1, n_blocks=2),
    HSICLasso(n_features_to_select=1, approximation="nystrom"),
]


@pytest.mark.filterwarnings("ignore:.* found .* features where:UserWarning")
@parametrize_with_checks(FAMILY)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("selector", [HSICRanking(), FOHSIC(step=1), BAHSIC(), HSICLasso()])
def test_quad_is_found(selector):
    data = make_quad(400, random_state=0)
    selector.set_params(n_features_to_select=2)
    selector.fit(data.data, data.target)
    assert sorted(selector.indices_.tolist()) == [0, 1]


@pytest.mark.parametrize("selector", [BAHSIC(), L1HSIC(n_init=3, random_state=0)])
def test_xor_is_found_by_those_who_see_interaction(selector):
    data = make_xor(300, random_state=1)
    selector.set_params(n_features_to_select=2)
    selector.fit(data.data, data.target)
    assert sorted(selector.indices_.tolist()) == [0, 1]
    assert selector.task_ == "classification"


def test_exhaustive_search_works_without_code_of_its_own():
    data = make_xor(100, random_state=0)
    selector = FeatureSelector(HSIC(), Exhaustive(), n_features_to_select=2)
    assert sorted(selector.fit(data.data, data.target).indices_.tolist()) == [0, 1]


def test_a_gram_matrix_as_target():
    data = make_quad(80, random_state=0)
    gram = rbf_gram(data.target[:, None], 1.0)
    with_gram = HSICRanking(target_kernel="precomputed").fit(data.data, gram)
    with_numbers = HSICRanking(target_kernel="rbf", target_bandwidth=1.0)
    np.testing.assert_allclose(
        with_gram.scores_, with_numbers.fit(data.data, data.target).scores_, rtol=1e-9
    )


def test_groups_are_kept_together_and_categories_count():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(120, 4)), rng.integers(0, 3, 120)]
    y = X[:, 0] * X[:, 2] + 2.0 * (X[:, 4] == 1)
    for selector in (BAHSIC(), HSICLasso(), L1HSIC(n_init=2, random_state=0)):
        selector.set_params(
            n_features_to_select=2, feature_groups=[[0, 2]], categorical_features=[4]
        )
        assert set(selector.fit(X, y).indices_.tolist()) == {0, 2, 4}


def test_l1hsic_keeps_its_weights():
    data = make_quad(150, random_state=0)
    selector = L1HSIC(n_features_to_select=2, n_init=2, random_state=0).fit(data.data, data.target)
    assert (np.flatnonzero(selector.weights_ > 1e-8) == np.flatnonzero(selector.support_)).all()
    assert selector.weights_.sum() <= selector.radius_ * (1 + 1e-9)
    again = L1HSIC(n_features_to_select=2, n_init=2, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(again.fit(data.data, data.target).weights_, selector.weights_)


def test_threads_that_help_a_restart_change_nothing(monkeypatch):
    monkeypatch.setattr(tiles, "WORTH_HELP", 1)
    monkeypatch.setattr(tiles, "TILE", 32)
    data = make_quad(150, random_state=0)
    one, two = (
        L1HSIC(n_features_to_select=2, n_init=3, random_state=0, n_jobs=n).fit(
            data.data, data.target
        )
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.result_.trace == two.result_.trace


def test_a_pass_with_help_looks_at_the_clock(monkeypatch):
    monkeypatch.setattr(tiles, "WORTH_HELP", 1)
    X = np.random.default_rng(0).normal(size=(1000, 2))
    strips = []
    monitor = Monitor(max_time=5.0, clock=lambda: float(len(strips)))
    pairs = GatheredRowPairs(RowStrip(0, X.T, X[:, :1]), 1000, 16, 2, monitor)
    with pytest.raises(TimeUp):
        pairs.alone().reduce_strips(lambda a, b: strips.append(a), np.arange(2))
    assert len(strips) < 10


@pytest.mark.parametrize("selector", [HSFS(random_state=0), BAHSIC(), HSICRanking()])
def test_pairs_of_rows_on_threads_change_nothing(selector):
    """Several tiles are one piece of work of a thread; their sums are added in the same order."""
    data = make_quad(1100, random_state=0)
    selector.set_params(n_features_to_select=2)
    one, two = (clone(selector).set_params(n_jobs=n).fit(data.data, data.target) for n in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)


def test_l1_ball_finds_the_same_columns_as_a_pair():
    """Labels ±1/m make values of 1e-5: the search works in units of the target kernel."""
    data = make_xor(200, random_state=0)
    pair = FeatureSelector(HSIC(), L1Ball(n_agree=2, random_state=0), n_features_to_select=2)
    assert sorted(pair.fit(data.data, data.target).indices_.tolist()) == [0, 1]
    labels = L1HSIC(target_kernel="bin", n_features_to_select=2, n_init=2, random_state=0)
    assert sorted(labels.fit(data.data, data.target).indices_.tolist()) == [0, 1]


def test_l1hsic_of_constant_columns_returns_the_number_asked_for():
    y = np.arange(30) % 2
    selector = L1HSIC(n_features_to_select=1, n_init=2, random_state=0).fit(np.ones((30, 5)), y)
    assert selector.indices_.tolist() == [0]


# --- engines --------------------------------------------------------------------------------------


def mixed_numbers(n=300):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(n, 4)), rng.integers(0, 3, n)]
    return X, X[:, 0] + X[:, 1] ** 2 + (X[:, 4] == 2)


@pytest.mark.parametrize(
    "selector",
    [HSICRanking(), BAHSIC(), FOHSIC(), HSICLasso(), L1HSIC(n_init=1, max_iter=10, random_state=0)],
    ids=lambda s: type(s).__name__,
)
def test_memory_streamed_blocks_and_dask_agree(selector):
    import dask.array as da

    X, y = mixed_numbers()
    selector.set_params(n_features_to_select=2, categorical_features=[4])
    whole = selector.fit(X, y).scores_.copy()
    order = selector.indices_.tolist()
    streamed = selector.set_params(memory_limit=20_000).fit(X, y)
    np.testing.assert_allclose(streamed.scores_, whole, rtol=1e-9, atol=1e-9)
    assert streamed.indices_.tolist() == order
    lazy = da.from_array(X, chunks=(90, 5))
    for limit in ("1GiB", 20_000):
        found = selector.set_params(memory_limit=limit).fit(lazy, da.from_array(y, chunks=90))
        np.testing.assert_allclose(found.scores_, whole, rtol=1e-9, atol=1e-9)
        assert found.indices_.tolist() == order


# --- HSIC Lasso -----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), together=st.integers(1, 4))
def test_lar_corners_are_lasso_solutions(seed, together):
    """At every corner: gradient equal to the penalty where β > 0, no larger elsewhere."""
    asked = []

    def gram_columns(chosen):
        assert len(chosen) <= together
        assert not set(chosen) & set(asked)
        asked.extend(chosen)
        return [A.T @ A[:, j] for j in chosen]

    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 8))
    A[:, 5] = A[:, 2]
    A /= np.linalg.norm(A, axis=0)
    b = A[:, :3] @ np.array([1.0, 0.7, 0.5]) + 0.3 * rng.normal(size=30)
    last = np.inf
    for point in nonnegative_lar(A.T @ b, gram_columns, 7, together=together):
        slack = A.T @ (b - A @ point.coefficients)
        assert point.penalty < last + 1e-12
        assert (point.coefficients >= -1e-12).all()
        assert (slack <= point.penalty + 1e-9).all()
        np.testing.assert_allclose(slack[list(point.active)], point.penalty, atol=1e-9)
        last = point.penalty


def test_lar_with_nothing_to_explain_gives_nothing():
    assert list(nonnegative_lar(np.array([-1.0, 0.0]), lambda chosen: np.eye(2)[chosen], 2)) == []


def test_hsic_lasso_solves_its_convex_problem():
    data = make_quad(60, random_state=3)
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    y = (data.target - data.target.mean()) / data.target.std()
    selector = HSICLasso(n_features_to_select=3).fit(data.data, data.target)
    grams = [centred(rbf_gram(X[:, [j]], 1.0)).ravel() for j in range(X.shape[1])]
    features = np.array([g / np.linalg.norm(g) for g in grams]).T
    target = centred(rbf_gram(y[:, None], 1.0)).ravel()
    alpha = selector.alphas_[-1] / len(target)
    solver = Lasso(alpha=alpha, positive=True, fit_intercept=False, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(selector.coef_, solver.fit(features, target).coef_, atol=1e-6)
    assert selector.coef_path_.shape == (len(selector.alphas_), X.shape[1])


def test_hsic_lasso_drops_a_copy():
    data = make_quad(150, random_state=0)
    X = np.c_[data.data[:, :2], data.data[:, 0], data.data[:, 2:]]
    selected = HSICLasso(n_features_to_select=2).fit(X, data.target).indices_.tolist()
    assert sorted(selected) == [0, 1]


def lasso_problem(n=60, seed=3):
    data = make_quad(n, random_state=seed)
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    return data, X, (data.target - data.target.mean()) / data.target.std()


@pytest.mark.parametrize(("n_blocks", "memory_limit"), [(4, "1GiB"), (4, 20_000), (7, "1GiB")])
def test_hsic_lasso_in_blocks_solves_the_problem_of_its_blocks(n_blocks, memory_limit):
    """Kept Gram matrices and tile sums alike; rows that fill no block are left out."""
    data, X, y = lasso_problem()
    selector = HSICLasso(
        n_features_to_select=3, n_blocks=n_blocks, random_state=0, memory_limit=memory_limit
    ).fit(data.data, data.target)
    seed = seed_of(0)
    size = 60 // n_blocks
    rows = np.random.default_rng(seed).permutation(60)[: size * n_blocks].reshape(n_blocks, size)
    features, target = block_hsic_lasso_features(X, y, rows, 1.0)
    np.testing.assert_allclose(
        selector.result_.extras["relevance"], features.T @ target, rtol=1e-9, atol=1e-9
    )
    alpha = selector.alphas_[-1] / len(target)
    solver = Lasso(alpha=alpha, positive=True, fit_intercept=False, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(selector.coef_, solver.fit(features, target).coef_, atol=1e-6)


def test_hsic_lasso_kept_grams_equal_tile_sums(monkeypatch):
    data, _, _ = lasso_problem()
    kept = HSICLasso(n_features_to_select=3).fit(data.data, data.target)
    monkeypatch.setattr("featsieve.procedures.hsic_lasso.can_store", lambda *given: False)
    summed = HSICLasso(n_features_to_select=3).fit(data.data, data.target)
    np.testing.assert_allclose(kept.coef_path_, summed.coef_path_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("classes", [False, True])
def test_hsic_lasso_by_landmarks_is_near_the_exact_one(classes):
    data, _, _ = lasso_problem(n=200)
    y = data.target > np.median(data.target) if classes else data.target
    X = np.c_[data.data, np.arange(200) % 3]
    options = {"n_features_to_select": 3, "categorical_features": [10], "feature_groups": [[4, 5]]}
    exact = HSICLasso(**options).fit(X, y)
    near = HSICLasso(approximation="nystrom", **options).fit(X, y)
    scale = exact.result_.extras["relevance"].max()
    np.testing.assert_allclose(
        near.result_.extras["relevance"], exact.result_.extras["relevance"], atol=1e-3 * scale
    )
    assert near.indices_.tolist() == exact.indices_.tolist()


def test_hsic_lasso_by_landmarks_is_the_same_on_every_engine():
    import dask.array as da

    X, y = mixed_numbers()
    selector = HSICLasso(n_features_to_select=2, approximation="nystrom", categorical_features=[4])
    coefficients = selector.fit(X, y).coef_
    lazy = selector.fit(da.from_array(X, chunks=(90, 5)), da.from_array(y, chunks=90))
    np.testing.assert_allclose(lazy.coef_, coefficients, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"n_blocks": 3}, {"approximation": "nystrom"}])
def test_hsic_lasso_of_constant_columns_finds_nothing_and_says_so(options):
    y = np.arange(12) / 3
    with pytest.warns(UserWarning, match="found 0 features where 1"):
        selector = HSICLasso(n_features_to_select=1, **options).fit(np.ones((12, 4)), y)
    assert selector.coef_path_.shape == (0, 4)
    assert selector.coef_.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("unit", [2.0**-900, 1e-300, 1e-160, 1e155, 1e300])
def test_the_unit_of_the_target_does_not_matter(unit):
    data = make_quad(60, random_state=0)
    for selector in (HSICLasso(), HSICRanking(), BAHSIC()):
        selector.set_params(n_features_to_select=2)
        scores = selector.fit(data.data, data.target).scores_.copy()
        np.testing.assert_allclose(
            selector.fit(data.data, data.target * unit).scores_, scores, rtol=1e-6, atol=1e-12
        )


@pytest.mark.parametrize("unit", [1e-9, 3.7, 2.0**20, 1e155])
@pytest.mark.parametrize("selector", [HSICRanking(), HSICLasso(), L1HSIC(random_state=0)])
def test_the_unit_does_not_matter_for_a_polynomial_of_the_target(selector, unit):
    data = make_quad(60, random_state=0)
    selector = clone(selector).set_params(n_features_to_select=2, target_kernel="poly")
    scores = selector.fit(data.data, data.target).scores_.copy()
    other = selector.fit(data.data, data.target * unit).scores_
    np.testing.assert_allclose(other, scores, rtol=1e-6, atol=1e-9 * np.abs(scores).max())


@pytest.mark.parametrize("unit", [1.0, 3.7, 1e-3, 1e200])
def test_columns_with_the_same_kernel_are_a_tie(unit):
    """Every row has a value of its own in every column, so that the delta kernel is the same."""
    data = make_quad(40, random_state=0)
    selector = HSICLasso(n_features_to_select=1, kernel="delta")
    assert selector.fit(data.data, data.target * unit).indices_.tolist() == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_blocks": 0}, "n_blocks=0 is not allowed; give an integer from 1 to 30"),
        ({"n_blocks": 31}, "give an integer from 1 to"),
        ({"n_blocks": True}, "n_blocks=True"),
        ({"n_blocks": 2, "approximation": "nystrom"}, "not both"),
        ({"approximation": "rff"}, "approximation='rff' is not allowed"),
        ({"approximation": "nystrom", "target_kernel": np.dot}, "finite features"),
        ({"kernel": "linear"}, "'rbf', 'laplace' or 'delta'"),
        ({"kernel": []}, r"^kernel=.* is not allowed; give "),
        ({"target_kernel": []}, r"^target_kernel=.* is not allowed; give "),
    ],
)
def test_hsic_lasso_refuses_in_one_sentence(options, message):
    data, _, _ = lasso_problem()
    with pytest.raises(InputError, match=message):
        HSICLasso(**options).fit(data.data, data.target)


def test_forward_selection_takes_one_column_per_round_by_default():
    """Two copies of the best column: one round takes one of them, and then a column that adds."""
    data = make_quad(150, random_state=0)
    X = np.c_[data.data[:, :2], data.data[:, 1], data.data[:, 2:]]
    forward = FOHSIC(n_features_to_select=3).fit(X, data.target)
    assert forward.step == 1
    assert len(forward.result_.trace) == 3
    greedy = FeatureSelector(HSIC(bandwidth="dimension"), Forward(), n_features_to_select=3)
    assert forward.indices_.tolist() == greedy.fit(X, data.target).indices_.tolist()


def test_degenerate_tables():
    rng = np.random.default_rng(0)
    X = np.c_[np.ones(12), rng.normal(size=(12, 30))]
    y = X[:, 3] + 0.1 * rng.normal(size=12)
    for selector in (HSICRanking(), BAHSIC(), FOHSIC(), HSICLasso()):
        selector.set_params(n_features_to_select=2)
        assert 0 not in selector.fit(X, y).indices_
    with pytest.raises(ValueError, match="at least 4 samples"):
        BAHSIC().fit(X[:3], y[:3])


@pytest.mark.filterwarnings("ignore:.* found .* features where:UserWarning")
@pytest.mark.parametrize(
    "selector",
    [
        HSICRanking(), FOHSIC(), BAHSIC(), L1HSIC(n_init=2, random_state=0), HSICLasso(),
        HSICLasso(n_blocks=20), HSICLasso(approximation="nystrom"), HSICRanking(bandwidth="median"),
    ],
    ids=str,
)  # fmt: skip
def test_the_clock_is_looked_at_between_small_pieces(selector, monkeypatch):
    """Counted in kernel evaluations of a piece, which does not depend on the machine."""
    pieces = []
    reduce_each = tiles.GatheredRowPairs.reduce_each

    def counted(self, fn, columns):
        pieces.append(self.width**2 * len(columns))
        return reduce_each(self, fn, columns)

    monkeypatch.setattr(tiles.GatheredRowPairs, "reduce_each", counted)
    monkeypatch.setattr(tiles, "TILE_EVALUATIONS", 1 << 14)
    X = np.random.default_rng(0).normal(size=(100, 30))
    selector.set_params(n_features_to_select=2).fit(X, X[:, 0] ** 2 + X[:, 1])
    assert max(pieces, default=0) <= 2 * 32**2 * 30  # with the base set, twice the columns


def test_a_deadline_ends_work_in_other_threads_a_moment_later():
    now = [0.0]
    monitor = Monitor(max_time=10.0, clock=lambda: now[0])
    deadline = monitor.silent(tiles.GRACE)
    now[0] = 10.1
    deadline.tick("tiles", 1, 2)
    now[0] = 10.6
    with pytest.raises(TimeUp):
        deadline.tick("tiles", 1, 2)


def test_of_two_equal_columns_the_first_is_kept():
    data = make_quad(100, random_state=0)
    X = data.data[:, [5, 1, 1, 6]]
    assert BAHSIC(n_features_to_select=1, step=1).fit(X, data.target).indices_.tolist() == [1]
