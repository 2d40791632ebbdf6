"""A small table on disk, and a way to run a command in this process."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from featsieve.cli import main
from featsieve.io import write_table


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
