"""The benches of P-CMI's classification errors, on a small folder of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from featsieve.errors import InputError
from featsieve.evaluation.benches import p_cmi_fig4, p_cmi_table3
from featsieve.evaluation.benches._cmi_errors import METHODS, counts_for
from featsieve.evaluation.benches._frame import Request, run_bench
from featsieve.evaluation.benches._tables import read_table

CHEAP = ["MaxRel", "JMI", "Spectral", "SDP, plain", "TPower"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 13))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(13)])
    frame["x12"] = pd.Categorical(np.where(X[:, 12] > 0, "up", "down"))
    frame.loc[3, "x4"] = np.nan
    frame.assign(target=y).to_parquet(tmp_path / "toy.parquet")
    frame.assign(target=X[:, 0]).to_parquet(tmp_path / "regression.parquet")
    return tmp_path


def test_tables_name_every_method_and_set(folder, tmp_path):
    out = tmp_path / "table.md"
    text = run_bench(p_cmi_table3.BENCH, Request(folder, trials=3, methods=CHEAP, out=out))
    assert "| toy | 13 | 120 | 2 |" in text
    assert "regression" not in text.replace("regression.parquet", "")
    assert "TPower against the others" in text
    assert "optimistic" in text
    assert "Date:" in out.read_text()


def test_k_goes_in_steps_of_one_with_all_rows(folder):
    table = read_table(folder / "toy.parquet")
    assert counts_for(table, quick=False) == [10, 11, 12]
    assert {"SDP", "SDP, plain"} <= set(METHODS)


def test_curves_have_a_row_for_each_k(folder):
    request = Request(folder, trials=3, methods=CHEAP, datasets=["toy"])
    text = run_bench(p_cmi_fig4.BENCH, request)
    assert "| 10 |" in text
    assert "| k | MaxRel | JMI | Spectral | SDP, plain | TPower |" in text


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match="--data"):
        run_bench(p_cmi_table3.BENCH, Request())
    with pytest.raises(InputError, match=r"no NAME\.parquet"):
        run_bench(p_cmi_fig4.BENCH, Request(tmp_path))


def test_an_unknown_method_is_named(folder):
    with pytest.raises(InputError, match="there is no method 'nothing'"):
        run_bench(p_cmi_table3.BENCH, Request(folder, methods=["nothing"]))
