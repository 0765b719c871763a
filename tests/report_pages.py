"""Reads a report back: its tables by caption, its attributes, its text."""

from html.parser import HTMLParser
from typing import NamedTuple

VOID = {"meta", "link"}
HEADINGS = {"h1", "h2", "h3"}


class Cell(NamedTuple):
    text: str
    attributes: dict[str, str]


class ReportPage(HTMLParser):
    """`tables` has, by caption, the rows of levels: (geography level, iteration level) -> cells."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.text = ""
        self.tables = {}
        self.headings = []
        self._open = []
        self._caption = ""
        self._row = None
        self.feed(page)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        attributes = {key: value or "" for key, value in attrs}
        self.tags.append((tag, attributes))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "caption":
            self._caption = ""
        if tag == "tr":
            self._row = None
            if "data-level" in attributes:
                level = (attributes["data-level"], attributes.get("data-iterations", ""))
                self._row = self.tables.setdefault(self._caption, {})[level] = []
        if tag == "td" and self._row is not None:
            self._row.append(Cell("", attributes))
        if tag in HEADINGS:
            self.headings.append((tag, ""))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if {"style", "title"} & {*self._open}:
            return
        self.text += data
        if "caption" in self._open:
            self._caption += data
        if "td" in self._open and self._row is not None:
            self._row[-1] = self._row[-1]._replace(text=self._row[-1].text + data)
        if self._open and self._open[-1] in HEADINGS:
            tag, text = self.headings[-1]
            self.headings[-1] = (tag, text + data)

    def numbers(self, caption):
        return {row: [cell.text.replace(",", "") for cell in cells] for row, cells in self.tables[caption].items()}

    @property
    def concerns(self):
        return [text for tag, text in self.headings if tag == "h3"]
