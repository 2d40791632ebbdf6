"""featsieve: which columns of this table matter for this target, and which should I keep?"""

from featsieve.registry import METHODS
from featsieve.runtime.lazy import lazy_exports

__version__ = "0.1.0"

_EXPORTS = {method.name: method.module for method in METHODS} | {
    "open_parquet": "featsieve.engines.files",
    "ProgressBar": "featsieve.runtime.bar",
    "SelectionResult": "featsieve.result",
}

__all__ = ["__version__", *_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
