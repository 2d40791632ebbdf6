"""Measures of dependence: how good is a set of columns for a target?"""

from featsieve.lazy import lazy_exports

# One line a measure: the class that searches take, and the functions that stand alone.
# A file must not bear the name of a function (pearson, hsic, lsmi, …): importing the file would
# put the module in the function's place.
MEASURES = {
    "ConditionalMutualInformation": "featsieve.measures.binned_information",
    "CorrelationPairs": "featsieve.measures.correlation_pairs",
    "CrossValScore": "featsieve.measures.cross_val_score",
    "HSIC": "featsieve.measures.hilbert_schmidt",
    "LSMI": "featsieve.measures.squared_loss_mi",
    "MLMI": "featsieve.measures.likelihood_mi",
    "MutualInformation": "featsieve.measures.binned_information",
    "Pearson": "featsieve.measures.correlation",
}
FUNCTIONS = {
    "cmi_matrix": "featsieve.measures.information",
    "conditional_mutual_information": "featsieve.measures.information",
    "entropy": "featsieve.measures.information",
    "hsic": "featsieve.measures.hsic_functions",
    "information_posterior": "featsieve.measures.posterior",
    "joint_entropy": "featsieve.measures.information",
    "kta": "featsieve.measures.hsic_functions",
    "lsmi": "featsieve.measures.smi_functions",
    "mlmi": "featsieve.measures.smi_functions",
    "mmd": "featsieve.measures.hsic_functions",
    "mutual_information": "featsieve.measures.information",
    "normalized_mutual_information": "featsieve.measures.information",
    "pearson": "featsieve.measures.correlation",
}

__all__ = [*MEASURES, *FUNCTIONS]

__getattr__, __dir__ = lazy_exports(__name__, MEASURES | FUNCTIONS)
