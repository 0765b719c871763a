"""The data files of a site: numbers by area and by group, and names, cut into small files.

Each file is a script that hands over one value, because a page opened from a disk may read nothing
else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.apps.website.level_rows import LevelRows, MeasuredTables
from safetab.foundation.arrays import Columns, Integers, Truths, begins_run, find_sorted, run_starts
from safetab.foundation.failures import RunFailed
from safetab.model.census.area_levels import AreaLevel, DigitIds
from safetab.model.census.groups import CharacteristicIteration, Members
from safetab.release.estimates.overlaps import groups_with_shared_codes, wider_groups
from safetab.release.estimates.reading.lookup import names_of_parts, words_for_many_areas
from safetab.release.estimates.reading.names import SAME_WORDS
from safetab.release.files.data_dictionary import geo_id
from safetab.release.files.release_universe import Universe

DATA_FOLDER = "data"
MOST_BYTES = 2_000_000
"""No file of a site is larger."""
LEAST_BYTES = 40_000
USUAL_BYTES = 200_000
"""A file is cut at a boundary between these two sizes.

A file without a boundary is cut at the larger size.
"""

_NUMBERS_PER_STEP = 1 << 18
_POWERS_OF_TEN = 10 ** np.arange(1, 19, dtype=np.int64)


def write_data(site: Path, name: str, value: object) -> None:
    """Write data/NAME.js.

    Raises RunFailed if the file would be too large, which is a fault of the program and not of the
    release.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    written = f"safetabData({json.dumps(name)},{text});\n".encode()
    if len(written) > MOST_BYTES:
        raise RunFailed(f"{DATA_FOLDER}/{name}.js would be larger than {MOST_BYTES:,} bytes.")
    path = site / DATA_FOLDER / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(written)


def parts_of(sizes: Integers, boundaries: Sequence[Truths] = ()) -> list[tuple[int, int]]:
    """The parts into which elements of these sizes are cut.

    Gives the first element of each, and the end. Each of `boundaries` says for every element
    whether something begins there, coarsest first. A part ends at the last boundary within the
    limits, of the coarsest kind that has one there.
    """
    if not len(sizes):
        return []
    ends = np.cumsum(sizes)
    places = [np.flatnonzero(begins_there) for begins_there in boundaries]
    firsts = [0]
    before = 0
    while int(ends[-1]) - before > USUAL_BYTES and firsts[-1] < len(sizes) - 1:
        limits = [before + LEAST_BYTES, before + USUAL_BYTES]
        least, most = np.searchsorted(ends, limits, side="right").tolist()
        firsts.append(max(_last_boundary(places, least, most), firsts[-1] + 1))
        before = int(ends[firsts[-1] - 1])
    return list(zip(firsts, [*firsts[1:], len(sizes)], strict=True))


def _last_boundary(places: Sequence[Integers], least: int, most: int) -> int:
    """The last boundary above `least` and up to `most`, or else `most`.

    It is of the coarsest kind that has one there.
    """
    for boundaries in places:
        position = int(np.searchsorted(boundaries, most, side="right")) - 1
        if position >= 0 and boundaries[position] > least:
            return int(boundaries[position])
    return most


def _text_sizes(numbers: Integers) -> NDArray[np.int8]:
    """The number of characters that each number takes, including a comma."""
    sizes = np.empty(len(numbers), dtype=np.int8)
    for first in range(0, len(numbers), _NUMBERS_PER_STEP):
        step = numbers[first : first + _NUMBERS_PER_STEP]
        digits = np.searchsorted(_POWERS_OF_TEN, np.abs(step), side="right") + 1
        sizes[first : first + _NUMBERS_PER_STEP] = digits + (step < 0) + 1
    return sizes


_HEADERS = 2  # the iteration and the table of a group come before its values


def write_areas(site: Path, name: str, rows: LevelRows, universe: Universe) -> list[list[int]]:
    """Write every table of every group to NAME/0.js, ..

    Files are cut by the areas around, from the largest, and by area. Returns the entity and the
    iteration with which each file begins.
    """
    flat, firsts = _flat(rows)
    sizes = np.add.reduceat(_text_sizes(flat), firsts[:-1], dtype=np.int64)
    around = _parents(rows.level.geography, universe)
    parts = parts_of(
        sizes,
        [
            begins_run(numbers)
            for numbers in (*(one[rows.entities] for one in around), rows.entities)
        ],
    )
    for number, (first, end) in enumerate(parts):
        write_data(
            site,
            f"{name}/{number}",
            _area_part(rows, flat[firsts[first] : firsts[end]], first, end),
        )
    return [[int(rows.entities[first]), int(rows.iterations[first])] for first, _ in parts]


def _flat(rows: LevelRows) -> tuple[Integers, Integers]:
    """All groups in one array of numbers, and where each group begins."""
    headers = np.stack([rows.iterations, rows.tables], axis=1)
    positions = np.repeat(rows.starts[:-1], _HEADERS)
    flat = np.insert(rows.values.astype(np.int64), positions, headers.ravel())
    return flat, rows.starts + _HEADERS * np.arange(len(rows) + 1)


def _area_part(rows: LevelRows, flat: Integers, first: int, end: int) -> dict[str, list[Any]]:
    """Each entity with its number of groups, and the groups.

    Then what only some rows and groups have.
    """
    entities, groups = np.unique(rows.entities[first:end], return_counts=True)
    first_row, end_row = int(rows.starts[first]), int(rows.starts[end])
    part = {
        "entities": np.stack([entities, groups], axis=1).ravel().tolist(),
        "groups": flat.tolist(),
        "counts": rows.counts.pairs(first_row, end_row),
        "withheld": rows.withheld.pairs(first_row, end_row),
        "donors": rows.donors.pairs(first, end),
    }
    return {key: values for key, values in part.items() if values}


def _parents(geography: AreaLevel, universe: Universe) -> list[Integers]:
    """The positions of the areas around each area, without the whole.

    They go kind by kind from the largest.
    """
    kinds = [kind for kind in reversed(geography.kind.around) if not kind.is_whole]
    return [universe.parents(geography, kind) for kind in kinds]


@dataclass(frozen=True, slots=True, eq=False)
class Totals(Columns):
    """Totals by rising iteration and entity.

    A withheld one has the table -1 less the number of the reason.
    """

    iterations: Integers
    entities: Integers
    tables: Integers
    values: Integers


def totals_of(families: Sequence[LevelRows], tables: MeasuredTables) -> Totals:
    """One total for each group: from the first family that shows it, or from the first family."""
    totals = [_totals(rows, tables) for rows in families]
    joined = Totals.concat(totals)
    family = np.concatenate(
        [np.full(len(one), number) for number, one in enumerate(totals)] or [np.zeros(0)]
    )
    order = np.lexsort((family, joined.tables < 0, joined.entities, joined.iterations))
    ordered = joined.take(order)
    return ordered.take(run_starts(ordered.iterations, ordered.entities))


def write_totals(
    site: Path, name: str, totals: Totals, geography: AreaLevel, universe: Universe
) -> list[list[int]]:
    """Write the totals of every group to NAME/0.js, ..

    Files are cut by group and by the largest areas around. Returns the iteration and the entity
    with which each file begins.
    """
    around = _parents(geography, universe)[:1]
    group_begins = begins_run(totals.iterations)
    flat = np.stack([totals.entities, totals.tables, totals.values], axis=1)
    sizes = _text_sizes(flat.ravel()).reshape(flat.shape).sum(axis=1, dtype=np.int64)
    area_begins = [group_begins | begins_run(one[totals.entities]) for one in around]
    parts = parts_of(sizes, [group_begins, *area_begins])
    for number, (first, end) in enumerate(parts):
        iterations, areas = np.unique(totals.iterations[first:end], return_counts=True)
        groups = np.stack([iterations, areas], axis=1).ravel().tolist()
        rows = flat[first:end].copy()
        # within a group, an entity is written as its distance from the one before
        continues = ~begins_run(totals.iterations[first:end])[1:]
        rows[1:, 0] -= np.where(continues, flat[first : end - 1, 0], 0)
        write_data(site, f"{name}/{number}", {"groups": groups, "totals": rows.ravel().tolist()})
    return [[int(totals.iterations[first]), int(totals.entities[first])] for first, _ in parts]


def _totals(rows: LevelRows, tables: MeasuredTables) -> Totals:
    """The total of each group of a level."""
    lines = [[line.is_total for line in table.lines].index(True) for table in tables.tables]
    at = rows.starts[:-1] + np.array(lines, dtype=np.int64)[rows.tables]
    place, is_withheld = find_sorted(rows.withheld.at, at)
    numbers = rows.tables.copy()
    numbers[is_withheld] = -1 - rows.withheld.values[place[is_withheld]]
    return Totals(
        rows.iterations, rows.entities, numbers, np.where(is_withheld, 0, rows.values[at])
    )


_GROUPS_PER_FILE = 4000


def write_area_names(site: Path, geography: AreaLevel, universe: Universe) -> list[list[object]]:
    """Write the ids and names of a level's areas, alternating.

    Returns the position and the id with which each file begins.
    """
    entities = universe.entities[geography]
    pairs = [*zip(entities.region_ids, entities.names, strict=True)]
    sizes = np.array(
        [len(region) + len(name.encode()) + 6 for region, name in pairs], dtype=np.int64
    )
    parts = parts_of(sizes, [begins_run(one) for one in _parents(geography, universe)[:1]])
    for number, (first, end) in enumerate(parts):
        write_data(
            site, f"names/{geography.label}/{number}", [*chain.from_iterable(pairs[first:end])]
        )
    return [[first, pairs[first][0]] for first, _ in parts]


def write_group_names(site: Path, universe: Universe) -> int:
    """Write the groups in the order of the release's list. Returns the number of files."""
    iterations = universe.lists.iterations
    firsts = range(0, len(iterations), _GROUPS_PER_FILE)
    for number, first in enumerate(firsts):
        groups = iterations[first : first + _GROUPS_PER_FILE]
        write_data(site, f"groups/{number}", [_group(group, universe) for group in groups])
    return len(firsts)


def _group(group: CharacteristicIteration, universe: Universe) -> list[object]:
    """The facts of a group for the page, with other groups by their position in the list.

    The code, the name, the level and the kind; the wider group, or -1; groups that share codes;
    where it is tabulated; its partner, which holds everyone of a group alone. The last two are
    given for each of the census's grains.
    """
    position, wider = universe.number_of_code, wider_groups(universe, group)[:1]
    others = [other for other in groups_with_shared_codes(universe, group) if other is not group]
    return [
        group.code,
        group.name,
        group.level.number,
        universe.census.group_kinds.index(group.kind),
        position[wider[0].code] if wider else -1,
        [position[other.code] for other in others],
        [int(group.is_tabulated(kind)) for kind in universe.census.grains],
        [position.get(partners.get(group.code, ""), -1) for partners in universe.partners],
    ]


def reasons_of_geography(geography: AreaLevel, universe: Universe) -> str:
    """A digit for each group, in the order of the list.

    It is 0 if the group is tabulated at the level, and otherwise 1 plus the position of the reason.
    """
    digits = ""
    for group in universe.lists.iterations:
        why = universe.why_not_tabulated(geography, group)
        digits += "0" if why is None else str(1 + universe.reasons.index(why))
    return digits


def area_facts(geography: AreaLevel, universe: Universe) -> dict[str, object]:
    """The facts of a level by which the page finds its areas, and which area lies in which."""
    kind, ids = geography.kind, universe.entities[geography].region_ids
    lengths = f"{min(map(len, ids), default=0)},{max(map(len, ids), default=0)}"
    return {
        "label": geography.label,
        "geoId": geo_id(universe.census, geography, ""),
        "kind": kind.name,
        "grain": universe.census.grain_of(kind),
        "isWhole": kind.is_whole,
        "count": len(ids),
        "idPattern": kind.ids.pattern if isinstance(kind.ids, DigitIds) else f".{{{lengths}}}",
        "around": _around(geography, universe),
        "parts": _part_runs(geography, universe),
    }


def _around(geography: AreaLevel, universe: Universe) -> list[dict[str, object]]:
    """The levels whose areas hold those of a level, smallest first, by their numbers.

    `starts` has for each area of such a level the position of the first area in it, because areas
    are sorted by id and mostly lie in their order. Where they don't, `parents` has for each area
    the position of the one around it. The whole has neither.
    """
    found: list[dict[str, object]] = []
    for kind in geography.kind.around:
        level = universe.level_beside(geography, kind)
        if level is None:
            continue
        parents = universe.parents(geography, kind)
        rise = bool((np.diff(parents, prepend=0) >= 0).all())
        starts = np.searchsorted(parents, np.arange(len(universe.entities[level].names)))
        of_level = {"starts": starts.tolist()} if rise else {"parents": parents.tolist()}
        found.append(
            {"level": list(universe.entities).index(level)} | ({} if kind.is_whole else of_level)
        )
    return found


def _part_runs(geography: AreaLevel, universe: Universe) -> list[tuple[int, str | None]]:
    """The part of the census, such as a state, in which areas lie.

    Gives where each run of areas begins, and the id of its part.
    """
    part = universe.census.part
    if part not in (geography.kind, *geography.kind.around):
        return []
    ids = universe.ids_around(geography, part)
    return [(at, one) for at, one in enumerate(ids) if at == 0 or ids[at - 1] != one]


def census_facts(universe: Universe) -> dict[str, object]:
    """The facts of the census by which the page finds and lists areas and groups."""
    census = universe.census
    return {
        "kinds": [
            kind.name if universe.specification is None else kind.title
            for kind in census.group_kinds
        ],
        "kindOrder": [kind.name for kind in census.kinds_for_people],
        "groupLevels": {
            str(level.number): [level.name, level.is_tabulated] for level in census.group_levels
        },
        "spellings": _spellings(universe),
        "everyone": _everyone(universe),
    }


def _everyone(universe: Universe) -> int:
    """The position of the first group that holds everyone, whatever code they give, or -1."""
    codes, every = universe.lists.codes_of_iteration, universe.lists.code_names.keys()
    for position, group in enumerate(universe.lists.iterations):
        is_counted = group.level.is_tabulated and group.kind.members is Members.ANY
        if is_counted and every <= codes.get(group.code, frozenset()):
            return position
    return -1


def _spellings(universe: Universe) -> dict[str, object]:
    """The words by which the page reads names, as `show`, `status` and Python do.

    Names of the whole and of its parts, words for kinds of areas, and the ends of group names by
    kind.
    """
    census, spelling = universe.census, universe.census.spelling
    parent = spelling.last.parent if spelling.last else None
    return {
        "whole": spelling.whole_names,
        "parts": [[code, *names] for code, names in names_of_parts(universe).items()],
        "part": census.part.name,
        "same": dict(SAME_WORDS),
        "ends": {kind.name: ends for kind, ends in spelling.ends.items()},
        "repeats": [kind.name for kind in spelling.repeats],
        "last": spelling.last.name if spelling.last else None,
        "lastParent": parent.name if parent else None,
        "starts": spelling.starts,
        "asWritten": spelling.as_written,
        "kindEnds": [kind.ends for kind in census.group_kinds],
        "levels": words_for_many_areas(census),
    }
