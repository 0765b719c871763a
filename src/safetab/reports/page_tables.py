"""Tables and bars of the page, one row a level; they read well on a phone, on paper and aloud."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from safetab.reports.level_summary import LevelSummary
from safetab.reports.markup import Markup, element, joined
from safetab.reports.release_summary import ReleaseSummary
from safetab.reports.wording import NOTHING, PASS_NAMES, geography_name

_BAR_WIDTH = 1000

LevelCells = Callable[[LevelSummary], Sequence[str] | None]
"""The cells of a level's row, as texts or as whole td elements; a lone text spans the row, None leaves it out."""


def level_table(release: ReleaseSummary, caption: str, headings: Sequence[str], cells: LevelCells) -> Markup:
    """A row for each level, below the name of its pass."""
    bodies = []
    for tabulation_pass in release.universe.passes:
        rows = [
            _row(level, made, len(headings))
            for level in release.levels_of(tabulation_pass)
            if (made := cells(level)) is not None
        ]
        if not rows:
            continue
        if len(release.universe.passes) > 1:
            title = element("th", PASS_NAMES[tabulation_pass], scope="rowgroup", colspan=str(len(headings) + 1))
            rows.insert(0, element("tr", title, class_="pass"))
        bodies.append(element("tbody", *rows))
    head = element("tr", element("th", "Level", scope="col"), *(element("th", one, scope="col") for one in headings))
    return whole_table(caption, element("thead", head), bodies)


def whole_table(caption: str, head: Markup, bodies: Iterable[Markup]) -> Markup:
    """Wider than the screen it scrolls by itself, also by keyboard, and the page stays put."""
    table = element("table", element("caption", element("span", caption)), head, *bodies)
    return element("div", table, class_="scroll", role="region", tabindex="0", aria_label=caption)


def _row(level: LevelSummary, cells: Sequence[str], columns: int) -> Markup:
    facts = level.facts
    heading = element(
        "th",
        geography_name(facts.geography),
        " ",
        element("span", facts.level.iterations.label, class_="iterations"),
        scope="row",
    )
    keys = {"data_level": facts.geography.label, "data_iterations": facts.level.iterations.label}
    if len(cells) == 1:
        return element("tr", heading, element("td", cells[0], colspan=str(columns), class_="note"), **keys)
    made = (cell if isinstance(cell, Markup) else element("td", cell) for cell in cells)
    return element("tr", heading, *made, **keys)


def bar(shares: Sequence[int], names: Sequence[str], style: str) -> Markup:
    """Numbers as parts of one bar, in words for those who don't see it; nothing if there is nothing to show."""
    whole = sum(shares)
    if not whole:
        return element("td", NOTHING, class_="bar")
    words = ", ".join(f"{name} {share:,}" for name, share in zip(names, shares, strict=True) if share)
    rectangles, before = [], 0
    for number, share in enumerate(shares):
        start, end = (_BAR_WIDTH * edge / whole for edge in (before, before + share))
        before += share
        if share:
            rectangles.append(
                element("rect", x=f"{start:.1f}", width=f"{end - start:.1f}", height="10", class_=f"{style}{number}")
            )
    drawing = element(
        "svg",
        element("title", words),
        *rectangles,
        viewBox=f"0 0 {_BAR_WIDTH} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=words,
    )
    return element("td", drawing, class_="bar")


def legend(names: Sequence[str], style: str) -> Markup:
    """What the colours of bars mean."""
    items = [
        element(
            "li",
            element(
                "svg",
                element("rect", width="10", height="10", class_=f"{style}{number}"),
                viewBox="0 0 10 10",
                aria_hidden="true",
            ),
            text,
        )
        for number, text in enumerate(names)
    ]
    return element("ul", *items, class_="legend")


def paragraphs(*texts: str) -> Markup:
    return joined([element("p", text) for text in texts])
