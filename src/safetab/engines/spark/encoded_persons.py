"""Persons as numbers: atom, state, codes and attribute. Lookups are in public lists alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from safetab.census.iteration_map import IterationMap
from safetab.census.public_lists import is_race_code
from safetab.engines.spark.person_rules import (
    attribute_number,
    block_number,
    broken_rules,
    digits,
    divided,
    is_right,
)
from safetab.engines.spark.person_source import FILE
from safetab.products.record import RACE_COLUMNS, RecordLayout
from safetab.readers.person_rules import BLOCK_RULE, NOT_DIGITS_RULE, Rule

CODE_END = 10_000
_BLOCKS_OF_A_TRACT = 10**4
_CODE_BITS = 14
_CODE_DIGITS = 4
_CODES_OF_A_NUMBER = 4
PATTERN = ("races_1_to_4", "races_5_to_8", "ethnicity")
_RACES = [f"race_{position}" for position in range(1, len(RACE_COLUMNS) + 1)]


def literal(numbers: object, spark_type: str) -> Column:
    """A constant array, which Spark folds once; the lists that go in are public."""
    return F.from_json(F.lit(json.dumps(numbers, separators=(",", ":"))), spark_type)


class CodeLists:
    """The codes of the list by their positions, from 1 on, and the iterations that each leads to."""

    def __init__(self, codes: Collection[str]) -> None:
        self._codes = sorted(codes)
        self.position_of_race = self._positions(code for code in self._codes if is_race_code(code))
        self.position_of_ethnicity = self._positions(self._codes)

    def _positions(self, wanted: Iterable[str]) -> Column:
        positions = [0] * CODE_END
        for code in wanted:
            positions[int(code)] = self._codes.index(code) + 1
        return literal(positions, "array<int>")

    def lists(self, maps: Sequence[IterationMap], kind: str, number_of: dict[str, int]) -> list[list[int]]:
        """For each position the numbers of the iterations of one kind that its code leads to, at any level or grain."""
        found: list[list[int]] = [[]]
        for code in self._codes:
            reached = (getattr(one, kind).get(code) for one in maps)
            found.append(sorted({number_of[iteration] for iteration in reached if iteration is not None}))
        return found


def tracts_with_blocks(session: SparkSession, blocks: NDArray[np.int64], atoms: NDArray[np.int32]) -> DataFrame:
    """One row per tract: the last four digits of its blocks, and their atoms, in one order. Public and small.

    `blocks` are rising, and each has one atom.
    """
    tracts, starts = np.unique(blocks // _BLOCKS_OF_A_TRACT, return_index=True)
    offsets = pa.array(np.append(starts, len(blocks)).astype(np.int32))
    within = pa.array((blocks % _BLOCKS_OF_A_TRACT).astype(np.int16))
    columns = {
        "tract": pa.array(tracts),
        "blocks": pa.ListArray.from_arrays(offsets, within),
        "atoms": pa.ListArray.from_arrays(offsets, pa.array(atoms.astype(np.int32))),
    }
    return F.broadcast(session.createDataFrame(pa.table(columns)))


@dataclass(frozen=True)
class LookedUp:
    """Persons with their block and codes looked up: one row each."""

    record: RecordLayout
    persons: DataFrame
    is_of_pass: Column

    @property
    def is_right(self) -> Column:
        return is_right(self.record, *self._judged)

    @property
    def broken_rules(self) -> DataFrame:
        """One row per file and combination of broken rules, of the rows that are not right."""
        judged = self.persons.where(~self.is_right).select(
            FILE, broken_rules(self.record, *self._judged).alias("broken")
        )
        counts: DataFrame = judged.groupBy(FILE, "broken").count()
        return counts

    @property
    def _judged(self) -> tuple[Mapping[Rule, Column], list[Column], Column]:
        is_broken_block = {
            NOT_DIGITS_RULE: F.col("block").isNull(),
            BLOCK_RULE: F.col("block").isNotNull() & self.is_of_pass & F.col("atom").isNull(),
        }
        return is_broken_block, [F.col(race) for race in _RACES], F.col("ethnicity")

    def encoded(self, max_race_codes: int) -> DataFrame:
        """State, atom, the three numbers of PATTERN, attribute, and whether the row is right.

        A person of a state that no pass has, or who breaks a rule about the block, has no atom.
        """
        used = [*_RACES[:max_race_codes], *([None] * (len(_RACES) - max_race_codes))]
        return self.persons.select(
            F.coalesce("state", F.lit(-1)).cast("smallint").alias("state"),
            F.when(self.is_of_pass, F.col("atom")).alias("atom"),
            _packed(used[:_CODES_OF_A_NUMBER]).alias(PATTERN[0]),
            _packed(used[_CODES_OF_A_NUMBER:]).alias(PATTERN[1]),
            F.col("ethnicity").cast("smallint").alias(PATTERN[2]),
            "attribute",
            self.is_right.alias("is_right"),
        )


def looked_up(
    record: RecordLayout, persons: DataFrame, tracts: DataFrame, codes: CodeLists, states: Sequence[int]
) -> LookedUp:
    numbered = persons.withColumn("block", block_number()).select(
        "*",
        divided(F.col("block"), _BLOCKS_OF_A_TRACT).alias("tract"),
        (F.col("block") % _BLOCKS_OF_A_TRACT).cast("smallint").alias("block_of_tract"),
    )
    found = numbered.join(tracts, "tract", "left").select(
        state_number().alias("state"),
        F.get("atoms", F.array_position("blocks", F.col("block_of_tract")).cast("int") - 1).alias("atom"),
        *(_code(column, codes.position_of_race).alias(race) for column, race in zip(RACE_COLUMNS, _RACES, strict=True)),
        _code("QSPAN", codes.position_of_ethnicity).alias("ethnicity"),
        attribute_number(record).cast("smallint").alias("attribute"),
        *persons.columns,
        "block",
    )
    return LookedUp(record, found, F.coalesce(F.col("state").isin(*states), F.lit(False)))


def state_number() -> Column:
    return digits(F.col("TABBLKST"), 2)


def iterations_of_pattern(maps: Sequence[IterationMap], codes: CodeLists, number_of: dict[str, int]) -> Column:
    """The numbers of a pattern's iterations, each once: the race and ethnicity half of the paper's g.

    In combination: those of any code. Alone: those that all codes share. At whatever level and grain they are counted.
    """
    in_combination = codes.lists(maps, "in_combination", number_of)
    alone = codes.lists(maps, "alone", number_of)
    ethnicity = codes.lists(maps, "ethnicity", number_of)
    of_one_code = [sorted({*some, *others}) for some, others in zip(in_combination, alone, strict=True)]
    races = [_unpacked(PATTERN[position // _CODES_OF_A_NUMBER], position) for position in range(len(RACE_COLUMNS))]
    any_of = F.concat(*(F.get(literal(in_combination, "array<array<int>>"), race) for race in races))
    alone_of_code = literal(alone, "array<array<int>>")
    shared = F.get(alone_of_code, races[0])
    for race in races[1:]:
        other = F.when(race == 0, races[0]).otherwise(race)  # no code excludes nothing
        shared = F.array_intersect(shared, F.get(alone_of_code, other))
    of_races = F.when(
        (F.col(PATTERN[0]) < (1 << _CODE_BITS)) & (F.col(PATTERN[1]) == 0),
        F.get(literal(of_one_code, "array<array<int>>"), races[0]),
    ).otherwise(F.array_distinct(F.concat(any_of, shared)))
    return F.concat(of_races, F.get(literal(ethnicity, "array<array<int>>"), F.col(PATTERN[2]).cast("int")))


def _code(column: str, position_of_code: Column) -> Column:
    """The position of a code in the list; 0 for what is no code.

    Codes are 1000 and above, and four bytes with a blank or a sign among them spell less. A cast that fails costs Spark
    an exception, so what begins with a letter, as no code does, is not tried.
    """
    text = F.col(column)
    number = F.when((F.octet_length(text) == _CODE_DIGITS) & (text < ":"), text.try_cast("int"))
    return F.coalesce(F.get(position_of_code, number), F.lit(0))


def _packed(columns: Sequence[str | None]) -> Column:
    packed = F.lit(0).cast("bigint")
    for position, column in enumerate(columns):
        if column is not None:
            packed = packed.bitwiseOR(F.shiftleft(F.col(column).cast("bigint"), _CODE_BITS * position))
    return packed


def _unpacked(column: str, position: int) -> Column:
    moved = F.shiftright(F.col(column), _CODE_BITS * (position % _CODES_OF_A_NUMBER))
    return moved.bitwiseAND((1 << _CODE_BITS) - 1).cast("int")
