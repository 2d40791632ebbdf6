"""The methods that AutoSelector races, with what a run of each costs.

A cost model is (seconds for the call itself, seconds per unit of work, the work in n rows, m
columns and k selected columns). The constants are the ones with the least mean log error over the
CPU seconds of ``benchmarks/leaderboard.py`` (one core; up to 500 rows): half of the fits took
between about one half and twice the modelled time. What matters is their order, and that a race is
not planned far beyond its time (the clock ends it in any case).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from featsieve.engines.filled import Filling
from featsieve.engines.standardized import MappedEngine
from featsieve.input.parameters import not_allowed
from featsieve.protocols import Engine, Procedure
from featsieve.registry import Method, find_method
from featsieve.selector import BaseSelector

Work = Callable[[int, int, int], float]


@dataclass(frozen=True)
class Entry:
    """A method with the parameters that it races with."""

    name: str
    call: float
    unit: float
    work: Work
    parameters: Mapping[str, Any] = field(default_factory=dict)
    most_columns: int | None = None

    @property
    def method(self) -> Method:
        return find_method(self.name)

    def cost(self, n: int, m: int, k: int) -> float:
        return self.call + self.unit * self.work(n, m, k)


def _columns(n: int, m: int, k: int) -> float:
    return n * m


def _steps(n: int, m: int, k: int) -> float:
    return n * m * k


def _gram(n: int, m: int, k: int) -> float:
    return n * m * min(n, m) + m * k * k


def _pairs(n: int, m: int, k: int) -> float:
    return n * m * m


def _kernel(n: int, m: int, k: int) -> float:
    return n * n * m


def _kernel_steps(n: int, m: int, k: int) -> float:
    return n * n * m * k


def _kernel_rounds(n: int, m: int, k: int) -> float:
    return n * n * m * (1 + min(m, 10))


def _trees(n: int, m: int, k: int) -> float:
    return min(n, 5000) * max(m**0.5, m / 3) + 1e3


def _inverses(n: int, m: int, k: int) -> float:
    """Trees choose the pool of a wide table; one of their units costs as much as 250 of these."""
    pool = min(m, max(40, k + 10))
    screening = 250 * _trees(n, m, k) if m > pool else 0.0
    return min(n, 250) ** 2 * (2 * pool + 12 * k) + screening


def _weights(n: int, m: int, k: int) -> float:
    return n * (100 + m) * 100 * (3 + k)


def _margins(n: int, m: int, k: int) -> float:
    return n * n * m


# fmt: off
PORTFOLIO: tuple[Entry, ...] = (
    Entry("PearsonRanking", 2.5e-3, 5e-8, _columns),
    Entry("MRMR", 3e-3, 6e-9, _steps),
    Entry("CMIM", 2e-3, 6e-9, _steps),
    Entry("JMI", 2e-3, 6e-9, _steps),
    Entry("DISR", 2e-3, 6e-9, _steps),
    Entry("LassoSelector", 1e-2, 1e-9, _gram, {"cv": 0}),
    Entry("GlobalCMI", 6e-3, 8e-8, _pairs, {"bound": "none", "random_state": 0}, 3000),
    Entry("TreeImportance", 4e-2, 5e-6, _trees, {"random_state": 0}),
    Entry("ReliefF", 3e-3, 4e-10, _kernel),
    Entry("HSICLasso", 8e-3, 4e-10, _kernel_steps),
    Entry("FOHSIC", 5e-3, 2.5e-10, _kernel_steps, {"random_state": 0}),
    Entry("BAHSIC", 5e-3, 2.5e-10, _kernel_rounds, {"random_state": 0}),
    Entry("RidgeForward", 1e-2, 1e-8, _inverses, {"random_state": 0}),
    Entry("SVMRFE", 1.3e-2, 1.3e-8, _margins, {"step": 0.1}),
    Entry("L1LSMI", 2e-1, 1.3e-8, _weights, {"random_state": 0, "n_init": 5}, 500),
)
# fmt: on
ENTRIES = {entry.name: entry for entry in PORTFOLIO}


def samples_rows(name: str) -> bool:
    """Methods that draw rows by themselves, so that any table is small to them."""
    return name in ("TreeImportance", "RidgeForward")


def unknown_cost(n: int, m: int, k: int) -> float:
    """Of a selector that a user put into the race: middling, so that it comes neither first nor
    last."""
    return 1e-2 + 1e-8 * n * m * k


def racer(name: str) -> BaseSelector:
    """A method as it races."""
    try:
        method = find_method(name)
    except KeyError:
        raise not_allowed("methods", name, "names of 'featsieve methods'") from None
    entry = ENTRIES.get(method.name)
    selector: BaseSelector = method.load()(**(entry.parameters if entry else {}))
    return selector


def fixed_procedure(selector: BaseSelector) -> Procedure:
    """The procedure of a selector that is told how many units to find."""
    return clone(selector).set_params(n_features_to_select=1)._procedure()


def prepared(selector: BaseSelector, filling: Filling | None, engine: Engine) -> Engine:
    filled = engine if filling is None else MappedEngine(engine, filling)
    return selector._scaled(filled)
