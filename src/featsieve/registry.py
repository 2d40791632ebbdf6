"""One entry per method: what the package exports, the command line offers and the docs list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

EngineUse = Literal["streams", "gathers"]
Sight = Literal["linear", "non-linear", "interaction", "redundancy"]
TargetUse = Literal["classes or numbers", "classes", "classes or nothing", "nothing"]

ENGINE_WORDS: dict[EngineUse, str] = {
    "streams": "streams: its statistics add over blocks of rows",
    "gathers": "gathers the columns it needs, if they fit memory_limit; refuses otherwise",
}


@dataclass(frozen=True)
class Score:
    """What a method's ``scores_`` mean; larger is always better.

    ``by_step``: the score of a selected column was computed given the columns selected before it,
    so scores of different steps are not on one scale. ``symbol`` is what tables call it.
    """

    meaning: str
    unit: str
    range: str
    by_step: bool = False
    symbol: str = "score"

    def __str__(self) -> str:
        order = "; in step order" if self.by_step else ""
        unit = f"unit: {self.unit}" if self.unit.startswith("that of") else self.unit
        return f"{self.meaning} ({unit}, {self.range}; larger is better{order})"


TARGET_UNIT = "that of the target"
CORRELATION = Score("absolute correlation with the target", "no unit", "0 to 1")
INFORMATION = Score("mutual information with the target", "nats", "0 or more")
VOTES = Score("share of the votes of the methods", "no unit", "0 to 1", by_step=True)
GAIN = Score("value of the criterion when the column was chosen", "nats", "any sign", by_step=True)
SMI = Score("squared-loss mutual information of the column", "no unit", "about 0 or more")
HSIC_VALUE = Score("HSIC of the column with the target", "no unit", "about 0 or more")
WEIGHT = Score("weight of the column in the selected model", "no unit", "0 or more")
ROW = Score("norm of the column's row in the transformation", "no unit", "0 or more")
ADDED = Score("value of the set with the column added", "that of the measure", "any sign", True)
REMOVED = Score(
    "minus the value of the set without the column", "that of the measure", "any sign", True
)
UNKNOWN = Score("that of the measure", "that of the measure", "any sign")

MARGINAL: tuple[Sight, ...] = ("linear", "non-linear")
PAIRWISE: tuple[Sight, ...] = ("linear", "non-linear", "redundancy")
EVERYTHING: tuple[Sight, ...] = ("linear", "non-linear", "interaction", "redundancy")


@dataclass(frozen=True)
class Method:
    """A named method, its cell of the table measure × search, and what a user should know of it.

    ``cost`` is in n rows, m columns and k selected columns; ``sees`` what the method can see;
    ``use`` says when to use it; ``target`` what it looks at in y ("classes or nothing": it accepts
    numbers, but does not look at them).
    """

    name: str
    module: str
    measure: str
    search: str
    engines: EngineUse
    paper: str
    summary: str
    family: str = ""
    score: Score = UNKNOWN
    cost: str = ""
    sees: tuple[Sight, ...] = ()
    use: str = ""
    target: TargetUse = "classes or numbers"

    @property
    def command_name(self) -> str:
        return COMMAND_ALIASES.get(self.name, self.name.lower())

    def load(self) -> type:
        import importlib

        method: type = getattr(importlib.import_module(self.module), self.name)
        return method


# The command line has the short name of Jitkrittum et al. for Pearson ranking, and "auto".
COMMAND_ALIASES = {"PearsonRanking": "pc", "AutoSelector": "auto"}

JITKRITTUM = "Jitkrittum et al. 2013"
VENKATESWARA = "Venkateswara et al. 2015"
MASAELI = "Masaeli et al. 2010"
SONG = "Song et al. 2007"
LECTURE = "Sugiyama, lecture notes"

# fmt: off
METHODS: tuple[Method, ...] = (
    Method("FeatureSelector", "featsieve.methods.feature_selector", "any", "any", "streams",
           "any pair", "any measure × search", family="any", score=UNKNOWN,
           cost="that of the pair", sees=(), use="to combine a measure and a search yourself"),
    Method("PearsonRanking", "featsieve.methods.ranking", "Pearson / Hall", "ranking", "streams",
           f"{LECTURE}; {JITKRITTUM}", "linear dependence of each column, with p-values",
           family="linear", score=CORRELATION, cost="n m", sees=("linear",),
           use="for a first look at a table of any size, and for p-values"),
    Method("LassoSelector", "featsieve.methods.lasso", "squared error of a linear model",
           "embedded: l1 path", "streams", LECTURE,
           "columns that a penalised linear model uses, with the whole path", family="linear",
           score=Score("size of the coefficient", TARGET_UNIT, "0 or more"),
           cost="n m² once, then m per step", sees=("linear", "redundancy"),
           use="when a linear model is what you will fit"),
    Method("LSMIRanking", "featsieve.methods.lsmi", "SMI (LSMI)", "ranking", "streams", JITKRITTUM,
           "squared-loss mutual information of each column", family="LSMI", score=SMI,
           cost="n b² m, b = 100 basis functions", sees=MARGINAL,
           use="for non-linear dependence of each column alone"),
    Method("FLSMI", "featsieve.methods.lsmi", "SMI (LSMI)", "forward", "streams", JITKRITTUM,
           "forward selection with LSMI", family="LSMI", score=ADDED, cost="k m fits of LSMI",
           sees=PAIRWISE, use="for few columns that are relevant and not redundant"),
    Method("BLSMI", "featsieve.methods.lsmi", "SMI (LSMI)", "backward", "streams", JITKRITTUM,
           "backward elimination with LSMI", family="LSMI", score=REMOVED, cost="m² fits of LSMI",
           sees=EVERYTHING, use="for tables of few columns with interactions"),
    Method("L1LSMI", "featsieve.methods.lsmi", "SMI (LSMI)", "l1 weights", "streams", JITKRITTUM,
           "sparse weights: redundancy, non-linearity and interaction at once", family="LSMI",
           score=WEIGHT, cost="restarts × radii × steps, each n b² + n b m", sees=EVERYTHING,
           use="for small and middle-sized tables where the set matters most"),
    Method("MLMIRanking", "featsieve.methods.lsmi", "MI (MLMI)", "ranking", "gathers",
           f"Suzuki et al. 2008; {JITKRITTUM}",
           "mutual information of each column by a density ratio", family="LSMI",
           score=INFORMATION, cost="n b m per iteration", sees=MARGINAL,
           use="for mutual information of continuous columns without bins"),
    Method("HSICRanking", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "ranking", "gathers",
           f"{SONG}; {JITKRITTUM}", "any dependence of each column alone", family="HSIC",
           score=HSIC_VALUE, cost="n² m", sees=MARGINAL,
           use="for any dependence of each column alone"),
    Method("FOHSIC", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "forward", "gathers", SONG,
           "adds the columns that make HSIC largest", family="HSIC", score=ADDED, cost="n² m k",
           sees=PAIRWISE, use="for few columns out of many"),
    Method("BAHSIC", "featsieve.methods.hsic", "HSIC (MMD, KTA)", "backward", "gathers", SONG,
           "drops what HSIC misses least: sees interactions", family="HSIC", score=REMOVED,
           cost="n² m log m", sees=EVERYTHING, use="when columns may matter only together"),
    Method("L1HSIC", "featsieve.methods.hsic", "HSIC", "l1 weights", "gathers", JITKRITTUM,
           "HSIC of weighted columns, weights on an l1 ball", family="HSIC", score=WEIGHT,
           cost="restarts × radii × steps, each n² m", sees=EVERYTHING,
           use="as a faster relative of L1LSMI"),
    Method("HSICLasso", "featsieve.methods.hsic", "HSIC", "non-negative LAR", "gathers",
           "Yamada et al. 2014", "convex: relevant columns that are not redundant", family="HSIC",
           score=WEIGHT, cost="n² m k", sees=PAIRWISE, use="for very many columns and few rows"),
    Method("HSFS", "featsieve.methods.conversion", "HSIC", "l1/l∞ rows", "gathers", MASAELI,
           "HSIC of a few components, of which few columns are part", family="HSIC", score=ROW,
           cost="n² m once, then steps × (n² + n m)", sees=EVERYTHING,
           use="when columns matter only together and their combinations tell most"),
    Method("LDFS", "featsieve.methods.conversion", "LDA ratio trace", "l1/l∞ rows", "streams",
           MASAELI, "linear discriminants, of which few columns are part",
           family="discriminants", score=ROW, cost="n m² + steps × m²",
           sees=("linear", "redundancy"), use="for classes that differ in their means",
           target="classes"),
    Method("PrincipalFeatures", "featsieve.methods.conversion", "PCA", "l1/l∞ rows", "streams",
           MASAELI, "the columns from which all columns can be rebuilt; needs no target",
           family="unsupervised", score=ROW, cost="n m² + steps × m²",
           sees=("linear", "redundancy"), use="without a target, to thin out redundant columns",
           target="nothing"),
    Method("MaxRel", "featsieve.methods.ranking", "MI", "ranking", "streams",
           f"{LECTURE}; {VENKATESWARA}", "any dependence of each column, binned or by neighbours",
           family="information", score=INFORMATION, cost="n m", sees=MARGINAL,
           use="for any dependence of each column alone, at any size"),
    Method("NMIRanking", "featsieve.methods.ranking", "normalised MI", "ranking", "streams",
           LECTURE, "MI over the geometric mean of the entropies", family="information",
           score=Score("normalised mutual information with the target", "no unit", "0 to 1"),
           cost="n m", sees=MARGINAL, use="when columns have very different numbers of states"),
    Method("MRMR", "featsieve.methods.information", "MI", "greedy", "streams",
           f"{JITKRITTUM}; {VENKATESWARA}", "relevance against the mean redundancy",
           family="information", score=GAIN, cost="n m k", sees=PAIRWISE,
           use="for large tables with redundant columns"),
    Method("JMI", "featsieve.methods.information", "MI", "greedy", "streams", VENKATESWARA,
           "joint information of a column and each selected one", family="information", score=GAIN,
           cost="n m k", sees=EVERYTHING,
           use="for large tables; sees pairs that matter together once one of them is in"),
    Method("CMIM", "featsieve.methods.information", "MI", "greedy", "streams", "Fleuret 2004",
           "the least information given any selected column", family="information", score=GAIN,
           cost="n m k at most", sees=PAIRWISE,
           use="for large tables with many copies of the same information"),
    Method("DISR", "featsieve.methods.information", "MI", "greedy", "streams",
           "Meyer and Bontempi 2006", "joint information over joint entropy", family="information",
           score=GAIN, cost="n m k", sees=EVERYTHING,
           use="as JMI, where columns have very different numbers of states"),
    Method("ICAP", "featsieve.methods.information", "MI", "greedy", "streams", "Jakulin 2005",
           "relevance less redundancy, synergy capped", family="information", score=GAIN,
           cost="n m k", sees=PAIRWISE, use="as CMIM, with redundancies that add up"),
    Method("CIFE", "featsieve.methods.information", "MI", "greedy", "streams", "Lin and Tang 2006",
           "relevance less redundancy plus synergy", family="information", score=GAIN,
           cost="n m k", sees=EVERYTHING,
           use="for few columns; redundancies are overrated when many are selected"),
    Method("MIFS", "featsieve.methods.information", "MI", "greedy", "streams", "Battiti 1994",
           "relevance less beta times redundancy", family="information", score=GAIN, cost="n m k",
           sees=PAIRWISE, use="to set the weight of redundancy yourself"),
    Method("CondMI", "featsieve.methods.information", "MI", "greedy", "gathers",
           "Brown et al. 2012", "information given all selected columns together",
           family="information", score=GAIN, cost="n m k", sees=EVERYTHING,
           use="for few columns of few states and many rows"),
    Method("QPFS", "featsieve.methods.quadratic", "Pearson / Hall, or MI", "quadratic (simplex)",
           "streams", f"Rodriguez-Lujan et al. 2010; {JITKRITTUM}",
           "relevance and redundancy of all columns at once", family="quadratic", score=WEIGHT,
           cost="n m² + m³", sees=PAIRWISE, use="for redundancy weighed over all columns at once"),
    Method("GlobalCMI", "featsieve.methods.quadratic", "CMI", "quadratic (global)", "streams",
           VENKATESWARA, "the best set as a whole, with a bound on how good it can be",
           family="quadratic",
           score=Score("share of the column in the value of the set", "nats", "0 or more"),
           cost="n m², then the solver", sees=EVERYTHING,
           use="when you want to know how far from the best set the answer can be"),
    Method("L1SVM", "featsieve.methods.svm", "squared hinge loss of a linear SVM",
           "embedded: l1 path", "gathers", f"Zhu et al. 2003; {MASAELI}",
           "columns that a linear SVM with an l1 penalty uses", family="SVM",
           score=Score("size of the coefficient", "no unit", "0 or more"),
           cost="points of the path × sweeps, each n k, and n m per point",
           sees=("linear", "redundancy"), use="when a linear classifier is what you will fit",
           target="classes"),
    Method("SVMRFE", "featsieve.methods.svm", "weights of a linear SVM", "backward", "gathers",
           f"Guyon et al. 2002; {SONG}", "drops the smallest weights, trains again", family="SVM",
           score=Score("squared weight when the column was last in", "no unit", "0 or more", True),
           cost="m trainings on n rows, each with n² + n m on top", sees=("linear", "redundancy"),
           use="for many columns and few rows, such as gene expression", target="classes"),
    Method("L0SVM", "featsieve.methods.svm", "weights of a linear SVM",
           "embedded: multiplicative", "gathers", f"Weston et al. 2003; {SONG}",
           "a linear SVM on as few columns as possible", family="SVM",
           score=Score("factor of the column, the largest is 1", "no unit", "0 to 1"),
           cost="20 trainings on n rows, each with n² m on top", sees=("linear", "redundancy"),
           use="as a fast and sparser relative of SVMRFE", target="classes"),
    Method("R2W2", "featsieve.methods.svm", "radius and margin of an SVM",
           "gradient and backward", "gathers", f"Weston et al. 2000; {SONG}",
           "scales that make a bound of the error small", family="SVM",
           score=Score("scale of the column when it was last in", "no unit", "0 or more", True),
           cost="20 log m steps, each n² m and two quadratic programs on n rows", sees=EVERYTHING,
           use="when a kernel SVM is what you will fit", target="classes"),
    Method("ReliefF", "featsieve.methods.relief", "differences between near rows", "ranking",
           "streams", "Kira and Rendell 1992; Kononenko 1994; Robnik-Šikonja and Kononenko 1997",
           "columns that differ between near rows of different classes", family="relief",
           score=Score("mean difference to near rows of other classes less that to near rows of "
                       "the same", "share of the range", "-1 to 1"),
           cost="n² m", sees=("linear", "non-linear", "interaction"),
           use="when columns may matter only together, and missing values should stay"),
    Method("FisherScore", "featsieve.methods.spectral", "Fisher ratio", "ranking", "streams",
           "Fisher 1936; He et al. 2006", "class means far apart, compared with the scatter within",
           family="spectral", score=Score("scatter between classes over scatter within",
                                          "no unit", "0 or more"),
           cost="n m", sees=("linear",), use="for classes that differ in their means, at any size",
           target="classes"),
    Method("LaplacianScore", "featsieve.methods.spectral", "Laplacian score", "ranking", "streams",
           f"He et al. 2006; {MASAELI}", "columns that are smooth on a graph of the rows",
           family="spectral", score=Score("minus the Laplacian score", "no unit", "-2 to 0"),
           cost="n m; n² m with neighbours", sees=MARGINAL,
           use="as FisherScore, or for columns that follow the clusters of the rows",
           target="classes or nothing"),
    Method("SPEC", "featsieve.methods.spectral", "spectrum of a graph of the rows", "ranking",
           "streams", "Zhao and Liu 2007", "columns that agree with the spectrum of a graph",
           family="spectral", score=Score("minus φ1 or φ2, or φ3", "no unit",
                                          "-2 to 0, or 0 to 2"),
           cost="n m; n² m with neighbours", sees=MARGINAL,
           use="as LaplacianScore, with more ways to weigh the spectrum",
           target="classes or nothing"),
    Method("TreeImportance", "featsieve.methods.prediction", "importance in trees", "ranking",
           "gathers", "Geurts et al. 2006", "what randomised trees use to predict the target",
           family="prediction", score=Score("share in the fall of the trees' error", "no unit",
                                            "0 to 1"),
           cost="trees × n log n × √m to m/3", sees=("linear", "non-linear", "interaction"),
           use="for a quick look that sees interactions, at any size"),
    Method("RidgeForward", "featsieve.methods.prediction", "error of kernel ridge regression",
           "forward", "gathers", "Pahikkala et al. 2010",
           "adds the column that lowers the leave-one-out error most", family="prediction",
           score=Score("minus the leave-one-out error with the column", "no unit", "0 or less",
                       by_step=True),
           cost="k pool inverses of 250 × 250", sees=PAIRWISE,
           use="when prediction is all that matters, for few columns"),
    Method("AutoSelector", "featsieve.methods.auto", "errors on inner folds", "race", "streams",
           "this package", "races methods on inner folds, and combines the best of them",
           family="prediction", score=Score("share of the votes, or that of the method that won",
                                            "no unit, or that of the method", "any sign",
                                            by_step=True),
           cost="all methods of the race, 6 times", sees=EVERYTHING,
           use="when you do not know which method suits your table"),
    Method("WrapperSelector", "featsieve.methods.wrapper", "a user's estimator",
           "forward, backward, exhaustive", "gathers", LECTURE,
           "cross-validated score of your model", family="wrapper",
           score=Score("cross-validated score with the column", "that of the scorer", "any sign",
                       by_step=True),
           cost="k m fits of your model", sees=(),
           use="when one model is fixed and fits are cheap"),
    Method("FOCI", "featsieve.methods.foci", "conditional dependence", "forward, until no gain",
           "gathers", "Azadkia and Chatterjee 2021",
           "what a column tells given those before it; decides how many", family="neighbours",
           score=Score("coefficient of the set with the column added", "no unit", "about 0 to 1",
                       by_step=True),
           cost="n log n per column and step", sees=EVERYTHING,
           use="when the number of columns is not known, and rows are plenty"),
    Method("KFOCI", "featsieve.methods.foci", "conditional dependence by a kernel",
           "forward, until no gain", "gathers", "Huang et al. 2022",
           "FOCI for targets of any kind", family="neighbours",
           score=Score("coefficient of the set with the column added", "no unit", "about 0 to 1",
                       by_step=True),
           cost="n log n per column and step, n² for the kernel of numbers", sees=EVERYTHING,
           use="as FOCI, for several outputs, sequences or graphs as target"),
    Method("KnockoffSelector", "featsieve.methods.knockoffs", "any", "any, against copies",
           "streams", "Candès et al. 2018; Ren and Barber 2024",
           "any method with a bounded false discovery rate", family="error control",
           score=Score("how far the column is ahead of its copy",
                       "that of the method, squared for correlations",
                       "any sign", symbol="W"),
           cost="n m² for the copies, then the method on 2 m columns", sees=(),
           use="when few of the selected columns may be false"),
    Method("StabilitySelector", "featsieve.methods.stability", "any", "any, on halves of the rows",
           "streams", "Meinshausen and Bühlmann 2010; Shah and Samworth 2013",
           "what any method selects again and again, with a bound on errors",
           family="error control",
           score=Score("share of the halves that select the column", "no unit", "0 to 1",
                       symbol="frequency"),
           cost="100 runs of the method on half of the rows", sees=(),
           use="when the selection should not depend on which rows you have"),
)
# fmt: on


def find_method(name: str) -> Method:
    """A method by its class name or its name on the command line."""
    for method in METHODS:
        if name.lower() in {method.name.lower(), method.command_name}:
            return method
    raise KeyError(name)


def score_of(selector: Any) -> Score:
    """What the scores of a fitted selector mean: of a race, those of what won it."""
    winner = str(getattr(selector, "method_", "")).partition(" ")[0]  # "JMI 2" is a second one
    if winner == "combination":
        return VOTES
    known = [method for method in METHODS if method.name == winner]
    return known[0].score if known else find_method(type(selector).__name__).score


def methods_for_numbers(*searches: str) -> str:
    """The methods with these searches that look at a numeric target, as in "A, B or C"."""
    able = (method for method in METHODS if method.target == "classes or numbers")
    names = [method.name for method in able if method.search in searches]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
