"""The errors; each message is one sentence: what was given, what is allowed, what to do."""

from __future__ import annotations

import math


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


def percent(share: float) -> str:
    """
    >>> percent(0.1), percent(0.125), percent(0.005)
    ('10%', '12.5%', '0.5%')
    """
    return f"{100 * share:.4g}%"


def rounded_up(number: float, digits: int = 2) -> str:
    """What is said to be at most this is so; and what passes at a level passes at what is said.

    >>> rounded_up(0.974), rounded_up(0.9968), rounded_up(10.34, 3), rounded_up(0.0)
    ('0.98', '1', '10.4', '0')
    """
    if not 0 < number < math.inf:
        return f"{number:g}"
    place = 10.0 ** (math.floor(math.log10(number)) + 1 - digits)
    return f"{math.ceil(number / place * (1 - 1e-9)) * place:.{digits}g}"


def printable(text: str) -> str:
    """The text with control characters spelled out, so that a name cannot steer the terminal.

    >>> printable("a\\x1b[31m\\n")
    'a\\\\x1b[31m\\\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


LONGEST_REASON = 120


def reason(error: Exception) -> str:
    """What a foreign error says, on one line and not too long.

    >>> reason(ValueError("row 3: bad cell\\nrow 4: bad cell")), reason(KeyError())
    ('row 3: bad cell', 'KeyError')
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = printable(lines[0]) if lines else type(error).__name__
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"
