"""Checks of the site.

Every internal link has a target, and no page fetches anything from another host.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

_FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class _Page(HTMLParser):
    """The anchors of a page, its links, and the addresses that it fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag in _FETCHED and _FETCHED[tag] in given and given.get("rel") != "canonical":
            self.fetched.add(given[_FETCHED[tag]])


def faults_of(site: Path) -> list[str]:
    """A sentence for each broken link and each address that is fetched from another host."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    faults = [
        f"{path.relative_to(site)}: {link} leads nowhere."
        for path, page in pages.items()
        for link in sorted(page.links | page.fetched)
        if not _leads_somewhere(link, path, pages)
    ]
    faults += [
        f"{path.relative_to(site)}: {address} is fetched from elsewhere."
        for path, page in pages.items()
        for address in sorted(page.fetched)
        if _is_elsewhere(address)
    ]
    return faults + [
        f"{path.relative_to(site)}: fetches from elsewhere."
        for path in sorted(site.rglob("*.css"))
        if "url(http" in path.read_text(encoding="utf-8")
        or "@import" in path.read_text(encoding="utf-8")
    ]


def _is_elsewhere(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


def _leads_somewhere(link: str, page: Path, pages: dict[Path, _Page]) -> bool:
    if _is_elsewhere(link) or link.startswith(("mailto:", "data:")):
        return True
    path, _, anchor = link.partition("#")
    target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
    if target not in pages:
        return target.is_file()
    return not anchor or unquote(anchor) in pages[target].anchors
