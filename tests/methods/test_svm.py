"""SVMRFE, L0SVM, R2W2 and L1SVM: against scikit-learn, slow twins and the definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import L0SVM, L1SVM, R2W2, SVMRFE
from featsieve.datasets import make_binary_xor
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.procedures.svm import dual, rfe
from featsieve.runtime.progress import SILENT
from tests import reference
from tests.tables import FRAMES, mixed_columns

FAMILY = [SVMRFE, L0SVM, R2W2, L1SVM]
family = pytest.mark.parametrize("method", FAMILY)


@parametrize_with_checks([SVMRFE(), SVMRFE(step=0.5), L0SVM(), R2W2(), R2W2(kernel="linear")])
def test_scikit_learn_check(estimator, check):
    check(estimator)


# scikit-learn's checks have separable classes, where fewer columns than asked for have weights.
@pytest.mark.filterwarnings("ignore:L1SVM. . features have a coefficient:UserWarning")
@parametrize_with_checks([L1SVM()])
def test_scikit_learn_check_of_l1(estimator, check):
    check(estimator)


def make_classes(n_rows=60, n_columns=12, n_classes=2, seed=0, noise=0.7):
    """Columns 1, 3 and 5 decide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, 1] + X[:, 3] - X[:, 5] + noise * rng.normal(size=n_rows)
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, np.digitize(signal, cuts)


def expression_like(seed, n_rows=40, n_columns=300):
    """Few rows, many correlated columns of very different size."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) < n_rows // 3).astype(int)
    rng.shuffle(y)
    factors = rng.normal(size=(n_rows, 6)) @ rng.normal(size=(6, n_columns))
    X = np.exp(0.4 * (factors + rng.normal(size=(n_rows, n_columns)) + 0.5 * y[:, None]))
    return X * rng.uniform(0.1, 1000, n_columns), y


def selected(method, X, y, k, **params):
    return method(n_features_to_select=k, **params).fit(X, y).indices_.tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", [SVMRFE, L0SVM])
def test_threads_change_nothing(method, n_classes, monkeypatch):
    monkeypatch.setattr(rfe, "WORTH_A_THREAD", 0.0)
    X, y = make_classes(90, 30, n_classes)
    one, three = (method(n_features_to_select=5, n_jobs=n).fit(X, y) for n in (1, 3))
    assert one.scores_.tolist() == three.scores_.tolist()
    assert one.result_.order.tolist() == three.result_.order.tolist()
    assert one.result_.trace == three.result_.trace


@pytest.mark.parametrize("limit", [rfe.Solver(SILENT).limit, 40])
def test_removals_are_guessed_and_a_wrong_guess_or_another_limit_is_trained_again(
    monkeypatch, limit
):
    """With few steps allowed, machines do not converge, and the next ones get fewer."""
    monkeypatch.setattr(dual, "MOST_STEPS", limit)
    monkeypatch.setattr(dual, "FEWEST_STEPS", 5)
    monkeypatch.setattr(rfe, "WORTH_A_THREAD", 0.0)
    X, y = make_classes(60, 20)
    guesses = []
    drop = rfe.Machines.drop

    def counted(self, positions):
        had = bool(self._ahead)
        drop(self, positions)
        guesses.append((had, had and bool(self._ahead)))

    monkeypatch.setattr(rfe.Machines, "drop", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (SVMRFE(n_features_to_select=5, n_jobs=n).fit(X, y) for n in (1, 2))
    assert guesses[:19] == [(False, False)] * 19
    n_guesses, n_right = np.sum(guesses[19:], axis=0)
    assert 0 < n_right < n_guesses
    assert one.scores_.tolist() == two.scores_.tolist()
    assert one.result_.trace == two.result_.trace


# --- SVMRFE -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_that_of_scikit_learn(seed):
    X, y = expression_like(seed)
    theirs = RFE(SVC(kernel="linear"), n_features_to_select=1, step=1)
    theirs.fit(StandardScaler().fit_transform(X), y)
    ours = SVMRFE(n_features_to_select=1).fit(X, y)
    assert_array_equal(ours.ranking_, theirs.ranking_)


@pytest.mark.parametrize(("C", "k"), [(0.01, 1), (10.0, 4)])
def test_several_classes_and_no_scaling_as_scikit_learn(C, k):
    X, y = load_wine(return_X_y=True)
    X = X / np.abs(X).max(axis=0)
    theirs = RFE(SVC(kernel="linear", C=C), n_features_to_select=k, step=1).fit(X, y)
    ours = SVMRFE(C=C, n_features_to_select=k, standardize=False).fit(X, y)
    assert_array_equal(ours.ranking_, theirs.ranking_)


def test_a_count_of_several_removes_as_scikit_learn():
    X, y = expression_like(5)
    theirs = RFE(SVC(kernel="linear"), n_features_to_select=6, step=7)
    theirs.fit(StandardScaler().fit_transform(X), y)
    assert_array_equal(SVMRFE(step=7, n_features_to_select=6).fit(X, y).support_, theirs.support_)


def test_a_fraction_is_of_the_columns_left():
    """12, 5, 2 and 1 columns are trained on: a fraction f of m removes int(f m) + 1."""
    fitted = SVMRFE(step=0.5, n_features_to_select=1).fit(*make_classes())
    assert fitted.n_iter_ == len(fitted.result_.trace) == 4


def test_of_equal_columns_the_first_is_kept():
    X, y = make_classes()
    order = SVMRFE(n_features_to_select=1).fit(np.c_[X, X], y).result_.order.tolist()
    for column in range(12):
        assert order.index(column) < order.index(column + 12)


# --- L0SVM and R2W2 -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_l0_is_the_loop_of_the_paper(n_classes):
    X, y = make_classes(n_classes=n_classes, seed=3)
    factors = reference.l2_arom(StandardScaler().fit_transform(X), y, C=1.0, k=4)
    ours = L0SVM(n_features_to_select=4, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.scores_, factors, rtol=0, atol=1e-5)
    assert set(ours.indices_.tolist()) == set(np.argsort(-factors)[:4].tolist())


@pytest.mark.parametrize("seed", range(3))
def test_l0_finds_the_columns_of_a_sparse_rule_among_many(seed):
    X, y = make_classes(60, 400, seed=seed, noise=0.2)
    assert set(selected(L0SVM, X, y, 3)) == {1, 3, 5}


@pytest.mark.parametrize("seed", range(3))
def test_r2w2_with_a_gaussian_kernel_sees_an_interaction(seed):
    data = make_binary_xor(100, random_state=seed)
    assert set(selected(R2W2, data.data, data.target, 2)) == set(data.relevant)


def test_r2w2_lowers_the_bound_of_a_round():
    """Monotone within a round: the answer of one gradient step is no better than that of many."""
    X, y = make_classes(n_classes=3)
    few, many = (
        R2W2(n_features_to_select=12, max_iter=n).fit(X, y).result_.objective for n in (1, 20)
    )
    assert many < few


# --- L1SVM --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_exactly_k_columns_have_a_coefficient(n_classes, k):
    X, y = make_classes(200, 12, n_classes)
    fitted = L1SVM(n_features_to_select=k).fit(X, y)
    assert len(fitted.indices_) == k == np.count_nonzero(fitted.scores_)
    # The same C, given, finds the same columns by another way.
    again = L1SVM(C=fitted.C_).fit(X, y)
    assert set(again.indices_.tolist()) == set(fitted.indices_.tolist())


def test_a_given_cost_decides_the_count_and_a_count_caps_it():
    X, y = make_classes(200)
    fitted = L1SVM(C=0.1).fit(X, y)
    assert 3 < len(fitted.indices_) < 12
    capped = L1SVM(C=0.1, n_features_to_select=2).fit(X, y)
    assert capped.indices_.tolist() == fitted.indices_[:2].tolist()
    with pytest.warns(UserWarning, match="leaves every coefficient at 0, so .*; give a C above"):
        assert not L1SVM(C=1e-9).fit(X, y).support_.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_first_of_equal_columns_has_the_coefficient_of_all(n_classes):
    """Any share of it would be a minimum, and rounding would decide."""
    X, y = make_classes(n_classes=n_classes)
    X[:, 7], X[:, 9], X[:, 10] = 1000 * X[:, 3] + 5, -X[:, 3], X[:, 11]
    alone = L1SVM(C=1.0).fit(np.delete(X, [7, 9, 11], axis=1), y)
    chosen = L1SVM(C=1.0).fit(X, y)
    assert_allclose(np.delete(chosen.scores_, [7, 9, 11]), alone.scores_, rtol=1e-6)
    assert_array_equal(chosen.scores_[[7, 9, 11]], 0.0)


def test_equal_groups_are_copies_of_the_first():
    X, y = make_classes(n_columns=6)
    X[:, 4], X[:, 5] = X[:, 0], -X[:, 1]
    chosen = L1SVM(C=1.0, feature_groups={"a": [0, 1], "b": [4, 5], "c": [2, 3]}).fit(X, y)
    assert chosen.support_[:2].all()
    assert not chosen.support_[4:].any()


def test_where_the_path_ends_below_k_the_next_fill_up_and_a_warning_says_so():
    X, y = make_classes(20, 100)
    with pytest.warns(UserWarning, match="features have a coefficient at the largest C tried"):
        fitted = L1SVM(n_features_to_select=50).fit(X, y)
    assert len(fitted.indices_) == 50
    assert len(set(fitted.result_.order.tolist())) == 100


# --- all four -----------------------------------------------------------------------------------


@family
def test_relevant_columns_come_first(method):
    X, y = make_classes(150, noise=0.2)
    assert set(selected(method, X, y, 3)) == {1, 3, 5}


@family
@pytest.mark.parametrize("n_classes", [2, 3])
def test_neither_unit_nor_offset_nor_order_of_the_columns_matters(method, n_classes):
    X, y = make_classes(n_classes=n_classes)
    plain = selected(method, X, y, 4)
    assert selected(method, X * 2.0 ** np.linspace(-300, 300, 12).round(), y, 4) == plain
    assert selected(method, X * 10.0 ** np.linspace(-100, 100, 12) * 3 + 1e-110, y, 4) == plain
    order = np.random.default_rng(0).permutation(12)
    assert order[selected(method, X[:, order], y, 4)].tolist() == plain


@family
@pytest.mark.parametrize("unit", [1e-170, 1e-10, 1e10, 1e170])
def test_without_scaling_a_common_unit_only_changes_the_meaning_of_c(method, unit):
    X, y = make_classes(40, noise=2.0)
    fitted = method(n_features_to_select=3, standardize=False)
    expected = fitted.fit(X, y).indices_.tolist()
    if method is SVMRFE:  # C times the squared unit, where that is still a number
        if not 1e-15 < unit < 1e15:
            return
        fitted.set_params(C=unit**-2.0)
    assert fitted.fit(X * unit, y).indices_.tolist() == expected


@family
@pytest.mark.parametrize("frame", FRAMES)
def test_categories_and_groups_are_units(method, frame):
    columns = mixed_columns(80)
    y = np.array(columns.pop("target")) > 0.7
    groups = {"odd": ["noise", "flag"], "size": ["size"], "colour": ["colour"]}
    params = {"categorical_features": ["colour"], "feature_groups": groups}
    fitted = method(n_features_to_select=2, **params).fit(FRAMES[frame](columns), y)
    assert sorted(fitted.get_feature_names_out()) == ["colour", "size"]


@family
def test_two_states_count_exactly_as_a_number(method):
    X, y = make_classes(80)
    X[:, 1] = X[:, 1] > 0
    numbers = method(n_features_to_select=4).fit(X, y)
    states = method(n_features_to_select=4, categorical_features=[1]).fit(X, y)
    assert states.indices_.tolist() == numbers.indices_.tolist()
    np.testing.assert_allclose(states.scores_, numbers.scores_, rtol=1e-3, atol=1e-6)


@family
def test_several_outputs_and_sparse_input(method):
    X, y = make_classes(100)
    both = np.c_[y, np.digitize(X[:, 7], [-0.5, 0.5])]
    assert 7 in selected(method, X, both, 4)
    assert selected(method, sp.csr_array(X), y, 3) == selected(method, X, y, 3)


@family
@pytest.mark.parametrize(
    ("X", "y", "k"),
    [
        pytest.param([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]], ["a", "b"], 1, id="two rows"),
        pytest.param([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1], 1, id="one column"),
        pytest.param(np.eye(6)[:, [0, 0, 1, 1, 2]], [0, 0, 1, 1, 2, 3], 2, id="copies"),
        pytest.param(
            np.random.default_rng(0).normal(size=(9, 70)),
            np.arange(9),
            5,
            id="rows",
            marks=pytest.mark.filterwarnings("ignore:the target has a different integer"),
        ),
    ],
)
def test_small_and_odd_tables_get_k_columns(method, X, y, k):
    assert len(selected(method, np.asarray(X), y, k)) == k


@family
def test_constant_columns_come_last(method):
    X, y = make_classes(200, 6)
    table = np.c_[np.ones(200), X, np.full(200, 1e9)]
    with np.errstate(all="raise"):
        assert set(selected(method, table, y, 6)) == {1, 2, 3, 4, 5, 6}


@family
def test_a_table_of_constants_gets_the_first_columns(method, recwarn):
    assert selected(method, np.ones((10, 3)), [0, 1] * 5, 2) == [0, 1]
    assert len(recwarn) == (method is L1SVM)


@family
def test_regression_is_refused_with_what_takes_it(method):
    X, _ = make_classes()
    with pytest.raises(InputError, match="use LassoSelector or HSICLasso,"):
        method().fit(X, X[:, 0])


@family
@pytest.mark.parametrize("params", [{"C": 0}, {"C": "1"}, {"tol": 0}, {"tol": np.nan}])
def test_bad_parameters_get_one_sentence(method, params):
    with pytest.raises(InputError, match=r"not allowed; give a (finite )?number > 0"):
        method(**params).fit(*make_classes())


@pytest.mark.parametrize("params", [{"step": 0}, {"step": 1.0}, {"kernel": "poly"}])
def test_bad_choices_get_one_sentence(params):
    with pytest.raises(InputError, match=f"{next(iter(params))}=.* is not allowed; give"):
        R2W2(**params).fit(*make_classes())


@family
def test_memory_of_the_gram_matrix_counts(method):
    X, y = make_classes(600, 6)
    method(memory_limit=8 * 600 * 6 * 3 + 8 * 9 * 600**2).fit(X, y)
    if method is not L1SVM:  # it needs no Gram matrix
        with pytest.raises(MemoryBudgetError, match="a support vector machine on 600 rows"):
            method(memory_limit=8 * 600**2).fit(X, y)


@family
def test_a_time_limit_ends_with_k_columns(method):
    """The clock is read between pieces; whatever was reached, the answer is complete."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 400)), rng.integers(0, 2, 150)
    ticks = []
    fitted = method(n_features_to_select=200, max_time=0.05, callback=ticks.append)
    try:
        fitted.fit(X, y)
    except TimeoutError:
        return
    assert len(fitted.indices_) == 200
    assert fitted.result_.stop_reason in ("max_time", "completed")


@pytest.mark.parametrize("method", [SVMRFE, L0SVM])
def test_training_that_does_not_converge_is_a_warning_with_the_gap(method):
    X, y = make_classes(noise=9.0)
    with pytest.warns(UserWarning, match="did not converge .largest violation .*e.*, wanted"):
        fitted = method(C=1e9, n_features_to_select=2).fit(X, y)
    assert len(fitted.indices_) == 2


def test_an_l1_path_that_does_not_converge_is_a_warning_with_the_gap(monkeypatch):
    monkeypatch.setattr("featsieve.procedures.svm.sparse.MOST_ROUNDS", 1)
    X, y = make_classes(100, noise=0.0)
    with pytest.warns(UserWarning, match="did not converge .violation .*e.* of the penalty"):
        L1SVM(C=1e4, tol=1e-9).fit(X, y)
