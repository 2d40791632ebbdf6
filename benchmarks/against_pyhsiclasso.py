"""A selector of ours and pyHSICLasso, which runs in an environment of its own, in turns."""

from __future__ import annotations

import subprocess
from typing import Any

from benchmarks.frame import Case, Comparison, compare
from benchmarks.pyhsiclasso_peer import problem


def against_pyhsiclasso(
    name: str, selector: Any, *, python: str, repeats: int, n_jobs: int = 1
) -> Comparison:
    """``python`` is a Python that has pyHSICLasso; ten features of the same table on both sides."""
    X, y = problem()
    command = [python, "-m", "benchmarks.pyhsiclasso_peer"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, stderr=subprocess.DEVNULL, text=True) as peer:

        def ask() -> list[int]:
            assert peer.stdin is not None
            assert peer.stdout is not None
            print(n_jobs, file=peer.stdin, flush=True)
            return sorted(map(int, peer.stdout.readline().split()))

        case = Case(
            name,
            lambda: sorted(selector.fit(X, y).indices_.tolist()),
            {"pyHSICLasso (vanilla)": ask},
            lambda a, b: f"{len(set(a) & set(b))} of 10 features in common",
        )
        comparison = compare(case, repeats=repeats)
        peer.stdin.close()  # type: ignore[union-attr]
        return comparison
