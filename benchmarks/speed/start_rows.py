"""The first fit of a process, with an empty and with a filled cache of compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.frame import write_byte_code
from benchmarks.speed.row import Contest, Limit, Measured, Options, Row, Table

TABLE = Table()
METHODS = (
    "PearsonRanking",
    "MRMR",
    "MLMIRanking",
    "L1LSMI",
    "BAHSIC",
    "GlobalCMI",
    "AutoSelector",
)
SCRIPT = """
import sys, time, warnings
import numpy as np
import featsieve
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(100, 8))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
selector = getattr(featsieve, sys.argv[1])(n_features_to_select=2)
start = time.perf_counter()
selector.fit(X, y)
print(time.perf_counter() - start)
"""


def first_fit(method: str, cache: str) -> float:
    write_byte_code()
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    words = [sys.executable, "-c", SCRIPT, method]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def with_empty_cache(method: str, options: Options) -> Contest:
    def seconds() -> float:
        with tempfile.TemporaryDirectory() as cache:
            return first_fit(method, cache)

    return Contest(Measured(seconds), Limit(5.0), repeats=1, warm_up=0)


def with_filled_cache(method: str, options: Options) -> Contest:
    cache = tempfile.TemporaryDirectory()
    seconds = partial(first_fit, method, cache.name)
    return Contest(Measured(seconds), Limit(0.5), repeats=2, warm_up=1, close=cache.cleanup)


for method in METHODS:
    for what, peer, prepare in (
        ("empty", "5 s", with_empty_cache),
        ("filled", "0.5 s", with_filled_cache),
    ):
        name = f"first fit of {method}, {what} cache"
        TABLE.add(Row(name, peer, 1.0, partial(prepare, method)))
