"""Triangles and positive definite systems without Python's lock, for threads side by side.

SciPy's Python functions hold the lock while BLAS or LAPACK computes. It opens the same routines to
Cython; called by their address they let other threads run. The matrices here are symmetric or
triangular, so rows take the place of columns.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from featsieve.linalg.aliases import FloatArray

# A small number in 64 bits begins with the same number in 32, so either build of LAPACK reads it.
_Integer = ctypes.c_int64 if sys.byteorder == "little" else ctypes.c_int
_LEFT = _LOWER = ctypes.c_char(b"L")
_AS_IT_IS = _NOT_UNIT = ctypes.c_char(b"N")
_ONE = ctypes.c_double(1.0)


def factor_in_place(K: FloatArray) -> None:
    """The upper triangle of K becomes L' of K = L L'; the rest stays as it is."""
    n = _Integer(len(K))
    _call("dpotrf", _LOWER, n, K, n)


def solve_in_place(factor: FloatArray, right: FloatArray) -> None:
    """Each row of ``right`` becomes the solution x of K x = row, by L' from above."""
    n = _Integer(len(factor))
    _call("dpotrs", _LOWER, n, _Integer(len(right)), factor, n, right, n)


def invert_in_place(factor: FloatArray) -> None:
    """L' becomes its inverse; the squares in row i of that add up to element i, i of K⁻¹."""
    n = _Integer(len(factor))
    _call("dtrtri", _LOWER, _NOT_UNIT, n, factor, n)


def multiply_in_place(rows: FloatArray, factor: FloatArray) -> None:
    """Each row becomes row · L', where L' lies in the upper triangle of ``factor``."""
    n = _Integer(len(factor))
    shape = _LEFT, _LOWER, _AS_IT_IS, _NOT_UNIT, n, _Integer(len(rows))
    _routine("cython_blas", "dtrmm")(*map(_pointer, (*shape, _ONE, factor, n, rows, n)))


def _call(name: str, *arguments: Any) -> None:
    info = _Integer(0)
    _routine("cython_lapack", name)(*map(_pointer, (*arguments, info)))
    if info.value:
        raise np.linalg.LinAlgError(f"{name} of LAPACK stopped with code {info.value}.")


def _pointer(argument: Any) -> Any:
    if not isinstance(argument, np.ndarray):
        return ctypes.byref(argument)
    if argument.dtype != np.float64 or not argument.flags.c_contiguous:
        raise TypeError("BLAS and LAPACK work in place, on rows of float64 numbers.")
    return ctypes.c_void_p(argument.ctypes.data)


@cache
def _routine(module: str, name: str) -> Callable[..., None]:
    opened = import_module(f"scipy.linalg.{module}").__pyx_capi__
    api, capsule = ctypes.pythonapi, opened[name]
    types = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    return ctypes.CFUNCTYPE(None)(address(capsule, types(capsule)))
