"""The areas and groups of a release as lists to look through, and a search in their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from safetab.census.iterations import CharacteristicIteration, TabulationList
from safetab.estimates.html import HtmlTable, listed
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.reading.names import plain
from safetab.estimates.tabular import Tabular

_MOST_SHOWN = 20
_WHERE = {
    TabulationList.COMMON: "everywhere",
    TabulationList.TOTAL_ONLY: "nation and states, a total",
    TabulationList.SUBSTATE_ONLY: "below states",
    None: "nowhere",
}


@dataclass(frozen=True, eq=False, repr=False)
class Areas(Tabular):
    """Some areas of a release, in its order; each of them is understood wherever an area is asked for."""

    areas: tuple[Entity, ...]

    def __iter__(self) -> Iterator[Entity]:
        return iter(self.areas)

    def __len__(self) -> int:
        return len(self.areas)

    def __getitem__(self, position: int) -> Entity:
        return self.areas[position]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, pa.string()) for name in ("geography_level", "region_id", "region_name")])

    def rows(self) -> list[dict[str, object]]:
        return [
            {"geography_level": one.geography.label, "region_id": one.region_id, "region_name": one.name}
            for one in self.areas
        ]

    def html_table(self) -> HtmlTable:
        return listed(f"{len(self):,} areas", self.schema.names, self.rows(), _MOST_SHOWN)

    def __str__(self) -> str:
        return _listed("areas", [str(one) for one in self.areas])


@dataclass(frozen=True, eq=False, repr=False)
class Groups(Tabular):
    """Some race and ethnicity groups of a release; each of them is understood wherever a group is asked for."""

    groups: tuple[CharacteristicIteration, ...]

    def __iter__(self) -> Iterator[CharacteristicIteration]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, position: int) -> CharacteristicIteration:
        return self.groups[position]

    @property
    def schema(self) -> pa.Schema:
        columns = ("iteration_code", "iteration_name", "iteration_level", "kind", "tabulated")
        return pa.schema([(name, pa.string()) for name in columns])

    def rows(self) -> list[dict[str, object]]:
        return [
            {
                "iteration_code": one.code,
                "iteration_name": one.name,
                "iteration_level": one.level.label,
                "kind": one.kind.value,
                "tabulated": _WHERE[one.listed],
            }
            for one in self.groups
        ]

    def html_table(self) -> HtmlTable:
        return listed(f"{len(self):,} groups", self.schema.names, self.rows(), _MOST_SHOWN)

    def __str__(self) -> str:
        return _listed("groups", [f"{one.name} ({one.code})" for one in self.groups])


@dataclass(frozen=True, eq=False, repr=False)
class Found(Tabular):
    """What a search found: areas and groups."""

    areas: Areas
    groups: Groups

    def rows(self) -> list[dict[str, object]]:
        found = [("area", one.region_id, one.name) for one in self.areas]
        found += [("group", one.code, one.name) for one in self.groups]
        return [dict(zip(self.schema.names, one, strict=True)) for one in found]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, pa.string()) for name in ("what", "id", "name")])

    def html_table(self) -> HtmlTable:
        title = f"{len(self.areas):,} areas and {len(self.groups):,} groups"
        return listed(title, self.schema.names, self.rows(), _MOST_SHOWN)

    def __str__(self) -> str:
        return f"{self.areas}\n{self.groups}"


def found_in(text: str, areas: Iterable[Entity], groups: Iterable[CharacteristicIteration]) -> Found:
    """Those whose id is the text, or whose names have a word that begins so for each word of the text."""
    wanted = plain(text).split()
    return Found(
        Areas(tuple(one for one in areas if _fits(text, wanted, one.region_id, one.name))),
        Groups(tuple(one for one in groups if _fits(text, wanted, one.code, one.name))),
    )


def _fits(text: str, wanted: list[str], own_id: str, name: str) -> bool:
    if text.strip() == own_id:
        return True
    words = plain(name).replace("(", " ").replace("-", " ").split()
    return bool(wanted) and all(any(word.startswith(one) for word in words) for one in wanted)


def _listed(nouns: str, lines: list[str]) -> str:
    more = len(lines) - _MOST_SHOWN
    rest = [f"  and {more:,} more"] if more > 0 else []
    return "\n".join([f"{len(lines):,} {nouns}", *(f"  {line}" for line in lines[:_MOST_SHOWN]), *rest])
