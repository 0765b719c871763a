"""The documentation that the wheel carries, as HTML that needs nothing.

The same Markdown pages as those of `make docs`, without its search and without results of the
tutorial. Only locked packages of the program take part, and the same commit gives the same bytes.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import shutil
import sys
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools import PROJECT
from tools.docs.site.checks import faults_of
from tools.docs.site.pages import command_page, navigation_of, places_of, schemas_page, with_links

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_STYLE = Path(__file__).with_name("documentation.css")
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">\
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{top}style.css"></head><body>
<header><a href="{top}index.html">safetab {version}</a></header>
<main>
{body}</main>
<nav aria-label="All pages">
{navigation}</nav>
</body></html>
"""


def write_documentation(project: Path, folder: Path) -> list[str]:
    """Write every page into a new folder, and return a sentence for each broken link."""
    place_of = places_of(project)
    texts, faults = dict[str, str](), list[str]()
    folder.mkdir(parents=True)
    for path, place in place_of.items():
        if path.suffix == ".md":
            texts[place], broken = with_links(path, project, place_of)
            faults += broken
        elif path.suffix == ".ipynb":
            texts[place] = _notebook(path)
        else:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / place)
    texts["reference/commands.md"] = command_page()
    texts["reference/python.md"] = _with_docstrings(texts["reference/python.md"])
    texts["schemas/index.md"] = schemas_page(project)
    titles = {place: re.search(r"^# (.*)", text, re.MULTILINE)[1] for place, text in texts.items()}
    for place, text in texts.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).with_suffix(".html").write_text(
            _page(place, text, titles), encoding="utf-8"
        )
    shutil.copyfile(_STYLE, folder / "style.css")
    return faults + faults_of(folder)


def _page(place: str, text: str, titles: dict[str, str]) -> str:
    top = "../" * (len(PurePosixPath(place).parts) - 1)
    tokens = MARKDOWN.parse(text)
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slug(_words(tokens[position + 1])))
        for part in token.children or ():
            path = str(part.attrGet("href") or "")
            if part.type == "link_open" and "://" not in path:
                part.attrSet("href", re.sub(r"\.md(?=#|$)", ".html", path))
    return _PAGE.format(
        title=escape(f"{titles[place]} - safetab"), top=top,
        version=importlib.import_module("safetab").__version__,
        body=MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}),
        navigation=_navigation(top, titles),
    )  # fmt: skip


def slug(heading: str) -> str:
    """The anchor of a heading, as in the site."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _words(inline: Token) -> str:
    return "".join(
        part.content for part in inline.children or () if part.type in {"text", "code_inline"}
    )


def _navigation(top: str, titles: dict[str, str]) -> str:
    """The groups of the site's navigation, as lists."""
    groups: dict[str, list[str]] = {}
    for line in navigation_of(titles).splitlines():
        if line.startswith(":caption:"):
            group = groups.setdefault(line.removeprefix(":caption: "), [])
        page = re.sub(r".*<(.*)>", r"\1", line)
        if f"{page}.md" in titles:
            group.append(f'<li><a href="{top}{page}.html">{escape(titles[f"{page}.md"])}</a></li>')
    return "".join(
        f"<h2>{name}</h2>\n<ul>{''.join(pages)}</ul>\n" for name, pages in groups.items()
    )


def _notebook(path: Path) -> str:
    """The cells of a notebook, without results."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = [("".join(cell["source"]), cell["cell_type"] == "code") for cell in cells]
    return "\n\n".join(
        f"```python\n{source}\n```" if is_code else source for source, is_code in sources
    )


def _with_docstrings(page: str) -> str:
    """The page about Python, with signatures and docstrings for the names that it lists."""
    return re.sub(
        r"```\{eval-rst\}\n(.*?)```",
        lambda block: "\n\n".join(_listed(block[1])),
        page,
        flags=re.DOTALL,
    )


def _listed(block: str) -> list[str]:
    found = re.findall(r"\.\. auto\w+:: ([\w.]+)(?:\(\))?\n(?:   (:members:)([^\n]*))?", block)
    parts = list[str]()
    for name, has_members, chosen in found:
        value = _value(name)
        parts += [f"### {name}", _described(name.rpartition(".")[2], value)]
        members = [each.strip() for each in chosen.split(",") if each.strip()] or _public_members(
            value
        )
        parts += [_described(member, getattr(value, member)) for member in members if has_members]
    return parts


def _value(name: str) -> Any:
    parts = name.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[split:]:
            value = getattr(value, attribute)
        return value
    raise ValueError(f"{name} can't be found.")


def _public_members(value: Any) -> list[str]:
    return [name for name in dir(value) if name[0] != "_" and inspect.getdoc(getattr(value, name))]


def _described(name: str, value: Any) -> str:
    """The signature, as far as there is one, and the docstring."""
    shown = (
        f"{name}{inspect.signature(value)}"
        if inspect.isfunction(value) or inspect.ismethod(value)
        else name
    )
    docstring = "\n".join(
        f"    {line}".rstrip() for line in (inspect.getdoc(value) or "").splitlines()
    )
    return f"```text\n{shown}\n{docstring}\n```"


def main() -> int:
    faults = write_documentation(PROJECT, Path(sys.argv[1]))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
