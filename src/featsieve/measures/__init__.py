"""Measures of dependence: how good is a set of columns for a target?"""

from featsieve.runtime.lazy import lazy_exports

# One line per measure: the class that searches take, and the functions that stand alone.
MEASURES = {
    "ConditionalDependence": "featsieve.measures.chatterjee.codec",
    "ConditionalMutualInformation": "featsieve.measures.information.binned",
    "CrossValScore": "featsieve.measures.cross_val_score",
    "Fisher": "featsieve.measures.spectral.fisher",
    "HSIC": "featsieve.measures.hsic.hsic",
    "LDA": "featsieve.measures.lda.lda",
    "Laplacian": "featsieve.measures.spectral.laplacian",
    "LSMI": "featsieve.measures.lsmi.lsmi",
    "MLMI": "featsieve.measures.lsmi.mlmi",
    "MutualInformation": "featsieve.measures.information.binned",
    "PCA": "featsieve.measures.pca.pca",
    "Pearson": "featsieve.measures.pearson.pearson",
    "Relief": "featsieve.measures.relief.relieff",
    "Spectral": "featsieve.measures.spectral.spec",
    "Xi": "featsieve.measures.chatterjee.xi",
}
FUNCTIONS = {
    "cmi_matrix": "featsieve.measures.information.functions",
    "conditional_mutual_information": "featsieve.measures.information.functions",
    "entropy": "featsieve.measures.information.functions",
    "hsic": "featsieve.measures.hsic.functions",
    "information_posterior": "featsieve.measures.information.functions",
    "joint_entropy": "featsieve.measures.information.functions",
    "kta": "featsieve.measures.hsic.functions",
    "lsmi": "featsieve.measures.lsmi.functions",
    "mlmi": "featsieve.measures.lsmi.functions",
    "mmd": "featsieve.measures.hsic.functions",
    "mutual_information": "featsieve.measures.information.functions",
    "normalized_mutual_information": "featsieve.measures.information.functions",
    "pearson": "featsieve.measures.pearson.pearson",
}

KERNELS = {
    "MismatchKernel": "featsieve.measures.hsic.object_kernels",
    "SpectrumKernel": "featsieve.measures.hsic.object_kernels",
    "WeisfeilerLehmanKernel": "featsieve.measures.hsic.object_kernels",
}

__all__ = [*MEASURES, *FUNCTIONS, *KERNELS]

__getattr__, __dir__ = lazy_exports(__name__, MEASURES | FUNCTIONS | KERNELS)
