"""Mend what the theme leaves out for readers of a screen reader or a keyboard."""

from __future__ import annotations

import re
from pathlib import Path

_PARAMETERS = re.compile(r'<dl>\s*((?:<dd><em class="sig-param">.*?</dd>\s*)+)</dl>', re.DOTALL)
_MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
    # what scrolls where the screen is narrow
    '<div class="highlight"><pre>': '<div class="highlight"><pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<div class="output">': '<div class="output" tabindex="0">',
    # a corner of a table is no heading
    '<th class="head"><p></p></th>': "<td></td>",
    '<th style="text-align:left"></th>': "<td></td>",
    "<th></th>": "<td></td>",
}


def make_accessible(site: Path) -> None:
    """Give headings of the menu their level, landmarks their names, and what scrolls a tab stop."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for found, mended in _MENDED.items():
            text = text.replace(found, mended)
        page.write_text(_PARAMETERS.sub(_as_lines, text), encoding="utf-8")


def _as_lines(parameters: re.Match[str]) -> str:
    """The parameters of a long signature as lines, since they define nothing."""
    return parameters[1].replace("<dd>", '<div class="parameter">').replace("</dd>", "</div>")
