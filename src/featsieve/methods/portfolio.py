"""The methods that AutoSelector races, with what a run of each costs.

A cost model is (seconds for the call itself, per column, per value, and per unit of work, the work
in n rows, m columns and k selected columns). The constants have the least log error over the CPU
seconds of ``benchmarks/auto_costs.py``. What matters is their order, and that a race is not planned
far beyond its time (the clock ends it in any case).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from featsieve.engines.filled import Filling
from featsieve.engines.standardized import MappedEngine
from featsieve.input.parameters import not_allowed
from featsieve.procedures.tree_importance import MOST_ROWS
from featsieve.protocols import Engine, Procedure
from featsieve.registry import Method, find_method
from featsieve.selector import BaseSelector

Work = Callable[[int, int, int], float]


@dataclass(frozen=True)
class Entry:
    """A method with the parameters that it races with."""

    name: str
    call: float
    column: float
    value: float
    unit: float = 0.0
    work: Work = lambda n, m, k: 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    most_columns: int | None = None

    @property
    def method(self) -> Method:
        return find_method(self.name)

    def cost(self, n: int, m: int, k: int) -> float:
        return self.call + self.column * m + self.value * n * m + self.unit * self.work(n, m, k)


def _pairs(n: int, m: int, k: int) -> float:
    return n * m * m


def _kernel(n: int, m: int, k: int) -> float:
    return n * n * m


def _kernel_steps(n: int, m: int, k: int) -> float:
    return n * n * m * k


def _kernel_rounds(n: int, m: int, k: int) -> float:
    return n * n * m * (1 + min(m, 10))


def _trees(n: int, m: int, k: int) -> float:
    return min(n, MOST_ROWS) * max(m**0.5, m / 3) + 1e3


def _inverses(n: int, m: int, k: int) -> float:
    """Trees choose the pool of a wide table; one of their units costs as much as 250 of these."""
    pool = min(m, max(40, k + 10))
    screening = 250 * _trees(n, m, k) if m > pool else 0.0
    return min(n, 250) ** 2 * (2 * pool + 12 * k) + screening


def _weights(n: int, m: int, k: int) -> float:
    return n * (100 + m) * 100 * (3 + k)


GLOBAL = {"bound": "none", "random_state": 0}
# fmt: off
PORTFOLIO: tuple[Entry, ...] = (
    Entry("PearsonRanking", 8e-4, 5e-8, 1.6e-9),
    Entry("MRMR", 1.8e-3, 4e-6, 7e-9),
    Entry("CMIM", 1.8e-3, 4e-6, 7e-9),
    Entry("JMI", 1.8e-3, 4e-6, 7e-9),
    Entry("DISR", 1.8e-3, 4e-6, 7e-9),
    Entry("LassoSelector", 1e-3, 2e-7, 6e-9, parameters={"cv": 0}),
    Entry("GlobalCMI", 6e-3, 5.5e-5, 1e-8, 5.5e-10, _pairs, GLOBAL, 3000),
    Entry("TreeImportance", 3.5e-2, 0.0, 3e-8, 8e-6, _trees, {"random_state": 0}),
    Entry("ReliefF", 3e-3, 1.2e-6, 0.0, 1.1e-10, _kernel),
    Entry("HSICLasso", 5e-3, 0.0, 3.7e-7, 3.3e-10, _kernel_steps),
    Entry("FOHSIC", 3.5e-3, 3e-5, 0.0, 2.6e-10, _kernel_steps, {"random_state": 0}),
    Entry("BAHSIC", 4e-3, 5e-5, 0.0, 3.2e-10, _kernel_rounds, {"random_state": 0}),
    Entry("RidgeForward", 1e-2, 0.0, 0.0, 1e-8, _inverses, {"random_state": 0}),
    Entry("SVMRFE", 1.3e-2, 0.0, 0.0, 1.3e-8, _kernel, {"step": 0.1}),
    Entry("L1LSMI", 2e-1, 0.0, 0.0, 1.3e-8, _weights, {"random_state": 0, "n_init": 5}, 500),
)
# fmt: on
ENTRIES = {entry.name: entry for entry in PORTFOLIO}


def samples_rows(name: str) -> bool:
    """Methods that draw rows by themselves, so that any table is small to them."""
    return name in ("TreeImportance", "RidgeForward")


def seconds_on_all_rows(name: str, n: int, m: int, k: int) -> float:
    """0 for a selector that a user put into the race: it is not left out for its time."""
    if name not in ENTRIES:
        return 0.0
    return ENTRIES[name].cost(min(n, MOST_ROWS) if samples_rows(name) else n, m, k)


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
