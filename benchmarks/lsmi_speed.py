"""L1LSMI against the plain numpy transcription of Algorithm 1, side by side, and where time goes.

    python -m benchmarks.lsmi_speed [--seed 0] [--toys and-or,quad,xor]

Both get the same table, 20 restarts, the authors' grids and both cores: ours by ``n_jobs=2``, the
transcription by its BLAS threads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import lsmi_numpy_transcription as transcription
from benchmarks.frame import Case, compare, comparison_table, write_report
from featsieve import L1LSMI
from featsieve.datasets import make_and_or, make_quad, make_xor
from featsieve.evaluation import f_measure
from featsieve.measures.lsmi.lsmi import BoundLSMI

TOYS = {"and-or": (make_and_or, 4), "quad": (make_quad, 2), "xor": (make_xor, 2)}
N_SAMPLES, N_INIT = 400, 20


def ours(data: Any, k: int, *, n_jobs: int, n_agree: int | None = 3) -> list[int]:
    selector = L1LSMI(
        n_features_to_select=k, n_init=N_INIT, n_agree=n_agree, n_jobs=n_jobs, random_state=0
    )
    return sorted(selector.fit(data.data, data.target).indices_.tolist())


def theirs(data: Any, k: int) -> list[int]:
    weights, _ = transcription.l1_lsmi(
        np.asarray(data.data, dtype=float),
        np.asarray(data.target, dtype=float),
        k,
        is_classification=len(np.unique(data.target)) <= 20,
        n_init=N_INIT,
    )
    return np.flatnonzero(weights > transcription.NONZERO).tolist()


def scores(relevant: Any, mine: list[int], other: list[int]) -> str:
    pair = [f_measure(selection, relevant) for selection in (mine, other)]
    return f"F = {pair[0]:.2f} (transcription {pair[1]:.2f})"


def case(toy: str, seed: int) -> Case:
    make, k = TOYS[toy]
    data = make(N_SAMPLES, random_state=seed)
    ours(data, k, n_jobs=1)  # compiles the kernels
    return Case(
        f"{toy}, seed {seed}",
        CpuTimed(partial(ours, data, k, n_jobs=2)),
        {
            "transcription, 20 restarts": CpuTimed(partial(theirs, data, k)),
            "ours, all 20 restarts": CpuTimed(partial(ours, data, k, n_jobs=2, n_agree=None)),
        },
        partial(scores, data.relevant),
    )


class CpuTimed:
    """A function that notes the processor seconds of its last call: a busy machine spares them."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function, self.seconds = function, 0.0

    def __call__(self) -> Any:
        start = time.process_time()
        answer = self._function()
        self.seconds = time.process_time() - start
        return answer


def processor_table(cases: Sequence[Case]) -> str:
    lines = ["| case | featsieve | peer | peer's | peer ÷ ours |", "|---|---|---|---|---|"]
    for case in cases:
        mine: Any = case.ours
        for name, peer in case.peers.items():
            spent: Any = peer
            lines.append(
                f"| {case.name} | {mine.seconds:.2f} s | {name} | {spent.seconds:.2f} s "
                f"| **{spent.seconds / mine.seconds:.0f}** |"
            )
    return "## Processor seconds of the same runs, all threads together\n" + "\n".join(lines)


class Clock:
    """Adds up the seconds spent in a method."""

    def __init__(self, owner: type, name: str) -> None:
        self.seconds, self.calls = 0.0, 0
        self._owner, self._name, self._method = owner, name, getattr(owner, name)

    def __enter__(self) -> Clock:
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return self._method(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start
                self.calls += 1

        setattr(self._owner, self._name, timed)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(self._owner, self._name, self._method)


def where_time_goes(toys: Sequence[str], seed: int) -> str:
    lines = [
        "| set | whole fit | model selection: calls, each, share | value with gradient: same |",
        "|---|---|---|---|",
    ]
    for toy in toys:
        make, k = TOYS[toy]
        data = make(N_SAMPLES, random_state=seed)
        with Clock(BoundLSMI, "tune") as tune, Clock(BoundLSMI, "value_and_gradient") as climb:
            start = time.perf_counter()
            ours(data, k, n_jobs=1)
            total = time.perf_counter() - start
        cells = [
            f"{c.calls}, {1e3 * c.seconds / c.calls:.1f} ms, {c.seconds / total:.0%}"
            for c in (tune, climb)
        ]
        lines.append(f"| {toy} | {total:.2f} s | {cells[0]} | {cells[1]} |")
    return "## Where the time goes (one thread)\n" + "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--toys", default=",".join(TOYS))
    arguments = parser.parse_args()
    toys = arguments.toys.split(",")
    cases = [case(toy, arguments.seed) for toy in toys]
    comparisons = [compare(toy_case, repeats=1, warm_up=0) for toy_case in cases]
    path = write_report(
        "lsmi-speed",
        "L1LSMI against a plain numpy transcription of Algorithm 1",
        f"n = {N_SAMPLES}, m = 10, {N_INIT} restarts, the authors' grids, two cores. Ours ends the "
        "restarts when three of them agree on the best set (`n_agree=3`, the default); a line with "
        "all restarts stands next to it.",
        comparison_table(comparisons),
        processor_table(cases),
        where_time_goes(toys, arguments.seed),
        packages=["scipy", "scikit-learn", "numba"],
    )
    print(path.read_text())


if __name__ == "__main__":
    main()
