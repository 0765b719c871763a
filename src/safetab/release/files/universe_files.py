"""The public universe as files of the release, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from safetab.core.algorithm.level_design import LevelDesign, StageDesign
from safetab.core.guarantees.plan_json import exact
from safetab.core.privacy.calibration import NOISES, Stage, calibrated_noise
from safetab.foundation.arrays import Integers
from safetab.foundation.files import printable
from safetab.model.census.area_levels import AreaKind, AreaLevel, DigitIds, Pass
from safetab.model.census.census import Census, PopulationGroupLevel
from safetab.model.census.groups import CharacteristicIteration, PublicLists
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product, Selector, Shape, TableFamily, Thresholds
from safetab.release.files.census_file import ENTITIES_FILE, ReleasedCensus, write_census
from safetab.release.files.coterminous import SetsOfPasses
from safetab.release.files.numbers.number_files import Column, columns_of_groups, schema_of_columns
from safetab.release.files.release_universe import (
    NO_BUDGET,
    NO_CODES,
    Entities,
    ReleaseLevel,
    Universe,
    release_levels,
)
from safetab.release.outputs.pass_files import TEXT

_STAGES = (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY)
_STAGE_COLUMNS = tuple(
    Column(
        f"{stage.name.lower()}_{what}",
        TEXT,
        f"{words} {where}; null if there was none.",
        is_required=False,
    )
    for stage, where in {
        Stage.STAGE_1: "of stage 1, the total that chooses the table",
        Stage.STAGE_2: "of stage 2, the published numbers of groups measured in two stages",
        Stage.TOTAL_ONLY: "of groups that get a total whatever their size",
    }.items()
    for what, words in (
        ("budget", "Share of the budget (exact)"),
        ("parameter", "Exact parameter of the noise"),
    )
)
FAMILY = "family"
_TOTALS = {
    Selector.NOISY_STAGE_1: "Stage-1 total",
    Selector.PUBLISHED_TOTALS: "Published total of people",
}
_GROUPS_FILE = "universe/iterations.parquet"
_CODES_FILE = "universe/codes.parquet"
_CODES_OF_GROUPS_FILE = "universe/iteration-codes.parquet"
_LEVELS_FILE = "universe/levels.parquet"
UNIVERSE_FILES = (ENTITIES_FILE, _GROUPS_FILE, _CODES_FILE, _CODES_OF_GROUPS_FILE, _LEVELS_FILE)
COTERMINOUS_FILE = "universe/coterminous.parquet"
_PARENT_COLUMNS = (
    Column(
        "parent_geography_level",
        TEXT,
        "Level of the smallest area that the entity lies in.",
        is_required=False,
    ),
    Column("parent_region_id", TEXT, "Id of that area.", is_required=False),
)
_GROUP_COLUMNS = ("iteration_code", "iteration_name", "iteration_level", "iteration_kind", "list")
_Row = dict[str, object]
_Described = tuple[str, tuple[Column, ...]]
"""A sentence on what a file describes, and its columns."""


def geography_level_column(census: Census) -> Column:
    """The column of labels of area levels."""
    return Column(
        "geography_level",
        TEXT,
        "Geography level.",
        values=tuple(one.label for one in census.area_levels),
    )


def universe_files(universe: Universe) -> dict[str, _Described]:
    """The description of each file of the universe, and its columns.

    Only some releases have the last file. The columns of the levels include the thresholds of the
    product's shapes. Entities name the area around them unless it is known by its id.
    """
    census = universe.census
    region, region_name, code, name, kind, _ = columns_of_groups(census)
    geography_level, smallest = geography_level_column(census), census.words.smallest_areas
    of_codes = " and ".join(classification.name for classification in census.classifications)
    return {
        ENTITIES_FILE: (
            "Every geographic entity of the levels that could be tabulated.",
            (geography_level, region, region_name,
             *(() if universe.specification is None else _PARENT_COLUMNS)),
        ),
        _GROUPS_FILE: (
            f"Every {census.words.group}, whether it has numbers or not.",
            (code, name, _group_level_column(census), kind, _list_column(census)),
        ),
        _CODES_FILE: (
            f"The {of_codes} codes.",
            (Column("code", TEXT, census.words.code_form),
             Column("code_name", TEXT, "What the code stands for.")),
        ),
        _CODES_OF_GROUPS_FILE: (
            "Which codes make up which group: one row a pair.",
            (code, Column("code", TEXT, "A code inside the group.")),
        ),
        _LEVELS_FILE: (
            f"How each level, a geography level crossed with {census.words.group_level},"
            " was measured.",
            _columns_of_levels(universe),
        ),
        COTERMINOUS_FILE: (
            f"Entities that are made of the same {smallest}.",
            (
                Column("set", pa.int32(),
                       "Number of the set: entities with the same number are made of the same"
                       f" {smallest}."),
                geography_level,
                region,
            ),
        ),
    }  # fmt: skip


def _group_level_column(census: Census) -> Column:
    names = tuple(level.name for level in census.group_levels)
    return Column("iteration_level", TEXT, "How fine the group is.", values=names)


def _list_column(census: Census) -> Column:
    *others, last = (f"{listed.clause or listed.words} ({listed.name})" for listed in census.lists)
    where = f"{', '.join(others)}, or {last}" if others else last
    untabulated = [
        f"{level.name.lower()} groups" for level in census.group_levels if not level.is_tabulated
    ]
    nowhere = f"; null for {' and '.join(untabulated)}, which never are" if untabulated else ""
    names = tuple(listed.name for listed in census.lists)
    about = f"Where the group is tabulated: {where}{nowhere}."
    return Column("list", TEXT, about, is_required=False, values=names)


def _shapes_with_thresholds(product: Product, family: TableFamily) -> tuple[Shape, ...]:
    """The shapes that a group gets from some total on: none if every group gets the finest."""
    return () if product.selector is Selector.NONE else family.finer


def _columns_of_levels(universe: Universe) -> tuple[Column, ...]:
    """The columns of the levels' file, with one for the threshold of each shape that has one."""
    product, census = universe.product, universe.census
    passes = " or ".join(f"{each.title} ({each.name})" for each in census.passes)
    families = tuple(family.name for family in product.families)
    total = f"{_TOTALS.get(product.selector)} from which on a group gets"
    is_required = not product.has_several_families and universe.specification is None
    thresholds = (
        Column(
            f"threshold_{shape.label}",
            pa.int64(),
            f"{total} {shape.words}.",
            is_required=is_required,
        )
        for family in product.families
        for shape in _shapes_with_thresholds(product, family)
    )
    return (
        Column("pass", TEXT, f"{passes}.", values=tuple(each.name for each in census.passes)),
        geography_level_column(census),
        _group_level_column(census),
        *([Column(FAMILY, TEXT, "What the tables show.", values=families)]
          if product.has_several_families else ()),
        Column("budget", TEXT, "Privacy-loss budget of the level, exact; 0 = not tabulated."),
        Column("not_tabulated", TEXT, "Why the level has no numbers; null if it has.",
               is_required=False),
        Column("stability", pa.int16(), "Most groups of the level that one record can be in."),
        *thresholds,
        Column("suppression_threshold", pa.int64(),
               "A group's total that stands alone is published only above"
               " this; null if all are published.", is_required=False),
        Column("noise_mechanism", TEXT, "Distribution of one draw of noise.", is_required=False,
               values=tuple(NOISES)),
        *_STAGE_COLUMNS,
    )  # fmt: skip


def write_universe(release: Path, universe: Universe, sets: SetsOfPasses | None) -> dict[str, int]:
    """Write the files of the universe and return the rows of each."""
    (release / "universe").mkdir(parents=True, exist_ok=True)
    rows_of: dict[str, list[_Row]] = {
        _GROUPS_FILE: [_group_row(each) for each in universe.lists.iterations],
        _CODES_FILE: [
            {"code": code, "code_name": name}
            for code, name in sorted(universe.lists.code_names.items())
        ],
        _CODES_OF_GROUPS_FILE: [
            {"iteration_code": iteration.code, "code": code}
            for iteration in universe.lists.iterations
            for code in sorted(universe.lists.codes_of_iteration.get(iteration.code, ()))
        ],
        _LEVELS_FILE: [_level_row(level) for level in universe.levels],
    }
    schemas = {
        name: schema_of_columns(columns) for name, (_, columns) in universe_files(universe).items()
    }
    if universe.specification is not None:
        write_census(release, universe.specification, universe.census)
    if sets is not None:
        rows_of[COTERMINOUS_FILE] = _set_rows(universe.census, sets)
    tables = {ENTITIES_FILE: _entities_table(schemas[ENTITIES_FILE], universe)}
    tables |= {name: pa.Table.from_pylist(rows, schemas[name]) for name, rows in rows_of.items()}
    for name, table in tables.items():
        pa.parquet.write_table(
            table, release / name, compression="zstd", store_schema=False, row_group_size=1 << 17
        )
    return {name: len(table) for name, table in tables.items()}


def _entities_table(schema: pa.Schema, universe: Universe) -> pa.Table:
    """The table of entities, by far the longest."""
    parts = []
    for geography, entities in universe.entities.items():
        around = () if universe.specification is None else _parents(universe, geography)
        label = pa.repeat(geography.label, len(entities))
        parts.append(pa.table([label, *entities.columns, *around], schema=schema))
    return pa.concat_tables([schema.empty_table(), *parts]).combine_chunks()


def _parents(universe: Universe, level: AreaLevel) -> tuple[pa.Array, pa.Array]:
    """The level and the id of the smallest area around each entity, null for none."""
    around = universe.nearest_around(level)
    if around is None:
        none = pa.nulls(len(universe.entities[level]), TEXT)
        return none, none
    positions = universe.parents(level, around.kind)
    ids = universe.entities[around].columns[0].take(pa.array(positions, mask=positions < 0))
    return pa.repeat(around.label, len(positions)), ids


def _group_row(group: CharacteristicIteration) -> _Row:
    """The row of a group: what it is, and where it is tabulated."""
    values = (
        group.code,
        group.name,
        group.level.name,
        group.kind.name,
        group.listed.name if group.listed else None,
    )
    return dict(zip(_GROUP_COLUMNS, values, strict=True))


def _level_row(level: ReleaseLevel) -> _Row:
    """The row of a level: budget, noise, and the thresholds of its own family."""
    design, stages = level.design, level.design.stages
    shapes = _shapes_with_thresholds(design.product, design.family)
    row: _Row = {
        "pass": level.geography.tabulation_pass.name,
        "geography_level": level.geography.label,
        "iteration_level": level.level.iterations.name,
        FAMILY: level.family.name,  # a column only if there are several
        "budget": exact(design.budget),
        "not_tabulated": None if stages else NO_CODES if design.budget else NO_BUDGET,
        "stability": design.stability,
        "suppression_threshold": design.suppression_threshold,
        **{
            f"threshold_{shape.label}": total
            for shape, total in zip(shapes, design.thresholds.totals, strict=False)
        },
    }
    for stage, measured in stages.items():
        name, noise = stage.name.lower(), measured.noise
        row |= {f"{name}_budget": exact(measured.budget), f"{name}_parameter": str(noise.parameter)}
        row["noise_mechanism"] = noise.mechanism
    return row


def _set_rows(census: Census, sets: SetsOfPasses) -> list[_Row]:
    columns = ("set", "geography_level", "region_id")
    sets_of_passes = ((each, members) for each, of_pass in sets.items() for members in of_pass)
    return [
        dict(
            zip(
                columns,
                (number, census.level_of(each, kind).label, kind.ids.text(entity)),
                strict=True,
            )
        )
        for number, (each, members) in enumerate(sets_of_passes, 1)
        for kind, entity in members
    ]


def read_universe(
    release: Path,
    of: ReleasedCensus,
    definition: PrivacyDefinition,
    states: Mapping[Pass, tuple[str, ...]],
    *,
    allow_negative: bool,
) -> Universe:
    """The universe of a release of a census, with these facts of the run that made it.

    Raises KeyError, ValueError or an Arrow error if a file is damaged.
    """
    tables = {name: _read(release / name) for name in UNIVERSE_FILES}
    lists = _lists(tables, of.census)
    designs = [_design(row, of, definition) for row in tables[_LEVELS_FILE].to_pylist()]
    listed = tables[ENTITIES_FILE]
    geographies = dict.fromkeys(design.level.geography for design in designs)
    entities = {geography: _entities(listed, geography) for geography in geographies}
    facts = (of.product, definition, allow_negative)
    levels = release_levels(designs, lists, entities)
    universe = Universe(of.census, *facts, tuple(states), states, lists, entities, levels)
    if of.specification is None:
        return universe
    return replace(universe, specification=of.specification, around=_around(listed, universe))


def _around(listed: pa.Table, universe: Universe) -> dict[tuple[AreaLevel, AreaKind], Integers]:
    """The areas around entities (`Universe.around`).

    They are the smallest, as the table lists it, and those around that.
    """
    nearest: dict[AreaLevel, tuple[AreaLevel, Integers]] = {}
    for level in universe.entities:
        outer = universe.nearest_around(level)
        if outer is not None:
            ids = listed.filter(pc.equal(listed["geography_level"], level.label))[
                "parent_region_id"
            ]
            found = pc.index_in(ids, universe.entities[outer].columns[0]).cast(pa.int64())
            nearest[level] = outer, found.fill_null(-1).to_numpy()
    around = {}
    for level, (outer, positions) in nearest.items():
        around[level, outer.kind] = positions
        while outer in nearest:
            outer, outward = nearest[outer]  # noqa: PLW2901 - the next area around
            positions = np.append(outward, -1)[positions]  # noqa: PLW2901
            around[level, outer.kind] = positions
    return around


def _read(path: Path) -> pa.Table:
    """A table of the universe, without characters that could control a terminal.

    A forged name could have them.
    """
    with pa.parquet.ParquetFile(path) as file:
        table = file.read()
    for number, field in enumerate(table.schema):
        if (
            pa.types.is_string(field.type)
            and pc.all(pc.utf8_is_printable(table[number])).as_py() is False
        ):
            cleaned = [
                text and printable(text.replace("\n", "\0")) for text in table[number].to_pylist()
            ]
            table = table.set_column(number, field, pa.array(cleaned, TEXT))
    return table


def _entities(listed: pa.Table, level: AreaLevel) -> Entities:
    own = listed.filter(pc.equal(listed["geography_level"], level.label))
    texts, ids = tuple(own["region_id"].to_pylist()), level.kind.ids
    if isinstance(ids, DigitIds):  # there may be many
        numbers = own["region_id"].cast(pa.int64()).to_numpy()
    else:
        numbers = np.array([ids.number(text) for text in texts], dtype=np.int64)
    return Entities(numbers, texts, tuple(own["region_name"].to_pylist()))


def _lists(tables: Mapping[str, pa.Table], census: Census) -> PublicLists:
    """The public lists from the tables of the universe."""
    codes: dict[str, list[str]] = {}
    for iteration, code in _rows(tables[_CODES_OF_GROUPS_FILE], "iteration_code", "code"):
        codes.setdefault(iteration, []).append(code)
    levels = {level.name: level for level in census.group_levels}
    kinds = {kind.name: kind for kind in census.group_kinds}
    lists = {listed.name: listed for listed in census.lists}
    iterations = tuple(
        CharacteristicIteration(
            code, name, levels[level], kinds[kind], lists[listed] if listed else None
        )
        for code, name, level, kind, listed in _rows(tables[_GROUPS_FILE], *_GROUP_COLUMNS)
    )
    names = dict(_rows(tables[_CODES_FILE], "code", "code_name"))
    codes_of_iteration = {code: frozenset(inside) for code, inside in codes.items()}
    return PublicLists(MappingProxyType(names), iterations, MappingProxyType(codes_of_iteration))


def _rows(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[column].to_pylist() for column in columns), strict=True)


def _design(row: dict[str, str], run: ReleasedCensus, definition: PrivacyDefinition) -> LevelDesign:
    """The design of a level from its row in the universe."""
    geography = run.census.area_level(row["geography_level"])
    iterations = run.census.group_level(row["iteration_level"])
    sensitivity = Sensitivity.of_groups(int(row["stability"]), run.product.record.most_records)
    threshold = row["suppression_threshold"]
    family = next(
        known for known in run.product.families if row.get(FAMILY, known.name) == known.name
    )
    shapes = _shapes_with_thresholds(run.product, family)
    thresholds = [row[f"threshold_{shape.label}"] for shape in shapes]
    stages = {}
    for stage in _STAGES:
        name = stage.name.lower()
        if row[f"{name}_budget"]:
            budget = Fraction(row[f"{name}_budget"])
            noise = calibrated_noise(definition, sensitivity, budget)
            if str(noise.parameter) != row[f"{name}_parameter"]:
                raise ValueError(
                    f"{geography.label}: the parameter of {name} is not what its budget buys"
                )
            stages[stage] = StageDesign(stage, budget, noise)
    return LevelDesign(
        product=run.product,
        family=family,
        level=PopulationGroupLevel(geography, iterations),
        definition=definition,
        sensitivity=sensitivity,
        budget=Fraction(row["budget"]),
        thresholds=Thresholds(tuple(int(each) for each in thresholds if each is not None)),
        stages=MappingProxyType(stages),
        suppression_threshold=None if threshold is None else int(threshold),
    )
