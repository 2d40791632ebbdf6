"""featsieve: which columns of this table matter for this target, and which should I keep?

Nothing is imported before a name is asked for, so that the command is inside ``main``, where Ctrl-C
is answered in a sentence, almost at once.
"""

__version__ = "0.1.0"


def _exports() -> dict[str, str]:
    from featsieve.registry import METHODS

    return {method.name: method.module for method in METHODS} | {
        "open_parquet": "featsieve.engines.files",
        "ProgressBar": "featsieve.runtime.bar",
        "SelectionResult": "featsieve.result",
    }


def __getattr__(name: str) -> object:
    from importlib import import_module

    exports = _exports()
    if name == "__all__":
        return ["__version__", *exports]
    if name not in exports:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(exports[name]), name)


def __dir__() -> list[str]:
    return sorted(_exports())
