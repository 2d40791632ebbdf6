"""The benches of P-L1INF and of the lecture, at a small size."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from featsieve.errors import InputError
from featsieve.evaluation.benches import _l1inf_reasons as reasons
from featsieve.evaluation.benches import p_l1inf_table1 as table1
from featsieve.evaluation.benches import p_lecture as lecture
from featsieve.evaluation.benches._frame import Request, run_bench


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    frame = pd.DataFrame(X, columns=list("abcde"))
    y = np.where(X[:, 0] + X[:, 3] > 0, "yes", "no")
    frame.assign(target=y).to_parquet(tmp_path / "wine.parquet")
    return tmp_path


def test_every_method_of_table_1_has_a_figure():
    assert all(len(figures) == len(table1.COLUMNS) for _, figures in table1.PAPER.values())


def test_table_1_shows_both_protocols_and_the_best_set(folder, tmp_path):
    request = Request(folder, methods=["LDFS", "LS"], trials=3, quick=True, out=tmp_path / "t.md")
    text = run_bench(table1.BENCH, request)
    assert "selection inside each fold" in text
    assert "optimistic: the columns were selected on the rows that judge them" in text
    assert "wine: columns 1, 4" in text
    document = json.loads((tmp_path / "t.json").read_text())
    assert document["comparisons"][0]["paper"] == 8.96
    with pytest.raises(InputError, match="there is no method 'pc'"):
        run_bench(table1.BENCH, Request(folder, methods=["pc"]))


def test_every_cell_says_what_else_was_measured(folder):
    request = Request(folder, methods=["LDFS"], trials=3)
    results = {cell.key: cell.work() for cell in table1.cells(request)}
    assert len(results["reasons", "wine", "LDFS"]["scales"]["[0, 1]"]) == 3
    cell = table1.report(request, results).comparisons[0]
    assert "columns scaled to [0, 1]:" in cell.note
    assert "The paper's figure is reached by:" in cell.note
    assert "The best set of that size, chosen with hindsight, has" in cell.note


def test_columns_that_are_not_noise_are_those_that_go_with_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 4] = X[:, 1] - X[:, 0] * 0.2
    assert reasons.related_columns(X).tolist() == [1, 4]
    y = (X[:, 1] > 0).astype(int)
    folds = [(np.arange(100), np.arange(100, 200))]
    assert reasons.judged_related(X, y, folds)["errors"][0] < 20
    assert reasons.criterion(X[:, [1]], y) > 10 * reasons.criterion(X[:, [2]], y)


def test_figures_have_the_papers_counts_and_the_tables():
    assert table1.counts_for("madelon", 500, quick=False) == [2, 4, 6, 8, 10]
    assert table1.counts_for("dexter", 20000, quick=False) == [2, 4, 6, 8, 10, 20]
    assert table1.counts_for("wine", 5, quick=True) == [2]


def test_the_lectures_conditions_hold_along_the_path(tmp_path):
    text = run_bench(lecture.BENCH, Request(trials=1, quick=True, out=tmp_path / "l.md"))
    assert "the solution satisfies the subgradient condition: holds" in text
    assert "piecewise linear in λ, which LAR follows: holds" in text
    figures = json.loads((tmp_path / "l.json").read_text())["figures"]
    assert [figure["name"] for figure in figures] == ["manhattan", "path", "mse"]


def test_the_residual_sees_a_wrong_path():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X[:, 0]
    zero = np.zeros((3, 1))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    largest = np.abs(scaled.T @ (y - y.mean())).max() / 50
    assert lecture.subgradient_residual(X, y, np.array([largest]), zero) < 1e-12
    assert lecture.subgradient_residual(X, y, np.array([largest / 2]), zero) > 0.9
