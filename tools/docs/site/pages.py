"""The pages of the site: the project's Markdown files, and generated pages."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import typer
from typer.cli import get_docs_for_click

from safetab.cli.main import app
from tools.docs.site.commands import with_results
from tools.docs.site.tutorial import tutorial_page

FRONT = "index.md"
NAVIGATION = """
```{{toctree}}
:hidden:
:caption: Start here

Try it <start>
{tutorial}
```

```{{toctree}}
:hidden:
:caption: How to

{how_to}
```

```{{toctree}}
:hidden:
:caption: Reference

reference/python
reference/commands
file-formats
specification
compatibility
schemas/index
glossary{others}
```

```{{toctree}}
:hidden:
:caption: Why it can be trusted

privacy
noise
algorithm
accuracy
the-paper-reproduced
benchmarks
synthetic-census
```

```{{toctree}}
:hidden:
:caption: Contribute

architecture
decisions/index
CONTRIBUTING
adding-things
CODE_OF_CONDUCT
GOVERNANCE
SECURITY
CHANGELOG
```
"""
HOW_TO_ORDER = (
    "install", "read-a-release", "sums-without-surprises", "run-a-census", "sign-and-verify",
    "households", "choose-parameters",
    "tune-on-the-terminal", "compare", "repeated-runs", "cluster", "from-the-bureaus-program",
)  # fmt: skip
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_ROOT_PAGES = (
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "GOVERNANCE.md",
    "SECURITY.md",
    "CHANGELOG.md",
)


def write_pages(project: Path, sources: Path) -> list[str]:
    """Write every page of the site, and return a sentence for each broken link."""
    place_of = places_of(project)
    faults: list[str] = []
    for path, place in place_of.items():
        target = sources / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text, broken = with_links(path, project, place_of)
            faults += broken
            text = with_results(text) if path.parent.name == "tutorial" else text
            navigation = navigation_of(place_of.values()) if place == FRONT else ""
            target.write_text(text + navigation, encoding="utf-8")
        elif path.suffix == ".ipynb":
            target.write_text(tutorial_page(path), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    _write_made_pages(project, sources)
    return faults


def places_of(project: Path) -> dict[Path, str]:
    """The path in the site of each file of the project."""
    docs = project / "docs"
    places = {project / "README.md": "start.md"} | {project / name: name for name in _ROOT_PAGES}
    for path in sorted(docs.rglob("*")):
        inside = path.relative_to(docs)
        if path.suffix in {".md", ".svg", ".png", ".ipynb", ".json"}:
            places[path] = inside.with_suffix(
                ".md" if path.suffix == ".ipynb" else path.suffix
            ).as_posix()
    decisions = docs / "decisions" / "README.md"
    if decisions in places:
        places[decisions] = "decisions/index.md"
    return places | {docs / "overview.md": FRONT}


def with_links(page: Path, project: Path, place_of: dict[Path, str]) -> tuple[str, list[str]]:
    """A page's text with its links adapted to the site, and a sentence for each broken link."""
    faults: list[str] = []
    here = PurePosixPath(place_of[page]).parent

    def moved(link: re.Match[str]) -> str:
        picture, words, path, anchor = link.groups()
        if "://" in path or path.startswith("mailto:"):
            return link[0]
        target = Path(os.path.normpath(page.parent / path)) if path else page
        listed = {project / "docs" / name: f"{name}/index.md" for name in ("decisions", "schemas")}
        place = place_of.get(target) or listed.get(target)
        if place is None and target.exists() and not picture:
            return f"{words} (`{target.relative_to(project)}`)"
        if place is None:
            faults.append(f"{page.relative_to(project)}: {path} is not in the site.")
            return link[0]
        return f"{picture}[{words}]({os.path.relpath(place, here)}{anchor or ''})"

    return _LINK.sub(moved, page.read_text(encoding="utf-8")), faults


def navigation_of(places: Iterable[str]) -> str:
    """The navigation: how-tos and tutorials by their folder.

    Pages without a fixed position stand below the reference.
    """
    pages = [
        place.removesuffix(".md")
        for place in sorted(places)
        if place.endswith(".md") and place != FRONT
    ]
    how_to = [page for page in pages if page.startswith("how-to/")]
    tutorials = [page for page in pages if page.startswith("tutorial/")]
    placed = {*NAVIGATION.splitlines(), *how_to, *tutorials, "glossary", "start"}
    others = [page for page in pages if page not in placed and not page.startswith("decisions/")]
    return NAVIGATION.format(
        how_to="\n".join(sorted(how_to, key=_turn)),
        tutorial="\n".join(tutorials),
        others="".join(f"\n{page}" for page in others),
    )


def _turn(how_to: str) -> int:
    name = how_to.removeprefix("how-to/")
    return HOW_TO_ORDER.index(name) if name in HOW_TO_ORDER else len(HOW_TO_ORDER)


def _write_made_pages(project: Path, sources: Path) -> None:
    decisions = sorted(path.stem for path in (project / "docs" / "decisions").glob("0*.md"))
    index = sources / "decisions" / "index.md"
    listed = index.read_text(encoding="utf-8") if index.is_file() else "# Decisions\n"
    made = {
        "decisions/index.md": "\n".join(
            [listed, "```{toctree}", ":hidden:", "", *decisions, "```", ""]
        ),
        "reference/commands.md": command_page(),
        "schemas/index.md": schemas_page(project),
    }
    for name, text in made.items():
        (sources / name).parent.mkdir(exist_ok=True)
        (sources / name).write_text(text, encoding="utf-8")


def schemas_page(project: Path) -> str:
    """A page with a link to each JSON Schema, which lies beside it."""
    links = [
        f"- [{path.name}]({path.name})"
        for path in sorted((project / "docs" / "schemas").glob("*.json"))
    ]
    return "\n".join(
        ["# JSON Schemas", "", "Of what each command prints with `--json`.", "", *links, ""]
    )


def command_page() -> str:
    """A page with every command, its arguments and options, taken from its help."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="safetab")
    return str(get_docs_for_click(obj=command, ctx=context, name="safetab", title="Commands"))
