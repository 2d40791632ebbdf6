"""Measures of dependence: how good is a set of columns for a target?"""

from featsieve.lazy import lazy_exports

# One line a measure: the class that searches take, and the functions that stand alone.
# A file must not bear the name of a function (pearson, hsic, lsmi, …): importing the file would
# put the module in the function's place.
MEASURES = {
    "ConditionalMutualInformation": "featsieve.measures.information.binned_information",
    "CrossValScore": "featsieve.measures.cross_val_score",
    "HSIC": "featsieve.measures.kernel.hilbert_schmidt",
    "LSMI": "featsieve.measures.smi.squared_loss_mi",
    "MLMI": "featsieve.measures.smi.likelihood_mi",
    "MutualInformation": "featsieve.measures.information.binned_information",
    "Pearson": "featsieve.measures.linear.correlation",
}
FUNCTIONS = {
    "cmi_matrix": "featsieve.measures.information.functions",
    "conditional_mutual_information": "featsieve.measures.information.functions",
    "entropy": "featsieve.measures.information.functions",
    "hsic": "featsieve.measures.kernel.hsic_functions",
    "information_posterior": "featsieve.measures.information.posterior",
    "joint_entropy": "featsieve.measures.information.functions",
    "kta": "featsieve.measures.kernel.hsic_functions",
    "lsmi": "featsieve.measures.smi.smi_functions",
    "mlmi": "featsieve.measures.smi.smi_functions",
    "mmd": "featsieve.measures.kernel.hsic_functions",
    "mutual_information": "featsieve.measures.information.functions",
    "normalized_mutual_information": "featsieve.measures.information.functions",
    "pearson": "featsieve.measures.linear.correlation",
}

__all__ = [*MEASURES, *FUNCTIONS]

__getattr__, __dir__ = lazy_exports(__name__, MEASURES | FUNCTIONS)
