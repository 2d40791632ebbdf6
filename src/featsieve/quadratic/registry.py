"""The solvers by name. A new one is a module with ``steps`` and one line here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal

import numpy as np

from featsieve.quadratic.answer import Answer
from featsieve.quadratic.problem import Problem

SolverName = Literal["auto", "linear", "spectral", "sdp", "tpower", "lowrank", "exact"]
Iterates = Literal["real", "binary"]
Shift = Literal["schedule", "none", "partial", "full"]
Start = Literal["linear", "diagonal", "uniform"]


@dataclass(frozen=True)
class Options:
    """The hyper-parameters of all solvers, each used by the solver that its comment names."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    rank: int = 3  # lowrank
    epsilon: float = 0.1  # lowrank
    delta: float = 0.1  # lowrank
    n_samples: int | None = None  # lowrank: None = as many as epsilon and delta ask
    iterates: Iterates = "real"  # tpower
    shift: Shift = "schedule"  # tpower
    start: Start = "linear"  # tpower
    max_iter: int = 50  # tpower
    n_projections: int = 100  # sdp
    node_limit: int | None = None  # exact


@dataclass(frozen=True)
class Solver:
    """Where a solver lives and what it needs."""

    module: str
    needs_nonnegative: bool = False
    local_search: bool = False

    def steps(self, problem: Problem, options: Options) -> Iterator[Answer]:
        """Yield the best answer so far, again and again; the last one is final."""
        answers: Iterator[Answer] = import_module(self.module).steps(problem, options)
        return answers


SOLVERS: dict[str, Solver] = {
    "auto": Solver("featsieve.quadratic.auto", local_search=True),
    "linear": Solver("featsieve.quadratic.linear", needs_nonnegative=True),
    "spectral": Solver("featsieve.quadratic.spectral", needs_nonnegative=True),
    "sdp": Solver("featsieve.quadratic.sdp"),
    "tpower": Solver("featsieve.quadratic.tpower"),
    "lowrank": Solver("featsieve.quadratic.lowrank"),
    "exact": Solver("featsieve.quadratic.exact"),
}
