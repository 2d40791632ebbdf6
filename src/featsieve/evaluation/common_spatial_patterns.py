"""Common spatial patterns on trials given by their Fourier coefficients (Song et al. 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from featsieve.arrays import Array, FloatArray

ComplexArray = npt.NDArray[np.complexfloating]
_SHRINKAGE = 1e-6  # of the mean variance: keeps the pooled covariance invertible


def band_covariances(coefficients: ComplexArray, kept: Array) -> FloatArray:
    """Channel covariances of each trial when only some Fourier coefficients are left.

    ``coefficients``: trials × channels × frequencies. By Parseval, filtering and going back to time
    first would give the same matrices.
    """
    left = coefficients[:, :, kept]
    covariances = np.real(left @ left.conj().swapaxes(1, 2))
    traces = np.trace(covariances, axis1=1, axis2=2)
    return np.asarray(covariances / traces[:, None, None])


def with_delay(coefficients: ComplexArray, frequencies: FloatArray, delay: float) -> ComplexArray:
    """Each channel beside its own copy ``delay`` seconds later, as CSSP takes them."""
    shifted = coefficients * np.exp(-2j * np.pi * frequencies * delay)
    return np.concatenate([coefficients, shifted], axis=1)


@dataclass(frozen=True)
class CSP:
    """Spatial filters for which the variances of two classes differ most."""

    filters: FloatArray

    @classmethod
    def fit(cls, covariances: FloatArray, y: Array, n_filters: int = 6) -> Self:
        """Half of the filters for each end of the spectrum of (C₁, C₀ + C₁)."""
        first, second = (covariances[y == label].mean(axis=0) for label in np.unique(y))
        pooled = first + second
        pooled += _SHRINKAGE * np.trace(pooled) / len(pooled) * np.eye(len(pooled))
        _, vectors = eigh(second, pooled)
        half = n_filters // 2
        return cls(np.hstack([vectors[:, :half], vectors[:, -half:]]))

    def features(self, covariances: FloatArray) -> FloatArray:
        """Log variances of the filtered trials."""
        variances = np.einsum(
            "cf,ncd,df->nf", self.filters, covariances, self.filters, optimize=True
        )
        return np.log(np.maximum(variances, np.finfo(np.float64).tiny))
