"""Judges, folds and sets of all sizes, against definitions that are slow and obvious."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge as SklearnRidge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor

from featsieve import BAHSIC, JMI, GlobalCMI, HSICLasso, PearsonRanking
from featsieve.input.boundary import Settings, open_engine
from featsieve.procedures.judging.judges import JUDGES, KernelRidge, Neighbors
from featsieve.procedures.judging.rows import Court, draw_rows, encoded, split_rows
from featsieve.procedures.judging.sizes import SetsBySize, nesting_of, sizes_up_to
from featsieve.schema import Dependence

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
Y = X[:, 1] + X[:, 4] ** 2 + 0.3 * RNG.normal(size=60)
CLASSES = np.where(np.median(Y) < Y, "high", "low")


def sample_of(X, y, most=1000, **parameters):
    return draw_rows(open_engine(X, y, Settings(takes_missing=True, **parameters)), 0, most)


def test_neighbours_are_those_of_scikit_learn():
    train, test = X[:40], X[40:]
    targets = np.stack([Y, Y**2], axis=1)[:40]
    expected = KNeighborsRegressor(5).fit(train, targets).predict(test)
    assert Neighbors().predict(train, targets, test, 0) == pytest.approx(expected)


def test_ridge_is_that_of_scikit_learn():
    train, test, targets = X[:40], X[40:], Y[:40, None]
    model = SklearnRidge(kernel="rbf", gamma=0.5 / 8, alpha=0.03)
    expected = model.fit(train, targets - targets.mean()).predict(test) + targets.mean()
    assert KernelRidge().predict(train, targets, test, 0) == pytest.approx(expected)


def test_without_columns_a_judge_guesses():
    none = np.array([], dtype=int)
    judges = [JUDGES["neighbors"], JUDGES["trees"]]
    sample = sample_of(X, Y)
    fold = split_rows(sample, 3, 0)[0]
    verdict = Court(sample, judges, 0).verdict(fold, none)
    guess = np.mean((Y[fold.test] - Y[fold.train].mean()) ** 2) / Y.var()
    assert verdict.errors.tolist() == verdict.losses.tolist() == pytest.approx([guess] * 2)
    classes = np.concatenate([["a"], CLASSES[1:]])  # the guess is the most frequent class
    sample = sample_of(X, classes)
    fold = split_rows(sample, 3, 0)[0]
    verdict = Court(sample, judges, 0).verdict(fold, none)
    states, counts = np.unique(classes[fold.train], return_counts=True)
    wrong = np.mean(classes[fold.test] != states[counts.argmax()])
    assert verdict.errors == pytest.approx([wrong] * 2)
    assert verdict.losses == pytest.approx([1.0] * 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(6, 40), st.integers(2, 5), st.integers(0, 5), st.booleans())
def test_folds_cover_every_row_once_and_are_balanced(n_rows, n_folds, seed, classes):
    y = np.arange(n_rows) % 2 if classes else np.arange(n_rows) ** 1.5
    sample = sample_of(np.arange(n_rows, dtype=float)[:, None], y)
    folds = split_rows(sample, n_folds, seed)
    tested = np.concatenate([fold.test for fold in folds])
    assert len(set(tested.tolist())) == len(tested)
    if len(folds) == n_folds:
        assert len(tested) == n_rows
    for fold in folds:
        assert set(fold.train) | set(fold.test) == set(range(n_rows))
        if classes:
            assert abs(y[fold.test].mean() - 0.5) <= 1 / len(fold.test) + 1e-12


@pytest.mark.parametrize("classes", [True, False])
def test_folds_keep_groups_and_time_order(classes):
    y = np.arange(60) % 2 if classes else np.arange(60) ** 1.5
    sample, groups = sample_of(np.arange(60.0)[:, None], y), np.repeat(np.arange(12), 5)[::-1]
    folds = split_rows(sample, 4, 0, Dependence(groups))
    assert len(folds) == 4
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(60))
    ahead = split_rows(sample, 4, 0, Dependence(in_order=True))
    assert [(len(fold.train), fold.test.tolist()) for fold in ahead] == [
        (len(train), test.tolist()) for train, test in TimeSeriesSplit(4).split(y)
    ]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("y", [Y, CLASSES, np.stack([Y, X[:, 0]], axis=1)], ids=["R", "C", "two"])
def test_an_error_is_that_of_the_predictions(judge, y):
    sample = sample_of(X, y)
    fold = split_rows(sample, 3, 0)[0]
    verdict = Court(sample, [JUDGES[judge]], 7).verdict(fold, np.array([4, 1]))
    train, test = encoded(sample, fold, np.array([1, 4]))
    if y is CLASSES:
        Y2 = np.eye(2)[np.unique(y, return_inverse=True)[1]]
    else:
        Y2 = np.asarray(y, dtype=float).reshape(60, -1)
        Y2 = (Y2 - Y2.mean(axis=0)) / Y2.std(axis=0)
    predicted = JUDGES[judge].predict(train, Y2[fold.train], test, 7)
    if y is CLASSES:
        expected = np.mean(predicted.argmax(axis=1) != Y2[fold.test].argmax(axis=1))
    else:
        expected = np.mean((predicted - Y2[fold.test]) ** 2)
    assert verdict.errors == pytest.approx([expected])


def test_missing_cells_and_categories_are_encoded_by_the_rows_that_learn():
    table = X.copy()
    table[3, 0] = np.nan
    table[:, 1] = np.arange(60) % 3
    sample = sample_of(table, Y, categorical_features=[1])
    fold = split_rows(sample, 3, 0)[0]
    train, test = encoded(sample, fold, np.array([0, 1]))
    assert train.shape[1] == 1 + 3
    assert np.isfinite(train).all()
    assert np.isfinite(test).all()
    known = table[fold.train, 0]
    known = known[np.isfinite(known)]
    row = int(np.flatnonzero(np.arange(60)[fold.test] != 3)[0])
    expected = (table[fold.test[row], 0] - known.mean()) / known.std()
    assert test[row, 0] == pytest.approx(expected)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("cell", [1e200, -1e308, 1e40])
def test_a_cell_far_beyond_all_that_was_learnt_is_only_far(judge, cell):
    """Trees compute in single precision, and the squares of distances may overflow."""
    table = X.copy()
    table[7] = cell
    sample = sample_of(table, Y)
    fold = next(fold for fold in split_rows(sample, 3, 0) if 7 in fold.test)
    train, test = encoded(sample, fold, np.arange(8))
    assert np.abs(test[fold.test == 7]).min() > 1e8
    assert np.sign(test[fold.test == 7, 0]) == np.sign(cell)
    near = encoded(sample_of(X, Y), fold, np.arange(8))
    np.testing.assert_array_equal(train, near[0])
    targets = Y[fold.train, None]
    assert np.isfinite(JUDGES[judge].predict(train, targets, test, 0)).all()


def test_a_class_missing_from_the_rows_that_learn_is_no_class_to_the_method():
    y = np.array([0, 1] * 29 + [2, 0])
    sample = sample_of(X, y)
    engine = sample.engine(np.flatnonzero(y != 2))
    assert engine.target.class_counts[0] == 2


def test_every_engine_draws_the_same_rows():
    memory = open_engine(X, Y, Settings())
    blocks = open_engine(X, Y, Settings(rows_per_block=16))
    assert (draw_rows(memory, 3, 20).rows == draw_rows(blocks, 3, 20).rows).all()
    assert len(draw_rows(memory, 3, 20).rows) == 20


def test_weights_follow_their_rows():
    weight = np.arange(60) + 1.0
    engine = open_engine(X, Y, Settings(rows_per_block=16), sample_weight=weight)
    sample = draw_rows(engine, 0, 30)
    assert (sample.weight == weight[sample.rows]).all()


@pytest.mark.parametrize(
    "selector",
    [PearsonRanking(), JMI(), BAHSIC(step=1), HSICLasso(), GlobalCMI(random_state=0)],
    ids=lambda s: type(s).__name__,
)
def test_sets_of_all_sizes_are_those_of_a_run_for_each(selector):
    engine = selector._scaled(open_engine(X, Y, Settings()))
    sets = SetsBySize(selector._procedure(), engine, 6)
    for size in (1, 2, 3, 6):
        expected = selector.set_params(n_features_to_select=size).fit(X, Y).indices_
        assert set(sets.units(size).tolist()) == set(expected.tolist()), size


def test_permutations_are_left_out():
    selector = PearsonRanking(n_permutations=10)
    assert nesting_of(selector._procedure()) == "growing"


def test_counts_end_at_all_units_or_at_fifty():
    assert sizes_up_to(1) == [1]
    assert sizes_up_to(9) == [1, 2, 3, 4, 5, 6, 8, 9]
    assert sizes_up_to(1000)[-1] == 50
