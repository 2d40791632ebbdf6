"""One line a method: what the package exports, the command line offers and the docs list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EngineUse = Literal["streams", "gathers"]

ENGINE_WORDS: dict[EngineUse, str] = {
    "streams": "streams: its statistics add over blocks of rows",
    "gathers": "gathers the columns it needs, if they fit memory_limit; refuses otherwise",
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
    Method("PearsonRanking", "featsieve.methods.ranking", "Pearson / Hall", "ranking", "streams",
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
    Method("HSICRanking", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "ranking", "gathers",
           "P-HSIC; P-LSMI 4.2", "any dependence of each column alone"),
    Method("FOHSIC", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "forward", "gathers",
           "P-HSIC section 3", "adds the columns that make HSIC largest"),
    Method("BAHSIC", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "backward", "gathers",
           "P-HSIC Algorithm 1", "drops what HSIC misses least: sees interactions"),
    Method("L1HSIC", "featsieve.methods.hsic", "HSIC", "l1 weights", "gathers",
           "P-LSMI 6.1", "HSIC of weighted columns, weights on an l1 ball"),
    Method("HSICLasso", "featsieve.methods.hsic", "HSIC", "non-negative LAR", "gathers",
           "Yamada 2014", "convex: relevant columns that are not redundant"),
    Method("MaxRel", "featsieve.methods.ranking", "MI", "ranking", "streams",
           "P-LECTURE; P-CMI III", "any dependence of each column, binned or by neighbours"),
    Method("NMIRanking", "featsieve.methods.ranking", "normalised MI", "ranking",
           "streams", "P-LECTURE", "MI over the geometric mean of the entropies"),
    Method("MRMR", "featsieve.methods.information", "MI", "greedy", "streams",
           "P-LSMI 4.2; P-CMI III", "relevance against the mean redundancy"),
    Method("JMI", "featsieve.methods.information", "MI", "greedy", "streams", "P-CMI III",
           "joint information of a column and each selected one"),
    Method("CMIM", "featsieve.methods.information", "MI", "greedy", "streams", "Fleuret 2004",
           "the least information given any selected column"),
    Method("DISR", "featsieve.methods.information", "MI", "greedy", "streams",
           "Meyer and Bontempi 2006", "joint information over joint entropy"),
    Method("ICAP", "featsieve.methods.information", "MI", "greedy", "streams", "Jakulin 2005",
           "relevance less redundancy, synergy capped"),
    Method("CIFE", "featsieve.methods.information", "MI", "greedy", "streams",
           "Lin and Tang 2006", "relevance less redundancy plus synergy"),
    Method("MIFS", "featsieve.methods.information", "MI", "greedy", "streams", "Battiti 1994",
           "relevance less beta times redundancy"),
    Method("CondMI", "featsieve.methods.information", "MI", "greedy", "gathers",
           "Brown et al. 2012", "information given all selected columns together"),
    Method("QPFS", "featsieve.methods.quadratic", "Pearson / Hall, or MI", "quadratic (simplex)",
           "streams", "P-LSMI 4.2", "relevance and redundancy of all columns at once"),
    Method("GlobalCMI", "featsieve.methods.quadratic", "CMI", "quadratic (global)", "streams",
           "P-CMI", "the best set as a whole, with a bound on how good it can be"),
    Method("ReliefF", "featsieve.methods.relief", "differences of near rows", "ranking", "streams",
           "Kononenko 1994; Robnik-Šikonja and Kononenko 1997; Kira and Rendell 1992",
           "columns that differ between near rows of different classes: sees interactions"),
    Method("WrapperSelector", "featsieve.methods.wrapper", "a user's estimator",
           "forward, backward, exhaustive", "gathers", "P-LECTURE",
           "cross-validated score of your model"),
)  # fmt: skip


def find_method(name: str) -> Method:
    """A method by its class name or its name on the command line."""
    for method in METHODS:
        if name.lower() in {method.name.lower(), method.command_name}:
            return method
    raise KeyError(name)
