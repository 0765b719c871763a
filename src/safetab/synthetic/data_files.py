"""Writes the data directory: blocks, their names, people, and the marker that says that nobody of them exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from safetab.census.geography import NATION_ID
from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.synthetic.blocks import Blocks
from safetab.synthetic.cenrace import cenrace_of_bits
from safetab.synthetic.demo_codes import MAJOR_RACES, RACE_FAMILIES
from safetab.synthetic.demo_states import STATES, State
from safetab.synthetic.parameter_files import write_lines
from safetab.synthetic.people import ETHNICITY_CODES, MOST_RACE_CODES, RACE_CODES, People
from safetab.synthetic.weighted_choice import Integers

_BLOCK_COLUMNS = {"TABBLKST": (0, 2), "TABBLKCOU": (2, 5), "TABTRACTCE": (5, 11), "TABBLK": (11, 15)}
_RACE_COLUMNS = tuple(f"QRACE{number}" for number in range(1, MOST_RACE_CODES + 1))
_PERSON_HEADER = "|".join(("QAGE", "QSEX", "HOUSEHOLDER", *_BLOCK_COLUMNS, "CENRACE", *_RACE_COLUMNS, "QSPAN"))
_MARKER = "SYNTHETIC"
_MARKER_TEXT = "These people do not exist. safetab made them up, in real places, from a seed."

_LEVEL_OF = {(level.tabulation_pass, level.entity_kind): level for level in GeographyLevel}


def write_geography(folder: Path, blocks: Blocks) -> None:
    """The marker comes first: made-up people must never lie without it."""
    write_lines(folder / _MARKER, [_MARKER_TEXT])
    rows = (
        "|".join((*_parts_of(block), f"{place:05d}", f"{aiannh:04d}"))
        for block, place, aiannh in zip(
            blocks.block.tolist(), blocks.place.tolist(), blocks.aiannh.tolist(), strict=True
        )
    )
    write_lines(folder / "GRF-C.txt", ["|".join((*_BLOCK_COLUMNS, "PLACEFP", "AIANNHCE")), *rows])
    names = (f"{level.label}|{region_id}|{name}" for level, region_id, name in _names(blocks))
    write_lines(folder / "geography-names.txt", ["REGION_TYPE|REGION_ID|NAME", *names])


def write_people(folder: Path, blocks: Blocks, batches: Iterable[People]) -> None:
    block_parts = np.array([_parts_of(block) for block in blocks.block.tolist()]).T
    columns_of_block = {column: pa.array(part) for column, part in zip(_BLOCK_COLUMNS, block_parts, strict=True)}
    options = csv.WriteOptions(include_header=False, delimiter="|", quoting_style="none")
    with (folder / "person-records.txt").open("wb") as file:
        file.write(f"{_PERSON_HEADER}\n".encode())
        for people in batches:
            csv.write_csv(_person_table(people, columns_of_block), file, options)


def _person_table(people: People, columns_of_block: dict[str, pa.Array]) -> pa.Table:
    races = pa.array([code.code for code in RACE_CODES] + ["Null"])  # position -1 is "Null"
    truth = pa.array(["False", "True"])
    return pa.table(
        {
            "QAGE": people.age,
            "QSEX": np.where(people.is_female, 2, 1),
            "HOUSEHOLDER": truth.take(pa.array(people.is_householder.astype(np.int8))),
            **{column: of_block.take(pa.array(people.block_position)) for column, of_block in columns_of_block.items()},
            "CENRACE": pa.array([f"{number:02d}" for number in range(64)]).take(pa.array(cenrace_of(people.races))),
            **{
                column: races.take(pa.array(positions % len(races)))
                for column, positions in zip(_RACE_COLUMNS, people.races.T, strict=True)
            },
            "QSPAN": pa.array([code.code for code in ETHNICITY_CODES]).take(pa.array(people.ethnicity)),
        }
    )


def cenrace_of(races: Integers) -> Integers:
    """CENRACE of the major races among each person's codes."""
    major_of_code = [family.major for family in RACE_FAMILIES for _ in family.codes]
    bit_of_code = np.array([1 << MAJOR_RACES.index(major) for major in major_of_code] + [0])
    cenrace: Integers = cenrace_of_bits()[np.bitwise_or.reduce(bit_of_code[races], axis=1)].astype(np.int64)
    return cenrace


def _parts_of(block: int) -> tuple[str, ...]:
    digits = f"{block:015d}"
    return tuple(digits[start:end] for start, end in _BLOCK_COLUMNS.values())


def _names(blocks: Blocks) -> Iterator[tuple[GeographyLevel, str, str]]:
    """Every entity that has a block, with its level and id; a name says in which state it is."""
    yield GeographyLevel.USA, str(NATION_ID), "United States"
    tracts = [f"{tract:011d}" for tract in np.unique(blocks.tract).tolist()]
    for state in STATES:
        yield _LEVEL_OF[state.tabulation_pass, EntityKind.STATE], state.code, state.name
        yield from _names_inside(state, [tract for tract in tracts if tract.startswith(state.code)])
    areas = {area.code: area.name for state in STATES for county in state.counties for area in county.aiannh_areas}
    for code, name in sorted(areas.items()):
        yield GeographyLevel.AIANNH, code, name


def _names_inside(state: State, tracts: Sequence[str]) -> Iterator[tuple[GeographyLevel, str, str]]:
    def level_of(kind: EntityKind) -> GeographyLevel:
        return _LEVEL_OF[state.tabulation_pass, kind]

    for county in state.counties:
        county_id, county_name = state.code + county.code, f"{county.name}, {state.name}"
        yield level_of(EntityKind.COUNTY), county_id, county_name
        for place in county.places:
            yield level_of(EntityKind.PLACE), state.code + place.code, f"{place.name}, {state.name}"
        for tract in tracts:
            if tract.startswith(county_id):
                yield level_of(EntityKind.TRACT), tract, f"Census Tract {int(tract[5:9])}, {county_name}"
