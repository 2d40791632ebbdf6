"""Compiling looks for no garbage, and leaves the collector as it was."""

from __future__ import annotations

import gc

import pytest
from numba import config
from numba.core import event

from featsieve.compiled.inlining import called_by_kernels, kernel


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
