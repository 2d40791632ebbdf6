"""What an error on the command line looks like."""

from __future__ import annotations


def assert_one_sentence(err, words):
    assert err.startswith("featsieve: error: ")
    assert err.count("\n") == 1
    assert words in err
