"""Damaged files of every format, read under a cap on memory: a small part of the long run."""

from __future__ import annotations

import sys

import pytest

from tests.fuzz.files import FORMATS, sound
from tests.fuzz.reading import Reader, numbered, read

N_FILES = 250

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="caps and peaks of memory are Linux's"
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_sound_file_is_read(name):
    answer = read(name, sound(name), ())
    assert (answer.outcome, answer.problems) == ("answered", [])


def test_damaged_files_are_read_or_refused_in_a_sentence():
    reader = Reader()
    try:
        answers = {number: reader.ask(0, number) for number in range(N_FILES)}
    finally:
        reader.close()
    assert {number: a.problems for number, a in answers.items() if a.problems} == {}
    assert {a.outcome for a in answers.values()} == {"answered", "refused"}


def test_a_file_can_be_damaged_the_same_way_again():
    assert numbered(5, 6) == numbered(5, 6) != numbered(5, 7)
