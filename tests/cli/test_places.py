"""Files that a command writes: none of them is its own table, and each ends as it should."""

from __future__ import annotations

import pytest

from featsieve.io import write_table
from tests.cli.sentences import assert_one_sentence

SELECT = ("--target", "y", "--method", "pc", "-k", "1", "--permutations", "0")


@pytest.mark.parametrize("flag", ["--output", "--resume"])
@pytest.mark.parametrize("name", ["t.csv", "link.csv", "./t.csv"])
def test_the_table_is_not_overwritten(run, csv, monkeypatch, flag, name):
    monkeypatch.chdir(csv.parent)
    (csv.parent / "link.csv").symlink_to(csv)
    before = csv.read_bytes()
    code, out, err = run("select", csv, *SELECT, flag, name)
    assert (code, out) == (2, "")
    assert_one_sentence(err, f"{flag} {name} would overwrite the table that is read; give another")
    assert csv.read_bytes() == before


@pytest.mark.parametrize("what", [".", "*.parquet"])
def test_nothing_is_added_to_a_folder_that_is_read(run, tmp_path, table, what):
    write_table([table], tmp_path / "a.parquet", target="y")
    place = tmp_path / "new.parquet"
    code, _, err = run("select", tmp_path / what, *SELECT, "--output", place)
    assert code == 2
    assert_one_sentence(err, "would overwrite the table that is read")
    assert not place.exists()


@pytest.mark.parametrize("flag", ["--output", "--resume"])
def test_a_name_that_is_too_long(run, csv, flag):
    code, _, err = run("select", csv, *SELECT, flag, csv.parent / f"{'x' * 300}.csv")
    assert code == 1
    assert_one_sentence(err, "the name is too long; choose a shorter one")


def test_an_unknown_ending_is_wrong_usage(run, csv):
    code, _, err = run("select", csv, *SELECT, "--output", csv.parent / "out.foo")
    assert code == 2
    assert_one_sentence(err, "--output: 'out.foo' has no ending that tells its format")


def test_two_files_have_two_names(run, csv):
    place = csv.parent / "out.json"
    code, _, err = run("select", csv, *SELECT, "--output", place, "--resume", place)
    assert code == 2
    assert_one_sentence(err, "--output and --resume name the same file")


@pytest.mark.parametrize(
    ("flag", "name", "words"),
    [
        ("--report", "x.csv", "should end in .html; rename it"),
        ("--pipeline", "x.html", "should end in .py; rename it"),
        ("--output", "x.html", "has no ending that tells its format"),
        ("--output", "x.py", "has no ending that tells its format"),
    ],
)
def test_endings_are_looked_at_before_the_work(run, csv, flag, name, words):
    code, out, err = run("select", csv, *SELECT, flag, csv.parent / name)
    assert code in (1, 2)
    assert out == ""
    assert_one_sentence(err, words)
