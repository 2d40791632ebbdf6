"""The benches of P-CMI's classification errors, on a small folder of their own."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve.errors import InputError
from featsieve.evaluation.benches import _cmi_errors, p_cmi_fig4, p_cmi_table3

CHEAP = ["MaxRel", "JMI", "Spectral", "TPower"]


@pytest.fixture
def folder(tmp_path):
    import pandas as pd

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
    text = p_cmi_table3.run(folder, trials=3, methods=CHEAP, out=out)
    assert "| toy | 13 | 120 | 2 |" in text
    assert "regression" not in text
    assert "TPower against the others" in text
    assert "Date:" in out.read_text()


def test_curves_have_a_row_for_each_k(folder):
    text = p_cmi_fig4.run(folder, trials=3, methods=CHEAP, datasets=["toy"])
    assert "| 10 |" in text
    assert "| k | MaxRel | JMI | Spectral | TPower |" in text


def test_decisions_are_those_of_most_k():
    low, high = np.array([1.0, 2.0, 1.5, 1.0]), np.array([9.0, 8.0, 9.5, 9.1])
    assert p_cmi_table3.decision({1: low, 2: low}, {1: high, 2: high}) == "w"
    assert p_cmi_table3.decision({1: high}, {1: low}) == "l"
    assert p_cmi_table3.decision({1: low, 2: low}, {1: low, 2: high}) == "t"


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match="--data"):
        p_cmi_table3.run(None)
    with pytest.raises(InputError, match="no classification set"):
        p_cmi_fig4.run(tmp_path)
    with pytest.raises(InputError, match="there is no method"):
        _cmi_errors.chosen_methods(["nothing"])
