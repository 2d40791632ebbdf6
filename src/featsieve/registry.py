"""One line a method: what the package exports, the command line offers and the docs list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EngineUse = Literal["streams", "gathers", "memory"]

ENGINE_WORDS: dict[EngineUse, str] = {
    "streams": "streams: its statistics add over blocks of rows",
    "gathers": "gathers the columns it needs, if they fit memory_limit; refuses otherwise",
    "memory": "needs the user's own container in memory",
}


@dataclass(frozen=True)
class Method:
    """A named method, its cell of the table measure × search, and where it comes from."""

    name: str
    module: str
    measure: str
    search: str
    engines: EngineUse
    paper: str
    summary: str

    @property
    def command_name(self) -> str:
        return COMMAND_ALIASES.get(self.name, self.name.lower())

    def load(self) -> type:
        import importlib

        found: type = getattr(importlib.import_module(self.module), self.name)
        return found


# The command line knows Pearson ranking by P-LSMI's name for it.
COMMAND_ALIASES = {"PearsonRanking": "pc"}

METHODS: tuple[Method, ...] = (
    Method("FeatureSelector", "featsieve.selector", "any", "any", "streams", "design",
           "any measure × search"),
    Method("PearsonRanking", "featsieve.methods.pearson", "Pearson / Hall", "ranking", "streams",
           "P-LECTURE; P-LSMI 4.1", "linear dependence of each column, with p-values"),
    Method("LassoSelector", "featsieve.methods.lasso", "squared error of a linear model",
           "embedded: l1 path", "streams", "P-LECTURE, algorithms 1 and 2",
           "columns that a penalised linear model uses, with the whole path"),
    Method("LSMIRanking", "featsieve.methods.lsmi", "SMI (LSMI)", "ranking", "streams", "P-LSMI",
           "squared-loss mutual information of each column"),
    Method("FLSMI", "featsieve.methods.lsmi", "SMI (LSMI)", "forward", "streams", "P-LSMI",
           "forward selection with LSMI"),
    Method("BLSMI", "featsieve.methods.lsmi", "SMI (LSMI)", "backward", "streams", "P-LSMI",
           "backward elimination with LSMI"),
    Method("L1LSMI", "featsieve.methods.lsmi", "SMI (LSMI)", "l1 weights", "streams", "P-LSMI",
           "sparse weights: redundancy, non-linearity and interaction at once"),
    Method("MLMIRanking", "featsieve.methods.lsmi", "MI (MLMI)", "ranking", "gathers",
           "Suzuki 2008; P-LSMI 4.3", "mutual information of each column by a density ratio"),
    Method("HSICRanking", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "ranking", "streams",
           "P-HSIC; P-LSMI 4.2", "any dependence of each column alone"),
    Method("FOHSIC", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "forward", "streams",
           "P-HSIC section 3", "adds the columns that make HSIC largest"),
    Method("BAHSIC", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "backward", "streams",
           "P-HSIC Algorithm 1", "drops what HSIC misses least: sees interactions"),
    Method("L1HSIC", "featsieve.methods.hsic", "HSIC", "l1 weights", "streams",
           "P-LSMI 6.1", "HSIC of weighted columns, weights on an l1 ball"),
    Method("HSICLasso", "featsieve.methods.hsic", "HSIC", "non-negative LAR", "streams",
           "Yamada 2014", "convex: relevant columns that are not redundant"),
    Method("WrapperSelector", "featsieve.methods.wrapper", "a user's estimator",
           "forward, backward, exhaustive", "memory", "P-LECTURE",
           "cross-validated score of your model"),
)  # fmt: skip


def find_method(name: str) -> Method:
    """A method by its class name or its name on the command line."""
    for method in METHODS:
        if name.lower() in {method.name.lower(), method.command_name}:
            return method
    raise KeyError(name)
