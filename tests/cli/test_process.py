"""``compare``, ``bench``, and the command line as a process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from featsieve import __version__
from featsieve.datasets import fetch
from tests.cli.sentences import assert_one_sentence
from tests.commands import run_tool

COMPARE = ("--target", "y", "-k", 2, "--folds", 3, "--samples", 2)


def test_compare_runs_each_method_once(run, csv):
    words = ("compare", csv, *COMPARE, "--methods", "pc,pearsonranking")
    code, out, _ = run(*words, "--format", "json")
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert (row["name"], row["columns"]) == ("PearsonRanking", ["c", "a"])
    assert 0 <= row["error"] < 1
    assert row["stability"]["low"] <= row["stability"]["value"]
    figures, ranks, words_below = run(*words)[1].split("\n\n")
    assert figures.split()[:5] == ["method", "error", "columns", "stability", "seconds"]
    assert ranks.splitlines()[0].split() == ["column", "votes", "PearsonRanking"]
    assert "each fold selects on its training rows alone" in words_below
    assert run(*words, "--format", "csv")[1].splitlines()[1].startswith("PearsonRanking,")


def test_compare_is_the_librarys_compare(run, csv):
    """One place for each thing: the command line's figures are those of the function."""
    from pyarrow.csv import read_csv

    from featsieve import JMI
    from featsieve.evaluation import compare

    frame = read_csv(csv).to_pandas()  # older pandas reads numbers with an error in the last digit
    selector = JMI(n_features_to_select=2)
    X, y = frame.drop(columns="y"), frame["y"]
    ours = compare(X, y, {"JMI": selector}, cv=3, n_bootstraps=2).as_dict()["rows"][0]
    out = run("compare", csv, *COMPARE, "--methods", "jmi", "--format", "json")[1]
    theirs = json.loads(out)["rows"][0]
    assert {**theirs, "seconds": 0} == {**ours, "seconds": 0}


def test_compare_draws_rows_and_says_so(run, csv):
    words = ("compare", csv, *COMPARE, "--methods", "pc", "--rows", 30, "--format", "json")
    code, out, err = run(*words)
    assert code == 0
    assert json.loads(out)["n_samples"] == 30
    assert "note: 30 of " in err


def test_compare_goes_on_where_it_was_stopped(run, csv, tmp_path):
    words = ("compare", csv, *COMPARE, "--methods", "pc,jmi", "--resume", tmp_path / "pieces")
    first = run(*words, "--format", "json")[1]
    n_lines = len((tmp_path / "pieces").read_text().splitlines())
    assert n_lines == 1 + 2 * (3 + 2 + 1)
    assert run(*words, "--format", "json")[1] == first
    assert len((tmp_path / "pieces").read_text().splitlines()) == n_lines


def test_compare_fails_if_all_methods_do(run, csv):
    code, out, err = run("compare", csv, *COMPARE, "--methods", "pc", "--memory-limit", "1KiB")
    assert (code, out) == (1, "")
    assert "featsieve: " in err


def test_compare_fits_narrow_terminals(run, csv, monkeypatch):
    words = ("compare", csv, *COMPARE, "--methods", "pc,lassoselector,jmi")
    for width, head in ((60, "column"), (46, "method")):
        for module in ("compare", "render"):
            monkeypatch.setattr(f"featsieve.cli.{module}.screen_width", lambda width=width: width)
        figures, ranks, below = (part.splitlines() for part in run(*words)[1].split("\n\n"))
        assert ranks[0].startswith(head)
        assert max(map(len, [*figures, *ranks, *below])) <= width


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
    for module in ("featsieve", "featsieve.cli"):
        assert run_tool("-m", module, "--version").stdout == f"featsieve {__version__}\n"


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


@pytest.mark.parametrize("closed", [1, 2])
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_closed_streams_are_no_error(csv, closed, form):
    code = (
        "import os, sys\n"
        f"os.close({closed})\n"
        "words = ['select', sys.argv[1], '--target', 'y', '--method', 'pc', '--format']\n"
        "words = [sys.executable, '-m', 'featsieve.cli', *words, sys.argv[2]]\n"
        "os.execv(sys.executable, words)\n"
    )
    done = run_tool("-c", code, str(csv), form)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
    assert bool(done.stdout) == (closed == 2)


@pytest.mark.parametrize("module", ["featsieve.cli.running", "featsieve.cli.select", "numpy"])
def test_ctrl_c_while_modules_are_imported_is_one_sentence(csv, module):
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == sys.argv[1]: raise KeyboardInterrupt\n"
        "from featsieve.cli import main\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "sys.exit(main(['select', sys.argv[2], '--target', 'y']))\n"
    )
    done = run_tool("-c", code, module, str(csv))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "featsieve: interrupted before a first answer was ready.\n"


def test_wine_is_the_wine_of_the_papers():
    assert fetch("wine").matches_paper


def test_nothing_is_imported_before_main():
    """So that Ctrl-C, which ``main`` answers in a sentence, hardly ever comes before it."""
    code = "import sys, featsieve.cli; print(*sorted(m for m in sys.modules if 'featsieve' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["featsieve", "featsieve.cli"]
