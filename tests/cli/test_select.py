"""``demo``, ``methods``, ``select``: the answer, in every format."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featsieve import AutoSelector, PearsonRanking, __version__
from featsieve.io import read_table, write_table
from featsieve.io.reader import FORMATS
from tests.cli.sentences import assert_one_sentence

PC = ("--method", "pc")


def test_demo_finds_what_a_linear_ranking_misses(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("demo")
    assert code == 0
    votes = {line[:8].strip(): line[8:].split() for line in out.splitlines()[2:9]}
    assert {name for name, cells in votes.items() if cells[-1] != "–"} == {
        f"cause {j}" for j in (1, 2, 3, 4)
    }
    assert votes["echo 8"][1] != "–"
    assert "featsieve select FILE --target COL" in err
    assert "<h1>4 of 10 columns" in (tmp_path / "featsieve-demo.html").read_text("utf-8")


def test_demo_is_the_same_every_time_and_quiet_when_asked(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = (json.loads(run("demo", "--format", "json")[1]) for _ in range(2))
    assert first.pop("elapsed") > 0
    assert second.pop("elapsed") > 0
    assert first == second
    assert run("demo", "--quiet")[2] == ""


def test_methods_are_those_of_the_registry(run):
    code, out, _ = run("methods", "--format", "json")
    listed = {one["name"]: one["command"] for one in json.loads(out)}
    assert code == 0
    assert listed["PearsonRanking"] == "pc"
    assert "FeatureSelector" not in listed  # needs more than a file
    assert "mrmr" in run("methods")[1]
    assert run("methods", "--format", "csv")[1].startswith("name,class,family,measure,search")


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_select_gives_the_same_answer_for_every_format(run, tmp_path, table, kind):
    path = tmp_path / f"t{FORMATS[kind][0]}"
    write_table([table], path, target="y")
    apart = kind in {"libsvm", "npz"}
    target = [] if apart else ["--target", "y"]
    code, out, err = run("select", path, *target, "-k", 2, "--method", "pc", "--format", "json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["indices"] == [2, 0]
    assert found["selected"] == (["X3", "X1"] if kind == "libsvm" else ["c", "a"])
    expected = PearsonRanking(n_features_to_select=2).fit(table.drop_columns(["y"]), table["y"])
    np.testing.assert_allclose(found["scores"], expected.scores_[[2, 0]], rtol=1e-12)


def test_without_a_method_one_is_chosen_and_the_answer_says_why(run, tmp_path):
    rng = np.random.default_rng(0)
    data = pa.table({"a": [None, *rng.normal(size=49)], "b": range(50), "y": range(50)})
    write_table([data], tmp_path / "t.csv", target="y")
    words = ("select", tmp_path / "t.csv", "--target", "y", "-k", 1, "--format", "json")
    found = json.loads(run(*words, "--max-time", "600")[1])  # a busy machine has its time
    assert found["method"] == "AutoSelector"
    assert " won: loss " in found["reason"]
    assert found["selected"] == ["b"]


def test_json_has_what_the_contract_names(run, csv):
    out = run("select", csv, "--target", "y", "-k", 3, "--seed", 7, *PC, "--format", "json")[1]
    found = json.loads(out)
    wanted = "selected indices scores pvalues method params seed elapsed version stop_reason"
    assert set(wanted.split()) <= set(found)
    assert (found["seed"], found["version"], found["n_samples"]) == (7, __version__, 80)
    assert found["stop_reason"] == "completed"
    assert found["params"]["n_features_to_select"] == 3
    assert "callback" not in found["params"]
    assert len(found["columns"]) == 4
    assert [one["rank"] for one in found["columns"]] == [1, 2, 3, None]


def test_csv_output_and_all_columns(run, csv):
    chosen = run("select", csv, "--target", "y", "-k", 1, "--format", "csv", "--method", "pc")[1]
    assert chosen.splitlines()[0] == "rank,column,index,score,pvalue,adjusted,adds,selected"
    assert chosen.splitlines()[1].startswith("1,c,2,")
    everything = run("select", csv, "--target", "y", "-k", 1, *PC, "--format", "csv", "--all")[1]
    assert len(everything.splitlines()) == 5


def test_fraction_of_the_columns_and_more_than_there_are(run, csv):
    words = ("select", csv, "--target", "y", "--format", "json", "--method", "pc")
    assert len(json.loads(run(*words, "-k", "0.5")[1])["selected"]) == 2
    code, out, err = run(*words, "-k", 99)
    assert code == 0
    assert len(json.loads(out)["selected"]) == 4
    assert "note: n_features_to_select=99 is more than the 4 features there are" in err
    assert run(*words, "-k", 99, "--quiet")[2] == ""


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_output_holds_the_selected_columns_and_the_target(run, csv, tmp_path, kind):
    out = tmp_path / f"small{FORMATS[kind][0]}"
    words = ("select", csv, "--target", "y", "-k", 2, "--method", "pc", "--output", out)
    code, _, err = run(*words)
    assert (code, f"wrote {out}" in err) == (0, True)
    small = read_table(out)
    expected = {"libsvm": ("X1", "X2", "target"), "npz": ("a", "c", "target")}
    assert small.names == expected.get(kind, ("a", "c", "y"))
    assert small.n_rows == 80


def test_output_json_is_the_result(run, csv, tmp_path):
    out = tmp_path / "r.json"
    shown = run("select", csv, "--target", "y", *PC, "--format", "json", "--output", out)[1]
    assert json.loads(out.read_text()) == json.loads(shown)


def test_report_is_one_page_without_addresses(run, csv, tmp_path):
    page = tmp_path / "r.html"
    code, _, err = run(
        "select", csv, "--target", "y", "--method", "mrmr", "-k", 2, "--report", page
    )
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    assert "<h1>2 of 4 columns for" in text
    assert "http" not in text
    assert "load_table(" in text


def test_categorical_columns_are_one_unit_in_text_and_arff(run, tmp_path):
    rng = np.random.default_rng(1)
    kind = rng.choice(["u", "v", "w"], 90)
    data = pa.table({"n": rng.normal(size=90), "kind": kind, "y": (kind == "v") + 0.0})
    found = []
    for ending in ("csv", "arff", "parquet"):
        write_table([data], tmp_path / f"t.{ending}", target="y")
        words = ("--target", "y", "-k", 1, "--method", "pc", "--format", "json")
        found.append(json.loads(run("select", tmp_path / f"t.{ending}", *words)[1]))
    assert [one["selected"] for one in found] == [["kind"]] * 3
    assert found[0]["scores"] == found[1]["scores"] == found[2]["scores"]


def test_parquet_larger_than_the_limit_is_read_in_parts(run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 5))
    names = [f"c{j}" for j in range(5)]
    data = pa.table({**dict(zip(names, x.T, strict=True)), "y": x[:, 3] + rng.normal(size=20_000)})
    path, out = tmp_path / "big.parquet", tmp_path / "small.parquet"
    pq.write_table(data, path)
    words = ("select", path, "--target", "y", "-k", 1, "--format", "json")
    found = json.loads(run(*words, "--memory-limit", "1MB", "--output", out)[1])
    assert found["selected"] == ["c3"]
    assert found["method"] == "AutoSelector"
    assert pq.read_table(out).column_names == ["c3", "y"]
    assert pq.read_metadata(out).num_rows == 20_000
    in_parts = json.loads(run(*words, "--method", "pc", "--memory-limit", "1MB")[1])
    whole = json.loads(run(*words, "--method", "pc")[1])
    np.testing.assert_allclose(in_parts["scores"], whole["scores"], rtol=1e-12)


def test_drop_param_and_task(run, csv):
    words = ("select", csv, "--target", "y", "-k", 1, "--format", "json", "--method", "pc")
    assert json.loads(run(*words, "--drop", "c,b")[1])["selected"] == ["a"]
    assert json.loads(run(*words, "--task", "regression")[1])["task"] == "regression"
    found = json.loads(run(*words, "--param", "n_jobs=1")[1])
    assert found["params"]["n_jobs"] == 1
    code, _, err = run(*words, "--param", "colour=red")
    assert code == 2
    assert "PearsonRanking has no parameter 'colour'; it has allow_empty" in err


def test_file_without_header(run, tmp_path):
    path = tmp_path / "bare.csv"
    rows = [f"{j % 7},{j},{j * 2}" for j in range(30)]
    path.write_text("\n".join(rows) + "\n")
    code, _, err = run("select", path, "--target", "y")
    assert code == 1
    assert_one_sentence(err, "bare.csv holds only numbers, no names; if it has no header, add")
    path.write_text("\n".join(rows[1:]) + "\n")
    assert_one_sentence(run("select", path, "--target", "y")[2], "add --no-header")
    words = ("--no-header", "--target", "X3", "-k", 1, "--format", "json", "--method", "pc")
    assert json.loads(run("select", path, *words)[1])["selected"] == ["X2"]


def test_a_race_keeps_its_own_time_limit(run, csv):
    """None would mean no limit at all."""
    words = ("select", csv, "--target", "y", "-k", 1, "--format", "json")
    assert json.loads(run(*words)[1])["params"]["max_time"] == AutoSelector().max_time
    assert json.loads(run(*words, "--max-time", 20)[1])["params"]["max_time"] == 20
    assert json.loads(run(*words, "--method", "pc")[1])["params"]["max_time"] is None
