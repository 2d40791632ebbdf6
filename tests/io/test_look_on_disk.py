"""Parquet that stays on the disk is looked at and put right like a table in memory."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from featsieve.cli import main
from featsieve.io.load import Cleaning, clean
from featsieve.io.model import ReadOptions
from featsieve.io.reader import read_table

N = 3000
ON_DISK = "150KiB"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    frame["y"] = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    return frame


def answer(capsys, path, *words, limit=ON_DISK, code=0):
    words = ["select", str(path), "--target", "y", "-k", "2", "--method", "pc", *words]
    assert main([*words, "--memory-limit", limit, "--format", "json"]) == code
    out, err = capsys.readouterr()
    return (json.loads(out) if out else None), err


CASES = {
    "dates": ({"day": pd.date_range("2020", periods=N)}, "'day': dates were read as numbers"),
    "empty": ({"e": np.full(N, np.nan, dtype=object)}, "'e': no value at all; left out"),
    "constant": ({"k": np.ones(N)}, "'k': the same value in every row"),
    "copy": ({"copy of c": "c"}, "'copy of c' is a copy of 'c'"),
    "row number": ({"number": np.arange(N)}, "'number': a different value in every row"),
    "text id": ({"u": [f"u{j}" for j in range(N)]}, "'u': a different value in every row"),
    "states": ({"s": [f"s{j % 400}" for j in range(N)]}, "'s': more than 255 states"),
    "numbers": ({"n": [f"{j % 9},5" for j in range(N)]}, "would be read as numbers"),
    "spelling": ({"s": ["Yes", "yes"] * (N // 2)}, "would be taken as one state"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_seen_is_told(frame, tmp_path, capsys, case):
    columns, note = CASES[case]
    more = {name: frame[v] if isinstance(v, str) else v for name, v in columns.items()}
    frame.assign(**more).to_parquet(tmp_path / "t.parquet", row_group_size=1000)
    result, err = answer(capsys, tmp_path / "t.parquet")
    assert set(result["selected"]) == {"a", "b"}
    assert sum(note in one for one in result["notes"]) == 1
    assert note in err


def test_a_leak_and_a_rare_class_are_told(frame, tmp_path, capsys):
    rare = np.where(np.arange(N) % 500, frame["y"], "rare")
    frame.assign(y=rare, leak=rare).to_parquet(tmp_path / "t.parquet", row_group_size=1000)
    result, _ = answer(capsys, tmp_path / "t.parquet")
    notes = "\n".join(result["notes"])
    assert "'leak': tells the target exactly" in notes
    assert "the rarest of 3 classes has" in notes
    assert "the file stays on the disk; what follows was seen in" in notes


def test_rows_without_a_target_are_left_out(frame, tmp_path, capsys):
    y = frame["y"].where(np.arange(N) % 10 > 0)
    frame.assign(y=y, day=pd.date_range("2020", periods=N)).to_parquet(
        tmp_path / "t.parquet", row_group_size=1000
    )
    result, _ = answer(capsys, tmp_path / "t.parquet")
    inside, _ = answer(capsys, tmp_path / "t.parquet", "--permutations", "0", limit="1GiB")
    assert result["n_samples"] == inside["n_samples"] == N - N // 10
    assert result["selected"] == inside["selected"]
    assert np.allclose(result["scores"], inside["scores"], rtol=1e-12, atol=0)
    assert result["notes"][1].startswith(f"{N // 10} of {N} rows have no target")


def test_gaps_are_filled_in_as_the_file_is_read(frame, tmp_path, capsys):
    gaps = frame["a"].where(np.arange(N) % 50 > 0)
    text = pd.Series(["u", None, "v"] * (N // 3))
    frame.assign(a=gaps, text=text).to_parquet(tmp_path / "t.parquet", row_group_size=1000)
    result, err = answer(capsys, tmp_path / "t.parquet")
    inside, _ = answer(capsys, tmp_path / "t.parquet", "--permutations", "0", limit="1GiB")
    assert set(result["selected"]) == set(inside["selected"]) == {"a", "b"}
    assert np.allclose(sorted(result["scores"]), sorted(inside["scores"]), rtol=1e-3)
    assert "'a', 'text': missing or infinite cells are filled in" in err
    assert "missing" in answer(capsys, tmp_path / "t.parquet", "--missing", "refuse", code=1)[1]


@pytest.mark.parametrize(("words", "sentence"), [(["--strict"], "--strict refuses"), ([], "")])
def test_strict_refuses(frame, tmp_path, capsys, words, sentence):
    frame.assign(day=pd.date_range("2020", periods=N)).to_parquet(tmp_path / "t.parquet")
    code = 1 if words else 0
    assert sentence in answer(capsys, tmp_path / "t.parquet", *words, code=code)[1]


def test_a_repair_can_be_switched_off(frame, tmp_path, capsys):
    frame.assign(day=pd.date_range("2020", periods=N)).to_parquet(tmp_path / "t.parquet")
    _, err = answer(capsys, tmp_path / "t.parquet", "--no-fix", "dates", code=1)
    assert "dates are not numbers" in err


def test_too_many_classes_name_the_task(frame, tmp_path, capsys):
    frame.assign(y=[f"k{j}" for j in range(N)]).to_parquet(tmp_path / "t.parquet")
    _, err = answer(capsys, tmp_path / "t.parquet", code=1)
    assert "3000 distinct values in 3000 rows, too many for classes; give --task" in err


def test_batches_of_any_size_are_put_right_alike(frame, tmp_path):
    more = {"s": [f"s{j % 400}" for j in range(N)], "day": pd.date_range("2020", periods=N)}
    y = frame["y"].where(np.arange(N) % 10 > 0)
    frame.assign(**more, y=y).to_parquet(tmp_path / "t.parquet", row_group_size=700)
    table = read_table(tmp_path / "t.parquet", ReadOptions(memory_limit=ON_DISK))
    lazy = clean(table, "y", Cleaning())[0].lazy
    names = lazy.all_names
    wholes = []
    for rows in (17, 1000):
        batches = [batch.to_pandas() for batch in lazy.batches(names, rows, 1 << 20)]
        wholes.append(pd.concat(batches, ignore_index=True))
    pd.testing.assert_frame_equal(*wholes)
    assert wholes[0].shape == (lazy.shape[0], len(names)) == (2700, 7)
    assert wholes[0]["s"].nunique() == 101
