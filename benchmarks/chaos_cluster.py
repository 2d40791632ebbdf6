"""Faults of a Dask cluster of processes on loopback, while methods are fitted.

Each scenario gives one :class:`Verdict`: the answer of memory, or one clear error, in bounded time.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import featsieve
from featsieve.errors import ClusterError

N_PARTS, ROWS, COLUMNS = 12, 400, 6
PAUSE = 0.1  # seconds that each part takes, so that faults meet running tasks
KILLS = 3  # of workers, while one method is fitted
PATIENCE = 300.0  # seconds within which everything has to end
METHODS = ("PearsonRanking", "MRMR", "LassoSelector", "FisherScore", "HSICRanking")


@dataclass(frozen=True)
class Verdict:
    """How a scenario ended."""

    name: str
    is_good: bool
    words: str
    seconds: float


def part(seed: int, pause: float = 0.0) -> Any:
    time.sleep(pause)
    return np.random.default_rng(seed).normal(size=(ROWS, COLUMNS))


def large_part(seed: int) -> Any:
    """More than the worker may take; its answer is small."""
    return part(seed) + np.ones(80_000_000)[0]


def target(X: Any) -> Any:
    return (X[:, 1] + X[:, 4] > 0).astype(int)


def lazy_table(make: Callable[..., Any], *more: Any) -> Any:
    import dask
    import dask.array as da

    parts = [dask.delayed(make, pure=False)(seed, *more) for seed in range(N_PARTS)]
    shape = (ROWS, COLUMNS)
    return da.concatenate([da.from_delayed(part, shape, dtype=float) for part in parts])


def fitted(method: str, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(featsieve, method)(n_features_to_select=2).fit(X, y)


def in_memory() -> tuple[Any, Any]:
    X = np.concatenate([part(seed) for seed in range(N_PARTS)])
    return X, target(X)


@contextmanager
def cluster(**options: Any) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 30, "distributed.comm.retry.count": 3}
    local = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **local, **options) as it,
        Client(it) as client,
    ):
        yield client


def judged(name: str, work: Callable[[], str], patience: float = PATIENCE) -> Verdict:
    """Run in a thread of its own, so that a hanging scenario is a verdict, too."""
    words: list[str] = []

    def run() -> None:
        try:
            words.append(work())
        except Exception as error:
            words.append(f"**{type(error).__name__}**: {str(error)[:200]}")

    start = time.perf_counter()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    for _ in range(int(patience)):  # seconds of this process: a machine that is frozen is not late
        thread.join(1.0)
    seconds = time.perf_counter() - start
    ended = words[0] if words else f"**hangs** after {patience:.0f} s in {_place(thread)}"
    return Verdict(name, bool(words) and not ended.startswith("**"), ended, seconds)


def _place(thread: threading.Thread) -> str:
    """The innermost function of ours, and what it waits for."""
    frames = traceback.extract_stack(sys._current_frames()[thread.ident])
    ours = [frame for frame in frames if "featsieve" in frame.filename]
    words = (f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in (ours[-1:] + frames[-1:]))
    return ", ".join(words)


def workers(client: Any) -> list[int]:
    """Process ids of the workers that answer."""
    with suppress(Exception):
        info = client.run(os.getpid, on_error="ignore")
        return [pid for pid in info.values() if isinstance(pid, int)]
    return []


@contextmanager
def meanwhile(fault: Callable[[threading.Event], None]) -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=fault, args=(over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(10)


def same_as_in_memory(client: Any, fault: Callable[[threading.Event], None]) -> str:
    X, y = in_memory()
    for method in METHODS:
        expected = fitted(method, X, y)
        with meanwhile(fault):
            answer = fitted(method, lazy_table(part, PAUSE), y)
        np.testing.assert_allclose(answer.scores_, expected.scores_, rtol=0, atol=1e-9)
    return f"the answers of {len(METHODS)} methods in memory"


def killed_workers(seed: int) -> Verdict:
    def work() -> str:
        rng, killed = random.Random(seed), set[int]()
        with cluster() as client:

            def fault(over: threading.Event) -> None:
                # A few for each method: with a worker killed whenever one is up, work done and
                # work lost may keep pace for ever, and a slow machine looks like a hanging one.
                for _ in range(KILLS):
                    if over.wait(rng.uniform(0.1, 1.0)):
                        return
                    alive = [pid for pid in workers(client) if pid not in killed]
                    if alive:
                        unlucky = rng.choice(alive)
                        os.kill(unlucky, signal.SIGKILL)
                        killed.add(unlucky)

            words = same_as_in_memory(client, fault)
        return f"{words}; {len(killed)} workers killed"

    return judged("workers killed at random moments", work)


def slow_worker(seed: int) -> Verdict:
    def work() -> str:
        rng = random.Random(seed)
        with cluster() as client:

            def fault(over: threading.Event) -> None:
                pid = workers(client)[0]
                while not over.wait(0.2):
                    os.kill(pid, signal.SIGSTOP)
                    over.wait(rng.uniform(0.5, 1.5))
                    os.kill(pid, signal.SIGCONT)

            return same_as_in_memory(client, fault)

    return judged("one worker stands still most of the time", work)


def little_memory(_: int) -> Verdict:
    def work() -> str:
        with cluster(memory_limit="400MB") as client:
            client.run(_few_failures)
            client.cluster.scheduler.allowed_failures = 1
            _, y = in_memory()
            return refused(lambda: fitted("PearsonRanking", lazy_table(large_part), y))

    return judged("a worker with too little memory", work)


def _few_failures() -> None:
    import dask

    dask.config.set({"distributed.scheduler.allowed-failures": 1})


def refused(work: Callable[[], Any]) -> str:
    """The sentence; an answer would be wrong here."""
    try:
        work()
    except Exception as error:
        text = " ".join(str(error).split())
        is_ours = isinstance(error, ClusterError)
        return f"{'' if is_ours else '**not ours** '}{type(error).__name__}: {text[:220]}"
    return "**an answer, where there can be none**"


# --- scheduler and workers as commands ------------------------------------------------------------


@contextmanager
def commands() -> Iterator[tuple[Path, Any]]:
    """A scheduler and two workers, each a process of its own; the scheduler's file and process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
        scheduler = subprocess.Popen(
            [*words, "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)], **quiet
        )
        words = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard"]
        options = ["--nworkers", "2", "--nthreads", "1", "--host", "127.0.0.1"]
        while not file.exists():
            time.sleep(0.1)
        worker = subprocess.Popen([*words, "--scheduler-file", str(file), *options], **quiet)
        try:
            yield file, scheduler
        finally:
            for process in (worker, scheduler):
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()


def lost_scheduler(_: int) -> Verdict:
    def work() -> str:
        from distributed import Client

        with commands() as (file, scheduler):
            client = Client(scheduler_file=str(file), timeout=30)
            client.wait_for_workers(2, timeout=60)
            _, y = in_memory()

            def fault(over: threading.Event) -> None:
                over.wait(0.5)
                scheduler.kill()

            try:
                with meanwhile(fault):
                    return refused(lambda: fitted("PearsonRanking", lazy_table(part, 1.0), y))
            finally:
                with suppress(Exception):
                    client.close(timeout=5)

    return judged("the scheduler is killed", work)


CLIENT = """
import sys, time
from distributed import Client
from benchmarks import chaos_cluster as chaos
client = Client(scheduler_file=sys.argv[1])
print("fitting", flush=True)
_, y = chaos.in_memory()
chaos.fitted("PearsonRanking", chaos.lazy_table(chaos.part, 1.0), y)
"""


def lost_client(_: int) -> Verdict:
    def work() -> str:
        from distributed import Client

        with commands() as (file, _), Client(scheduler_file=str(file), timeout=30) as client:
            client.wait_for_workers(2, timeout=60)
            child = subprocess.Popen(
                [sys.executable, "-c", CLIENT, str(file)], stdout=subprocess.PIPE, text=True
            )
            child.stdout.readline()
            time.sleep(1.5)
            child.kill()
            child.wait()
            return _left_behind(client)

    return judged("a client disappears", work)


def _left_behind(client: Any) -> str:
    deadline = time.monotonic() + 60
    while any(client.processing().values()):
        if time.monotonic() > deadline:
            return "**tasks of the lost client still run after 60 s**"
        time.sleep(0.5)
    X, y = in_memory()
    answer = fitted("PearsonRanking", lazy_table(part), y)
    np.testing.assert_allclose(answer.scores_, fitted("PearsonRanking", X, y).scores_, atol=1e-9)
    return "its tasks are gone, and another client gets its answer"


SCENARIOS = (killed_workers, slow_worker, little_memory, lost_scheduler, lost_client)
