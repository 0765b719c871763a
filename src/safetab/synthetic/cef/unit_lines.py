"""The unit records of a chunk: households, group quarters, units where nobody lives."""

from __future__ import annotations

from collections.abc import Mapping

from safetab.synthetic.cef.fixed_lines import Lines, Texts, digits_of, lines_of, numbers_up_to, texts_of
from safetab.synthetic.cef.person_codes import AGES, CENRACES, SEXES, CodeTexts
from safetab.synthetic.cef.person_lines import QUARTERS
from safetab.synthetic.cef.record_widths import UNIT, VERSION
from safetab.synthetic.cef.unit_ids import OID_DIGITS, block_oids
from safetab.synthetic.households.units import GroupQuarters, HousedChunk, VacantUnits
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.state_people import StatePeople, cenrace_of_chunk
from safetab.synthetic.seeded_bits import Integers

Fields = Mapping[str, Texts | bytes]

_DIGITS = texts_of(range(10), 1)
_TWO_DIGITS = numbers_up_to(99, 2)
_HHT2 = numbers_up_to(12, 2, zeros=True)
_HOUSING_UNIT, _GROUP_QUARTERS = b"2", b"4"
_NOT_IN_UNIVERSE = {
    **dict.fromkeys(("TEN", "TEN_A", "TEN_R", "VACS", "HHT", "CPLT", "UPART", "MULTG", "PAOC", "PAC", "HHSEX"), b"0"),
    "HHT2": b"00",
    **dict.fromkeys(("P18", "P60", "P65", "P75"), b" 0"),
}


def unit_lines(chunk: HousedChunk, people: StatePeople, mix: CodeMix, mafid: Texts) -> tuple[Lines, ...]:
    """`mafid` has one element per unit of the chunk."""
    state = people.geography.share.state.code
    first, second = chunk.households, chunk.households + len(chunk.quarters.block)
    return (
        _household_lines(chunk, people, mix, mafid[:first]),
        _quarters_lines(chunk.quarters, state, mafid[first:second]),
        vacant_lines(chunk.vacant, state, mafid[second:]),
    )


def vacant_lines(vacant: VacantUnits, state: str, mafid: Texts) -> Lines:
    of_vacant: Fields = {"FINAL_POP": b"    0", "VACS": _DIGITS[vacant.status]}
    return _lines(_HOUSING_UNIT, vacant.block, state, mafid, {**_NOT_IN_UNIVERSE, **of_vacant})


def _quarters_lines(quarters: GroupQuarters, state: str, mafid: Texts) -> Lines:
    of_quarters: Fields = {
        "FINAL_POP": _sizes(quarters.size),
        "QGQTYP": QUARTERS[quarters.kind],
        "GQSEX": _DIGITS[quarters.sexes],
    }
    return _lines(_GROUP_QUARTERS, quarters.block, state, mafid, {**_NOT_IN_UNIVERSE, **of_quarters})


def _household_lines(chunk: HousedChunk, people: StatePeople, mix: CodeMix, mafid: Texts) -> Lines:
    facts = chunk.facts
    tenure = _DIGITS[chunk.tenure]
    of_households = {
        "FINAL_POP": _sizes(facts.size),
        **_of_householders(chunk, people, mix),
        **dict.fromkeys(("TEN", "TEN_A", "TEN_R"), tenure),
        "VACS": b"0",
        "HHT": _DIGITS[facts.hht],
        "HHT2": _HHT2[facts.hht2],
        "CPLT": _DIGITS[facts.cplt],
        "UPART": _DIGITS[facts.upart],
        "MULTG": _DIGITS[facts.multg],
        "PAOC": _DIGITS[facts.paoc],
        "P18": _TWO_DIGITS[facts.minors],
        **{f"P{age}": _TWO_DIGITS[count] for age, count in facts.people_from_age.items()},
        "PAC": _DIGITS[facts.pac],
    }
    return _lines(_HOUSING_UNIT, chunk.household_block, people.geography.share.state.code, mafid, of_households)


def _of_householders(chunk: HousedChunk, people: StatePeople, mix: CodeMix) -> dict[str, Texts | bytes]:
    of_people, householder, codes = chunk.people, chunk.householder, CodeTexts.of(mix)
    demographic = of_people.demographic[householder]
    return {
        "HHLDRAGE": AGES[people.demographics.age[demographic]],
        "HHSPAN": _DIGITS[1 + codes.is_hispanic[of_people.ethnicity[householder]]],
        "HHLDRACE": codes.major[of_people.race[householder]],
        "HHRACE": CENRACES[cenrace_of_chunk(of_people, mix)[householder]],
        "HHSEX": SEXES[people.demographics.is_female[demographic]],
    }


def _sizes(people: Integers) -> Texts:
    return numbers_up_to(int(people.max(initial=0)), 5)[people]


def _lines(kind: bytes, block: Integers, state: str, mafid: Texts, fields: Fields) -> Lines:
    same: Fields = {"RTYPE": kind, "MAFID": mafid, "BCUSTATEFP": state.encode(), "VERSION": VERSION}
    oid = digits_of(block_oids(int(state), block), OID_DIGITS, 22)
    return lines_of(UNIT, len(block), {**same, "OIDTB": oid, **fields})
