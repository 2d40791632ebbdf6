"""``compare``, ``bench``, and the command line as a process."""

from __future__ import annotations

import json

import pytest

from featsieve import __version__
from featsieve.datasets import fetch
from tests.cli.sentences import assert_one_sentence
from tests.commands import run_tool


def test_compare_runs_each_method_once(run, csv):
    words = ("compare", csv, "--target", "y", "-k", 2, "--methods", "pc,pearsonranking")
    code, out, _ = run(*words, "--format", "json")
    assert code == 0
    assert [one["selected"] for one in json.loads(out)] == [["c", "a"]]
    assert run(*words)[1].splitlines()[0].split() == ["column", "votes", "PearsonRanking"]
    assert run(*words, "--format", "csv")[1].splitlines()[1].startswith("PearsonRanking,")


def test_compare_fits_narrow_terminals(run, csv, monkeypatch):
    words = ("compare", csv, "--target", "y", "-k", 2, "--methods", "pc,lassoselector")
    for width, head in ((50, "column"), (30, "method")):
        monkeypatch.setattr("featsieve.cli.compare.screen_width", lambda width=width: width)
        table = run(*words)[1].partition("\n\n")[0].splitlines()
        assert table[0].startswith(head)
        assert max(map(len, table)) <= width


@pytest.fixture
def benches(tmp_path, monkeypatch):
    folder = tmp_path / "toy_benches"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "p_toy.py").write_text(
        "from featsieve.evaluation.benches._frame import Bench\n"
        "from featsieve.evaluation.benches._report import Report\n"
        "def report(r, results):\n"
        "    words = f'{r.data_dir and r.data_dir.name} {r.trials} {r.methods} {r.quick} {r.out}'\n"
        "    return Report('toy', [words])\n"
        "BENCH = Bench('p-toy', lambda request: [], report)\n"
    )
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("featsieve.cli.bench.PACKAGE", "toy_benches")


@pytest.mark.usefixtures("benches")
def test_bench_finds_modules_and_hands_over_what_was_said(run, tmp_path):
    assert run("bench")[:2] == (0, "bench  what it shows\n-----  -------------\np-toy\n")
    words = ("--data", tmp_path, "--trials", 3, "--methods", "a,b", "--quick")
    out = run("bench", "p-toy", *words)[1]
    assert f"{tmp_path.name} 3 ['a', 'b'] True None\n" in out
    assert "Quick version" in out
    code, _, err = run("bench", "p-toi")
    assert code == 2
    assert_one_sentence(err, "there is no bench 'p-toi'; did you mean p-toy?")
    assert_one_sentence(run("bench", "p-toy", "--datasets", "x")[2], "takes no --datasets")
    assert_one_sentence(run("bench", "p-toy", "--data", "nowhere")[2], "is not a folder")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom featsieve.cli.parser import build_parser\n"
        "build_parser().parse_args(['select', 'f.csv', '--method', 'pc'])\n"
        "heavy = {'numpy', 'sklearn', 'scipy', 'pyarrow', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = run_tool("-c", code)
    assert done.returncode == 0, done.stderr


def test_process_writes_results_and_messages_apart(csv):
    words = ("-m", "featsieve.cli", "select", str(csv), "--target", "y", "--method", "pc")
    done = run_tool(*words, "--format", "json", PYTHONWARNINGS="error")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["selected"] == ["c", "a"]
    assert run_tool("-m", "featsieve.cli", "--version").stdout == f"featsieve {__version__}\n"


def test_narrow_letters_do_not_break_the_output(csv):
    words = ("-m", "featsieve.cli", "select", str(csv), "--target", "y", "--all", "--method", "pc")
    done = run_tool(*words, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0, done.stderr


def test_a_reader_that_goes_away_is_no_error(csv):
    code = (
        "import subprocess, sys\n"
        "words = ['select', sys.argv[1], '--target', 'y', '--method', 'pc']\n"
        "words = [sys.executable, '-m', 'featsieve.cli', *words]\n"
        "one = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "one.stdout.close()\n"
        "print(one.stderr.read().decode())\n"
        "sys.exit(one.wait())\n"
    )
    done = run_tool("-c", code, str(csv))
    assert (done.returncode, done.stdout.strip()) == (0, "")


def test_wine_is_the_wine_of_the_papers():
    assert fetch("wine").matches_paper
