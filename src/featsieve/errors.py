"""The errors; each message is one sentence: what was given, what is allowed, what to do."""

from __future__ import annotations


class InputError(ValueError):
    """The data or a parameter cannot be used as given."""


class IncompatibleError(InputError):
    """A measure and a search that do not fit each other."""


class MemoryBudgetError(InputError, MemoryError):
    """The work does not fit into ``memory_limit``."""


class ClusterError(RuntimeError):
    """A Dask cluster lost its scheduler, or workers more often than it tries again."""


class MissingExtraError(ImportError):
    """An optional package is needed that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f'{purpose} needs {package}; install it with: pip install "featsieve[{extra}]"'
        )


def printable(text: str) -> str:
    """The text with control characters spelled out, so that a name cannot steer the terminal.

    >>> printable("a\\x1b[31m\\n")
    'a\\\\x1b[31m\\\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
