"""The people of a state chunk by chunk, with every block in one chunk: households don't cross blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from safetab.synthetic.people.state_people import FurtherCodes, PeopleChunk, StatePeople


def whole_blocks(people: StatePeople, seed: int) -> Iterator[PeopleChunk]:
    """One for each chunk of the state, in the same order: what a chunk begins of its last block goes to the next."""
    held: PeopleChunk | None = None
    for number in range(people.chunks):
        chunk = people.chunk(number, seed)
        whole = chunk if held is None else _joined(held, chunk)
        if number == people.chunks - 1:
            yield whole
        else:
            begun = len(whole.race) - int(whole.people_of_block[-1])
            yield _part(whole, slice(0, -1), 0, begun)
            held = _part(whole, slice(-1, None), begun, len(whole.race))


def _part(chunk: PeopleChunk, blocks: slice, start: int, end: int) -> PeopleChunk:
    of_part = (chunk.several.person >= start) & (chunk.several.person < end)
    return PeopleChunk(
        blocks=chunk.blocks[blocks],
        people_of_block=chunk.people_of_block[blocks],
        demographic=chunk.demographic[start:end],
        race=chunk.race[start:end],
        ethnicity=chunk.ethnicity[start:end],
        several=FurtherCodes(chunk.several.person[of_part] - start, chunk.several.races[of_part]),
    )


def _joined(held: PeopleChunk, chunk: PeopleChunk) -> PeopleChunk:
    """`held` is one block, which the chunk may go on with."""
    blocks, people_of_block = (
        np.concatenate((getattr(held, what), getattr(chunk, what))) for what in ("blocks", "people_of_block")
    )
    if blocks[0] == blocks[1]:
        blocks, people_of_block = blocks[1:], np.append(people_of_block[0] + people_of_block[1], people_of_block[2:])
    people = len(held.race)
    return PeopleChunk(
        blocks=blocks,
        people_of_block=people_of_block,
        demographic=np.concatenate((held.demographic, chunk.demographic)),
        race=np.concatenate((held.race, chunk.race)),
        ethnicity=np.concatenate((held.ethnicity, chunk.ethnicity)),
        several=FurtherCodes(
            np.concatenate((held.several.person, chunk.several.person + people)),
            np.concatenate((held.several.races, chunk.several.races)),
        ),
    )
