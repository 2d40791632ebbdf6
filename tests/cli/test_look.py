"""How it looks, and how a method is chosen."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pyarrow as pa
import pytest

from featsieve.cli.progress import Bar
from featsieve.cli.render import csv_text, screen_width, shorten, text_table, width_of
from featsieve.io import write_table
from featsieve.runtime.bar import render
from featsieve.runtime.progress import Progress


def test_names_cannot_steer_the_terminal(run, tmp_path):
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "red\x1b[31m", "列の名前", "y"]
    data = pa.table(dict(zip(names, rng.normal(size=(4, 50)), strict=True)))
    write_table([data], tmp_path / "t.parquet", target="y")
    words = (tmp_path / "t.parquet", "--target", "y", "-k", 3, "--method", "pc")
    code, out, _ = run("select", *words)
    assert code == 0
    assert "\x1b" not in out
    assert "red\\x1b[31m" in out
    assert "<script>alert(1)</script>" in out
    lines = out.splitlines()[:5]
    assert len({width_of(line) for line in lines}) == 1  # aligned, wide letters included
    found = run("select", *words, "--format", "json")[1]
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
    monkeypatch.setattr("featsieve.runtime.bar.FIRST", 0.0)
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


@pytest.mark.parametrize(
    ("stream", "keep", "shown"),
    [
        (Terminal, False, ["'=1+1", "\\x1b[31mred"]),
        (Terminal, True, ["=1+1", "\\x1b[31mred"]),
        (io.StringIO, False, ["'=1+1", "\x1b[31mred"]),
        (io.StringIO, True, ["=1+1", "\x1b[31mred"]),
    ],
)
def test_csv_of_strange_names(monkeypatch, stream, keep, shown):
    """Formulas are neutral unless they are to be kept; escapes are data where no terminal is."""
    monkeypatch.setattr(sys, "stdout", stream())
    assert csv_text([["=1+1", "\x1b[31mred"]], keep_formulas=keep).split(",") == shown
