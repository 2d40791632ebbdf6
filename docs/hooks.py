"""What mkdocs runs: tables from the registry, one API page per package, the gallery, equations."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from docs import gallery, mathml, messages, tables  # noqa: E402 - found from the project's root

# title → the package whose exports the page lists; a package that does not exist yet has no page.
API_PACKAGES = {
    "Selectors": "featsieve",
    "Measures": "featsieve.measures",
    "Searches": "featsieve.searches",
    "Discretizers": "featsieve.discretize",
    "Quadratic problems": "featsieve.quadratic",
    "Inference": "featsieve.inference",
    "Evaluation": "featsieve.evaluation",
    "Plots": "featsieve.plots",
    "Datasets": "featsieve.datasets",
    "Linear algebra": "featsieve.linalg",
}
PROJECT_PAGES = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "releasing.md": "RELEASING.md",
    "roadmap.md": "ROADMAP.md",
}


def on_config(config: Any) -> Any:
    """List the API pages in the navigation, after the shared parameters."""
    section = next(entry for entry in config.nav if "API reference" in entry)["API reference"]
    section[1:1] = [{title: page_of(title)} for title in existing_packages()]
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    return config


def existing_packages() -> dict[str, str]:
    return {t: p for t, p in API_PACKAGES.items() if importlib.util.find_spec(p) is not None}


def page_of(title: str) -> str:
    return f"api/{title.lower().replace(' ', '-')}.md"


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made, not written."""
    for title, package in existing_packages().items():
        files.append(File.generated(config, page_of(title), content=api_page(title, package)))
    for page, source in PROJECT_PAGES.items():
        files.append(File.generated(config, page, content=project_page(source)))
    for page, text in gallery.pages():
        files.append(File.generated(config, page, content=text))
    return files


def project_page(source: str) -> str:
    """A page of the repository; its links to other such pages lead to their copies."""
    text = (ROOT / source).read_text("utf-8")
    for page, name in PROJECT_PAGES.items():
        text = text.replace(f"]({name})", f"]({page})")
    return text


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put tables, cards of methods and messages where a page asks for them."""
    to_api = "../" * page.file.src_uri.count("/") + "api/selectors.md"
    for name, make in TABLES.items():
        mark = f"<!-- table: {name} -->"
        if mark in markdown:
            markdown = markdown.replace(mark, make(to_api))
    markdown = METHODS_MARK.sub(lambda m: _cards(m[1], to_api), markdown)
    return MESSAGES_MARK.sub(lambda m: messages.listing(m[1]), markdown)


METHODS_MARK = re.compile(r"<!-- methods: ([\w, ]+) -->")
MESSAGES_MARK = re.compile(r"<!-- messages: ([\w-]+) -->")
PICTURE_MARK = re.compile(r"<!-- (picture|card): (\w+) -->")


def _cards(names: str, to_api: str) -> str:
    return tables.family_table(_linked(to_api), names.replace(" ", "").split(","))


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Typeset the equations and put the pictures in; an example's own page needs no caption."""
    up = "../" * page.url.count("/")

    def picture(match: re.Match[str]) -> str:
        kind, name = match.groups()
        captioned = kind == "picture" and not page.url.startswith("gallery/")
        return gallery.figure(name, f"{up}gallery/{name}.html" if captioned else None)

    return PICTURE_MARK.sub(picture, mathml.typeset(html))


# The theme's answer to browsers that refuse workers to files, and ours, which needs no network.
REMOTE_WORKER, LOCAL_WORKER = "https://unpkg.com/iframe-worker/shim", "worker.js"


def on_post_page(output: str, page: Any, **_: Any) -> str:
    return output.replace(REMOTE_WORKER, "../" * page.url.count("/") + LOCAL_WORKER)


def on_post_template(output_content: str, **_: Any) -> str:
    return output_content.replace(REMOTE_WORKER, LOCAL_WORKER)


def _linked(api_page: str) -> Any:
    return lambda m: f"[`{m.name}`]({api_page}#{m.module}.{m.name})"


TABLES = {
    "methods": lambda api: tables.method_table(_linked(api)),
    "scores": lambda api: tables.score_table(_linked(api)),
    "uses": lambda api: tables.use_table(_linked(api)),
    "engines": lambda api: tables.engine_table(_linked(api)),
    "inputs": lambda api: tables.input_table(_linked(api)),
    "pairs": lambda api: _matrix(tables.pair_table()),
    "capabilities": lambda api: tables.capability_table(),
    "datasets": lambda api: tables.dataset_table(),
}


def _matrix(table: str) -> str:
    """A table of short cells under long names, which are turned to fit the page."""
    return f'<div class="matrix" markdown>\n\n{table}\n\n</div>'


def api_page(title: str, package: str) -> str:
    """Every exported name of a package, by the module that defines it."""
    lines = [f"# {title}", "", f"Import these from `{package}`.", ""]
    for name in exported_names(package):
        lines += [f"::: {defining_module(package, name)}.{name}", ""]
    return "\n".join(lines)


def exported_names(package: str) -> list[str]:
    """Classes and functions; a table of names is not part of the reference."""
    module = importlib.import_module(package)
    return [name for name in module.__all__ if callable(getattr(module, name))]


def defining_module(package: str, name: str) -> str:
    module: str = getattr(importlib.import_module(package), name).__module__
    return module
