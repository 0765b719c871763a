"""The parts of a page: escaped HTML, words for levels and numbers, tables and bars.

The page needs no other file. It works on a phone, on paper and read aloud.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor

from safetab.foundation.templates import template
from safetab.model.census.area_levels import Pass
from safetab.model.products.product import Shape, TableFamily
from safetab.release.files.release_universe import ReleaseLevel
from safetab.release.report.release_summary import LevelSummary, ReleaseSummary

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The things that a browser may load for a page: only what is in it."""


class Markup(str):
    """Text that is already HTML. A plain string, whatever it was made from, is not."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """An element. Content that is not Markup is escaped.

    The keyword `class_` becomes the attribute class, and `data_level` becomes data-level.
    """
    return Markup(f"{_opening(tag, attributes)}{joined(content)}</{tag}>")


def void(tag: str, **attributes: str) -> Markup:
    """An element without content and without an end tag."""
    return Markup(_opening(tag, attributes))


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """The parts as one piece of markup. Parts that are not Markup are escaped."""
    return Markup(
        between.join(part if isinstance(part, Markup) else html.escape(part) for part in parts)
    )


def name(given: str) -> Markup:
    """A name from the data, isolated from the text around it.

    So its writing direction can't reverse that text.
    """
    return element("bdi", given)


def document(title: str, body: Markup) -> str:
    """A whole page in one file. The same content gives the same bytes."""
    style = template("shared/page.css")
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
    """A list of links, and below it the sections (key, title and content) that have content."""
    filled = [section for section in sections if section[2]]
    links = [element("li", link(key, title)) for key, title, _ in filled]
    bodies = []
    for key, title, content in filled:
        heading = element("h2", title, id=f"{key}-title")
        bodies.append(element("section", heading, content, id=key, aria_labelledby=f"{key}-title"))
    return joined(
        [element("nav", element("ul", *links), aria_label="Contents"), element("main", *bodies)]
    )


LEADS = (
    "What is this?",
    "May it be released?",
    "How precise is it?",
    "What did it cost?",
    "What should you check?",
)
"""The questions that the lines at the top of every page answer."""


def five_lines(*answers: str, leads: Sequence[str] = LEADS) -> Markup:
    """The lines at the top of a page: an answer to each question, in a sentence or two."""
    pairs = zip(leads, answers, strict=True)
    return element(
        "ul",
        *(
            element("li", element("strong", f"{lead} "), element("span", text))
            for lead, text in pairs
        ),
        class_="lines",
    )


def verdict_line(lead: str, why: str, *, is_bad: bool = False) -> Markup:
    """The answer to the question in the page's title, and what it rests on."""
    return element(
        "p", element("strong", f"{lead} "), why, class_=f"verdict{' failed' if is_bad else ''}"
    )


def link(key: str, text: str) -> Markup:
    """A link to the section of the page with this key."""
    return element("a", text, href=f"#{key}")


def figure_list(figures: Iterable[tuple[str, str]]) -> Markup:
    """A few large figures side by side, each with its meaning in words."""
    terms = [
        element("div", element("dt", words), element("dd", figure)) for figure, words in figures
    ]
    return element("dl", *terms, class_="figures")


def _opening(tag: str, attributes: dict[str, str]) -> str:
    pairs = (
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    return f"<{tag}{''.join(pairs)}>"


NOTHING = "\N{EN DASH}"
_DECIMAL_WITHIN = 10
"""Percentages nearer than this to 0 or to 100 have one decimal."""


def shape_name(shape: Shape, family: TableFamily) -> str:
    """The words for a table; those for the shape without detail say that it has only a total."""
    return f"{shape.words.removeprefix('a ')} only" if shape is family.total else shape.words


def level_name(level: ReleaseLevel) -> str:
    """A name such as "County, Detailed".

    It has the pass outside the first one, and the table family if the product has several.
    """
    family = f", {level.family.name}" if level.design.product.has_several_families else ""
    return f"{level.geography.title}, {level.level.iterations.name}{family}"


def percent(part: int, whole: int) -> str:
    """A share in percent: never 0% for something, and never 100% for less than all."""
    if not whole:
        return NOTHING
    if part in {0, whole}:
        return "100%" if part else "0%"
    share = 100 * part / whole
    if share < 0.1:
        return "<0.1%"
    if share > 99.9:
        return ">99.9%"
    has_decimal = share < _DECIMAL_WITHIN or share > 100 - _DECIMAL_WITHIN
    shown = f"{share:.1f}" if has_decimal else f"{share:.0f}"
    return f"{shown.removesuffix('.0')}%"


def rounded_up(number: float) -> str:
    """An upper bound in words: never below the number, with about three digits if it is small."""
    if number >= 100:
        return f"{ceil(number):,}"
    if number <= 0:
        return "0"
    digits = 0
    while number * 10**digits < 100 and digits < 4:
        digits += 1
    shown = ceil(number * 10**digits) / 10**digits
    return f"{floor(shown):,}" if shown == floor(shown) else f"{shown:.{digits}f}"


_BAR_WIDTH = 1000

_LevelCells = Callable[[LevelSummary], Sequence[str] | None]
"""The cells of a level's row, as texts or whole td elements.

A single text spans the row, and None leaves the row out.
"""


def level_table(
    release: ReleaseSummary, caption: str, headings: Sequence[str], cells: _LevelCells
) -> Markup:
    """A table with a row for each level, below the name of its pass if there are several passes."""
    bodies = []
    for tabulation_pass in release.universe.passes:
        cells_of = [(level, cells(level)) for level in release.levels_of(tabulation_pass)]
        rows = [_row(level, texts, len(headings)) for level, texts in cells_of if texts is not None]
        if rows:
            bodies.append(body_of_pass(release, tabulation_pass, rows, len(headings) + 1))
    return whole_table(caption, _head(("Level", *headings)), bodies)


def plain_table(
    caption: str, headings: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]
) -> Markup:
    """A table with a title for each row; a cell is a text or a whole td element."""
    body = [
        element("tr", element("th", title, scope="row"), *_cells(cells)) for title, cells in rows
    ]
    return whole_table(caption, _head(headings), [element("tbody", *body)])


def _head(headings: Iterable[str]) -> Markup:
    return element(
        "thead", element("tr", *(element("th", heading, scope="col") for heading in headings))
    )


def _cells(cells: Iterable[str]) -> list[Markup]:
    return [cell if isinstance(cell, Markup) else element("td", cell) for cell in cells]


def body_of_pass(
    release: ReleaseSummary, tabulation_pass: Pass, rows: list[Markup], columns: int
) -> Markup:
    """The rows as a table body, below the name of their pass if there are several passes."""
    if len(release.universe.passes) == 1:
        return element("tbody", *rows)
    title = element("th", tabulation_pass.title, scope="rowgroup", colspan=str(columns))
    return element("tbody", element("tr", title, class_="pass"), *rows)


def whole_table(caption: str, head: Markup, bodies: Iterable[Markup]) -> Markup:
    """A table that scrolls by itself, also by keyboard, if it is wider than the screen."""
    table = element("table", element("caption", element("span", caption)), head, *bodies)
    return element("div", table, class_="scroll", role="group", tabindex="0", aria_label=caption)


def _row(level: LevelSummary, cells: Sequence[str], columns: int) -> Markup:
    """The row of a level. A single cell spans all columns."""
    facts = level.facts
    iterations = facts.level.iterations.name
    label = element("span", iterations, class_="iterations")
    heading = element("th", f"{facts.geography.kind.title}, ", label, scope="row")
    keys = {"data_level": facts.geography.label, "data_iterations": iterations}
    if len(cells) == 1:
        return element(
            "tr", heading, element("td", cells[0], colspan=str(columns), class_="note"), **keys
        )
    return element("tr", heading, *_cells(cells), **keys)


def bar(shares: Sequence[int], names: Sequence[str], style: str) -> Markup:
    """A table cell with a bar made of the numbers, and words for screen readers.

    A dash if all are 0.
    """
    whole = sum(shares)
    if not whole:
        return element("td", NOTHING, class_="bar")
    words = ", ".join(
        f"{name} {share:,}" for name, share in zip(names, shares, strict=True) if share
    )
    rectangles = []
    before = 0
    for number, share in enumerate(shares):
        start, end = (_BAR_WIDTH * edge / whole for edge in (before, before + share))
        before += share
        if share:
            place = {"x": f"{start:.1f}", "width": f"{end - start:.1f}", "height": "10"}
            rectangles.append(element("rect", **place, class_=f"{style}{number}"))
    frame = {
        "viewBox": f"0 0 {_BAR_WIDTH} 10",
        "preserveAspectRatio": "none",
        "role": "img",
        "aria_label": words,
    }
    return element(
        "td", element("svg", element("title", words), *rectangles, **frame), class_="bar"
    )


def legend(names: Sequence[str], style: str) -> Markup:
    """A list that explains the colours of bars."""
    items = []
    for number, text in enumerate(names):
        square = element("rect", width="10", height="10", class_=f"{style}{number}")
        items.append(
            element("li", element("svg", square, viewBox="0 0 10 10", aria_hidden="true"), text)
        )
    return element("ul", *items, class_="legend")


def paragraphs(*texts: str) -> Markup:
    """One paragraph for each text."""
    return joined([element("p", text) for text in texts])
