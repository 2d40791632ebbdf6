"""States of text columns: one spelling each, and not too many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.errors import printable
from featsieve.io.model import quoted
from featsieve.io.tidied import Tidied, encoded_states, texts_of

MOST_STATES = 255
KEPT_STATES = 100
OTHER_STATES = "(other)"


def merge_spellings(table: Tidied) -> None:
    """``Yes``, ``yes`` and ``yes `` are one state, spelled as most rows spell it."""
    merged: dict[str, list[str]] = {}
    for name in table.text_columns():
        encoded = encoded_states(table.data.column(name))
        states = texts_of(encoded)
        groups: dict[str, list[int]] = {}
        for code, state in enumerate(states):
            groups.setdefault(spelling(state), []).append(code)
        if len(groups) < len(states):
            several = next(codes for codes in groups.values() if len(codes) > 1)
            merged[name] = [printable(states[code]) for code in several[:3]]
            table.replace_column(name, _with_one_spelling(encoded, list(groups.values())))
    if merged:
        example = " and ".join(map(repr, next(iter(merged.values()))))
        table.note(
            f"{quoted(list(merged))}: spellings such as {example} were taken as one state",
            "spelling",
        )


# Metres and millions, grams and giga, bits and bytes: the case of these units tells them apart.
_UNIT_WITH_CASE = re.compile(
    r"[-+]?[\d.,]+ ?([a-zµ]|[mp](w|wh|hz|j|pa|v|a|g|l|m|s|n|mol|ev|ohm)|[kmgtp]i?b(ps|/s)?)",
    re.IGNORECASE,
)


def spelling(state: str) -> str:
    """What stays the same; single letters keep their case, which may mean something.

    >>> spelling(" YES "), spelling("60 M"), spelling("5 KG")
    ('yes', '60 M', '5 kg')
    """
    plain = " ".join(state.split())
    keeps_case = len(plain) < 2 or _UNIT_WITH_CASE.fullmatch(plain)
    return plain if keeps_case else plain.casefold()


def _with_one_spelling(encoded: Any, groups: Sequence[Sequence[int]]) -> Any:
    import pyarrow as pa

    counts = _counts(encoded)
    states = texts_of(encoded)
    new_code = np.zeros(len(states), dtype=np.int32)
    for number, codes in enumerate(groups):
        new_code[list(codes)] = number
    chosen = [max(codes, key=lambda code: (counts[code], -code)) for codes in groups]
    return _recoded(
        encoded, new_code, pa.array([" ".join(states[code].split()) for code in chosen])
    )


def _counts(encoded: Any) -> Any:
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.bincount(codes[codes >= 0], minlength=len(encoded.dictionary))


def _recoded(encoded: Any, new_code: Any, states: Any) -> Any:
    """The same rows with other states; gaps stay gaps."""
    import pyarrow as pa

    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    new = np.append(new_code, -1)[codes]
    indices = pa.array(new, mask=new < 0)
    return pa.DictionaryArray.from_arrays(indices.cast(pa.int32()), states)


def coarsen_states(table: Tidied) -> None:
    counts: dict[str, int] = {}
    for name in (name for name in table.text_columns() if name != table.target):
        encoded = encoded_states(table.data.column(name))
        if len(encoded.dictionary) > MOST_STATES:
            counts[name] = len(encoded.dictionary)
            table.replace_column(name, _most_frequent(encoded))
    if counts:
        table.note(
            f"{quoted(list(counts))}: up to {max(counts.values())} states; the {KEPT_STATES} most "
            f"frequent were kept, the others are {OTHER_STATES!r}",
            "states",
        )


def _most_frequent(encoded: Any) -> Any:
    """The column with rare states taken together."""
    import pyarrow as pa

    frequent = _frequent_codes(encoded)
    new_code = np.full(len(encoded.dictionary), KEPT_STATES)
    new_code[frequent] = np.arange(KEPT_STATES)
    return _recoded(encoded, new_code, pa.array([*most_frequent_states(encoded), OTHER_STATES]))


def _frequent_codes(encoded: Any) -> Any:
    return np.sort(np.argsort(-_counts(encoded), kind="stable")[:KEPT_STATES])


def most_frequent_states(encoded: Any) -> list[str]:
    """In the order in which the column has them."""
    import pyarrow as pa

    return list(map(str, encoded.dictionary.take(pa.array(_frequent_codes(encoded))).to_pylist()))
