"""Reads the data files of a site back, slowly and plainly, for tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ShownNumber:
    value: int
    published: int
    margin: int
    low: int
    high: int
    is_withheld: bool
    donor: str | None


def read_data(site: Path, name: str) -> Any:
    """What a data file hands over."""
    text = (site / "data" / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text[text.index(",") + 1 : text.rindex(")")])


class SiteFiles:
    """`numbers()` has every line of every group; `totals()` the totals as the files by group have them."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self.data = cache(self._data)
        self.facts: dict[str, Any] = self.data("facts")
        self.groups = [one for n in range(self.facts["groupFiles"]) for one in self.data(f"groups/{n}")]
        self.areas = [
            [pair for n in range(len(files)) for pair in _pairs(self.data(f"names/{geography['label']}/{n}"))]
            for geography, files in zip(self.facts["geographies"], self.facts["names"], strict=True)
        ]

    def _data(self, name: str) -> Any:
        return read_data(self._site, name)

    def numbers(self) -> dict[tuple[str, str, str, str, int], ShownNumber]:
        """By geography level, region, code, table id and the position of the line in its shape."""
        found = {}
        for name, firsts in self.facts["areas"].items():
            geography = int(name.split("-")[0])
            for n, first in enumerate(firsts):
                part = self.data(f"areas/{name}/{n}")
                assert part["entities"][0] == first[0]
                assert part["groups"][0] == first[1]
                found |= self._numbers_of(part, geography)
        return found

    def _numbers_of(self, part: Any, geography: int) -> dict[tuple[str, str, str, str, int], ShownNumber]:
        counts, withheld, donors = (dict(_pairs(part.get(key, []))) for key in ("counts", "withheld", "donors"))
        found, at, row, group_number = {}, 0, 0, 0
        for entity, groups in _pairs(part["entities"]):
            for _ in range(groups):
                code, table = self.groups[part["groups"][at]][0], self.facts["tables"][part["groups"][at + 1]]
                for n, line in enumerate(self.facts["shapes"][table["shape"]]["lines"]):
                    value = part["groups"][at + 2 + n]
                    key = (
                        self.facts["geographies"][geography]["label"],
                        self.areas[geography][entity][0],
                        code,
                        line[5],
                        n,
                    )
                    shown = self.shown(part["groups"][at + 1], n, value)
                    found[key] = ShownNumber(
                        value, counts.get(row + n, value), *shown, row + n in withheld, donors.get(group_number)
                    )
                lines = len(self.facts["shapes"][table["shape"]]["lines"])
                at, row, group_number = at + 2 + lines, row + lines, group_number + 1
        assert at == len(part["groups"])
        return found

    def shown(self, table_number: int, line: int, value: int) -> tuple[int, int, int]:
        """Margin and interval, as the page finds them."""
        table = self.facts["tables"][table_number]
        margin = table["margins"][str(self.facts["shapes"][table["shape"]]["lines"][line][3])]
        near = {total: (low, high) for total, low, high in self.facts["selected"].get(str(table_number), [])}
        if table["isSelected"] and value in near:
            return margin, *near[value]
        return margin, max(value - margin, 0), max(value + margin, 0)

    def totals(self, release: str | None = None) -> dict[tuple[str, str, str], tuple[int, int]]:
        """Table (or -1 less the rule that withholds) and value, by geography level, region and code.

        Those of the earlier release, if `release` is "earlier".
        """
        found = {}
        facts, folder = (self.facts, "totals") if release is None else (self.facts[release], f"{release}/totals")
        for name, firsts in facts["totals"].items():
            geography = int(name.split("-")[0])
            for n in range(len(firsts)):
                part, at = self.data(f"{folder}/{name}/{n}"), 0
                for group, areas in _pairs(part["groups"]):
                    entity = 0
                    for _ in range(areas):
                        distance, table, value = part["totals"][at : at + 3]
                        entity, at = entity + distance, at + 3
                        label, region = self.facts["geographies"][geography]["label"], self.areas[geography][entity][0]
                        found[label, region, self.groups[group][0]] = table, value
        return found


def _pairs(flat: list[Any]) -> list[tuple[Any, Any]]:
    return [*zip(flat[::2], flat[1::2], strict=True)]
