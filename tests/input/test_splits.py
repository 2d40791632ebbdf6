"""Folds as users give them: numbers, splitters, lists of indices or masks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut

from featsieve.errors import InputError
from featsieve.input.splits import fixed_splits, refuse_overlap

X, Y = np.zeros((6, 1)), np.arange(6) % 2


@pytest.mark.parametrize(
    "cv", [KFold(2), [([3, 4, 5], [0, 1, 2]), (Y[:3].tolist(), [3, 4, -1])], 2]
)
def test_numbers_splitters_and_lists(cv):
    splits = fixed_splits(cv, X, Y, classifier=True)
    assert len(splits) == 2
    for train, test in splits:
        assert train.dtype.kind == test.dtype.kind == "i"
        assert {*train, *test} <= set(range(6))


def test_groups_reach_the_splitter():
    groups = {"groups": [0, 0, 1, 1, 2, 2]}
    splits = fixed_splits(LeaveOneGroupOut(), X, Y, classifier=True, params=groups)
    assert [test.tolist() for _, test in splits] == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    "cv",
    [
        *(1, 2.5, "x", True, [], [(1, 2, 3)], ["ab"], LeaveOneGroupOut()),
        *([([0, 1], [])], [([0, 1], [6])], [([0.0], [1.0])], [([[0]], [1])]),
    ],
)
def test_what_splits_no_rows_is_one_sentence(cv):
    with pytest.raises(InputError, match="cannot split the 6 rows"):
        fixed_splits(cv, X, Y, classifier=True)


def test_a_row_is_not_learned_from_and_judged():
    refuse_overlap(fixed_splits(3, X, Y, classifier=True), 3)
    with pytest.raises(InputError, match=r"fold 2 .* row 5"):
        refuse_overlap(fixed_splits([([0], [1]), ([0, 5], [5, 4])], X, Y, classifier=True), "cv")
