"""Greedy criteria of R's praznik and of FEAST, where they are installed."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.row import Measured, Skipped

PRAZNIK = """
library(praznik)
D <- read.csv(commandArgs(TRUE)[1], header=FALSE)
for (j in seq_along(D)) D[[j]] <- factor(D[[j]])
y <- D[[ncol(D)]]; X <- D[, -ncol(D)]
method <- get(commandArgs(TRUE)[2])
times <- sapply(1:6, function(i) {
  start <- Sys.time()
  suppressWarnings(method(X, y, as.integer(commandArgs(TRUE)[3]),
                          threads=as.integer(commandArgs(TRUE)[4])))
  as.numeric(Sys.time() - start, units="secs")
})
cat(min(times[-1]))
"""


def praznik(codes: Any, y: Any, method: str, k: int, threads: int) -> Measured:
    """The best of five calls within R, whose factors are made before the clock starts."""
    if shutil.which("Rscript") is None:
        raise Skipped("Rscript is not installed")
    folder = Path(tempfile.mkdtemp(prefix="featsieve-bench-"))
    np.savetxt(folder / "codes.csv", np.column_stack([codes, y]), fmt="%d", delimiter=",")
    (folder / "praznik.R").write_text(PRAZNIK)
    words = ["Rscript", str(folder / "praznik.R"), str(folder / "codes.csv"), method]
    return Measured(_once(lambda: _seconds_in_r([*words, str(k), str(threads)], folder)))


def _once(measure: Callable[[], float]) -> Callable[[], float]:
    known: list[float] = []

    def seconds() -> float:
        if not known:
            known.append(measure())
        return known[0]

    return seconds


def _seconds_in_r(words: list[str], folder: Path) -> float:
    done = subprocess.run(words, capture_output=True, text=True)
    shutil.rmtree(folder, ignore_errors=True)
    if done.returncode:
        raise Skipped("praznik is not installed in R, or too old for this method")
    return float(done.stdout.split()[-1])


def feast(codes: Any, y: Any, function: str, k: int) -> Callable[[], Any]:
    """A criterion of libFSToolbox; the environment variable FEAST may name the file."""
    name = os.environ.get("FEAST") or ctypes.util.find_library("FSToolbox")
    if name is None:
        raise Skipped("FEAST's library FSToolbox is not installed")
    select = getattr(ctypes.CDLL(name), function)
    n_rows, n_columns = codes.shape
    columns = [np.ascontiguousarray(column, dtype=np.uint32) for column in codes.T]
    pointers = (ctypes.c_void_p * n_columns)(*[column.ctypes.data for column in columns])
    classes = np.ascontiguousarray(y, dtype=np.uint32)
    chosen, scores = np.zeros(k, dtype=np.uint32), np.zeros(k)
    select.restype = ctypes.c_void_p
    kept = columns, classes, chosen, scores  # as long as the function may be called

    def run() -> Any:
        select(
            k,
            n_rows,
            n_columns,
            pointers,
            *(ctypes.c_void_p(array.ctypes.data) for array in (classes, chosen, scores)),
        )
        return kept[2]

    return run
