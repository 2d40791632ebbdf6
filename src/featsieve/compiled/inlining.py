"""How kernels and their parts are compiled.

A first fit waits for every kernel that it meets, and not for its loops alone: each function gets a
door for Python and one for C, and a place in the cache. A kernel keeps the door for Python; what
only kernels call needs neither, and is kept within them. And the compiler makes so many objects
that Python looks for garbage again and again, and finds next to nothing.
"""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

from numba import njit
from numba.core import event

# No rewrites: numba looks through each function several times for array expressions, constants and
# branches that a None decides. Kernels are loops; the few that have such branches ask for rewrites.
# One error model: what numba looked up for a kernel counts only for kernels of the same options.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "no_cfunc_wrapper": True,
    "error_model": "numpy",
    "no_rewrites": True,
}
kernel = partial(njit, cache=True, **_OPTIONS)
# Inlined, whatever LLVM thinks of it: else a kernel that was just compiled would call the function
# by itself, one from the cache its own copy, whose sums may have another order, and the last digits
# of an answer would depend on what the cache holds.
called_by_kernels = partial(njit, no_cpython_wrapper=True, forceinline=True, **_OPTIONS)

# A part becomes the kernel's own code before it is compiled. Compiled apart, it would be compiled
# twice, by itself and within the kernel, and a first fit waits for both.
part_of_kernel = njit(nogil=True, error_model="numpy", inline="always")


class _NoGarbageCollection(event.Listener):
    """While a function is compiled; numba compiles one at a time, and those it calls within it."""

    def __init__(self) -> None:
        self._depth, self._was_enabled = 0, False

    def on_start(self, event: event.Event) -> None:
        if self._depth == 0:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._was_enabled:
            gc.enable()


event.register("numba:compile", _NoGarbageCollection())
