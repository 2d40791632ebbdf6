"""The frame of all benches: cells that are done one by one, a report in Markdown and JSON.

A bench is a module of this package with ``BENCH``, a :class:`Bench`: it lists its cells and turns
their answers into a report. The frame runs the cells, keeps each answer on disk as it is done (a
killed run continues with the next cell), writes the report and has its figures drawn. A report in
JSON holds its cells, so that a run that asks for more than an earlier one continues from it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import featsieve
from featsieve.datasets.openml import default_cache
from featsieve.errors import InputError
from featsieve.evaluation.benches._report import Figure, Report, markdown_table
from featsieve.evaluation.cells import Cell, CellStore, Key
from featsieve.evaluation.surroundings import circumstances, described_circumstances
from featsieve.result import COMPLETED
from featsieve.runtime.progress import Callback, Monitor, last_of

QUICK = "**Quick version: it shows that the bench works; its figures are not evidence.**"
Results = Mapping[Key, Any]
Draw = Callable[[Figure, Path], None]


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    data_dir: Path | None = None
    trials: int | None = None
    methods: Sequence[str] | None = None
    datasets: Sequence[str] | None = None
    quick: bool = False
    out: Path | None = None

    def repeats(self, full: int, quick: int) -> int:
        return self.trials or (quick if self.quick else full)


@dataclass(frozen=True)
class Bench:
    """One experiment.

    ``settings`` are the sizes that the keys of the cells do not name: cells of other settings are
    not continued. ``warm_up`` compiles and imports, so that no printed time holds it.
    """

    name: str
    cells: Callable[[Request], Sequence[Cell]]
    report: Callable[[Request, Results], Report]
    options: tuple[str, ...] = ("trials", "methods")
    settings: Callable[[Request], Mapping[str, Any]] = lambda request: {"quick": request.quick}
    warm_up: Callable[[Request], None] = lambda request: None
    packages: tuple[str, ...] = field(default=("scipy", "scikit-learn", "numba"))


def run_bench(
    bench: Bench,
    request: Request,
    *,
    draw: Draw | None = None,
    say: Callable[[str], None] = lambda message: None,
    callback: Callback | None = None,
) -> str:
    """The report as Markdown; with ``out`` also written there, beside JSON and plots."""
    refuse_unknown_options(bench, request)
    path = cells_path(bench, request)
    cells = bench.cells(request)
    identity = {
        "bench": bench.name,
        "version": featsieve.__version__,
        **bench.settings(request),
    }
    store = CellStore(path, identity)
    if not store.answers:
        store.answers.update(_reported(request, identity, cells))
    if any(cell.key in store.answers for cell in cells):
        say(f"continues an earlier run; delete {path.name!r} to start from the beginning.")
    if any(cell.key not in store.answers for cell in cells):
        bench.warm_up(request)
    monitor = Monitor(callback)
    answers, reason = last_of(_ticked(bench.name, store.steps(cells), len(cells), monitor), monitor)
    results = {cell.key: answers[cell.key] for cell in cells if cell.key in answers}
    text = _write(bench, request, identity, store, _state(store, cells, results), results, draw)
    if reason != COMPLETED:
        say(f"stopped after {len(results)} of {len(cells)} cells; start again to continue.")
    elif store.failures:
        say(f"{len(store.failures)} of {len(cells)} cells failed; start again to try them again.")
    else:
        store.remove(cells)
    return text


def _reported(
    request: Request, identity: Mapping[str, Any], cells: Sequence[Cell]
) -> dict[Key, Any]:
    """Cells of the report that is there, if it lacks some that are asked for now.

    JSON has no NaN: an answer with a null is not taken, but computed again.
    """
    path = None if request.out is None else request.out.with_suffix(".json")
    if path is None or not path.exists():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document.get("identity") != json.loads(json.dumps(identity)):
            return {}
        found = {tuple(c["key"]): c["answer"] for c in document["cells"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # not a report of ours
    known = {key: answer for key, answer in found.items() if not _has_null(answer)}
    return {} if all(cell.key in known for cell in cells) else known


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    return any(map(_has_null, value)) if isinstance(value, list) else value is None


def _ticked(
    name: str, steps: Iterator[dict[Key, Any]], total: int, monitor: Monitor
) -> Iterator[dict[Key, Any]]:
    for answers in steps:
        monitor.tick(name, len(answers), total)
        yield answers


def refuse_unknown_options(bench: Bench, request: Request) -> None:
    for name in ("trials", "methods", "datasets"):
        if getattr(request, name) and name not in bench.options:
            raise InputError(f"the bench {bench.name!r} takes no --{name}; leave it out.")


def cells_path(bench: Bench, request: Request) -> Path:
    """Beside the report, or in the user's cache where no report is written."""
    if request.out is not None:
        return request.out.with_name(request.out.stem + ".cells.jsonl")
    words = [bench.name, "quick" if request.quick else "full"]
    if request.data_dir is not None:
        words.append(request.data_dir.resolve().name)
    return default_cache() / "bench" / ("-".join(words) + ".cells.jsonl")


def _state(store: CellStore, cells: Sequence[Cell], results: Results) -> str:
    words = []
    if store.failures:
        words.append(f"**{len(store.failures)} of {len(cells)} cells failed (at the end).**")
    if len(results) + len(store.failures) < len(cells):
        words.append(f"**Interrupted: {len(results)} of {len(cells)} cells are done.**")
    if store.n_resumed:
        words.append(f"{store.n_resumed} of {len(cells)} cells were done in an earlier run.")
    return " ".join(words)


def _write(
    bench: Bench,
    request: Request,
    identity: Mapping[str, Any],
    store: CellStore,
    state: str,
    results: Results,
    draw: Draw | None,
) -> str:
    report = bench.report(request, results)
    notes = [note for note in (QUICK if request.quick else "", state) if note]
    text = "\n\n".join([f"# {report.title}", *notes, *report.body(), *_failed_section(store)])
    if request.out is None:
        return text
    out = request.out.with_suffix(".md") if request.out.suffix == ".json" else request.out
    out.parent.mkdir(parents=True, exist_ok=True)
    pictures = _pictures(report.figures, out, draw)
    parts = [text, *pictures, circumstances(bench.packages)]
    out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    document = {
        "bench": bench.name,
        "quick": request.quick,
        "identity": dict(identity),
        "state": state or "complete",
        "failures": [{"key": key, "reason": why} for key, why in store.failures.items()],
        **report.as_dict(),
        **described_circumstances(bench.packages),
    }
    out.with_suffix(".json").write_text(_json(document, results), encoding="utf-8")
    return text


def _failed_section(store: CellStore) -> list[str]:
    if not store.failures:
        return []
    rows = [[", ".join(key), why.replace("|", "\\|")] for key, why in store.failures.items()]
    return ["## Failed cells\n" + markdown_table(["cell", "reason"], rows)]


def _pictures(figures: Sequence[Figure], out: Path, draw: Draw | None) -> list[str]:
    if draw is None:
        return []
    links = []
    for figure in figures:
        path = out.with_name(f"{out.stem}-{figure.name}.png")
        draw(figure, path)
        links.append(f"![{figure.name}]({path.name})")
    return links


def _json(document: Mapping[str, Any], results: Results) -> str:
    """Indented, but with one line per cell and per figure."""
    rest = {name: value for name, value in document.items() if name != "figures"}
    text = json.dumps(_finite(rest), indent=1, ensure_ascii=False).removesuffix("\n}")
    cells = [{"key": key, "answer": answer} for key, answer in results.items()]
    for name, items in (("figures", document["figures"]), ("cells", cells)):
        lines = [json.dumps(_finite(item), ensure_ascii=False) for item in items]
        text += f',\n "{name}": [\n  ' + ",\n  ".join(lines) + "\n ]"
    return text + "\n}\n"


def _finite(value: Any) -> Any:
    """JSON has no NaN: null instead."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def trial_values(results: Results, *start: str) -> list[Any]:
    """Answers of all cells whose keys begin with these words, in the order of the cells."""
    n = len(start)
    return [answer for key, answer in results.items() if key[:n] == start]


def by_name(wanted: Sequence[str] | None, known: Mapping[str, str], what: str) -> list[str]:
    """Columns of a table by the paper's name or by ours, in any case; all by default.

    ``known``: the paper's name → ours.
    """
    if not wanted:
        return list(known)
    words = {name.lower(): name for name in known}
    words |= {ours.lower(): name for name, ours in known.items() if ours.lower() not in words}
    unknown = [word for word in wanted if word.lower() not in words]
    if unknown:
        raise InputError(
            f"there is no method {unknown[0]!r} in {what}; allowed are {', '.join(known)}."
        )
    return list(dict.fromkeys(words[word.lower()] for word in wanted))
