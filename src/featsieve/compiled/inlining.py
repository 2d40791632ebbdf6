"""How the parts of a kernel are compiled."""

from __future__ import annotations

from numba import njit

# A part becomes the kernel's own code before it is compiled. Compiled apart, it would be compiled
# twice, by itself and within the kernel, and a first fit waits for both.
part_of_kernel = njit(nogil=True, error_model="numpy", inline="always")
