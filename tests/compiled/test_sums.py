"""Sums of kernels are taken in one order, wherever their arrays lie in memory.

Where reassociation is allowed, a compiler vectorises a loop and so changes the order of its
sum. If the loop also writes to an array, it first looks whether that array lies too near to
another one, and takes the plain loop if so: the last bit of the sum then depends on the memory
that happened to be free. So such a sum has a loop of its own.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import featsieve.compiled

FILES = sorted(Path(featsieve.compiled.__file__).parent.glob("*.py"))


def sums_next_to_stores(source):
    """Innermost loops that add to one number and write to an array."""
    for loop in ast.walk(ast.parse(source)):
        if not isinstance(loop, ast.For) or any(isinstance(n, ast.For) for n in _inside(loop)):
            continue
        counter = ast.unparse(loop.target)
        targets = [t for n in _inside(loop) for t in _targets(n)]
        stores = [t for t in targets if isinstance(t, ast.Subscript)]
        moving = [t for t in stores if counter in {ast.unparse(n) for n in ast.walk(t.slice)}]
        added = [n.target for n in _inside(loop) if isinstance(n, ast.AugAssign)]
        kept = [t for t in added if t not in moving]
        if kept and (moving or any(isinstance(t, ast.Subscript) for t in kept)):
            yield ast.unparse(loop)


def _inside(loop):
    return [node for statement in loop.body for node in ast.walk(statement)]


def _targets(node):
    if isinstance(node, ast.AugAssign):
        return [node.target]
    if not isinstance(node, ast.Assign):
        return []
    return [t for target in node.targets for t in getattr(target, "elts", [target])]


def reassociating_functions(source):
    tree = ast.parse(source)
    names = {
        ast.unparse(node.targets[0])
        for node in tree.body
        if isinstance(node, ast.Assign) and "reassoc" in ast.unparse(node.value)
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            words = " ".join(ast.unparse(d) for d in node.decorator_list)
            # A part of a kernel is compiled with the flags of the kernels of its module.
            is_part = "part_of_kernel" in words and names
            if "reassoc" in words or is_part or any(name in words for name in names):
                yield ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sum_that_may_be_reordered_has_a_loop_of_its_own(path):
    for function in reassociating_functions(path.read_text(encoding="utf-8")):
        assert list(sums_next_to_stores(function)) == []


def test_the_rule_knows_its_cases():
    both = "for j in range(n):\n    out[j] = a[j]\n    total += out[j]"
    into_memory = "for k in range(i):\n    x[i] -= f[k] * x[k]"
    assert list(sums_next_to_stores(both)) == [both]
    assert list(sums_next_to_stores(into_memory)) == [into_memory]
    assert list(sums_next_to_stores("for j in range(n):\n    total += a[j]")) == []
    assert list(sums_next_to_stores("for j in range(n):\n    out[j] += a[j]")) == []
    assert len(FILES) > 10
