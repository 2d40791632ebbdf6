"""The command line as a user and as a program meet it."""

from __future__ import annotations

import errno
import io
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featsieve import PearsonRanking, __version__, registry
from featsieve.cli import main
from featsieve.cli.choice import RULES, Shape, choose_method
from featsieve.cli.progress import Bar, render
from featsieve.cli.render import screen_width, shorten, text_table, width_of
from featsieve.datasets import fetch
from featsieve.progress import Progress
from featsieve.table import read_table, write_table
from featsieve.table.reader import FORMATS
from tests.commands import run_tool
from tests.slow_method import METHOD as SLOW


@pytest.fixture
def run(capsys):
    """Run a command: (exit code, standard output, standard error)."""

    def go(*words):
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code
        return (code, *capsys.readouterr())

    return go


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 4))
    y = 2 * x[:, 2] - x[:, 0] + 0.3 * rng.normal(size=80)
    return pa.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "d": x[:, 3], "y": y})


@pytest.fixture
def csv(tmp_path, table):
    write_table([table], tmp_path / "t.csv", target="y")
    return tmp_path / "t.csv"


# --- demo and methods -----------------------------------------------------------------------------


def test_demo_shows_the_best_columns_the_method_and_why(run):
    code, out, err = run("demo")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["rank", "column", "score"]
    assert [line.split()[0] for line in lines[2:7]] == ["1", "2", "3", "4", "5"]
    assert "5 of 13 columns for 'cultivar' (classification, 178 rows)" in out
    method, reason = choose_method(Shape(178, 13))
    assert f"method: {method} ({reason})" in out
    assert "featsieve select FILE --target COL" in err


def test_demo_is_the_same_every_time_and_quiet_when_asked(run):
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
    assert "PearsonRanking" in run("methods")[1]
    assert run("methods", "--format", "csv")[1].startswith("name,class,measure,search")


# --- select ---------------------------------------------------------------------------------------


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


def test_json_has_what_the_contract_names(run, csv):
    out = run("select", csv, "--target", "y", "-k", 3, "--seed", 7, "--format", "json")[1]
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
    assert chosen.splitlines()[0] == "rank,column,index,score,pvalue,selected"
    assert chosen.splitlines()[1].startswith("1,c,2,")
    everything = run("select", csv, "--target", "y", "-k", 1, "--format", "csv", "--all")[1]
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
    shown = run("select", csv, "--target", "y", "--format", "json", "--output", out)[1]
    assert json.loads(out.read_text()) == json.loads(shown)


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
    assert "larger than the memory limit" in found["reason"]
    assert pq.read_table(out).column_names == ["c3", "y"]
    assert pq.read_metadata(out).num_rows == 20_000
    whole = json.loads(run(*words, "--method", "pc")[1])
    np.testing.assert_allclose(found["scores"], whole["scores"], rtol=1e-12)


def test_drop_param_and_task(run, csv):
    words = ("select", csv, "--target", "y", "-k", 1, "--format", "json", "--method", "pc")
    assert json.loads(run(*words, "--drop", "c,b")[1])["selected"] == ["a"]
    assert json.loads(run(*words, "--task", "regression")[1])["task"] == "regression"
    found = json.loads(run(*words, "--param", "n_jobs=1")[1])
    assert found["params"]["n_jobs"] == 1
    code, _, err = run(*words, "--param", "colour=red")
    assert code == 1
    assert "PearsonRanking has no parameter 'colour'; it has callback" in err


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


# --- bad input: one sentence, the right code ------------------------------------------------------


def assert_one_sentence(err, words):
    assert err.startswith("featsieve: error: ")
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "t.csv is empty"),
        (b"a,y\n", "t.csv has names but no rows; give it at least two."),
        (b"a,y\n1,2\n", "n_samples = 1"),
        (b"y\n1\n2\n", "t.csv has no column besides the target"),
        (b"a,y\n1,2\n3\n", "t.csv is ragged: row 3 has 1 cells"),
        (b"a,y\n1,\xff\n", "is not UTF-8"),
        (b"a,a,y\n1,2,3\n", "two columns named 'a'"),
        (b"a,z\n1,2\n3,4\n", "t.csv has no column 'y'; it has 'a', 'z'."),
        (b"a,y\n1,1\n2,1\n3,1\n", "nothing can depend on it"),
        (b"a,y\n1,1\n2,\n3,1\n", "the target has 1 missing"),
        (b"a,y\n1,1\ninf,2\n3,1\n", "a"),
        (b"when,y\n2020-01-01,1\n2020-01-02,2\n", "column 'when' has dtype Date"),
    ],
)
def test_bad_tables(run, tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    code, out, err = run("select", path, "--target", "y")
    assert (code, out) == (1, "")
    assert_one_sentence(err, words)


def test_missing_cells_name_the_column_and_the_count(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{j},{j % 3},{j}\n" for j in range(30)) + ",1,2\n")
    code, _, err = run("select", path, "--target", "y", "--method", "pc")
    assert code == 1
    assert_one_sentence(err, "'a'")
    assert "1" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("selekt",), "invalid choice: 'selekt'"),
        (("select",), "the following arguments are required: FILE"),
        (("select", "f.csv", "-k", "0"), "'0' columns cannot be selected; give a whole number"),
        (("select", "f.csv", "-k", "1.5"), "'1.5' columns cannot be selected"),
        (("select", "f.csv", "-k", "nan"), "'nan' columns cannot be selected"),
        (("select", "f.csv", "--method", "pq"), "there is no method 'pq'; did you mean pc?"),
        (("select", "f.csv", "--method", "!!"), "'featsieve methods' lists them"),
        (("select", "f.csv", "--seed", "-1"), "'-1' is no possible seed; give a whole number"),
        (("select", "f.csv", "--max-time", "0"), "'0' is no time; give seconds above 0"),
        (("select", "f.csv", "--format", "xml"), "invalid choice: 'xml'"),
        (("select", "f.csv", "--param", "x"), "'x' is no NAME=VALUE"),
        (("select", "f.csv", "--delimiter", "ab"), "'ab' is no single character"),
        (("compare", "f.csv", "--methods", ","), "give at least one name"),
        (("bench", "x", "--trials", "0"), "'0' is no possible number"),
    ],
)
def test_wrong_usage_is_code_2_and_one_sentence(run, words, sentence):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert_one_sentence(err, sentence)
    assert "--help' shows what is possible" in err


def test_target_must_be_named(run, csv):
    code, _, err = run("select", csv)
    assert code == 1
    assert_one_sentence(err, "t.csv needs --target COL; its columns are 'a', 'b', 'c', 'd', 'y'.")


def test_nearest_target_and_nearest_file(run, csv):
    assert "did you mean 'y'?" in run("select", csv, "--target", "Y")[2]
    assert "did you mean 't.csv'?" in run("select", csv.with_name("tt.csv"), "--target", "y")[2]


def test_places_that_cannot_be_written_are_refused_before_the_work(run, csv, tmp_path):
    words = ("select", csv, "--target", "y", "--output")
    for place, sentence in (
        (tmp_path / "no" / "out.csv", "its folder does not exist"),
        (tmp_path, "has no ending that tells its format"),
        (tmp_path / "out.docx", "has no ending that tells its format"),
    ):
        code, out, err = run(*words, place)
        assert (code, out) == (1, "")
        assert_one_sentence(err, sentence)


def test_full_disk_leaves_nothing_half_written(csv, tmp_path):
    """The kernel refuses to let any file grow: the same path as a full disk."""
    out = tmp_path / "out"
    out.mkdir()
    code = (
        "import resource, signal, sys\n"
        "from featsieve.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "words = ['select', sys.argv[1], '--target', 'y', '--method', 'pc']\n"
        "words += ['-k', '2', '--permutations', '0', '--quiet', '--output']\n"
        "for path in sys.argv[2:]:\n"
        "    assert main([*words, path]) == 1, path\n"
    )
    paths = [str(out / f"o.{ending}") for ending in ("csv", "parquet", "arrow", "json", "npz")]
    done = run_tool("-B", "-c", code, str(csv), *paths)
    assert done.returncode == 0, done.stderr
    complaints = done.stderr.splitlines()
    for path, complaint in zip(paths, complaints, strict=True):
        assert f"error: cannot write {path!r}" in complaint
        assert "(nothing was written)" in complaint
    assert list(out.iterdir()) == []


def test_full_disk_elsewhere_is_said_too(run, csv, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("featsieve.cli.select.run_method", full)
    code, _, err = run("select", csv, "--target", "y")
    assert code == 1
    assert_one_sentence(err, "make room, or set NUMBA_CACHE_DIR and TMPDIR to another place")


def test_unexpected_errors_say_how_to_see_more(run, csv, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("odd")

    monkeypatch.setattr("featsieve.cli.select.run_method", broken)
    code, _, err = run("select", csv, "--target", "y")
    assert code == 1
    assert_one_sentence(err, "RuntimeError: odd (this should not happen; set FEATSIEVE_DEBUG=1")
    monkeypatch.setenv("FEATSIEVE_DEBUG", "1")
    with pytest.raises(RuntimeError, match="odd"):
        main(["select", str(csv), "--target", "y"])


# --- being stopped --------------------------------------------------------------------------------


@pytest.fixture
def slow(monkeypatch):
    monkeypatch.setattr(registry, "METHODS", (*registry.METHODS, SLOW))


@pytest.mark.usefixtures("slow")
def test_ctrl_c_shows_the_best_so_far(run, csv):
    words = ("select", csv, "--target", "y", "-k", 4, "--method", "slowforward")
    code, out, err = run(*words, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["stop_reason"] == "interrupted"
    assert found["selected"] == ["c", "a"]
    assert "featsieve: interrupted; this is the best answer so far." in err


@pytest.mark.usefixtures("slow")
def test_ctrl_c_before_any_answer_is_a_failure(run, csv):
    words = ("select", csv, "--target", "y", "-k", 4, "--method", "slowforward")
    code, out, err = run(*words, "--param", "interrupt_after=0")
    assert (code, out) == (1, "")
    assert "interrupted before a first answer was ready" in err


@pytest.mark.usefixtures("slow")
def test_time_limit_shows_the_best_so_far(run, csv):
    words = ("select", csv, "--target", "y", "-k", 4, "--method", "slowforward")
    code, out, err = run(*words, "--max-time", "0.000001", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert (found["stop_reason"], found["selected"]) == ("max_time", ["c"])
    assert "featsieve: the time limit was reached; this is the best answer so far." in err


# --- how it looks ---------------------------------------------------------------------------------


def test_names_cannot_steer_the_terminal(run, tmp_path):
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "red\x1b[31m", "列の名前", "y"]
    data = pa.table(dict(zip(names, rng.normal(size=(4, 50)), strict=True)))
    write_table([data], tmp_path / "t.parquet", target="y")
    code, out, _ = run("select", tmp_path / "t.parquet", "--target", "y", "-k", 3)
    assert code == 0
    assert "\x1b" not in out
    assert "red\\x1b[31m" in out
    assert "<script>alert(1)</script>" in out
    lines = out.splitlines()[:5]
    assert len({width_of(line) for line in lines}) == 1  # aligned, wide letters included
    found = run("select", tmp_path / "t.parquet", "--target", "y", "-k", 3, "--format", "json")[1]
    assert set(json.loads(found)["selected"]) == set(names[:3])


def test_tables_fit_narrow_terminals():
    rows = [["1", "a very long column name that does not fit", "0.1234"]]
    head = ["rank", "column", "score"]
    wide = text_table(head, rows, right="rlr", width=None, flexible=1)
    narrow = text_table(head, rows, right="rlr", width=40, flexible=1)
    assert "a very long column name that does not fit" in wide
    assert max(map(width_of, narrow.splitlines())) <= 40
    assert "…" in narrow
    assert width_of(shorten("列の名前はとても長い", 9)) <= 9


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_draws_on_terminals_only_and_wipes_itself(monkeypatch):
    monkeypatch.setattr("featsieve.cli.progress._FIRST", 0.0)
    for stream, quiet, drawn in (
        (Terminal(), False, True),
        (Terminal(), True, False),
        (io.StringIO(), False, False),
    ):
        with Bar(stream, quiet=quiet) as bar:
            bar(Progress("reading rows", 1, 2, 3.0))
        assert ("50%" in stream.getvalue()) is drawn
        if drawn:
            assert stream.getvalue().endswith("\r")
            assert stream.getvalue().rstrip("\r").endswith(" ")
    assert len(render(Progress("x" * 99, 1, 0, 0.0), 60)) == 60


def test_no_width_when_the_output_is_no_terminal(capsys, monkeypatch):
    assert screen_width() is None
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "57")
    assert screen_width() == 57


# --- the choice of a method -----------------------------------------------------------------------


def test_choice_goes_by_the_data_and_only_to_what_exists():
    everything = frozenset(name for rule in RULES for name in rule.methods)
    chosen = {
        shape: choose_method(shape, everything)[0]
        for shape in (
            Shape(200, 10),
            Shape(1000, 100),
            Shape(100_000, 1000),
            Shape(1000, 10**6),
            Shape(10**8, 10, on_disk=True),
            Shape(200, 10, has_missing=True),
        )
    }
    assert list(chosen.values()) == [
        "L1LSMI",
        "BAHSIC",
        "MRMR",
        "PearsonRanking",
        "PearsonRanking",
        "JMI",
    ]
    for shape in chosen:
        assert choose_method(shape, frozenset({"PearsonRanking"}))[0] == "PearsonRanking"
        assert choose_method(shape)[0] in {method.name for method in registry.METHODS}


# --- compare and bench ----------------------------------------------------------------------------


def test_compare_runs_each_method_once(run, csv):
    words = ("compare", csv, "--target", "y", "-k", 2, "--methods", "pc,pearsonranking")
    code, out, _ = run(*words, "--format", "json")
    assert code == 0
    assert [one["selected"] for one in json.loads(out)] == [["c", "a"]]
    assert run(*words)[1].splitlines()[0].split() == ["column", "votes", "PearsonRanking"]
    assert run(*words, "--format", "csv")[1].splitlines()[1].startswith("PearsonRanking,")


@pytest.fixture
def benches(tmp_path, monkeypatch):
    folder = tmp_path / "toy_benches"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "p_toy.py").write_text(
        "def run(data_dir, *, trials, methods, quick, out):\n"
        "    return f'{data_dir and data_dir.name} {trials} {methods} {quick} {out}'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("featsieve.cli.bench.PACKAGE", "toy_benches")


@pytest.mark.usefixtures("benches")
def test_bench_finds_modules_and_hands_over_what_was_said(run, tmp_path):
    assert run("bench")[:2] == (0, "p-toy\n")
    words = ("--data", tmp_path, "--trials", 3, "--methods", "a,b", "--quick")
    assert run("bench", "p-toy", *words)[1] == f"{tmp_path.name} 3 ['a', 'b'] True None\n"
    code, _, err = run("bench", "p-toi")
    assert code == 2
    assert_one_sentence(err, "there is no bench 'p-toi'; did you mean p-toy?")
    assert_one_sentence(run("bench", "p-toy", "--datasets", "x")[2], "takes no --datasets")
    assert_one_sentence(run("bench", "p-toy", "--data", "nowhere")[2], "is no folder")


# --- as a process ---------------------------------------------------------------------------------


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
    words = ("-m", "featsieve.cli", "select", str(csv), "--target", "y", "-k", "2")
    done = run_tool(*words, "--format", "json", PYTHONWARNINGS="error")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["selected"] == ["c", "a"]
    assert run_tool("-m", "featsieve.cli", "--version").stdout == f"featsieve {__version__}\n"


def test_narrow_letters_do_not_break_the_output(csv):
    words = ("-m", "featsieve.cli", "select", str(csv), "--target", "y", "--all")
    done = run_tool(*words, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0, done.stderr


def test_a_reader_that_goes_away_is_no_error(csv):
    code = (
        "import subprocess, sys\n"
        "words = [sys.executable, '-m', 'featsieve.cli', 'select', sys.argv[1], '--target', 'y']\n"
        "one = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "one.stdout.close()\n"
        "print(one.stderr.read().decode())\n"
        "sys.exit(one.wait())\n"
    )
    done = run_tool("-c", code, str(csv))
    assert (done.returncode, done.stdout.strip()) == (0, "")


def test_wine_of_the_demo_is_the_papers_wine():
    assert fetch("wine").matches_paper
