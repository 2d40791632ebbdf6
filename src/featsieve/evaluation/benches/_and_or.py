"""The exact SMI of column sets in the population of and-or (P-LSMI 6.2), by enumeration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

FLIP = 0.2
CANDIDATES = (0, 1, 2, 3, 7, 8, 9)  # the true columns and the noisy copies of the target


def _cases() -> Iterator[tuple[dict[int, int], int, float]]:
    """Every state of the seven columns with its class and probability."""
    for bits in product((0, 1), repeat=4):
        target = (bits[0] & bits[1]) | (bits[2] & bits[3])
        for copies in product((0, 1), repeat=3):
            flips = sum(copy != target for copy in copies)
            probability = FLIP**flips * (1 - FLIP) ** (3 - flips) / 16
            yield dict(zip(CANDIDATES, bits + copies, strict=True)), target, probability


@cache
def exact_smi(columns: tuple[int, ...]) -> float:
    """P-LSMI eq. (6).

    >>> round(exact_smi((0, 1, 2, 3)), 6), round(exact_smi((0,)), 6)
    (0.5, 0.071429)
    """
    joint: defaultdict[tuple[tuple[int, ...], int], float] = defaultdict(float)
    states: defaultdict[tuple[int, ...], float] = defaultdict(float)
    classes: defaultdict[int, float] = defaultdict(float)
    for values, target, probability in _cases():
        state = tuple(values[column] for column in columns)
        joint[state, target] += probability
        states[state] += probability
        classes[target] += probability
    independent = {(s, c): states[s] * classes[c] for s in states for c in classes}
    return sum((joint[key] / p - 1) ** 2 * p for key, p in independent.items()) / 2


def exact_forward_path(k: int) -> list[int]:
    """What forward selection picks when SMI is known exactly.

    >>> exact_forward_path(4)[:3]
    [7, 8, 9]
    """
    chosen: list[int] = []
    for _ in range(k):
        rest = [column for column in CANDIDATES if column not in chosen]
        chosen.append(max(rest, key=lambda c: _with(chosen, c)))
    return chosen


def _with(chosen: Sequence[int], column: int) -> float:
    return round(exact_smi((*chosen, column)), 12)
