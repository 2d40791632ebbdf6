"""The benches of P-LSMI: what they count, and that they run."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from featsieve.datasets import make_xor
from featsieve.errors import InputError
from featsieve.evaluation.benches import _table7_reasons
from featsieve.evaluation.benches import p_lsmi_fig1 as fig1
from featsieve.evaluation.benches import p_lsmi_table4 as table4
from featsieve.evaluation.benches import p_lsmi_table5 as table5
from featsieve.evaluation.benches import p_lsmi_table7 as table7
from featsieve.evaluation.benches._and_or import exact_forward_path, exact_smi
from featsieve.evaluation.benches._frame import Request, run_bench
from featsieve.evaluation.benches._lsmi_errors import METHODS
from featsieve.evaluation.benches._toy_rules import nan_rule_forward, nearest_k_lasso


def test_every_column_of_table_4_has_the_papers_figures():
    assert set(table4.COLUMNS) == set(table4.PAPER)
    assert all(len(figures) == len(table4.TOYS) for figures in table4.PAPER.values())
    assert len(table4.COLUMNS) * len(table4.TOYS) == 33


def test_a_column_may_be_named_by_the_paper_or_by_the_class():
    assert table4.chosen_columns(["f-lsmi"]) == table4.chosen_columns(["FLSMI"]) == ["F-LSMI"]
    assert "l1-LSMI" in table4.chosen_columns(None)
    with pytest.raises(InputError, match="Table 4"):
        table4.chosen_columns(["nothing"])


def test_table_4_runs_and_writes(tmp_path):
    out = tmp_path / "t.md"
    text = run_bench(table4.BENCH, Request(trials=1, methods=["PC", "mRMR"], out=out))
    assert text.count("| PC |") == 3
    assert "Command" in out.read_text()
    document = json.loads((tmp_path / "t.json").read_text())
    cell = document["comparisons"][0]
    assert {"ours", "paper", "deviation", "error", "verdict"} <= set(cell)
    assert {"command", "versions", "seeds", "date"} <= set(document)


def test_the_authors_rules():
    data = make_xor(200, random_state=0)
    assert len(nearest_k_lasso(data.data, data.target, 2)) <= 2
    # Columns 5 to 9 are unbalanced: with the authors' rule they have no value alone.
    firsts = {
        nan_rule_forward(make_xor(100, random_state=seed).data, data.target[:100], 1)[0]
        for seed in range(12)
    }
    assert firsts <= {0, 1, 2, 3, 4}
    assert nan_rule_forward(data.data[:, :2], data.target, 2) in ([0, 1], [1, 0])


def test_table_5_puts_the_true_set_first():
    values = table5.all_values(0)
    assert len(values) == 35
    ranked = sorted(values, key=lambda subset: -values[subset])
    assert ranked[0] == (0, 1, 2, 3)
    assert values[ranked[0]] - values[ranked[1]] > 0.08  # the paper: 0.496 against 0.392


def test_exact_smi_explains_forward_selection():
    assert exact_smi((7, 8)) > exact_smi((7, 0))
    assert exact_forward_path(4)[:3] == [7, 8, 9]
    assert "F = 0.25" in table4.forward_note("and-or")


# --- real data ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["text"] = pd.Categorical(rng.choice(["u", "v"], 90))
    frame.loc[3, "b"] = np.nan
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    frame.assign(target=y).to_parquet(tmp_path / "wine.parquet")
    frame.assign(target=X[:, 0]).to_parquet(tmp_path / "housing.parquet")
    frame.to_parquet(tmp_path / "untargeted.parquet")
    return tmp_path


def test_every_row_of_table_7_has_a_figure_per_method():
    assert all(len(figures) == len(METHODS) for figures in table7.PAPER.values())
    assert len(table7.PAPER) == 22


def test_table_7_says_that_it_is_optimistic_and_marks_the_best(folder, tmp_path):
    request = Request(folder, trials=3, methods=["PC", "mRMR"], out=tmp_path / "t7.md")
    text = run_bench(table7.BENCH, request)
    assert "optimistic" in text
    assert "| wine | " in text
    assert "untargeted" not in text
    document = json.loads((tmp_path / "t7.json").read_text())
    assert document["bold"]["wine"]
    assert document["protocol"] == "resubstitution (optimistic)"
    wine = [c for c in document["comparisons"] if (c["row"], c["column"]) == ("wine", "PC")]
    assert wine[0]["paper"] == 0.03
    assert wine[0]["n"] == 3


def test_on_small_sets_the_papers_figure_holds_the_luck_of_one_draw_of_folds():
    errors = [0.29, 0.31, 0.33]
    results = {("glass", "PC", str(i)): {"error": e} for i, e in enumerate(errors)}
    small, large = (table7._compared(results, "glass", "PC", small) for small in (True, False))
    assert small.paper_error == pytest.approx(np.std(errors, ddof=1))
    assert large.paper_error == 0.0
    assert (large.verdict, small.verdict) == ("level", "level")


def test_questioned_cells_are_judged_in_other_ways(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 9))
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(9)])
    frame.assign(target=(X[:, 1] > 0).astype(int)).to_parquet(tmp_path / "glass.parquet")
    grid = {"C": (1.0, 10.0), "widths": (0.5, 1.0)}
    monkeypatch.setattr(_table7_reasons, "GRID", grid)
    monkeypatch.setattr(
        _table7_reasons, "WAYS", {"here": (False, {}), "finer": (False, grid), "both": (True, grid)}
    )
    monkeypatch.setattr(_table7_reasons, "N_DRAWS", 2)
    request = Request(tmp_path, trials=2, methods=["PC"])
    text = run_bench(table7.BENCH, request)
    assert "judged in other ways" in text
    assert "| glass | PC | 0.29 | 0." in text
    assert "other ways" not in run_bench(
        table7.BENCH, Request(tmp_path, methods=["PC"], quick=True)
    )


def test_figure_1_has_a_curve_per_method(folder):
    request = Request(folder, trials=1, methods=["PC"], datasets=["wine"], quick=True)
    text = run_bench(fig1.BENCH, request)
    assert "| 1 |" in text
    assert "optimistic" in text
    with pytest.raises(InputError, match=r"no nosuch\.parquet"):
        run_bench(fig1.BENCH, Request(folder, datasets=["nosuch"]))
