"""Parsers of other packages: whatever one of them raises about a damaged file is one sentence.

What they can raise has no end (zlib's and expat's errors, a tokenizer's, KeyError for a missing
member), so everything is caught here but what is ours and what is the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from featsieve.errors import InputError, MemoryBudgetError, reason


@contextmanager
def damage_explained(source: str, what: str, advice: str) -> Iterator[None]:
    """The words of "a.npz cannot be read as NPZ (reason); save it again"."""
    try:
        yield
    except (InputError, ImportError):
        raise
    except MemoryError:
        raise MemoryBudgetError(
            f"{source} needs more memory than there is; convert it to Parquet, which is read in "
            "parts, or take fewer rows."
        ) from None
    except Exception as error:
        raise InputError(f"{source} {what} ({reason(error)}); {advice}.") from None
