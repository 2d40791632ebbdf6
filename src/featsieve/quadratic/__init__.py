"""Global selection as a binary quadratic problem: max x'Qx, x binary, k ones (P-CMI, problem BQP).

>>> import numpy as np
>>> from featsieve.quadratic import solve
>>> Q = np.array([[0.1, 0.9, 0.2], [0.9, 0.1, 0.2], [0.2, 0.2, 0.8]])
>>> answer = solve(Q, 2)
>>> sorted(answer.indices.tolist()), round(answer.value, 6), answer.proven_optimal
([0, 1], 2.0, True)
"""

from __future__ import annotations

from featsieve.quadratic.problem import SOLVERS, BQPResult
from featsieve.quadratic.solve import solve

__all__ = ["SOLVERS", "BQPResult", "solve"]
