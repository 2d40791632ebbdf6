"""Code that does the same, completion, standard input, one method in full, spreadsheets."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from featsieve.cli.completion import bash
from tests.commands import run_tool


@pytest.mark.parametrize("method", ["pc", "mrmr", "l1lsmi", "hsiclasso"])
def test_the_pipeline_runs_as_it_stands_and_selects_the_same(
    run, tmp_path, csv, monkeypatch, method
):
    monkeypatch.chdir(tmp_path)
    words = ("select", "t.csv", "--target", "y", "-k", 2, "--method", method, "--format", "json")
    code, out, err = run(*words, "--pipeline", "model.py", "--permutations", 20)
    assert code == 0, err
    done = run_tool("model.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(eval(done.stdout)) == sorted(json.loads(out)["selected"])


def test_the_pipeline_of_a_messy_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=60), rng.normal(size=60)
    cells = [f"{v:.3f}".replace(".", ",") if j % 9 else "" for j, v in enumerate(a)]
    lines = [
        f"{x};{z};{'x' if v > 0 else 'z'};{j}"
        for j, (x, z, v) in enumerate(zip(cells, b, a, strict=True))
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a;b;y;row", *lines]))
    words = ("select", "t.csv", "--target", "y", "-k", 1, "--method", "pc", "--drop", "row")
    code, _, err = run(*words, "--pipeline", "model.py")
    assert code == 0, err
    done = run_tool("model.py", folder=tmp_path)
    assert done.stdout.strip() == "['a']", done.stderr


def test_the_pipeline_reads_the_file_as_the_command_did(run, tmp_path, monkeypatch):
    """Delimiter, encoding and header are part of it; no dataframe package is needed."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=60), rng.normal(size=60)
    kinds = np.where(a > 0, "süß", "herb")
    lines = [f"{x:.3f}|{z:.3f}|{kind}" for x, z, kind in zip(a, b, kinds, strict=True)]
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="cp1252")
    words = ("select", "t.txt", "--target", "X3", "--no-header", "--delimiter", "|", "-k", 1)
    words = (*words, "--encoding", "cp1252", "--method", "pc")
    code, _, err = run(*words, "--pipeline", "model.py")
    assert code == 0, err
    assert "pandas" not in (tmp_path / "model.py").read_text(encoding="utf-8")
    done = run_tool("model.py", folder=tmp_path)
    assert done.stdout.strip() == "['X1']", done.stderr


@pytest.mark.parametrize("ending", ["libsvm", "parquet"])
def test_the_pipeline_of_a_matrix_and_of_a_file_on_disk(run, tmp_path, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = (X[:, 1] > 0).astype(int)
    if ending == "libsvm":
        dump_svmlight_file(X, y, str(tmp_path / "t.libsvm"), zero_based=False)
    else:
        frame = pd.DataFrame(X, columns=[f"X{j}" for j in range(1, 7)])
        frame["kind"] = np.where(y > 0, "a", "b")
        frame.assign(target=y).to_parquet(tmp_path / "t.parquet")
    words = ("select", f"t.{ending}", "--target", "target", "-k", 2, "--method", "pc")
    words = (*words, "--memory-limit", "300KiB") if ending == "parquet" else words
    code, out, err = run(*words, "--format", "json", "--pipeline", "model.py")
    assert code == 0, err
    done = run_tool("model.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(eval(done.stdout)) == sorted(json.loads(out)["selected"])
    on_disk = "stays on the disk" in (tmp_path / "model.py").read_text(encoding="utf-8")
    assert on_disk == (ending == "parquet")


def test_standard_input_has_no_pipeline(run):
    code, _, err = run("select", "-", "--target", "y", "--pipeline", "model.py")
    assert code == 2
    assert "standard input cannot be read twice" in err


def complete(words):
    """What bash offers after these words."""
    script = f"{bash()}\nCOMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\n_featsieve\n"
    script += 'printf "%s\\n" "${COMPREPLY[@]}"'
    found = shutil.which("bash")
    if found is None:
        pytest.skip("bash is not installed")
    return subprocess.run(
        [found, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()


def test_bash_completes_commands_options_and_methods():
    assert complete(["featsieve", "sel"]) == ["select"]
    assert "--target" in complete(["featsieve", "select", "--"])
    assert complete(["featsieve", "select", "t.csv", "--method", "mr"]) == ["mrmr"]
    assert complete(["featsieve", "select", "--format", "j"]) == ["json"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script(run, shell):
    code, out, _ = run("completion", shell)
    assert code == 0
    assert "--max-time" in out or "-l max-time" in out


def test_standard_input(csv):
    done = subprocess_select(csv.read_bytes())
    assert json.loads(done.stdout)["selected"] == ["c"]


def subprocess_select(content: bytes):
    import os
    import sys

    from tests.commands import ROOT

    words = ["select", "-", "--target", "y", "-k", "1", "--method", "pc", "--format", "json"]
    return subprocess.run(
        [sys.executable, "-m", "featsieve.cli", *words],
        input=content,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def test_one_method_in_full(run):
    code, out, _ = run("methods", "bahsic")
    assert code == 0
    for words in (
        "sees: linear",
        "use it when",
        "cost: ",
        "score: ",
        "Song et al. 2007",
        "step = 0.1",
    ):
        assert words in out


def test_methods_come_by_family(run):
    _, out, _ = run("methods")
    assert out.index("\ninformation\n") < out.index("mrmr")
    assert "'featsieve methods NAME'" in out


def test_benches_say_what_they_show(run):
    _, out, _ = run("bench")
    assert all(len(line.split()) > 3 for line in out.splitlines()[2:])


def test_resume_takes_the_steps_of_the_last_run(run, csv, tmp_path):
    steps = tmp_path / "steps"
    words = ("select", csv, "--target", "y", "-k", 2, "--method", "fohsic", "--resume", steps)
    _, first, err = run(*words, "--format", "json")
    assert "resumed" not in err
    _, second, err = run(*words, "--format", "json")
    assert "steps were taken from" in err
    assert json.loads(first)["scores"] == json.loads(second)["scores"]
    _, _, err = run(*words[:-4], "--method", "hsiclasso", "--resume", tmp_path / "none")
    assert "--resume did nothing" in err


def test_the_seed_of_a_parameter_is_the_seed_of_the_answer(run, tmp_path, csv):
    words = ("select", csv, "--target", "y", "--method", "pc", "--format", "json")
    place = tmp_path / "model.py"
    _, out, _ = run(*words, "--param", "random_state=5", "--pipeline", place)
    assert json.loads(out)["seed"] == 5
    assert place.read_text(encoding="utf-8").count("random_state=5") == 2


def test_columns_of_a_group_share_their_p_values(run, csv):
    groups = "feature_groups={'left': ['a', 'b'], 'right': ['c', 'd']}"
    words = ("select", csv, "--target", "y", "--method", "pc", "--param", groups, "--all")
    code, out, err = run(*words, "--format", "csv", "--permutations", 50)
    assert code == 0, err
    rows = {row.split(",")[1]: row.split(",")[4:6] for row in out.splitlines()[1:]}
    assert rows["a"] == rows["b"]
    assert rows["c"] == rows["d"]


def test_a_closed_standard_input_is_one_sentence(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    code, _, err = run("select", "-", "--target", "y")
    assert (code, err.count("\n")) == (1, 1)
    assert "standard input is closed" in err
