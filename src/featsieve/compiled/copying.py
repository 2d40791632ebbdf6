"""Copies of columns: normal numbers by row index, and the order that hides which is which."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.counting import Floats, Ints
from featsieve.compiled.inlining import kernel, part_of_kernel

# SplitMix64 (Steele, Lea and Flood 2014): its n-th number is a function of n alone.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_STEP, _HALF_STEP = 2.0**-53, 2.0**-54
_CENTRAL, _TAIL = 0.425, 5.0


@kernel()
def fill_normals(key: Any, rows: Ints, n_columns: int, out: Floats) -> None:
    """Standard normal numbers in the first columns: a function of key, row index and column."""
    width = np.uint64(n_columns)
    p, tail = np.empty((2, n_columns))
    outer = np.empty(n_columns, np.int64)
    for i in range(len(rows)):
        counter = np.uint64(rows[i]) * width
        for j in range(n_columns):
            z = (counter + np.uint64(j)) * _GOLDEN + key
            z = (z ^ (z >> _S30)) * _FIRST
            z = (z ^ (z >> _S27)) * _SECOND
            z ^= z >> _S31
            p[j] = np.int64(z >> _S11) * _STEP + _HALF_STEP
        fill_quantiles(p, outer, tail, out[i])


@part_of_kernel
def fill_quantiles(p: Floats, outer: Ints, tail: Floats, out: Floats) -> None:
    """Of the standard normal law, to 1e-16 (Wichura 1988, algorithm AS 241).

    Most are central: all are taken so, which vector instructions can, and the others are then put
    right. ``outer`` and ``tail`` are room to work in, as long as ``p``.
    """
    for j in range(len(p)):
        out[j] = _central(p[j] - 0.5)
    n_outer = 0
    for j in range(len(p)):
        outer[n_outer] = j
        n_outer += abs(p[j] - 0.5) > _CENTRAL
    for t in range(n_outer):
        side = p[outer[t]]
        tail[t] = np.sqrt(-np.log(side if side < 0.5 else 1.0 - side))
    for t in range(n_outer):
        r = tail[t]
        tail[t] = _tail(r - 1.6) if r <= _TAIL else _far_tail(r - _TAIL)
    for t in range(n_outer):
        j = outer[t]
        out[j] = -tail[t] if p[j] < 0.5 else tail[t]


@part_of_kernel
def _central(q: Any) -> Any:
    """The quantile at ½ + q."""
    r = _CENTRAL * _CENTRAL - q * q
    above = 2509.0809287301226727 * r + 33430.575583588128105
    above = (above * r + 67265.770927008700853) * r + 45921.953931549871457
    above = (above * r + 13731.693765509461125) * r + 1971.5909503065514427
    above = (above * r + 133.14166789178437745) * r + 3.3871328727963666080
    below = 5226.4952788528545610 * r + 28729.085735721942674
    below = (below * r + 39307.895800092710610) * r + 21213.794301586595867
    below = (below * r + 5394.1960214247511077) * r + 687.18700749205790830
    return q * (above / ((below * r + 42.313330701600911252) * r + 1.0))


@part_of_kernel
def _tail(r: Any) -> Any:
    above = 7.74545014278341407640e-4 * r + 0.0227238449892691845833
    above = (above * r + 0.241780725177450611770) * r + 1.27045825245236838258
    above = (above * r + 3.64784832476320460504) * r + 5.76949722146069140550
    above = (above * r + 4.63033784615654529590) * r + 1.42343711074968357734
    below = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
    below = (below * r + 0.0151986665636164571966) * r + 0.148103976427480074590
    below = (below * r + 0.689767334985100004550) * r + 1.67638483018380384940
    return above / ((below * r + 2.05319162663775882187) * r + 1.0)


@part_of_kernel
def _far_tail(r: Any) -> Any:
    above = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
    above = (above * r + 0.00124266094738807843860) * r + 0.0265321895265761230930
    above = (above * r + 0.296560571828504891230) * r + 1.78482653991729133580
    above = (above * r + 5.46378491116411436990) * r + 6.65790464350110377720
    below = 2.04426310338993978564e-15 * r + 1.42151175831644588870e-7
    below = (below * r + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4
    below = (below * r + 0.0148753612908506148525) * r + 0.136929880922735805310
    return above / ((below * r + 0.599832206555887937690) * r + 1.0)


@kernel()
def side_by_side(X: Floats, copies: Floats, swapped: Any, out: Floats) -> None:
    """X left and copies right; where a column is ``swapped``, the other way round."""
    width = X.shape[1]
    for i in range(X.shape[0]):
        for j in range(width):
            a, b = X[i, j], copies[i, j]
            out[i, j] = b if swapped[j] else a
            out[i, j + width] = a if swapped[j] else b
