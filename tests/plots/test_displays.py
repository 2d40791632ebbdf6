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
from featsieve.evaluation.bands import BandMap
from featsieve.plots import (
    BandDisplay,
    CriticalDifferenceDisplay,
    EmbeddingDisplay,
    ErrorCurveDisplay,
    ManhattanDisplay,
    PairwiseDisplay,
    PathDisplay,
)
from featsieve.plots.canvas import short


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


def test_no_name_steers_a_terminal_or_lacks_a_glyph():
    assert short("a\x1b[31m\tb\n") == "a\\x1b[31m\\tb\\n"


def test_a_path_of_one_step_is_a_point():
    display = PathDisplay(np.array([0.5]), np.array([[0.2]]), ["a"], selected=[0]).plot()
    assert [line.get_marker() for line in display.ax_.lines] == ["o"]


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


@pytest.mark.parametrize("n_columns", [2, 5, 500, 20_000])
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


def test_names_of_tied_points_do_not_lie_on_each_other():
    pvalues = np.full(20_000, 0.5)
    pvalues[:50] = 0.001
    display = ManhattanDisplay(pvalues, [f"x{j}" for j in range(20_000)]).plot()
    assert [t.get_text() for t in display.ax_.texts] == ["x0"]


@pytest.mark.parametrize("n_columns", [5, 500, 20_000])
def test_a_path_of_many_columns_names_the_selected_ones_apart(n_columns):
    weights = np.zeros((n_columns, 4))
    weights[:, -1] = np.linspace(0, 1e-3, n_columns)
    weights[:3, -1] = 1.0
    display = PathDisplay(
        np.array([8.0, 4, 2, 1]), weights, [f"x{j}" for j in range(n_columns)], selected=[0, 1, 2]
    ).plot()
    assert len(display.ax_.lines) <= 403
    assert [t.get_text() for t in display.ax_.texts] == ["x0", "x1", "x2"]
    heights = sorted(t.get_position()[1] for t in display.ax_.texts)
    low, high = display.ax_.get_ylim()
    assert min(np.diff(heights)) >= 0.05 * (high - low)
    display.figure_.canvas.draw()


@pytest.mark.parametrize(("most", "scale"), [(5, "linear"), (500, "log"), (20_000, "log")])
def test_an_error_curve_over_few_and_many_columns(most, scale):
    counts = [1, 2, most]
    errors = {"A": [[0.4, 0.5], [0.3, 0.3], [0.2, 0.3]], "B": [[0.5], [0.4], [0.4]]}
    display = ErrorCurveDisplay.from_result(counts, errors)
    assert display.ax_.get_xscale() == scale
    assert all(tick == int(tick) for tick in display.ax_.get_xticks() if 1 <= tick <= most)
    assert [line.get_xdata().tolist() for line in display.ax_.lines] == [counts, counts]
    assert len(display.ax_.collections) == 2
    display.figure_.canvas.draw()


@pytest.mark.parametrize("n_columns", [500, 20_000])
def test_embedding_of_many_columns(n_columns):
    X, y = table(n_columns, n=30)
    selector = PearsonRanking(n_features_to_select=2).fit(X, y)
    display = EmbeddingDisplay.from_estimator(selector, X, y)
    assert display.axes_[0].get_title() == f"all {n_columns} columns"
    assert sum(len(c.get_offsets()) for c in display.axes_[1].collections) == 30


@pytest.mark.parametrize("n_edges", [5, 40])
def test_a_map_of_bands(n_edges):
    edges = np.linspace(2, 80, n_edges)
    values = np.random.default_rng(0).uniform(size=(n_edges, n_edges))
    display = BandDisplay.from_result(BandMap(edges=edges, values=values))
    drawn = display.mesh_.get_array()
    np.testing.assert_allclose(np.asarray(drawn).reshape(n_edges, n_edges), values.T)


@pytest.mark.parametrize("n_methods", [2, 5, 30])
def test_critical_difference_joins_what_does_not_differ(n_methods):
    rng = np.random.default_rng(0)
    base = np.linspace(0, 5, n_methods)
    errors = {f"m{j}": base[j] + rng.normal(size=12) for j in range(n_methods)}
    display = CriticalDifferenceDisplay.from_result(errors)
    names = [text.get_text().split(" ")[0] for text in display.ax_.texts]
    assert {name for name in names if name.startswith("m")} == set(errors)
    bars = [line for line in display.ax_.lines if line.get_linewidth() == 4]
    assert len(bars) == len(display.result.cliques())
    assert f"critical difference {display.result.critical_difference:.2f}" in [
        text.get_text() for text in display.ax_.texts
    ]
    display.figure_.canvas.draw()
