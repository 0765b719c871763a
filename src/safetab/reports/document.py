"""What every page has: one style, a policy that lets a browser load nothing, a list of contents."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

from safetab.reports.markup import Markup, element, joined, void

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load for a page: nothing but what is in it."""


def document(title: str, body: Markup) -> str:
    """A whole page in one file that needs no other; the same content gives the same bytes."""
    style = resources.files("safetab.reports").joinpath("style.css").read_text(encoding="utf-8")
    head = element(
        "head",
        void("meta", charset="utf-8"),
        void("meta", **{"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        void("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Markup(style)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def contents_and_sections(sections: Iterable[tuple[str, str, Markup]]) -> Markup:
    """Sections, by key, title and content, below a list of links to them; one without content is left out."""
    there = [section for section in sections if section[2]]
    links = [element("li", element("a", title, href=f"#{key}")) for key, title, _ in there]
    made = [
        element("section", element("h2", title, id=f"{key}-title"), content, id=key, aria_labelledby=f"{key}-title")
        for key, title, content in there
    ]
    return joined([element("nav", element("ul", *links), aria_label="Contents"), element("main", *made)])
