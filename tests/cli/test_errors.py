"""Bad input and wrong usage: one sentence, the right code, nothing half-written."""

from __future__ import annotations

import errno
import json
import signal

import pytest

from featsieve import registry
from featsieve.cli import main
from featsieve.runtime import progress
from tests.cli import slow_method
from tests.cli.sentences import assert_one_sentence
from tests.cli.slow_method import METHOD as SLOW
from tests.commands import run_tool


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "t.csv is empty"),
        (b"a,y\n", "t.csv has names but no rows; give it at least two."),
        (b"a,y\n1,2\n", "t.csv has only one row"),
        (b"y\n1\n2\n", "t.csv has no column besides the target"),
        (b"a,y\n1,2\n3\n", "t.csv is ragged: row 3 has 1 cell where"),
        (b"a,y\n1,\0\n", "is not UTF-8"),
        (b"a,y,y\n1,2,3\n", "two columns named 'y', so the target is not known"),
        (b"a,z\n1,2\n3,4\n", "t.csv has no column 'y'; it has 'a', 'z'."),
        (b"a,y\n1,1\n2,1\n3,1\n", "nothing can depend on it"),
        (b"a,b,y", "t.csv has no row that ends after its first line; give it a header"),
        (b"a,y\n1,\n2,\n3,\n", "the target 'y' has fewer than two values; choose another."),
    ],
)
def test_bad_tables(run, tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    code, out, err = run("select", path, "--target", "y", "--method", "pc")
    assert (code, out) == (1, "")
    assert_one_sentence(err, words)


def test_missing_cells_name_the_column_and_the_count(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{j},{j % 3},{j}\n" for j in range(30)) + ",1,2\n")
    code, _, err = run("select", path, "--target", "y", "--method", "pc", "--missing", "refuse")
    assert code == 1
    assert "column 'a' has 1 missing (NaN) or infinite cells" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("selekt",), "invalid choice: 'selekt'"),
        (("select",), "the following arguments are required: FILE"),
        (("select", "f.csv", "-k", "0"), "'0' columns cannot be selected; give an integer"),
        (("select", "f.csv", "-k", "1.5"), "'1.5' columns cannot be selected"),
        (("select", "f.csv", "-k", "nan"), "'nan' columns cannot be selected"),
        (("select", "f.csv", "--method", "pq"), "there is no method 'pq'; did you mean pc?"),
        (("select", "f.csv", "--method", "mrmrr"), "no method 'mrmrr'; did you mean mrmr? ("),
        (("select", "f.csv", "--method", "!!"), "'featsieve methods' lists them"),
        (("select", "f.csv", "--seed", "-1"), "'-1' is not a possible seed; give an integer"),
        (("select", "f.csv", "--max-time", "0"), "'0' is not a time; give seconds > 0"),
        (("select", "f.csv", "--format", "xml"), "invalid choice: 'xml'"),
        (("select", "f.csv", "--param", "x"), "'x' is not NAME=VALUE"),
        (("select", "f.csv", "--delimiter", "ab"), "'ab' does not separate cells; give one"),
        (("compare", "f.csv", "--methods", ","), "give at least one name"),
        (("bench", "x", "--trials", "0"), "'0' is not a possible number"),
    ],
)
def test_wrong_usage_is_code_2_and_one_sentence(run, words, sentence):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert_one_sentence(err, sentence)
    assert "--help' shows what is possible" in err


def test_permutations_without_effect_are_said(run, csv):
    words = ("select", csv, "--target", "y", "--method", "mrmr", "-k", "2", "--permutations")
    code, _, err = run(*words, "10")
    assert code == 0
    assert "note: MRMR tests no columns, so --permutations has no effect." in err
    for more in (("0",), ("10", "--quiet")):
        assert "--permutations" not in run(*words, *more)[2]


def test_target_must_be_named(run, csv):
    code, _, err = run("select", csv)
    assert code == 1
    assert_one_sentence(err, "t.csv needs --target COL; its columns are 'a', 'b', 'c', 'd', 'y'.")


def test_nearest_target_and_nearest_file(run, csv):
    assert "did you mean 'y'?" in run("select", csv, "--target", "Y")[2]
    assert "did you mean 't.csv'?" in run("select", csv.with_name("tt.csv"), "--target", "y")[2]


def test_places_that_cannot_be_written_are_refused_before_the_work(run, csv, tmp_path):
    """What the name itself says is wrong usage; what is on the disk is not."""
    words = ("select", csv, "--target", "y", "--output")
    for place, expected, sentence in (
        (tmp_path / "no" / "out.csv", 1, "its folder does not exist"),
        (tmp_path, 1, "is a folder; give the name of a file in it"),
        (tmp_path / "out.csv.gz", 2, "would be compressed; write it without .gz"),
        (tmp_path / "out.csv.GZ", 2, "would be compressed; write it without .GZ"),
        (tmp_path / "out.docx", 2, "has no ending that tells its format"),
    ):
        code, out, err = run(*words, place)
        assert (code, out) == (expected, "")
        assert_one_sentence(err, sentence)


def test_full_disk_leaves_nothing_half_written(csv, tmp_path):
    """The kernel refuses to let any file grow: the same path as a full disk."""
    out = tmp_path / "out"
    out.mkdir()
    code = (
        "import resource, signal, sys\n"
        "from featsieve.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "words = ['select', sys.argv[1], '--target', 'y', '--method', 'pc']\n"
        "words += ['-k', '2', '--permutations', '0', '--quiet']\n"
        "assert main(words) == 0\n"  # compiled code is kept while files may still grow
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "for path in sys.argv[2:]:\n"
        "    assert main([*words, '--output', path]) == 1, path\n"
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


@pytest.fixture
def slow(monkeypatch):
    """A run in the background (nohup, some CI) ignores Ctrl-C until it is told to listen."""
    monkeypatch.setattr(registry, "METHODS", (*registry.METHODS, SLOW))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
def test_time_limit_shows_the_best_so_far(run, csv, monkeypatch):
    monkeypatch.setattr(slow_method.CLOCK, "now", 0.0)
    monkeypatch.setattr(progress, "perf_counter", lambda: slow_method.CLOCK.now)
    words = ("select", csv, "--target", "y", "-k", 4, "--method", "slowforward")
    code, out, err = run(*words, "--param", "late_after=1", "--max-time", "9", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert (found["stop_reason"], found["selected"]) == ("max_time", ["c"])
    assert "featsieve: the time limit was reached; this is the best answer so far." in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--memory-limit", "much"], "--memory-limit 'much' is not allowed; give a number of"),
        (["--jobs", "0"], "--jobs 0 is not allowed; give an integer from 1 to"),
        (["--seed", "4294967296"], "is not a possible seed; give an integer from 0 to 2**32 - 1"),
        (["--drop", "y"], "--drop y would leave out the target; drop other columns"),
        (["--delimiter", '"'], "does not separate cells; give one ASCII character"),
        (["--delimiter", "é"], "does not separate cells; give one ASCII character"),
        (["--fdr", "0"], "'0' is not a share; give a number above 0 and up to 1"),
        (["--fdr", "0.1", "--stability"], "--fdr and --stability are two kinds of guarantee"),
        (["--method", "pc", "--param", "foo=1"], "PearsonRanking has no parameter 'foo'"),
        (
            ["-k", "1", "--param", "n_features_to_select=2"],
            "-k 1 and --param n_features_to_select=2",
        ),
        (
            ["--jobs", "2", "--param", "n_jobs=1"],
            "--jobs 2 and --param n_jobs=1 set the same thing",
        ),
        (["-k", "bh", "--permutations", "0"], "-k bh counts by p-values, and --permutations 0"),
        (["--method", "mrmr", "-k", "bh"], "-k bh counts the columns whose adjusted p-values"),
    ],
)
def test_words_that_cannot_be_are_wrong_usage(run, csv, words, sentence):
    code, out, err = run("select", csv, "--target", "y", *words)
    assert (code, out) == (2, "")
    assert_one_sentence(err, sentence)


@pytest.mark.parametrize("encoding", ["base64", "rot13", "klingon"])
def test_encodings_that_are_not_of_text(run, csv, encoding):
    code, _, err = run("select", csv, "--target", "y", "--encoding", encoding)
    assert code == 1
    assert_one_sentence(err, f"the encoding '{encoding}' is not known; give one that Python knows")


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "the name of the file is empty"), ("*.csv", "patterns stand for Parquet files only")],
)
def test_names_that_are_no_file(run, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("select", name, "--target", "y")
    assert (code, out) == (1, "")
    assert_one_sentence(err, words)
