"""Every display: what it draws, at few and at very many columns."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

from featsieve import HSFS, L1LSMI, LassoSelector, PearsonRanking
from featsieve.datasets import make_quad, make_sparse_linear
from featsieve.errors import InputError
from featsieve.plots import (
    EmbeddingDisplay,
    ErrorCurveDisplay,
    ManhattanDisplay,
    PairwiseDisplay,
    PathDisplay,
)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def table(n_columns, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_columns))
    return X, (X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


def ranking(n_columns, **options):
    return PearsonRanking(n_features_to_select=2, random_state=0, **options).fit(*table(n_columns))


@pytest.mark.parametrize("n_columns", [5, 500, 20_000])
def test_manhattan_marks_what_is_beyond_the_threshold(n_columns):
    display = ManhattanDisplay(np.full(n_columns, 0.5), [f"x{j}" for j in range(n_columns)])
    display.pvalues[1] = 1e-12
    display.plot()
    quiet, loud = display.ax_.collections[:2]
    assert len(quiet.get_offsets()) == n_columns - 1
    np.testing.assert_allclose(loud.get_offsets().data, [[1, 12]])
    assert [t.get_text() for t in display.ax_.texts] == ["x1"]
    display.figure_.canvas.draw()


def test_manhattan_needs_pvalues():
    with pytest.raises(InputError, match="set n_permutations and fit"):
        ManhattanDisplay.from_estimator(ranking(5))
    display = ManhattanDisplay.from_estimator(ranking(5, n_permutations=50))
    assert display.ax_.get_ylabel() == "−log10 p"


def test_names_are_never_mathematics():
    display = ManhattanDisplay(np.array([1e-9, 0.5]), ["$\\frac{a}$ <b>", "y" * 300]).plot()
    display.figure_.canvas.draw()  # a formula that is broken would raise


@pytest.mark.parametrize("n_columns", [5, 500])
def test_lasso_path_with_errors(n_columns):
    X, y = table(n_columns)
    selector = LassoSelector(n_features_to_select=2, task="regression", cv=3).fit(X, y + X[:, 0])
    display = PathDisplay.from_estimator(selector)
    assert len(display.axes_) == 2
    assert {t.get_text() for t in display.axes_[0].texts} == {f"x{j}" for j in selector.indices_}
    display.figure_.canvas.draw()


def test_radius_path_of_l1_lsmi():
    data = make_quad(100, random_state=0)
    selector = L1LSMI(n_features_to_select=2, n_init=2, random_state=0).fit(data.data, data.target)
    display = PathDisplay.from_estimator(selector)
    assert display.ax_.get_xlabel() == "radius"
    assert (np.diff(display.strength) >= 0).all()


def test_a_ranking_has_no_path():
    with pytest.raises(InputError, match="keeps no path"):
        PathDisplay.from_estimator(ranking(5))


@pytest.mark.parametrize("n_columns", [2, 5, 500])
def test_pairwise_map_puts_copies_side_by_side(n_columns):
    X, y = table(n_columns)
    X[:, -1] = X[:, 0]
    selector = PearsonRanking(n_features_to_select=1).fit(X, y)
    display = PairwiseDisplay.from_estimator(selector, X, y)
    names = [display.names[j] for j in display.order_]
    if {"x0", f"x{n_columns - 1}"} <= set(names):
        assert abs(names.index("x0") - names.index(f"x{n_columns - 1}")) == 1
    assert len(names) == min(n_columns, 60)
    display.figure_.canvas.draw()


def test_error_curve_of_a_selector():
    X, y = table(6)
    display = ErrorCurveDisplay.from_estimator(
        PearsonRanking(), X, y, model=LogisticRegression(), counts=[1, 3], cv=3
    )
    line = display.ax_.lines[0]
    assert line.get_xdata().tolist() == [1, 3]
    assert (line.get_ydata() < 0.4).all()
    assert len(display.ax_.collections) == 1


@pytest.mark.parametrize("many_classes", [False, True])
def test_embedding_side_by_side(many_classes):
    X, y = table(5)
    target = np.arange(60) % 20 if many_classes else np.where(y, "yes", "no")
    display = EmbeddingDisplay.from_estimator(ranking(5), X, target)
    assert [ax.get_title() for ax in display.axes_] == ["all 5 columns", "the 2 selected"]
    assert sum(len(c.get_offsets()) for c in display.axes_[0].collections) >= 60


def test_penalty_path_of_a_transformation():
    data = make_sparse_linear(60, n_features=8, n_relevant=2, random_state=0)
    selector = HSFS(n_features_to_select=2, random_state=0).fit(data.data, data.target)
    display = PathDisplay.from_estimator(selector)
    assert display.weights.shape == (8, len(selector.result_.path))
    assert display.ax_.get_xlabel() == "−log10 penalty"


def test_an_error_curve_says_in_its_plot_whether_it_is_optimistic():
    from featsieve.evaluation import error_curve

    options = {"counts": [1, 2], "judge": "knn", "cv": 3}
    nested = error_curve(*table(5), "pc", **options)
    assert ErrorCurveDisplay.from_result(nested).ax_.get_title().startswith("nested")
    again = error_curve(*table(5), "pc", protocol="resubstitution", **options)
    display = ErrorCurveDisplay.from_result(again)
    assert display.ax_.get_title().startswith("optimistic")
    assert display.ax_.get_ylabel() == "error rate"


def test_ranks_have_a_bar_over_what_cannot_be_told_apart():
    from featsieve.evaluation import average_ranks
    from featsieve.plots import RankDisplay

    rng = np.random.default_rng(0)
    test = average_ranks(rng.random((20, 5)) + np.arange(5), ["a", "b", "c$", "d", "e" * 40])
    display = RankDisplay.from_result(test)
    bars = [line for line in display.ax_.lines if line.get_linewidth() == 3]
    assert len(bars) == len(test.cliques())
    assert len(display.ax_.texts) == 5
    display.figure_.canvas.draw()
