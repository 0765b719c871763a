"""Reads the data files of a site back, slowly and plainly, for tests."""

import json
from functools import cache
from typing import NamedTuple


class ShownNumber(NamedTuple):
    value: int
    published: int
    margin: int
    low: int
    high: int
    is_withheld: bool
    donor: str | None


def read_data(site, name):
    """What a data file hands over."""
    text = (site / "data" / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text[text.index(",") + 1 : text.rindex(")")])


class SiteFiles:
    """`numbers()` has every line of every group; `totals()` the totals as the files by group have them."""

    def __init__(self, site):
        self.data = cache(lambda name: read_data(site, name))
        self.facts = self.data("facts")
        self.groups = [one for n in range(self.facts["groupFiles"]) for one in self.data(f"groups/{n}")]
        self.areas = [
            [pair for n in range(len(files)) for pair in _pairs(self.data(f"names/{geography['label']}/{n}"))]
            for geography, files in zip(self.facts["geographies"], self.facts["names"], strict=True)
        ]

    def numbers(self):
        """By geography level, region, code, table id and the position of the line in its shape."""
        found = {}
        for name, firsts in self.facts["areas"].items():
            for n, first in enumerate(firsts):
                part = self.data(f"areas/{name}/{n}")
                assert [part["entities"][0], part["groups"][0]] == first[:2]
                found |= self._numbers_of(part, int(name.split("-")[0]))
        return found

    def _numbers_of(self, part, geography):
        counts, withheld, donors = (dict(_pairs(part.get(key, []))) for key in ("counts", "withheld", "donors"))
        numbers, row, group_number, found = iter(part["groups"]), 0, 0, {}
        for entity, groups in _pairs(part["entities"]):
            for _ in range(groups):
                group, table = next(numbers), next(numbers)
                place = (self.label(geography), self.areas[geography][entity][0], self.groups[group][0])
                for n, line in enumerate(self.lines(table)):
                    value, is_withheld = next(numbers), row in withheld
                    found[*place, line[5], n] = ShownNumber(
                        value,
                        counts.get(row, value),
                        *self.shown(table, n, value),
                        is_withheld,
                        donors.get(group_number),
                    )
                    row += 1
                group_number += 1
        assert [*numbers] == []
        return found

    def label(self, geography):
        return self.facts["geographies"][geography]["label"]

    def lines(self, table):
        return self.facts["shapes"][self.facts["tables"][table]["shape"]]["lines"]

    def shown(self, table_number, line, value):
        """Margin and interval, as the page finds them."""
        table = self.facts["tables"][table_number]
        margin = table["margins"][str(self.lines(table_number)[line][3])]
        near = {total: (low, high) for total, low, high in self.facts["selected"].get(str(table_number), [])}
        if table["isSelected"] and value in near:
            return margin, *near[value]
        return margin, max(value - margin, 0), max(value + margin, 0)

    def totals(self, release=""):
        """Table (or -1 less the rule that withholds) and value, by geography level, region and code.

        Those of the earlier release, if `release` is "earlier".
        """
        found = {}
        facts, folder = (self.facts[release], f"{release}/totals") if release else (self.facts, "totals")
        for name, firsts in facts["totals"].items():
            geography = int(name.split("-")[0])
            for n in range(len(firsts)):
                part = self.data(f"{folder}/{name}/{n}")
                numbers = iter(part["totals"])
                for group, areas in _pairs(part["groups"]):
                    entity = 0
                    for _ in range(areas):
                        entity += next(numbers)
                        key = (self.label(geography), self.areas[geography][entity][0], self.groups[group][0])
                        found[key] = next(numbers), next(numbers)
        return found


def _pairs(flat):
    return [*zip(flat[::2], flat[1::2], strict=True)]
