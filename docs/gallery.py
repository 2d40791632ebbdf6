"""The gallery: every script of ``examples/`` is run, and its picture, words and code make a page.

``python -m docs.gallery [NAME …]`` runs examples and says how long each took and how large its
picture is. Outcomes are kept in ``build/gallery`` until the example or the library changes.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import io
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "gallery"

SECTIONS = {
    "Why not just rank?": ["ranking_misses", "demo_and_or", "relief_xor"],
    "One column at a time": ["pearson_manhattan", "hsic_shapes", "spectral_graphs"],
    "Redundancy": ["information_redundancy", "hsic_lasso_blocks", "quadratic_bound"],
    "Interaction": ["lsmi_sets", "conversion_rows"],
    "How many, and how sure?": ["foci_stops", "knockoff_statistics"],
    "With a model in mind": ["lasso_path", "svm_error_curve", "wrapper_parsimonious"],
    "Real tables and other data": [
        *("messy_csv", "motor_imagery_bands", "digits_embedding", "hsic_strings"),
    ],
}
NAMES = [name for names in SECTIONS.values() for name in names]

# Drawn without a ground and with this colour for words and axes, a picture suits light and dark
# pages: the ink becomes the colour of the page's text. Dark blue becomes a blue that both bear.
INK = "#7f8081"
REPLACED = {INK: "currentColor", "#000000": "currentColor", "#0072b2": "#2e86d1"}
INKED = (
    *("text.color", "xtick.color", "ytick.color"),
    *("axes.edgecolor", "axes.labelcolor", "axes.titlecolor"),
)
STYLE = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "savefig.transparent": True,
    "legend.framealpha": 0.0,
    "axes.prop_cycle": "cycler('color', ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00'])",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    **dict.fromkeys(INKED, INK),
}


@dataclass(frozen=True)
class Example:
    """A script of ``examples/`` and what came of it."""

    name: str
    code: str
    picture: str
    printed: str

    @property
    def title(self) -> str:
        return self._docstring.partition("\n")[0].rstrip(".")

    @property
    def text(self) -> str:
        return self._docstring.partition("\n")[2].strip()

    @property
    def _docstring(self) -> str:
        return ast.get_docstring(ast.parse(self.code)) or self.name


@functools.cache
def example(name: str) -> Example:
    """The outcome of a script: run now, or kept from an earlier run of the same code."""
    code = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    kept = KEPT / f"{name}-{_fingerprint(code)}"
    if not kept.with_suffix(".txt").exists():
        picture, printed = run(name)
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.with_suffix(".svg").write_text(picture, encoding="utf-8")
        kept.with_suffix(".txt").write_text(printed, encoding="utf-8")  # last: it says "complete"
    picture, printed = (kept.with_suffix(s).read_text(encoding="utf-8") for s in (".svg", ".txt"))
    return Example(name, code, picture, printed)


def _fingerprint(code: str) -> str:
    return hashlib.sha256((code + _library()).encode()).hexdigest()[:16]


@functools.cache
def _library() -> str:
    """The library's code and this file's."""
    files = [*sorted((ROOT / "src").rglob("*.py")), Path(__file__)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def run(name: str) -> tuple[str, str]:
    """The picture of ``main()`` as SVG, and what it printed."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from threadpoolctl import threadpool_limits

    printed = io.StringIO()
    script = _load(name)
    style = plt.rc_context({**STYLE, "svg.hashsalt": name})
    with style, contextlib.redirect_stdout(printed), threadpool_limits(1):
        drawn = script.main()
        picture = _svg(getattr(drawn, "figure_", drawn))
        plt.close("all")
    return picture, printed.getvalue()


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _svg(figure: Any) -> str:
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(?<= d=")[^"]+', _shorter, svg)
    # A word of the picture has the page's font, at its size.
    svg = re.sub(r"'DejaVu Sans'[^;\"]*sans-serif", "inherit", svg)
    for given, wanted in REPLACED.items():
        svg = svg.replace(given, wanted)
    return _unique_ids(svg, hashlib.sha256(svg.encode()).hexdigest()[:6])


def _shorter(path: re.Match[str]) -> str:
    """Two decimals are enough for where a line goes."""
    return re.sub(r"(\.\d\d)\d+", r"\1", path[0]).replace("\n", "")


def _unique_ids(svg: str, mark: str) -> str:
    """Several pictures share a page: the names that matplotlib repeats get a mark."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="\1-{mark}"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#\1-{mark})", svg)
    return re.sub(r'href="#([^"]+)"', rf'href="#\1-{mark}"', svg)


# --- Pages ---------------------------------------------------------------------------------------


def figure(name: str, address: str | None) -> str:
    """The picture as part of a page; with ``address``, a caption that leads to its example."""
    shown = example(name)
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', "", shown.picture, count=1)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{shown.title}"', 1)
    caption = f'<figcaption>{shown.title} (<a href="{address}">the code</a>)</figcaption>'
    return f'<figure class="picture">{svg}{caption if address else ""}</figure>'


def pages() -> Iterator[tuple[str, str]]:
    """Address and text of each page of the gallery."""
    yield "gallery/index.md", _index()
    for name in NAMES:
        yield f"gallery/{name}.md", _page(example(name))


def _page(shown: Example) -> str:
    said = (
        f"It prints\n\n```text\n{shown.printed.rstrip()}\n```\n\n" if shown.printed.strip() else ""
    )
    code = f'```py title="examples/{shown.name}.py"\n{shown.code.rstrip()}\n```\n'
    picture = f"<!-- picture: {shown.name} -->"
    return f"# {shown.title}\n\n{shown.text}\n\n{picture}\n\n{said}{code}"


def _index() -> str:
    lines = ["---", "hide: [toc]", "---", "", "# Examples", ""]
    lines += ["Each of these runs in a few seconds, from a clone: `python examples/NAME.py`.", ""]
    for section, names in SECTIONS.items():
        lines += [f"## {section}", "", '<div class="cards" markdown>', ""]
        for name in names:
            title = f"[{example(name).title}]({name}.md)"
            lines += ['<div class="card" markdown>', "", f"<!-- card: {name} -->", "", title, ""]
            lines += ["</div>", ""]
        lines += ["</div>", ""]
    return "\n".join(lines)


def main(names: list[str]) -> None:
    for name in names or NAMES:
        start = time.process_time()
        picture, _ = run(name)
        print(f"{name:24} {time.process_time() - start:5.1f} s  {len(picture) / 1000:6.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
