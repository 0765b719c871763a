"""The person and unit records of a synthetic CEF, as lines of fixed width.

A CEF is a Census Edited File. A field is a column of bytes, so a file is written without formatting
its lines one by one. A CEF holds race codes from 1000 to 8999, Hispanic origins in the same range,
and 9950 for people who are not Hispanic. MAFIDs and block ids are unique in the nation; each state
has its own range of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from safetab.apps.synthetic.files.parameter_files import NOT_HISPANIC
from safetab.apps.synthetic.geography.census_size import StateShare
from safetab.apps.synthetic.households.living_arrangements import NO_QUARTERS
from safetab.apps.synthetic.households.units import (
    HousedChunk,
    VacantUnits,
    most_units,
    person_numbers,
)
from safetab.apps.synthetic.people.code_mix import (
    MAJOR_RACE_COUNT,
    CodeMix,
    Positions,
    numbers_of_sets,
)
from safetab.apps.synthetic.people.state_people import StatePeople, cenrace_of_chunk
from safetab.apps.synthetic.seeded_bits import Integers, RandomBits, stride_through
from safetab.foundation.files import package_data
from safetab.inputs.bureau.cef import layout
from safetab.model.census.groups import PublicLists
from safetab.model.products.bureau_columns import RACE, RACE_COLUMNS
from safetab.model.products.safetab_p.safetab_p import OLDEST_AGE

Texts = NDArray[np.bytes_]
Lines = NDArray[Any]
"""One element per line, with a named field for each column."""

VERSION = b"00001"
"""The VERSION of every record that is written."""

_LINE_END = "line end"
_BLANK = ord(" ")


def layout_of(widths: Mapping[str, int]) -> np.dtype[Any]:
    """The type of one line: the fields in this order with these widths, then a line feed."""
    fields = [(name, f"S{width}") for name, width in widths.items()]
    return np.dtype([*fields, (_LINE_END, "S1")])


def lines_of(line_type: np.dtype[Any], count: int, fields: Mapping[str, Texts | bytes]) -> Lines:
    """Make `count` lines of this type.

    Each field holds either one text for all lines or one text per line. Fields that are not given
    stay blank.
    """
    lines = np.full(count * line_type.itemsize, _BLANK, dtype=np.uint8).view(line_type)
    for name, texts in ((_LINE_END, b"\n"), *fields.items()):
        lines[name] = texts
    return lines


def write_fixed_lines(file: BinaryIO, lines: Lines) -> None:
    """Append the bytes of these lines to a file."""
    file.write(lines.view(np.uint8).data)


def _texts_of(values: Iterable[object], width: int) -> Texts:
    """The values as texts of this width, padded with blanks on the left."""
    return np.array([f"{value!s:>{width}}".encode() for value in values], dtype=f"S{width}")


@cache
def _numbers_up_to(last: int, width: int, *, zeros: bool = False) -> Texts:
    """The texts of 0 to `last`, padded to this width with blanks, or with zeros."""
    fill = "0" if zeros else ""
    return _texts_of((f"{number:{fill}{width}d}" for number in range(last + 1)), width)


def digits_of(numbers: Integers, digits: int, width: int | None = None) -> Texts:
    """Each number as `digits` digits with leading zeros, right-aligned in a field of `width`."""
    width = width or digits
    texts = np.full((len(numbers), width), _BLANK, dtype=np.uint8)
    step = 4
    four_digits = _numbers_up_to(10**step - 1, step, zeros=True).view(np.uint32)
    rest = numbers
    for end in range(width, width - digits, -step):
        start = max(end - step, width - digits)
        rest, group = np.divmod(rest, 10**step)
        characters = four_digits[group].view(np.uint8).reshape(-1, step)
        texts[:, start:end] = characters[:, start - end :]
    return texts.view(f"S{width}").ravel()


_PERSON, _UNIT, COUNTS = (
    layout_of({field.name: field.width for field in line.fields})
    for line in (layout.PERSON, layout.UNIT, layout.COUNTS)
)

SHIPPED = package_data("safetab.apps.synthetic.cef", "cef_files.toml")
GRF_COLUMNS = tuple(SHIPPED["grf_columns"].split())
"""The 76 columns of the full GRF-C, in the order of the file."""


_DIGITS = _texts_of(range(10), 1)
_AGES = _numbers_up_to(OLDEST_AGE, 3)
_CENRACES = _numbers_up_to(63, 2, zeros=True)
_QUARTERS = _texts_of(["", *range(1, 1000)], 3)

_OWN_HISPANIC_CODES = range(9_000, 9_900)
_SHIFT_IN_A_CEF = -2_000  # own lists have no code from 7000 to 7899, so moved codes never collide
_BIRTHDAYS = [(month, day) for month in range(1, 13) for day in range(1, 29)]
_CENSUS_DAY = (4, 1)
_CENSUS_YEAR = 2020


def codes_no_cef_holds(mix: CodeMix) -> Sequence[str]:
    """The ethnicity codes of the mix that QSPAN can't hold. Race codes always fit."""
    positions = (*mix.hispanic.tolist(), mix.not_hispanic)
    ethnicities = {mix.codes[position] for position in positions}
    return sorted(code for code in ethnicities if not (RACE.may_hold(code) or code == NOT_HISPANIC))


def with_codes_of_a_cef(lists: PublicLists, mix: CodeMix) -> tuple[PublicLists, CodeMix]:
    """The census's own lists and mix, with Hispanic codes that a CEF can hold."""
    codes = {
        iteration: frozenset(map(_moved, members))
        for iteration, members in lists.codes_of_iteration.items()
    }
    names = {_moved(code): name for code, name in lists.code_names.items()}
    moved = replace(
        lists, code_names=MappingProxyType(names), codes_of_iteration=MappingProxyType(codes)
    )
    return moved, replace(mix, codes=tuple(map(_moved, mix.codes)))


def _moved(code: str) -> str:
    """The code of a CEF for a code of the census's own lists."""
    return str(int(code) + _SHIFT_IN_A_CEF) if int(code) in _OWN_HISPANIC_CODES else code


def _major_of_race(mix: CodeMix) -> Integers:
    """QRACEX of each race code of the mix."""
    return np.minimum(mix.race_major, MAJOR_RACE_COUNT - 1) + 1


def _hispanic_origin(ethnicity: Positions, mix: CodeMix) -> Integers:
    """CENHISP of people with these ethnicity codes: 1 not Hispanic, 2 Hispanic."""
    return np.where(ethnicity == mix.not_hispanic, 1, 2)


def person_lines(
    chunk: HousedChunk, people: StatePeople, mix: CodeMix, mafid: Texts, bits: RandomBits
) -> Lines:
    """The person records of a chunk, in the order of its people.

    `mafid` has one element per unit of the chunk. The bits choose the birthdays.
    """
    persons, homes = chunk.people, chunk.homes
    codes = _texts_of((*mix.codes, ""), 4)  # position -1 means no code
    age = people.demographics.age[persons.demographic].astype(np.int64)
    cenrace = cenrace_of_chunk(persons, mix)
    in_quarters = homes.quarters != NO_QUARTERS
    numbers = person_numbers(chunk)
    hispanic_origin = _DIGITS[_hispanic_origin(persons.ethnicity, mix)]
    # by unit: 1 alone, 2 with others, 0 in group quarters
    of_household = np.where(chunk.facts["FINAL_POP"] == 1, 1, 2)
    lives_alone = np.append(of_household, np.zeros(len(chunk.quarters.block), dtype=np.int64))
    fields: _Fields = {
        "RTYPE": _DIGITS[np.where(in_quarters, 5, 3)],
        "MAFID": mafid[chunk.unit],
        "CUF_PNC": _numbers_up_to(int(numbers.max(initial=0)), 5)[numbers],
        "BCUSTATEFP": people.geography.share.state.code.encode(),
        "VERSION": VERSION,
        "QSEX": _DIGITS[1 + people.demographics.is_female[persons.demographic]],
        "QAGE": _AGES[age],
        **_birth_dates(age, bits.below(len(_BIRTHDAYS), len(age))),
        "QSPAN": codes[persons.ethnicity],
        "QSPANX": hispanic_origin,
        "CENHISP": hispanic_origin,
        RACE_COLUMNS[0]: codes[persons.race],
        "QRACEX": _DIGITS[_major_of_race(mix)[persons.race]],
        "CENRACE": _CENRACES[cenrace],
        "RACE2010": _race_2010_of_cenrace()[cenrace],
        "RELSHIP": _TWO_DIGITS[homes.relationship],
        "QGQTYP": _QUARTERS[homes.quarters],
        "LIVE_ALONE": _DIGITS[lives_alone[chunk.unit]],
    }
    lines = lines_of(_PERSON, len(age), fields)
    several = persons.several
    for slot in range(1, len(RACE_COLUMNS)):
        lines[RACE_COLUMNS[slot]][several.person] = codes[several.races[:, slot]]
    return lines


def _birth_dates(age: Integers, birthday: Integers) -> dict[str, Texts]:
    """The fields of the date of birth of people with this age on census day."""
    is_after_census_day = np.array([day > _CENSUS_DAY for day in _BIRTHDAYS], dtype=np.int64)
    year = _numbers_up_to(_CENSUS_YEAR, 4)[_CENSUS_YEAR - age - is_after_census_day[birthday]]
    month_and_day = _texts_of((f"{month:02d}{day:02d}" for month, day in _BIRTHDAYS), 4)[birthday]
    return {
        "QDB": np.char.add(year, month_and_day),
        "QDOB_MONTH": _texts_of((month for month, _ in _BIRTHDAYS), 2)[birthday],
        "QDOB_DAY": _texts_of((day for _, day in _BIRTHDAYS), 2)[birthday],
        "QDOB_YEAR": year,
    }


@cache
def _race_2010_of_cenrace() -> Texts:
    """RACE2010 for each CENRACE. Some Other Race does not count; alone, it becomes White."""
    majors = MAJOR_RACE_COUNT - 1
    number_of_set = numbers_of_sets(majors)
    of_cenrace = np.zeros(64, dtype=np.int64)
    for bits, cenrace in enumerate(numbers_of_sets(MAJOR_RACE_COUNT).tolist()):
        of_cenrace[cenrace] = max(1, number_of_set[bits & ((1 << majors) - 1)])
    return _numbers_up_to(31, 2, zeros=True)[of_cenrace]


OID_DIGITS = 15

_FIRST_MAFID = 100_000_001
_LAST_MAFID = 899_999_999
_FIRST_OID = 10**14
_OIDS_OF_A_STATE = 10**12
_OID_STEP = 7919

_Fields = dict[str, Texts | bytes]

_TWO_DIGITS = _numbers_up_to(99, 2)
_HHT2 = _numbers_up_to(12, 2, zeros=True)
_FACTS_OF_ONE_DIGIT = ("HHT", "CPLT", "UPART", "MULTG", "PAOC", "PAC")
_FACTS_OF_TWO_DIGITS = ("P18", "P60", "P65", "P75")
_NOT_IN_UNIVERSE: _Fields = {
    "HHT2": b"00",
    **dict.fromkeys(("TEN", "TEN_A", "TEN_R", "VACS", "HHSEX", *_FACTS_OF_ONE_DIGIT), b"0"),
    **dict.fromkeys(_FACTS_OF_TWO_DIGITS, b" 0"),
}


@dataclass(frozen=True, slots=True)
class MafIds:
    """The MAFIDs of one state: `length` numbers from `first` on, visited in strides."""

    first: int
    length: int

    def of_units(self, number: Integers) -> Integers:
        """The MAFIDs of units by their numbers in the state. No MAFID comes twice."""
        return self.first + number * stride_through(self.length) % self.length


def mafids_of_states(shares: Sequence[StateShare]) -> dict[str, MafIds]:
    """The MAFIDs of each state, by its code. They are valid only if `mafids_suffice`."""
    lengths = [most_units(share.people, share.blocks) for share in shares]
    firsts = accumulate(lengths, initial=_FIRST_MAFID)
    return {
        share.state.code: MafIds(*ids) for share, *ids in zip(shares, firsts, lengths, strict=False)
    }


def mafids_suffice(shares: Sequence[StateShare]) -> bool:
    """Whether nine digits are enough for the units of all states."""
    units = sum(most_units(share.people, share.blocks) for share in shares)
    return units <= _LAST_MAFID - _FIRST_MAFID + 1


def block_oids(state: int, block: Integers) -> Integers:
    """The OIDTABBLK of blocks, by their positions in the state."""
    return _FIRST_OID + state * _OIDS_OF_A_STATE + block * _OID_STEP


def unit_lines(
    chunk: HousedChunk, people: StatePeople, mix: CodeMix, mafid: Texts
) -> tuple[Lines, ...]:
    """The unit records of a chunk: households, then group quarters, then vacant units.

    `mafid` has one element per unit of the chunk, in the same order.
    """
    state = people.geography.share.state.code
    first_quarters = len(chunk.householder)
    quarters = chunk.quarters
    first_vacant = first_quarters + len(quarters.block)
    of_quarters: _Fields = {"FINAL_POP": _sizes(quarters.size), "GQSEX": _DIGITS[quarters.sexes]}
    of_quarters["QGQTYP"] = _QUARTERS[quarters.kind]
    return (
        _household_lines(chunk, people, mix, mafid[:first_quarters]),
        _lines(
            b"4",
            quarters.block,
            state,
            mafid[first_quarters:first_vacant],
            _NOT_IN_UNIVERSE | of_quarters,
        ),
        vacant_lines(chunk.vacant, state, mafid[first_vacant:]),
    )


def vacant_lines(vacant: VacantUnits, state: str, mafid: Texts) -> Lines:
    """The records of housing units where nobody lives."""
    fields: _Fields = {"FINAL_POP": b"    0", "VACS": _DIGITS[vacant.status]}
    return _lines(b"2", vacant.block, state, mafid, _NOT_IN_UNIVERSE | fields)


def _household_lines(chunk: HousedChunk, people: StatePeople, mix: CodeMix, mafid: Texts) -> Lines:
    """The records of occupied housing units. Some fields repeat facts about the householder."""
    facts, persons, householder = chunk.facts, chunk.people, chunk.householder
    demographic = persons.demographic[householder]
    fields: _Fields = {
        "FINAL_POP": _sizes(facts["FINAL_POP"]),
        "HHLDRAGE": _AGES[people.demographics.age[demographic]],
        "HHSPAN": _DIGITS[_hispanic_origin(persons.ethnicity[householder], mix)],
        "HHLDRACE": _DIGITS[_major_of_race(mix)[persons.race[householder]]],
        "HHRACE": _CENRACES[cenrace_of_chunk(persons, mix)[householder]],
        "HHSEX": _DIGITS[1 + people.demographics.is_female[demographic]],
        **dict.fromkeys(("TEN", "TEN_A", "TEN_R"), _DIGITS[chunk.tenure]),
        "VACS": b"0",
        "HHT2": _HHT2[facts["HHT2"]],
        **{name: _DIGITS[facts[name]] for name in _FACTS_OF_ONE_DIGIT},
        **{name: _TWO_DIGITS[facts[name]] for name in _FACTS_OF_TWO_DIGITS},
    }
    state = people.geography.share.state.code
    return _lines(b"2", chunk.household_block, state, mafid, fields)


def _sizes(people: Integers) -> Texts:
    """FINAL_POP, as texts."""
    return _numbers_up_to(int(people.max(initial=0)), 5)[people]


def _lines(kind: bytes, block: Integers, state: str, mafid: Texts, fields: _Fields) -> Lines:
    """Unit records of one RTYPE, with the fields that all units have in the same form."""
    oids = digits_of(block_oids(int(state), block), OID_DIGITS, 22)
    common: _Fields = {
        "RTYPE": kind,
        "MAFID": mafid,
        "BCUSTATEFP": state.encode(),
        "VERSION": VERSION,
        "OIDTB": oids,
    }
    return lines_of(_UNIT, len(block), common | fields)
