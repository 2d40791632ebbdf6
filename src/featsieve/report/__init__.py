"""One self-contained page about a selection: aggregates only, never rows of the data."""

from featsieve.runtime.lazy import lazy_exports

_EXPORTS = {
    "Content": "featsieve.report.content",
    "describe": "featsieve.report.content",
    "write": "featsieve.report.page",
    "page": "featsieve.report.page",
    "fragment": "featsieve.report.page",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
