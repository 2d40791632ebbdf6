"""Compiling looks for no garbage, and an answer does not depend on what the cache holds."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config
from numba.core import event

import featsieve.compiled
from featsieve.compiled.inlining import called_by_kernels, kernel

KERNELS = sorted(Path(featsieve.compiled.__file__).parent.glob("*.py"))
PRINT_SCORES = """
import numpy as np
from featsieve import LSMIRanking
X = np.random.default_rng(0).normal(size=(60, 4))
print(LSMIRanking(random_state=0).fit(X, X[:, 0] > 0).scores_.tobytes().hex())
"""


class Watch(event.Listener):
    def __init__(self):
        self.enabled = []

    def on_start(self, event):
        self.enabled.append(gc.isenabled())

    def on_end(self, event):
        pass


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("is_enabled", [True, False])
def test_no_garbage_is_collected_while_a_kernel_is_compiled(is_enabled):
    @called_by_kernels()
    def twice(x):
        return 2 * x

    @kernel(cache=False)
    def four_times(x):
        return twice(twice(x))

    before = gc.isenabled()
    (gc.enable if is_enabled else gc.disable)()
    try:
        with event.install_listener("numba:compile", Watch()) as watch:
            assert four_times(3) == 12
        assert watch.enabled == [False, False]
        assert gc.isenabled() == is_enabled
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_the_answer_is_that_of_an_empty_cache_bit_for_bit(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PRINT_SCORES]
    compiled, cached = (
        subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbc"))
    assert compiled == cached


def loose_kernels(tree):
    """Functions whose sums may be reordered, and which are compiled by themselves."""
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        for decorator in function.decorator_list:
            words = ast.unparse(decorator)
            if words.startswith("kernel(") and ("fastmath" in words or "**" in words):
                yield function.name


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_no_kernel_calls_another_one_whose_sums_may_be_reordered(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list
    ]
    called = {
        node.func.id
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & set(loose_kernels(tree))
