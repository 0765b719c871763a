"""The person records of a chunk."""

from __future__ import annotations

import numpy as np

from safetab.products.record import RACE_COLUMNS
from safetab.synthetic.cef.fixed_lines import Lines, Texts, lines_of, numbers_up_to, texts_of
from safetab.synthetic.cef.person_codes import (
    AGES,
    CENRACES,
    DAYS,
    SEXES,
    CodeTexts,
    birth_dates,
    race_2010_of_cenrace,
)
from safetab.synthetic.cef.record_widths import PERSON, VERSION
from safetab.synthetic.households.group_quarters import NO_QUARTERS
from safetab.synthetic.households.units import HousedChunk, person_numbers
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.state_people import StatePeople, cenrace_of_chunk
from safetab.synthetic.seeded_bits import RandomBits

QUARTERS = texts_of(["", *range(1, 1000)], 3)
RELATIONSHIPS = numbers_up_to(99, 2)

_LIVES_ALONE, _LIVES_WITH_OTHERS, _IN_QUARTERS = 1, 2, 0


def person_lines(chunk: HousedChunk, people: StatePeople, mix: CodeMix, mafid: Texts, bits: RandomBits) -> Lines:
    """`mafid` has one element per unit of the chunk. The order is that of the people."""
    of_people, homes, codes = chunk.people, chunk.homes, CodeTexts.of(mix)
    age = people.demographics.age[of_people.demographic].astype(np.int64)
    cenrace = cenrace_of_chunk(of_people, mix)
    in_quarters = homes.quarters != NO_QUARTERS
    numbers = person_numbers(chunk)
    is_hispanic = codes.is_hispanic[of_people.ethnicity]
    lines = lines_of(
        PERSON,
        len(age),
        {
            "RTYPE": texts_of((3, 5), 1)[in_quarters.astype(np.int64)],
            "MAFID": mafid[chunk.unit],
            "CUF_PNC": numbers_up_to(int(numbers.max(initial=0)), 5)[numbers],
            "BCUSTATEFP": people.geography.share.state.code.encode(),
            "VERSION": VERSION,
            "QSEX": SEXES[people.demographics.is_female[of_people.demographic]],
            "QAGE": AGES[age],
            **birth_dates(age, bits.below(DAYS, len(age))),
            "QSPAN": codes.code[of_people.ethnicity],
            "QSPANX": texts_of((1, 2), 1)[is_hispanic],
            "CENHISP": texts_of((1, 2), 1)[is_hispanic],
            RACE_COLUMNS[0]: codes.code[of_people.race],
            "QRACEX": codes.major[of_people.race],
            "CENRACE": CENRACES[cenrace],
            "RACE2010": race_2010_of_cenrace()[cenrace],
            "RELSHIP": RELATIONSHIPS[homes.relationship],
            "QGQTYP": QUARTERS[homes.quarters],
            "LIVE_ALONE": _lives_alone(chunk),
        },
    )
    for slot in range(1, len(RACE_COLUMNS)):
        lines[RACE_COLUMNS[slot]][of_people.several.person] = codes.code[of_people.several.races[:, slot]]
    return lines


def _lives_alone(chunk: HousedChunk) -> Texts:
    of_household = np.where(chunk.facts.size == 1, _LIVES_ALONE, _LIVES_WITH_OTHERS)
    of_unit = np.append(of_household, np.full(len(chunk.quarters.block), _IN_QUARTERS))
    texts: Texts = texts_of(range(3), 1)[of_unit[chunk.unit]]
    return texts
